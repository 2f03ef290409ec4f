"""Runs that the tests in this folder simulate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.paths import run_folder, runs_folder, tcl_dir
from bdpbench.contracts.plan import (
    BATCHES_FOLDER,
    PLAN_VERSION,
    Output,
    Parameters,
    Plan,
    PlannedRun,
)
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.identity import Identities, run_id


def planned(
    results: Path,
    argv: Sequence[str],
    outputs: Sequence[Output],
    parameters: Parameters | None = None,
    *,
    script: str = "network.tcl",
) -> tuple[PlannedRun, Path]:
    """A run as planning makes it, and its folder."""
    streams = list(dict.fromkeys(each["stream"] for each in outputs if "stream" in each))
    identity = Identities().of(tcl_dir() / script, argv, None, streams)
    run: PlannedRun = {
        "run_id": run_id(identity),
        "scenario": "tests",
        "label": "a test",
        "script": script,
        "argv": list(argv),
        "parameters": parameters or {"duration_s": 2, "bottleneck_mbps": 5},
        "outputs": list(outputs),
        "protocols": [],
        "estimated_cpu_s": 1.0,
        "identity": identity,
    }
    return run, run_folder(runs_folder(results), run["run_id"])


def batch_of(run: PlannedRun, results: Path) -> Path:
    """Write a batch of one run as planning does; returns its path."""
    path = results / "tests" / "quick" / BATCHES_FOLDER / "0000.json"
    plan: Plan = {
        "schema_version": PLAN_VERSION,
        "study": "tests",
        "folder": "tests",
        "title": "Tests",
        "tier": "quick",
        "ns2_build_id": current_build_id(),
        "protocols": {},
        "scenarios": {},
        "parameters": {},
        "runs": [run],
        "evaluation_sha256": "",
    }
    write_json_atomically(path, plan)
    return path
