"""Parsing and measuring real outputs of ns-2: what is kept, and what is computed again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.app.conftest import simulate_runs

from bdpbench.app.stages import PlanData, measure_runs, parse_runs, with_groups
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Plan
from bdpbench.metrics import DEFINITIONS

Run = Callable[..., "subprocess.CompletedProcess[str]"]

OWN_METRICS = """\
from pathlib import Path

from bdpbench.metrics import flow_metric


@flow_metric(unit="packets", title="", text="A.", source="B", tables=("cwnd",))
def middle_cwnd(flow):
    with Path({log!r}).open("a") as stream:
        stream.write("middle_cwnd ")
    return flow.cwnd["cwnd_pkts"].median()


@flow_metric(unit="packets", title="", text="A.", source="B", tables=("packets",))
def of_trace(flow):
    return None
"""
TRACED = """
  traced:
    title: One flow, traced
    topology: small
    parameters: {protocol: Reno, trace: packets}
    flows: [{}]
    tiers:
      quick: [{duration_s: 2}]
"""


@pytest.fixture
def plan(workspace: Path, bdpbench: Run, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan whose only run was simulated, with a packet trace on disk."""
    study = workspace / "config" / "studies" / "dumbbell" / "study.yaml"
    study.write_text(study.read_text().rstrip("\n") + TRACED)
    done = bdpbench("plan", "--scenario", "traced")
    assert done.returncode == 0, done.stderr
    found: Plan = json.loads(Path(done.stdout.strip()).read_text())
    simulate_runs(bdpbench, Path(done.stdout.strip()), [found["runs"][0]["run_id"]])
    monkeypatch.setenv("BDPBENCH_CONFIG", str(workspace / "config"))
    return found


def measure_plan(plan: Plan, runs_dir: Path) -> pl.DataFrame:
    """Metrics of all finished runs, including those of several runs together."""
    return with_groups(plan, PlanData(plan, runs_dir).metrics())


def _runs(workspace: Path) -> Path:
    return workspace / "results" / "runs"


def test_values_are_kept_beside_the_tables_until_their_code_changes(
    workspace: Path, plan: Plan
) -> None:
    (run,) = plan["runs"]
    run_dir = run_folder(_runs(workspace), run["run_id"])
    log = workspace / "log.txt"
    own = workspace / "config" / "studies" / "dumbbell" / "metrics.py"
    text = OWN_METRICS.split("@flow_metric", 2)
    own.write_text("@flow_metric".join(text[:2]).format(log=str(log)))

    parse_runs([run_dir], plan)
    # No metric reads packets, so the trace does not become a table.
    assert (run_dir / "out" / "pckts.trq").is_file()
    assert not (run_dir / "tables" / "packets.parquet").exists()

    measure_runs(plan, _runs(workspace), [run["run_id"]])
    kept = run_dir / "values" / "dumbbell.traced.txt"
    first = measure_plan(plan, _runs(workspace))
    assert log.read_text() == "middle_cwnd "  # written once, by measure_runs
    assert "utilization" in set(first["metric"])
    assert "middle_cwnd" in set(first["metric"])
    assert set(first["metric"]) <= {*DEFINITIONS, "middle_cwnd"}

    own.write_text(own.read_text().replace("median()", "min()"))
    second = measure_plan(plan, _runs(workspace))
    assert log.read_text() == "middle_cwnd middle_cwnd "
    others = pl.col("metric") != "middle_cwnd"
    assert second.filter(others).equals(first.filter(others))
    assert not second.filter(~others).equals(first.filter(~others))

    kept.write_bytes(b"damaged")
    assert measure_plan(plan, _runs(workspace)).equals(second)

    log.unlink()
    assert measure_plan(plan, _runs(workspace)).equals(second)
    assert not log.exists()  # what is stored is not measured again
    (run,) = plan["runs"]
    longer = {**run["parameters"], "bdp_pkts": 2 * float(run["parameters"]["bdp_pkts"])}
    measure_plan({**plan, "runs": [{**run, "parameters": longer}]}, _runs(workspace))
    assert log.exists()


def test_a_packet_trace_becomes_a_table_where_a_metric_needs_it(
    workspace: Path, plan: Plan
) -> None:
    own = workspace / "config" / "studies" / "dumbbell" / "metrics.py"
    own.write_text(OWN_METRICS.format(log=str(workspace / "log.txt")).replace("(flow)", "(link)"))
    own.write_text(own.read_text().replace("flow_metric", "run_metric"))
    run_dir = run_folder(_runs(workspace), plan["runs"][0]["run_id"])
    parse_runs([run_dir], plan)
    assert (run_dir / "tables" / "packets.parquet").is_file()


def test_two_studies_that_share_a_run_keep_values_of_their_own(workspace: Path, plan: Plan) -> None:
    (run,) = plan["runs"]
    run_dir = run_folder(_runs(workspace), run["run_id"])
    parse_runs([run_dir], plan)
    first = measure_plan(plan, _runs(workspace))
    # Another study may describe the same run in its own way: half of the BDP, and only the queue.
    halved = {**run["parameters"], "bdp_pkts": float(run["parameters"]["bdp_pkts"]) / 2}
    queue = [each for each in run["outputs"] if each["table"] == "queue"]
    cwnd = [each for each in run["outputs"] if each["table"] == "cwnd"]
    other: Plan = {**plan, "runs": [{**run, "parameters": halved, "outputs": [*cwnd, *queue]}]}
    other["runs"][0]["scenario"] = "shared"
    parse_runs([run_dir], other)
    second = measure_plan(other, _runs(workspace))
    assert "utilization" not in set(second["metric"])
    assert sorted(path.name for path in (run_dir / "values").iterdir()) == [
        "dumbbell.shared.txt",
        "dumbbell.traced.txt",
    ]
    assert measure_plan(plan, _runs(workspace)).equals(first)
    at_90 = [frame.filter(metric="time_to_90pct_cwnd")["value"][0] for frame in (first, second)]
    assert at_90[1] < at_90[0]
