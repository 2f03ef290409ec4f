"""Planned runs that belong to no study, for tests of code that handles runs."""

from __future__ import annotations

from bdpbench.contracts.plan import Parameters, PlannedRun
from bdpbench.contracts.runs import RUN_VERSION, Identity, RunRecord

IDENTITY = Identity(argv=["x"], tcl="5c1", ns2="b1", streams=[])


def planned_run(
    run_id: str = "0" * 16,
    *,
    label: str = "HS",
    parameters: Parameters | None = None,
    estimated_cpu_s: float = 10.0,
) -> PlannedRun:
    """A run of HS-TCP whose identity is ``IDENTITY``."""
    return PlannedRun(
        run_id=run_id,
        scenario="single_flow",
        label=label,
        script="a.tcl",
        argv=IDENTITY["argv"],
        parameters=parameters or {"rtt_ms": 100},
        outputs=[],
        protocols=["HS"],
        estimated_cpu_s=estimated_cpu_s,
        identity=IDENTITY,
    )


def finished_run(run_id: str, **given: object) -> dict[str, object]:
    """A complete ``run.json``, with the fields in ``given`` replaced."""
    record: RunRecord = {
        "schema_version": RUN_VERSION,
        "run_id": run_id,
        "identity": IDENTITY,
        "label": "a run",
        "parameters": {"rtt_ms": 100},
        "units": {"rtt_ms": "ms"},
        "script": {"path": "tcl/network.tcl", "files": {}},
        "argv": [],
        "ns2": {"build_id": "any", "backend": "native", "binary_sha256": None},
        "started": "2026-01-01T00:00:00+00:00",
        "wall_s": 1.0,
        "cpu_s": 1.0,
        "max_rss_kib": 1,
        "exit_status": 0,
        "outputs": {},
        "ns2_report": "",
    }
    return {**record, **given}
