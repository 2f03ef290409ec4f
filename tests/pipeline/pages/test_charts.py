"""Charts: their data, scales, words and specifications, and when there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
from tests.data_of import yaml_of
from tests.make import combinations
from tests.pipeline.pages import golden
from tests.pipeline.pages.synthetic import Inputs, swept_of, synthetic_inputs

from bdpbench.contracts.judged import Judged
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import DEFINITIONS, METRICS_SCHEMA
from bdpbench.metrics.groups import over_repetitions
from bdpbench.metrics.series import cumulative_shares
from bdpbench.pages.analysis import MOST_POINTS, Trace, draw
from bdpbench.pages.curves import curves, plan_views, thresholds, time_chart, time_specs
from bdpbench.pages.experiments import experiments
from bdpbench.pages.exports import Charts
from bdpbench.pages.inputs import ReportData, read_captions
from bdpbench.pages.matrix_charts import MatrixGroup, matrix_groups
from bdpbench.pages.names import Names, Sweep, find_sweep
from bdpbench.pages.series import unpack
from bdpbench.pages.sweep_charts import (
    Swept,
    interval_chart,
    sweep_charts,
    sweep_spec,
    tradeoff_chart,
)
from bdpbench.pages.texts import Matrix, StudyPage, read_protocols


def _cases(name: str) -> Any:
    return yaml_of(Path(__file__).with_name(f"{name}.yaml").read_text())


RED = {"min_th_pkts": 15.0, "max_th_pkts": 45.0}


@pytest.mark.parametrize(
    ("table", "runs", "lines"),
    [
        ("queue", [{"buffer_pkts": 40}, {"buffer_pkts": 200}], []),
        # 0.95 · 622 = 590.9
        ("utilization", [{"bottleneck_mbps": 622}], [622.0, 590.9]),
        ("red_average", [RED], [15.0, 45.0]),
        ("red_average", [RED, {}], []),
        ("throughput", [{"bottleneck_mbps": 9, "bottleneck_mbps_changes": "5"}], []),
        ("throughput", [{"bottleneck_mbps": 9, "bottleneck_2_mbps": 5}], []),
    ],
)
def test_thresholds_are_those_that_all_runs_share(
    table: str, runs: Any, lines: list[float]
) -> None:
    """The synthetic study has those of other charts, in golden/charts.txt."""
    captions, given = StudyPage(filled_share=0.95), [{"parameters": each} for each in runs]
    assert [each["v"] for each in thresholds(table, given, read_captions(captions))] == lines
    # A study that fills no path has no line for it.
    assert 590.9 not in [each["v"] for each in thresholds(table, given, read_captions())]


def test_specifications_over_time_are_what_they_were_and_vega_lite() -> None:
    """Each in what differs from those before; altair's schema refuses unknown keys."""
    import altair as alt  # here because it takes half a second

    specs = time_specs(read_captions())
    lines: list[str] = []
    seen: set[str] = set()
    for name, spec in specs.items():
        alt.Root.validate(spec)
        assert "http" not in json.dumps(spec)
        lines += [f"# {name}", *golden.layers_of(spec, seen)]
    golden.compare("specs.txt", "\n".join(lines))
    spec["layer"][0]["encoding"]["x"]["sclae"] = {}
    with pytest.raises(jsonschema.ValidationError, match="sclae"):
        alt.Root.validate(spec)


def test_a_notebook_gets_the_charts_of_a_report_as_altair(inputs: Any) -> None:
    import altair as alt

    charts = Charts(inputs.frozen())
    chart = charts.chart("buffer-size-sweep-utilization")
    assert isinstance(chart, alt.LayerChart)
    # Two protocols at three buffers.
    rows = max(chart.to_dict()["datasets"].values(), key=len)
    assert sorted({(row["series"], row["x"]) for row in rows}) == [
        (series, x) for series in ("HS-TCP", "Scalable TCP") for x in (40, 200, 1555)
    ]
    assert chart.properties(width=400).to_dict()["width"] == 400
    assert "buffer-size-sweep-utilization" in {each.name for each in charts.figures}
    with pytest.raises(BdpbenchError, match="did you mean 'buffer-size-sweep-utilization'"):
        charts.chart("buffer-size-sweep-utilisation")


def test_what_is_read_before_a_report_loads_no_altair() -> None:
    code = "import sys, bdpbench.pages, bdpbench.score; print('altair' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


NAMES = Names({**synthetic_inputs().plan, "runs": []}, read_captions(), [])


