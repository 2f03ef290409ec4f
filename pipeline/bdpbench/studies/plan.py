"""The plan: which runs a tier of a study holds, written once for every later stage to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bdpbench.contracts.files import write_json_atomically, write_text_atomically
from bdpbench.contracts.plan import PLAN_VERSION, Plan, PlannedRun, ScenarioText
from bdpbench.contracts.runs import SCRIPTS_FOLDER, SPEC_NAME, SPEC_VERSION, Spec, read_spec
from bdpbench.errors import BdpbenchError
from bdpbench.studies.labels import swept_names
from bdpbench.studies.scripts import outside_files
from bdpbench.studies.study import Scenario, Study
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
        "folder": str(study.folder),
        "title": study.title,
        "tier": tier,
        "ns2_build_id": ns2_build_id,
        "protocols": {
            key: {"label": each.label, "colour": each.colour}
            for key, each in study.protocols.items()
        },
        "scenarios": {key: _text_of(each) for key, each in study.scenarios.items()},
        "parameters": {
            name: {
                "unit": declaration.unit or unit_of(name),
                "description": declaration.description,
                "nominal": declaration.nominal,
            }
            for name, declaration in study.vocabulary.items()
        },
        "runs": list(runs),
        "evaluation_sha256": evaluation_sha256,
    }


def _text_of(scenario: Scenario) -> ScenarioText:
    durations = [entry.duration_s for entries in scenario.tiers.values() for entry in entries]
    return {
        "title": scenario.title,
        "section": scenario.section,
        "figures": scenario.figures,
        "description": scenario.description,
        "summary": scenario.summary,
        "script": scenario.script,
        "longest_s": max(durations, default=0),
        "swept": swept_names(scenario),
    }


def write_specs(runs: Iterable[PlannedRun], ns2_build_id: str, runs_dir: Path) -> None:
    """Write ``<run id>/spec.json``, all that `bdpbench simulate` needs, for each run.

    A file that says something else, because it was damaged, changed, or planned for another build
    of ns-2, is written anew.
    """
    for run in runs:
        folder = runs_dir / run["run_id"]
        spec: Spec = {
            "schema_version": SPEC_VERSION,
            "run_id": run["run_id"],
            "identity": run["identity"],
            "label": run["label"],
            "script": run["script"],
            "parameters": run["parameters"],
            "outputs": run["outputs"],
            "ns2_build_id": ns2_build_id,
            "estimated_cpu_s": run["estimated_cpu_s"],
        }
        if run["scripts"] is not None:
            spec["scripts"] = run["scripts"]
        if _found(folder) == spec:
            continue
        if run["scripts"] is not None:
            _keep_scripts(folder / SCRIPTS_FOLDER, Path(run["scripts"]), run["script"])
        write_json_atomically(folder / SPEC_NAME, spec)


def _found(folder: Path) -> Spec | None:
    """The spec that a run's folder has; None where it has none that can be read."""
    try:
        return read_spec(folder)
    except BdpbenchError:
        return None


def _keep_scripts(kept: Path, folder: Path, script: str) -> None:
    """Copy a script from outside into its run: it may be gone or changed when the run starts."""
    for name, path in outside_files(folder, script).items():
        write_text_atomically(kept / name, path.read_text(encoding="utf-8"))
