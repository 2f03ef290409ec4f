"""Parsing and measuring real outputs of ns-2: what is kept, and what is computed again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.app.conftest import call_bdpbench, said_by, simulate_runs, write_config

from bdpbench.app.batch import SERIES_BIN_S
from bdpbench.app.stages import PlanData, measure_runs, parse_runs, with_groups
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Plan
from bdpbench.contracts.runs import REDUCED_TABLES
from bdpbench.metrics import DEFINITIONS
from bdpbench.metrics.packets import COLUMNS, sum_packets
from bdpbench.trace import load_table, open_trace

MadeOnce = Callable[[str, Callable[[Path], None]], Path]

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
    parameters: {protocol: Reno}
    cases: [{trace: packets}, {trace: stream}]
    flows: [{}]
    tiers:
      quick: [{duration_s: 20}]
"""


@pytest.fixture(scope="session")
def traced_once(made_once: MadeOnce, ns_binary: Path) -> Path:
    """A workspace with two simulated runs: with a packet trace on disk, and with its sums alone."""

    def simulate(folder: Path) -> None:
        write_config(folder)
        study = folder / "config" / "studies" / "dumbbell" / "study.yaml"
        study.write_text(study.read_text().rstrip("\n") + TRACED)
        plan = Path(said_by(call_bdpbench(folder, "plan", "--scenario", "traced")).strip())
        runs = [run["run_id"] for run in json.loads(plan.read_text())["runs"]]
        simulate_runs(partial(call_bdpbench, folder), plan, runs)

    return made_once("traced", simulate)


@pytest.fixture
def traced(tmp_path: Path, traced_once: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan of both runs, which are in ``tmp_path``."""
    shutil.copytree(traced_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("BDPBENCH_CONFIG", str(tmp_path / "config"))
    found: Plan = json.loads((tmp_path / "results/dumbbell/quick/plan.json").read_text())
    return {**found, "folder": str(tmp_path / "config" / "studies" / "dumbbell")}


@pytest.fixture
def plan(traced: Plan) -> Plan:
    """A plan whose only run was simulated, with a packet trace on disk."""
    return {**traced, "runs": traced["runs"][:1]}


def measure_plan(plan: Plan, runs_dir: Path) -> pl.DataFrame:
    """Metrics of all finished runs, including those of several runs together."""
    return with_groups(plan, PlanData(plan, runs_dir).metrics())


def _runs(tmp_path: Path) -> Path:
    return tmp_path / "results" / "runs"


def test_values_are_kept_beside_the_tables_until_their_code_changes(
    tmp_path: Path, plan: Plan
) -> None:
    (run,) = plan["runs"]
    run_dir = run_folder(_runs(tmp_path), run["run_id"])
    log = tmp_path / "log.txt"
    own = tmp_path / "config" / "studies" / "dumbbell" / "metrics.py"
    text = OWN_METRICS.split("@flow_metric", 2)
    own.write_text("@flow_metric".join(text[:2]).format(log=str(log)))

    parse_runs([run_dir], plan)
    # No metric reads packets, so the trace does not become a table.
    assert (run_dir / "out" / "pckts.trq").is_file()
    assert not (run_dir / "tables" / "packets.parquet").exists()

    measure_runs(plan, _runs(tmp_path), [run["run_id"]])
    kept = run_dir / "values" / "dumbbell.traced.txt"
    first = measure_plan(plan, _runs(tmp_path))
    assert log.read_text() == "middle_cwnd "  # written once, by measure_runs
    assert "utilization" in set(first["metric"])
    assert "middle_cwnd" in set(first["metric"])
    assert set(first["metric"]) <= {*DEFINITIONS, "middle_cwnd"}

    own.write_text(own.read_text().replace("median()", "min()"))
    second = measure_plan(plan, _runs(tmp_path))
    assert log.read_text() == "middle_cwnd middle_cwnd "
    others = pl.col("metric") != "middle_cwnd"
    assert second.filter(others).equals(first.filter(others))
    assert not second.filter(~others).equals(first.filter(~others))

    kept.write_bytes(b"damaged")
    assert measure_plan(plan, _runs(tmp_path)).equals(second)

    log.unlink()
    assert measure_plan(plan, _runs(tmp_path)).equals(second)
    assert not log.exists()  # what is stored is not measured again
    (run,) = plan["runs"]
    longer = {**run["parameters"], "bdp_pkts": 2 * float(run["parameters"]["bdp_pkts"])}
    measure_plan({**plan, "runs": [{**run, "parameters": longer}]}, _runs(tmp_path))
    assert log.exists()


def test_a_packet_trace_becomes_a_table_where_a_metric_needs_it(tmp_path: Path, plan: Plan) -> None:
    own = tmp_path / "config" / "studies" / "dumbbell" / "metrics.py"
    own.write_text(OWN_METRICS.format(log=str(tmp_path / "log.txt")).replace("(flow)", "(link)"))
    own.write_text(own.read_text().replace("flow_metric", "run_metric"))
    run_dir = run_folder(_runs(tmp_path), plan["runs"][0]["run_id"])
    parse_runs([run_dir], plan)
    assert (run_dir / "tables" / "packets.parquet").is_file()


def test_two_studies_that_share_a_run_keep_values_of_their_own(tmp_path: Path, plan: Plan) -> None:
    (run,) = plan["runs"]
    run_dir = run_folder(_runs(tmp_path), run["run_id"])
    parse_runs([run_dir], plan)
    first = measure_plan(plan, _runs(tmp_path))
    # Another study may describe the same run in its own way: half of the BDP, and only the queue.
    halved = {**run["parameters"], "bdp_pkts": float(run["parameters"]["bdp_pkts"]) / 2}
    queue = [each for each in run["outputs"] if each["table"] == "queue"]
    cwnd = [each for each in run["outputs"] if each["table"] == "cwnd"]
    other: Plan = {**plan, "runs": [{**run, "parameters": halved, "outputs": [*cwnd, *queue]}]}
    other["runs"][0]["scenario"] = "shared"
    parse_runs([run_dir], other)
    second = measure_plan(other, _runs(tmp_path))
    assert "utilization" not in set(second["metric"])
    assert sorted(path.name for path in (run_dir / "values").iterdir()) == [
        "dumbbell.shared.txt",
        "dumbbell.traced.txt",
    ]
    assert measure_plan(plan, _runs(tmp_path)).equals(first)
    at_90 = [frame.filter(metric="time_to_90pct_cwnd")["value"][0] for frame in (first, second)]
    assert at_90[1] < at_90[0]


def test_a_streamed_trace_leaves_the_sums_of_the_trace(tmp_path: Path, traced: Plan) -> None:
    whole, streamed = (run_folder(_runs(tmp_path), run["run_id"]) for run in traced["runs"])
    trace = open_trace(whole / "out" / "pckts.trq")
    sums = sum_packets(trace.batches(COLUMNS), bin_s=SERIES_BIN_S)
    assert set(sums.tables()) == set(REDUCED_TABLES)
    for name, table in sums.tables().items():
        kept = load_table(streamed, f"packet_{name}").collect()
        assert_frame_equal(kept, table, categorical_as_str=True)
    assert sums.links["departed_bytes"].sum() > 1e6
    assert not (streamed / "out" / "pckts.trq").exists()
    assert sum(path.stat().st_size for path in (streamed / "out").glob("pckts.trq.*")) < 50_000