def test_views_and_lines_are_what_they_were() -> None:
    lines = []
    for case in _cases("curves"):
        runs: list[Any] = [
            {"run_id": key, "label": f"run {key}", "parameters": {"duration_s": 5, **own}}
            for key, own in case["runs"].items()
        ]
        sweep, table = find_sweep(runs, swept_of(runs)), case.get("table", "cwnd")
        points = {subject: {"t": [0.0], "v": [0.0]} for subject in case.get("subjects", ["flow:0"])}
        lines.append(f"# {case['case']}: {sweep.main} {sweep.others}")
        for view in plan_views(runs, sweep, NAMES):
            series = {run["run_id"]: {table: points} for run in view.runs}
            lines.append(f"  view {view.title}: {' '.join(series)}")
            drawn = curves(view, table, series, sweep, NAMES)
            lines += [f"    {golden.flat(each)}" for each in drawn]
    golden.compare("curves.txt", "\n".join(lines))


def test_a_caption_speaks_of_dashed_lines_only_where_there_are_any() -> None:
    given = {"run_id": "a", "label": "a"}
    runs: Any = [
        {**given, "parameters": {"buffer_pkts": each, "duration_s": 5}} for each in (40, 200)
    ]
    assert "dashed buffer size" in time_chart("one", "queue", runs[:1], [], {}, NAMES).caption
    assert "dashed" not in time_chart("both", "queue", runs, [], {}, NAMES).caption


def test_what_is_unknown_has_the_dashes_of_the_first_and_its_id_for_a_name() -> None:
    assert NAMES.metric("new_metric") == "new metric"
    assert NAMES.dash("unknown") == NAMES.dash("HS") != NAMES.dash("Scalable")


ROW = {"subject": "run", "unit": "%", "start_s": 0.0, "end_s": 30.0, "definition": "any/1"}


def _runs(inputs: Inputs, *cases: dict[str, Any]) -> list[Any]:
    """Runs of one flow with these parameters, None for one that they do not have."""
    first, runs = inputs.plan["runs"][0], []
    for place, case in enumerate(cases):
        given = {**first["parameters"], **case}
        known = {name: value for name, value in given.items() if value is not None}
        runs.append({**first, "run_id": f"{place:016x}", "parameters": known})
    return runs


def _charts(inputs: Inputs, case: Any) -> list[Any]:
    """The charts of a case of sweep_charts.yaml."""
    runs = _runs(inputs, *combinations(case["runs"]))
    given = {"utilization": case["values"], "mean_queueing_delay": case.get("delays", ())}
    rows = [
        {**ROW, "run_id": run["run_id"], "scenario": run["scenario"], "metric": metric}
        | {"value": None if value is None else float(value), "subject": subject}
        for metric, values in given.items()
        for run, value in zip(runs, values, strict=False)
        for subject in case.get("subjects", ["run"])
    ]
    metrics, names = pl.DataFrame(rows), inputs.sections().data.names
    means = over_repetitions(metrics, runs)
    swept = Swept(runs, find_sweep(runs, swept_of(runs)), metrics, names, repetitions=means)
    if "delays" in case:
        return [tradeoff_chart("x", "mean_queueing_delay", "utilization", swept)]
    drawn = [*sweep_charts("x", "utilization", swept)]
    return [*(drawn or [None]), interval_chart("x", "utilization", swept)]


def test_sweeps_show_what_they_showed(inputs: Inputs) -> None:
    lines: list[str] = []
    seen: set[str] = set()
    for case in _cases("sweep_charts"):
        lines.append(f"\n# {case['case']}")
        lines += [str(each and golden.told(each, 3, seen)) for each in _charts(inputs, case)]
    golden.compare("sweeps.txt", "\n".join(lines))


def test_what_follows_from_a_sweep_is_no_sweep(inputs: Inputs) -> None:
    queues = ({"queue": "DropTail"}, {"queue": "RED", "min_th_pkts": 5.0})
    runs = _runs(inputs, *({**each, "rtt_ms": rtt_ms} for each in queues for rtt_ms in (20, 100)))
    assert find_sweep(runs, swept=["rtt_ms", "queue"]).others == ("queue",)


