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

NETWORK: dict[str, object] = {
    "duration_s": 2,
    "links": 1,
    "link.0.mbps": 5,
    "link.0.delay_ms": 8,
    "link.0.queue": "DropTail",
    "link.0.queue.limit_": 21,
    "default.Agent/TCP.window_": 1000,
    "datadir": "out",
    "flows": 1,
    "flow.0.agent": "TCP/Sack1",
    "flow.0.sink": "TCPSink/Sack1",
    "flow.0.start_s": 0,
    "flow.0.access_delay_ms": 1,
    "flow.0.access_mbps": 50,
    "flow.0.receiver_delay_ms": 1,
}


def arguments(**changes: object) -> list[str]:
    """Arguments of network.tcl, with some changed; a name has ``__`` for a dot."""
    given = NETWORK | {name.replace("__", "."): value for name, value in changes.items()}
    return [word for key, value in given.items() for word in (f"-{key}", str(value))]


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
