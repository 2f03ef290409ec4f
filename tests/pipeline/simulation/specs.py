"""Specs of the runs that the tests in this folder simulate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.paths import run_folder, tcl_dir
from bdpbench.contracts.plan import Output, Parameters
from bdpbench.contracts.runs import SPEC_NAME, SPEC_VERSION, Spec
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.identity import Identities, run_id


def write_spec(
    runs: Path,
    argv: Sequence[str],
    outputs: Sequence[Output],
    parameters: Parameters | None = None,
    *,
    script: str = "network.tcl",
) -> Path:
    """Write a spec as planning does; returns the folder of the run."""
    streams = list(dict.fromkeys(each["stream"] for each in outputs if "stream" in each))
    identity = Identities().of(tcl_dir() / script, argv, None, streams)
    run_dir = run_folder(runs, run_id(identity))
    spec: Spec = {
        "schema_version": SPEC_VERSION,
        "run_id": run_dir.name,
        "identity": identity,
        "label": "a test",
        "script": script,
        "parameters": parameters or {"duration_s": 2, "bottleneck_mbps": 5},
        "outputs": list(outputs),
        "ns2_build_id": current_build_id(),
        "estimated_cpu_s": 1.0,
    }
    write_json_atomically(run_dir / SPEC_NAME, spec)
    return run_dir
