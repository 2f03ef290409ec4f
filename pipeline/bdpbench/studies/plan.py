"""The plan: which runs a tier of a study holds, written once for every later stage to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from bdpbench.contracts.files import read_json, write_json_atomically, write_text_atomically
from bdpbench.contracts.plan import Plan
from bdpbench.studies.runs import Run
from bdpbench.studies.scripts import outside_files
from bdpbench.studies.study import Study

PLAN_VERSION = 1
SPEC_VERSION = 1
SCRIPTS_FOLDER = "scripts"
BATCH_SIZE = 32


def make_plan(study: Study, tier: str, ns2_build_id: str, runs: Sequence[Run]) -> dict[str, Any]:
    """Plan of the runs of a tier: what to simulate, and what the report says about it.

    Runs are parsed in batches of one scenario, so that the start of Python and polars is paid
    once a batch rather than once a run.
    """
    return {
        "schema_version": PLAN_VERSION,
        "study": study.key,
        "title": study.title,
        "tier": tier,
        "ns2_build_id": ns2_build_id,
        "protocols": {
            key: {"label": each.label, "colour": each.colour}
            for key, each in study.protocols.items()
        },
        "scenarios": {
            key: {
                "title": each.title,
                "section": each.section,
                "figures": each.figures,
                "description": each.description,
                "summary": each.summary,
                "script": each.script,
                "longest_s": max(
                    (entry.duration_s for entries in each.tiers.values() for entry in entries),
                    default=0,
                ),
            }
            for key, each in study.scenarios.items()
        },
        "runs": [asdict(run) for run in runs],
        "batches": _batches(runs),
    }


def _batches(runs: Iterable[Run]) -> dict[str, list[str]]:
    by_scenario: dict[str, list[str]] = {}
    for run in runs:
        by_scenario.setdefault(run.scenario, []).append(run.run_id)
    return {
        f"{scenario}-{start // BATCH_SIZE}": ids[start : start + BATCH_SIZE]
        for scenario, ids in by_scenario.items()
        for start in range(0, len(ids), BATCH_SIZE)
    }


def read_plan(path: Path) -> Plan:
    """Read ``plan.json``.

    Raises:
        BdpbenchError: when it is missing, broken or of another version.
    """
    what = "a plan of `bdpbench plan`"
    return cast("Plan", read_json(path, what=what, schema_version=PLAN_VERSION))


def write_specs(runs: Iterable[Run], ns2_build_id: str, runs_dir: Path) -> None:
    """Write ``<run id>/spec.json``, all that `bdpbench simulate` needs, for each run.

    The content follows from the run id, so a file that is there is left alone.
    """
    for run in runs:
        path = runs_dir / run.run_id / "spec.json"
        if path.is_file():
            continue
        spec = {
            "schema_version": SPEC_VERSION,
            "run_id": run.run_id,
            "label": run.label,
            "script": run.script,
            "script_sha256": run.script_sha256,
            "argv": list(run.argv),
            "parameters": run.parameters,
            "outputs": list(run.outputs),
            "ns2_build_id": ns2_build_id,
            "estimated_cpu_s": run.estimated_cpu_s,
        }
        if run.scripts is not None:
            _keep_scripts(path.parent / SCRIPTS_FOLDER, Path(run.scripts), run.script)
            spec["scripts"] = run.scripts
        write_json_atomically(path, spec)


def _keep_scripts(kept: Path, folder: Path, script: str) -> None:
    """Copy a script from outside into its run: it may be gone or changed when the run starts."""
    for name, path in outside_files(folder, script).items():
        write_text_atomically(kept / name, path.read_text(encoding="utf-8"))