def test_the_number_of_a_case_is_a_name_and_no_axis(inputs: Inputs) -> None:
    """A case of a paper stands for a rate and a buffer: its number orders nothing."""
    names = ("case_number", "bottleneck_mbps", "buffer_pkts", "flows")
    cases = ((1, 1000, 500), (2, 1000, 50), (3, 500, 500), (4, 500, 50))
    values = [(*case, flows) for case in cases for flows in (5, 10, 20)]
    runs = _runs(inputs, *(dict(zip(names, each, strict=True)) for each in values))
    assert find_sweep(runs, names) == Sweep("flows", ("case_number",))
    # Where one parameter alone tells the number, or none does, it stays.
    assert find_sweep(runs, swept=["case_number", "flows"]).main == "case_number"
    at_one_rate = [run for run in runs if run["parameters"]["bottleneck_mbps"] == 500]
    stays = find_sweep(at_one_rate, swept=["buffer_pkts", "case_number"])
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


TITLES: Any = [each.as_document() for each in DEFINITIONS.values()]
GRID: dict[str, Any] = {
    "scenario": "pairs",
    "metric": "total_throughput",
    "rows": {"parameter": "rtt_ms", "title": "RTT"},
    "columns": {"parameter": "buffer_pkts", "title": "buffer"},
}


def _grid(parameters: Mapping[str, list[Any]], alike: Any) -> list[dict[str, Any]]:
    """Runs with all combinations of values; the BDP and the time follow from the RTT."""
    runs = []
    for own in combinations(parameters):
        rtt_ms = own.get("rtt_ms", 10)
        label = ", ".join(f"{name} {value}" for name, value in own.items())
        given = {**own, "bdp_pkts": 5.0 * rtt_ms, "duration_s": 100 + rtt_ms}
        runs.append({"run_id": label, "scenario": "pairs", "label": label, "parameters": given})
    runs[0] |= {"alike": alike} if alike else {}
    return runs


def _groups(inputs: Inputs, case: Mapping[str, Any]) -> list[MatrixGroup]:
    runs, values = _grid(case["runs"], case.get("alike")), case["values"]
    if not isinstance(values, list):
        values = [run["parameters"].get(values, values) for run in runs]
    declared = [Matrix.model_validate({**GRID, **case["matrix"]})] if "matrix" in case else []
    metric = declared[0].metric if declared else "asymmetry"
    rows = [
        (run["run_id"], "pairs", metric, subject, value, "1")
        for run, value in zip(runs, values, strict=False)
        for subject in case.get("subjects", ["run"])
    ]
    names = ("run_id", "scenario", "metric", "subject", "value", "unit")
    schema = {name: METRICS_SCHEMA[name] for name in names}
    plan: Any = {
        "protocols": {key: {"label": f"{key}-TCP", "colour": "#123456"} for key in "AB"},
        "scenarios": {"pairs": {"title": "Pairs", "swept": swept_of(runs)}},
        "runs": runs,
        "parameters": {},
    }
    data = replace(
        inputs.frozen(),
        plan=plan,
        metrics=pl.DataFrame(rows, schema=schema, orient="row"),
        definitions=TITLES,
        run_info=dict.fromkeys(run_id for run_id, *_ in rows),
        study=replace(inputs.study, matrices=declared),
    )
    return matrix_groups(ReportData(data, 200))


def test_matrices_show_what_they_showed(inputs: Inputs) -> None:
    lines: list[str] = []
    seen: set[str] = set()
    for case in _cases("matrix_charts"):
        lines.append(f"\n# {case['case']}")
        for group in _groups(inputs, case):
            lines.append(group.title)
            lines += [golden.told(chart, 3, seen) for chart in group.charts]
    golden.compare("matrices.txt", "\n".join(lines))


_BINS = 2000


def _drawn(values: Any, tables: dict[str, pl.DataFrame]) -> dict[str, Any]:
    """Kind → its chart, and times and values of its only or first line."""
    trace = Trace("a.tr", "wired", 0.0, 20.0, 20.0, 0.01, True, "", pl.DataFrame(), tables, None)
    return {
        chart.chart_id: (chart, *unpack(next(iter(points.values()))))
        for chart, _, points in draw(tables, values, cumulative_shares, [trace])
    }


