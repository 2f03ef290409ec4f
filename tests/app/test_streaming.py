"""`trace: stream` from the study to the tables gives the same sums as a trace on disk.

The study that tests/faults takes through the whole workflow also has a streamed run.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal
from tests.app.conftest import simulate_runs

from bdpbench.app.batch import SERIES_BIN_S
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.runs import REDUCED_TABLES
from bdpbench.metrics.packets import COLUMNS, PacketSums, sum_packets
from bdpbench.trace import load_table, open_trace

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SCENARIOS = """
  {name}:
    title: One flow, traced
    topology: small
    parameters: {{protocol: Reno, trace: {trace}}}
    flows:
      - {{}}
    tiers:
      quick: [{{duration_s: {duration_s}}}]
"""


def _simulated(workspace: Path, bdpbench: Run, *, duration_s: int = 20) -> dict[str, Path]:
    """Value of `trace` → run folder."""
    study = workspace / "config" / "studies" / "dumbbell" / "study.yaml"
    text = study.read_text().rstrip("\n") + "".join(
        SCENARIOS.format(name=f"traced_{trace}", trace=trace, duration_s=duration_s)
        for trace in ("packets", "stream")
    )
    study.write_text(text)
    done = bdpbench("plan")
    assert done.returncode == 0, done.stderr
    plan = json.loads(Path(done.stdout.strip()).read_text())
    traced = [run["run_id"] for run in plan["runs"] if "trace" in run["parameters"]]
    simulate_runs(bdpbench, Path(done.stdout.strip()), traced)
    return {
        run["parameters"]["trace"]: run_folder(workspace / "results" / "runs", run["run_id"])
        for run in plan["runs"]
        if "trace" in run["parameters"]
    }


def test_a_streamed_trace_leaves_the_sums_of_the_trace(workspace: Path, bdpbench: Run) -> None:
    runs = _simulated(workspace, bdpbench)
    trace = open_trace(runs["packets"] / "out" / "pckts.trq")
    sums = sum_packets(trace.batches(COLUMNS), bin_s=SERIES_BIN_S)
    assert set(sums.tables()) == set(REDUCED_TABLES)
    for name, table in sums.tables().items():
        kept = load_table(runs["stream"], f"packet_{name}").collect()
        assert_frame_equal(kept, table, categorical_as_str=True)
    assert _acked_bytes(sums) > 1e6
    assert not (runs["stream"] / "out" / "pckts.trq").exists()
    size = sum(path.stat().st_size for path in (runs["stream"] / "out").glob("pckts.trq.*"))
    assert size < 50_000


def _acked_bytes(sums: PacketSums) -> float:
    return float(sums.links.select(pl.col("departed_bytes").sum()).item())
