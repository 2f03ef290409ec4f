"""Metrics over sweeps and repetitions, and laws: what is drawn, and when nothing is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.data_of import yaml_of
from tests.make import combinations
from tests.pipeline.pages import golden
from tests.pipeline.pages.synthetic import Inputs

from bdpbench.metrics.groups import over_repetitions
from bdpbench.pages.names import Sweep, find_sweep
from bdpbench.pages.sweep_charts import Swept, interval_chart, sweep_chart, tradeoff_chart
from bdpbench.pages.texts import read_protocols

ROW = {"subject": "run", "unit": "%", "start_s": 0.0, "end_s": 30.0, "definition": "any/1"}


def _runs(inputs: Inputs, *cases: dict[str, Any]) -> list[Any]:
    """Runs of one flow with these parameters, None for one that they do not have."""
    template = next(run for run in inputs.plan["runs"] if run["scenario"] == "single_flow")
    return [
        {
            **template,
            "run_id": f"{place:016x}",
            "parameters": {
                name: value
                for name, value in {**template["parameters"], **case}.items()
                if value is not None
            },
        }
        for place, case in enumerate(cases)
    ]


def _charts(inputs: Inputs, case: Any) -> list[Any]:
    """The charts of a case of sweep_charts.yaml."""
    runs = _runs(inputs, *combinations(case["runs"]))
    given = {"utilization": case["values"], "mean_queueing_delay": case.get("delays", ())}
    rows = [
        {
            **ROW,
            "run_id": run["run_id"],
            "scenario": run["scenario"],
            "metric": metric,
            "value": None if value is None else float(value),
            "subject": subject,
        }
        for metric, values in given.items()
        for run, value in zip(runs, values, strict=False)
        for subject in case.get("subjects", ["run"])
    ]
    metrics, names = pl.DataFrame(rows), inputs.sections().data.names
    means = over_repetitions(metrics, runs)
    swept = Swept(runs, find_sweep(runs), metrics, names, repetitions=means)
    if "delays" in case:
        return [tradeoff_chart("x", "mean_queueing_delay", "utilization", swept)]
    return [make("x", "utilization", swept) for make in (sweep_chart, interval_chart)]


def test_sweeps_show_what_they_showed(inputs: Inputs) -> None:
    lines: list[str] = []
    seen: set[str] = set()
    for case in yaml_of(Path(__file__).with_name("sweep_charts.yaml").read_text()):
        lines.append(f"\n# {case['case']}")
        lines += [str(each and golden.told(each, 3, seen)) for each in _charts(inputs, case)]
    golden.compare("sweeps.txt", "\n".join(lines))


def test_what_follows_from_a_sweep_is_no_sweep(inputs: Inputs) -> None:
    queues = ({"queue": "DropTail"}, {"queue": "RED", "min_th_pkts": 5.0})
    runs = _runs(inputs, *({**each, "rtt_ms": rtt_ms} for each in queues for rtt_ms in (20, 100)))
    assert find_sweep(runs, swept=["rtt_ms", "queue"]).others == ("queue",)
    assert "min_th_pkts" in find_sweep(runs).others


def test_the_number_of_a_case_is_a_name_and_no_axis(inputs: Inputs) -> None:
    """A case of a paper stands for a rate and a buffer: its number orders nothing."""
    names = ("case_number", "bottleneck_mbps", "buffer_pkts", "flows")
    cases = ((1, 1000, 500), (2, 1000, 50), (3, 500, 500), (4, 500, 50))
    values = [(*case, flows) for case in cases for flows in (5, 10, 20)]
    runs = _runs(inputs, *(dict(zip(names, each, strict=True)) for each in values))
    assert find_sweep(runs) == Sweep("flows", ("case_number",))
    # Where one parameter alone tells the number, or none does, it stays.
    assert find_sweep(runs, swept=["case_number", "flows"]).main == "case_number"
    at_one_rate = [run for run in runs if run["parameters"]["bottleneck_mbps"] == 500]
    stays = find_sweep(at_one_rate, swept=["case_number", "buffer_pkts"])
    assert stays == Sweep("buffer_pkts", ())


def test_runs_of_one_flow_are_points_beside_the_published_functions(inputs: Inputs) -> None:
    runs = [run for run in inputs.plan["runs"] if run["scenario"] == "buffer_size"]
    # Table 1 of RFC 3649: 0.12/p^0.835 is 38 packets at 1e-3, 12,279 at 1e-6.
    given: dict[str, list[float]] = {
        "loss_event_rate": [10.0**-n for n in range(1, 7)],
        "mean_cwnd": [0.12 * 10 ** (0.835 * n) for n in range(1, 7)],
        "packets_added_per_rtt": [10.0 + n for n in range(6)],
    }
    rows = [
        {**ROW, "run_id": run["run_id"], "scenario": run["scenario"], "metric": name}
        | {"value": each, "subject": "flow:0"}
        for name, values in given.items()
        for run, each in zip(runs, values, strict=True)
    ]
    without, metrics = inputs.metrics, pl.DataFrame(rows, schema=inputs.metrics.schema)
    inputs.metrics = pl.concat([without, metrics])
    # From the smallest rate, 1e-6, to the one with 38 packets, where HS-TCP equals standard TCP. As
    # no run has the share given up at a loss, there is no third chart.
    golden.compare("laws.txt", "\n".join(golden.told(each) for each in inputs.sections().laws))
    # Flows that lose nothing show no function.
    inputs.metrics = pl.concat([without, metrics.with_columns(value=pl.lit(0.0))])
    assert "response-functions" not in [each.chart_id for each in inputs.sections().laws]


def test_the_response_functions_meet_where_their_papers_say() -> None:
    laws = {each.name: each.response for each in read_protocols() if each.response}
    standard = next(law for name, law in laws.items() if "SACK" in name)
    fast = next(law for name, law in laws.items() if name.startswith("HighSpeed"))
    # RFC 3649: both have 38 packets at a rate of 1e-3, and HS-TCP has 83,000 at 1e-7.
    for law, rate, pkts in ((standard, 1e-3, 38), (fast, 1e-3, 38), (fast, 1e-7, 83_000)):
        assert law.coefficient / rate**law.exponent == pytest.approx(pkts, rel=0.02)