@pytest.fixture
def tables() -> dict[str, pl.DataFrame]:
    """Bins of 0.01 s; the throughput of the flow alternates between 0 and 10 Mbit/s."""
    values = {
        "mbps": [10.0 * (index % 2) for index in range(_BINS)],
        "delay_ms": [1.0] * _BINS,
        "rtt_ms": [None] * _BINS,
        "delivered_pct": [100.0] * _BINS,
    }
    of = {"subject": ["flow:1"] * _BINS, "time_s": [0.01 * (n + 1) for n in range(_BINS)]}
    others = {"link": ("mbps", "queue_pkts"), "loss": ("drops_per_s",), "node": ("energy_j",)}
    columns = {"subject": pl.String, "time_s": pl.Float64}
    empty = {
        f"{name}_series": pl.DataFrame(schema=columns | dict.fromkeys(own, pl.Float64))
        for name, own in {**others, "alive": ("nodes",)}.items()
    }
    return {"flow_series": pl.DataFrame({**of, **values}).cast({"rtt_ms": pl.Float64}), **empty}


def test_traces_are_drawn_as_they_were(tables: dict[str, pl.DataFrame]) -> None:
    """Narrow bins as means; a step of drops as wide as its bin; gaps where packets are missing."""
    few = {name: table.head(MOST_POINTS) for name, table in tables.items()}
    drops = pl.DataFrame({"subject": ["MAC/COL"], "time_s": [0.05], "drops_per_s": [100.0]})
    mbps = {"0-1": 10.0, "1-2": 5.0, "2-3": 10.0, "3-4": 100.0, "4-5": None}
    links = {
        f"link:{n}": {"link_throughput": 8.0, "link_capacity": each} for n, each in mbps.items()
    }
    rows = [{"subject": each, "time_s": 1.0, "mbps": 8.0, "queue_pkts": 0.0} for each in links]
    flow = {"flow:1": {"throughput": 5.0, "one_way_delay": 1.0}}
    cases: dict[str, tuple[Any, dict[str, pl.DataFrame]]] = {
        "many bins": (flow, tables),
        "few bins": ({"flow:1": {"throughput": 5.0}}, few),
        "drops": ({"MAC/COL": {"drops": 1.0}}, few | {"loss_series": drops}),
        # Each link has its own capacity, and one far above has none.
        "links": (links, {**tables, "link_series": pl.DataFrame(rows)}),
    }
    lines = []
    for name, (values, own) in cases.items():
        for chart, times, found in _drawn(values, own).values():
            lines += [f"# {name}", golden.told(chart)]
            lines.append(f"  {len(times)} points: {golden.flat([times[:4], found[:4]])}")
    golden.compare("traces.txt", "\n".join(lines))


_NO_BARS = pl.DataFrame(
    schema=dict.fromkeys(("x", "lower", "value", "upper", "runs", "series"), pl.Float64)
)


def test_what_a_change_does_is_a_bar_the_largest_first(inputs: Inputs) -> None:
    """Other runs of the same protocol have 80 and 90 %, and 81 %."""
    given = {"scenario": "buffer_size", "metric": "utilization", "alike": ["protocol"]}
    matrix = Matrix.model_validate(
        given | {"rows": {"parameter": "buffer_pkts", "title": "buffer"}}
    )
    study = replace(inputs.frozen().study, matrices=[matrix])
    data = ReportData(replace(inputs.frozen(), study=study), 200)
    (experiment,) = (each for each in experiments(data) if each.key == "buffer_size")
    (chart,) = experiment.summaries
    (rows,) = chart.content["spec"]["datasets"].values()
    changes = [each["mean"] for each in rows]
    assert changes == sorted(changes, key=abs, reverse=True) == [6.0, 5.0, 4.0, -3.0, -2.0, -1.0]
    assert experiment.answer == (chart.finding,)
    assert [each.scenario for each in matrix_groups(data)] == ["pair"]
    with pytest.raises(ValueError, match="has columns"):
        Matrix.model_validate({**given, "alike": [], "rows": {"parameter": "x", "title": "x"}})


@pytest.mark.parametrize(
    ("least", "unit", "is_log"),
    [(0.01, "1", True), (0.5, "1", False), (0.01, "%", False), (0.0, "1", False)],
)
def test_ratios_that_span_decades_have_a_logarithmic_axis(
    least: float, unit: str, is_log: bool
) -> None:
    rows = [(1.0, least, "A", "a", "a"), (2.0, 2.0, "A", "b", "b")]
    measured = pl.DataFrame(rows, schema=["x", "value", "series", "run_id", "run"], orient="row")
    none = pl.DataFrame(schema={"x": pl.Float64, "series": pl.String})
    judged = Judged("nearest", 0.05, 1.0, unit)
    spec = sweep_spec(measured, none, {"A": ("#000000", [1, 0])}, ("x", "y"), _NO_BARS, judged)
    assert ("type" in spec["layer"][0]["encoding"]["y"]["scale"]) == is_log
