"""Planned runs that belong to no study, for tests of code that handles runs."""

from __future__ import annotations

from bdpbench.contracts.plan import Parameters, PlannedRun
from bdpbench.contracts.runs import Identity

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
