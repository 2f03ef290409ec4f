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
from tests.pipeline.pages.synthetic import Inputs

from bdpbench.errors import BdpbenchError
from bdpbench.metrics import DEFINITIONS, METRICS_SCHEMA
from bdpbench.metrics.groups import over_repetitions
from bdpbench.pages.analysis import samples_spec
from bdpbench.pages.curves import curves, plan_views, thresholds, time_chart, time_specs
from bdpbench.pages.exports import Charts
from bdpbench.pages.inputs import ReportData, read_captions
from bdpbench.pages.matrices import Matrix
from bdpbench.pages.matrix_charts import MatrixGroup, matrix_groups
from bdpbench.pages.names import Names, Sweep, find_sweep
from bdpbench.pages.sweep_charts import Swept, interval_chart, sweep_chart, tradeoff_chart
from bdpbench.pages.texts import StudyPage, read_protocols


def _cases(name: str) -> Any:
    return yaml_of(Path(__file__).with_name(f"{name}.yaml").read_text())


CDF = {"min_th_pkts": 15.0, "max_th_pkts": 45.0}


@pytest.mark.parametrize(
    ("table", "runs", "filled", "lines"),
    [
        # 0.9 · 7,775 = 6,997.5 packets (sharma2006, section 4.7.1), which all runs share.
        ("cwnd", [{"bdp_pkts": 7775.0}] * 2, 0.9, {6997.5: "90 % of the BDP, 6,997.5 packets"}),
        ("cwnd", [{"bdp_pkts": 7775.0}], None, {}),  # a study that fills no path
        ("queue", [{"buffer_pkts": 40}, {"buffer_pkts": 200}], 0.9, {}),
        ("sequence", [{"bottleneck_mbps": 622}], 0.9, {}),
        # 0.95 · 622 = 590.9
        (
            "utilization",
            [{"bottleneck_mbps": 622}],
            0.95,
            {622.0: "capacity, 622 Mbit/s", 590.9: "95 % of capacity, 590.9 Mbit/s"},
        ),
        ("utilization", [{"bottleneck_mbps": 622}], None, {622.0: "capacity, 622 Mbit/s"}),
        (
            "red_average",
            [CDF],
            None,
            {15.0: "lower threshold, 15 packets", 45.0: "upper threshold, 45 packets"},
        ),
        ("red_average", [CDF, {}], None, {}),
        ("throughput", [{"bottleneck_mbps": 9, "bottleneck_mbps_changes": "5"}], None, {}),
        ("throughput", [{"bottleneck_mbps": 9, "bottleneck_2_mbps": 5}], None, {}),
    ],
)
def test_thresholds_are_those_that_all_runs_share(
    table: str, runs: Any, filled: float | None, lines: dict[float, str]
) -> None:
    captions = read_captions(StudyPage(filled_share=filled))
    found = thresholds(table, [{"parameters": each} for each in runs], captions)
    assert {each["v"]: each["label"] for each in found} == lines


def test_specifications_over_time_are_what_they_were_and_vega_lite() -> None:
    """Each in what differs from those before; altair's schema refuses unknown keys."""
    import altair as alt  # here because it takes half a second

    specs = {**time_specs(read_captions()), "samples": samples_spec("cwnd_", has_phases=True)}
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


PROTOCOLS = {
    "HS": {"label": "HS-TCP", "colour": "#0000ff"},
    "Scalable": {"label": "Scalable TCP", "colour": "#ff0000"},
}
PLAN: Any = {"protocols": PROTOCOLS, "parameters": {}, "scenarios": {}, "runs": []}
NAMES = Names(PLAN, read_captions(), [])


def test_views_and_lines_are_what_they_were() -> None:
    lines = []
    for case in _cases("curves"):
        runs: list[Any] = [
            {"run_id": key, "label": f"run {key}", "parameters": {"duration_s": 5, **own}}
            for key, own in case["runs"].items()
        ]
        sweep, table = find_sweep(runs), case.get("table", "cwnd")
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


def test_an_unknown_protocol_has_the_dashes_of_the_first() -> None:
    assert NAMES.dash("unknown") == NAMES.dash("HS") != NAMES.dash("Scalable")


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
    for case in _cases("sweep_charts"):
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
        "scenarios": {"pairs": {"title": "Pairs"}},
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
            lines.append(f"{group.title}: {group.finished} of {group.planned}")
            lines += [golden.told(chart, 3, seen) for chart in group.charts]
    golden.compare("matrices.txt", "\n".join(lines))
