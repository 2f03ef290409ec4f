"""Metrics of runs with a few samples, worked out by hand in the comments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.data_of import yaml_of
from tests.make import measure_run
from tests.pipeline.metrics.conftest import SAW_TOOTH, Build, measured, number

from bdpbench.errors import BdpbenchError
from bdpbench.metrics import DEFINITIONS, METRICS_SCHEMA, RunView, fairness

Measure = Callable[..., dict[tuple[str, str], Any]]


CASES: dict[str, dict[str, Any]] = {
    each["name"]: each
    for each in yaml_of(Path(__file__).with_name("measured.yaml").read_text(encoding="utf-8"))
}


def numbers(told: str) -> list[float]:
    """9 and 9 of ``2*9``, for each word of a text."""
    words = (word.rpartition("*")[::2] for word in str(told).split())
    return [float(value) for count, value in words for _ in range(int(count or 1))]


def tables_of(case: dict[str, Any]) -> dict[str, pl.LazyFrame]:
    """The tables of a case."""
    makers: dict[str, Callable[[Any], pl.DataFrame]] = {
        "cwnd": lambda samples: Build.cwnd([(float(at), each) for at, each in samples.items()]),
        "throughput": lambda told: Build.bins(numbers(told)),
        "utilization": lambda told: Build.bins(numbers(told)),
        "queue": lambda told: Build.queue([int(each) for each in numbers(told)]),
        "red": Build.red,
    }
    found = {
        name: Build.table({who: make(told) for who, told in case[name].items()})
        for name, make in makers.items()
        if name in case
    }
    whole = {"facts": Build.facts, "transfers": Build.transfers}
    return found | {name: make(case[name]) for name, make in whole.items() if name in case}


@pytest.mark.parametrize("name", CASES)
def test_values_worked_out_by_hand(name: str) -> None:
    case = CASES[name]
    found = measured(tables_of(case), case.get("study", ""), **case.get("parameters", {}))
    for subject, metrics in case.get("values", {}).items():
        for metric, told in metrics.items():
            expected = number(told)
            expected = expected if expected is None else pytest.approx(expected)
            assert found[metric, subject] == expected, (metric, subject)
    assert not {*case.get("absent", ())} & {metric for metric, _ in found}


def test_counts_have_the_window_that_the_report_says() -> None:
    def of(**counts: float) -> pl.DataFrame:
        facts = Build.facts({"flow:0": {"goodput": 9, "packets": 1, **counts}})
        return measure_run({"duration_s": 10}, {"facts": facts}, run_id="r", scenario="s")

    told = of(window_start=4.0, window_end=9.0)
    assert told.select("metric", "start_s", "end_s").rows() == [("goodput", 4.0, 9.0)]
    with pytest.raises(BdpbenchError, match=r"flow:0 and does not say over which window"):
        of()


def test_percentiles_are_samples() -> None:
    # 200 samples of 1 to 200 packets in the second half, 0.08 ms each: rank 190.
    times = [200.0 + each for each in range(1, 201)]
    rows = pl.DataFrame({"time_s": times, "pkts": range(1, 201), "drops": [0] * 200})
    window = {"window_start": 200.0, "window_end": 400.0}
    facts = Build.facts({"link:b": {**window, "packets": 10, "bytes": 10_000}})
    found = measured({"queue": Build.table({"b": rows}), "facts": facts}, duration_s=400)
    assert found["p95_queueing_delay", "link:b"] == pytest.approx(190 * 0.08)


def test_capacity_of_a_moment_is_that_of_the_beginning() -> None:
    given: dict[str, int | str] = {"duration_s": 10, "bottleneck_mbps": 10}
    given["bottleneck_mbps_changes"] = "5 from 4 s"
    link = RunView({**given}, {}, "r").link("bottleneck")
    assert link.capacity_mbps((5.0, 5.0)) == 10
    assert link.capacity_mbps((5.0, 6.0)) == 5
    assert link.capacity_mbps((0.0, 5.0)) == 9
    assert link.rates.rows() == [(0, 10), (4, 5)]


def test_the_shares_of_a_run_are_computed_once_and_not_for_each_flow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    shares = fairness.max_min_shares
    monkeypatch.setattr(
        fairness, "max_min_shares", lambda *given: calls.append(1) or shares(*given)
    )
    told = {"window_start": 5.0, "window_end": 10.0}
    flows = {f"flow:{i}": {**told, "throughput": 1.0 + i % 2} for i in range(40)}
    tables = {
        "facts": Build.facts(flows),
        "utilization": Build.table({"bottleneck": Build.bins([80] * 10)}),
    }
    values = measured(tables, access_mbps=100)
    assert [values["fair_share_ratio", f"flow:{flow}"] for flow in (0, 39)] == [0.4, 0.8]
    assert len(calls) == 1


def test_rows_say_what_they_are(build: Any, saw_tooth: dict[str, pl.LazyFrame]) -> None:
    tables = {**saw_tooth, "utilization": build.table({"b": build.bins([100] * 10)})}
    parameters = {"duration_s": 10, "bottleneck_mbps": 100, "rtt_ms": 100, "bdp_pkts": 1000}
    frame = measure_run(parameters, tables, run_id="abc", scenario="single")
    assert frame.schema == METRICS_SCHEMA
    assert set(frame["run_id"]) == {"abc"}
    assert set(frame["scenario"]) == {"single"}
    for row in frame.iter_rows(named=True):
        definition = DEFINITIONS[row["metric"]]
        assert (row["unit"], row["definition"]) == (definition.unit, definition.id)
        assert row["subject"].split(":")[0] == definition.subject
        half = row["metric"] in {"utilization", "cwnd_variation"}
        assert (row["start_s"], row["end_s"]) == ((5.0 if half else 0.0), 10.0)


def test_tables_without_metrics_are_left_alone(measure: Measure) -> None:
    assert measure({"packets": pl.LazyFrame({"event": ["r"]})}) == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bdp_pkts": "large"}, "run r: parameter bdp_pkts is 'large': its metrics need a number"),
        ({"rtt_1_ms": -1}, "parameter rtt_1_ms is -1: expected more than 0"),
        ({"rtt_ms": "fast"}, "parameter rtt_ms is 'fast'"),
        ({"duration_s": 0}, "parameter duration_s is 0: expected more than 0"),
        ({"duration_s": 12}, "table cwnd of flow 0 ends at 10 s, the run lasts 12 s"),
    ],
)
def test_parameters_that_do_not_fit_are_told(
    saw_tooth: dict[str, pl.LazyFrame], measure: Measure, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BdpbenchError, match=said):
        measure(saw_tooth, **changes)


def test_a_run_of_fifty_thousand_samples_is_measured(build: Any, measure: Measure) -> None:
    """500 s of cwnd at intervals of 0.01 s."""
    # Teeth that rise from 500 to 1,000 packets in 10 s, for 500 s.
    cwnd = build.cwnd([(index / 100, 500 + (index % 1000) / 2) for index in range(50_001)])
    tables = {
        "cwnd": build.table({0: cwnd}),
        "queue": build.table({"b": build.queue(range(500))}),
        "utilization": build.table({"b": build.bins([622.0] * 500)}),
        "throughput": build.table({0: build.bins([622.0] * 500)}),
    }
    values = measure(tables, duration_s=500)
    assert values["recovery_time", "flow:0"] == pytest.approx(9.99)  # from 20 s to 29.99 s


def test_rows_stand_by_series_then_flow_then_metric(build: Any, measure: Measure) -> None:
    cwnd = build.cwnd(SAW_TOOTH)
    bins = build.bins([10] * 10)
    flows = dict.fromkeys([10, 2], cwnd)
    tables = {"throughput": build.table({0: bins}), "cwnd": build.table(flows)}
    keys = list(measure(tables))
    of_cwnd = [each for each in keys if each[1] in ("flow:2", "flow:10")]
    assert of_cwnd == keys[: len(of_cwnd)]
    assert [subject for _, subject in of_cwnd] == sorted(
        (subject for _, subject in of_cwnd), key=["flow:2", "flow:10"].index
    )
