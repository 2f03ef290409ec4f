"""The plan: which runs a tier of a study has, written once for all later stages."""

from __future__ import annotations

from collections.abc import Sequence

from bdpbench.contracts.paths import relative
from bdpbench.contracts.plan import PLAN_VERSION, ParameterText, Plan, PlannedRun, ScenarioText
from bdpbench.studies.labels import swept_names
from bdpbench.studies.study import Scenario, Study
from bdpbench.studies.vocabulary import ParameterDeclaration
from bdpbench.units import unit_of


def make_plan(
    study: Study,
    tier: str,
    ns2_build_id: str,
    runs: Sequence[PlannedRun],
    evaluation_sha256: str,
) -> Plan:
    """Plan of the runs of a tier: what to simulate, and what the report says about it."""
    return {
        "schema_version": PLAN_VERSION,
        "study": study.key,
        "folder": relative(study.folder),
        "title": study.title,
        "tier": tier,
        "ns2_build_id": ns2_build_id,
        "protocols": {
            key: {"label": each.label, "colour": each.colour}
            for key, each in study.protocols.items()
        },
        "scenarios": {key: _text_of(study, each) for key, each in study.scenarios.items()},
        "parameters": {
            name: _parameter_text(study, name, declaration)
            for name, declaration in study.vocabulary.items()
        },
        "runs": list(runs),
        "evaluation_sha256": evaluation_sha256,
    }


def _parameter_text(study: Study, name: str, declaration: ParameterDeclaration) -> ParameterText:
    text: ParameterText = {
        "unit": declaration.unit or unit_of(name),
        "description": declaration.description,
        "nominal": declaration.nominal,
    }
    if declaration.type == "queue" and study.queues:
        text["labels"] = {key: each.label or key for key, each in study.queues.items()}
    return text


def _text_of(study: Study, scenario: Scenario) -> ScenarioText:
    path = study.topologies[scenario.topology].description
    durations = [entry.duration_s for entries in scenario.tiers.values() for entry in entries]
    return {
        "title": scenario.title,
        "section": scenario.section,
        "figures": scenario.figures,
        "description": " ".join(filter(None, (scenario.description, path and f"Topology: {path}"))),
        "summary": scenario.summary,
        "script": scenario.script,
        "longest_s": max(durations, default=0),
        "swept": swept_names(scenario),
    }
