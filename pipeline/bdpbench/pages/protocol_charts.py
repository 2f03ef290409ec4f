"""Charts of one protocol: its cwnd, its metrics over sweeps, two of its flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.pages.chart import Chart
from bdpbench.pages.crowds import sweep_chart
from bdpbench.pages.experiments import time_chart
from bdpbench.pages.names import Names
from bdpbench.pages.series import RunSeries
from bdpbench.pages.sweeps import NEUTRAL, find_sweep, grouped, protocols_of
from bdpbench.pages.text import format_number
from bdpbench.pages.verdicts import NumberRow
from bdpbench.pages.views import Curve, View, curves

# Colours for other runs in one chart, in addition to the protocol's own.
_OTHER_COLOURS = (NEUTRAL, "#0f766e", "#a16207")

_RTTS = ("rtt_1_ms", "rtt_2_ms")
# The pair of RTTs to show: the one nearest to this ratio.
_SHOWN_RTT_RATIO = 2.0


def protocol_charts(
    key: str,
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    numbers: Sequence[NumberRow],
    series: Mapping[str, RunSeries],
    names: Names,
) -> Iterator[Chart]:
    """Histories of cwnd, metrics over sweeps, and two flows, where the protocol is alone."""
    alone = [run for run in runs if protocols_of(run) == (key,)]
    scenarios = grouped(alone, lambda run: run["scenario"])
    histories = [
        run
        for scenario, group in scenarios.items()
        if not find_sweep(group, swept=names.swept(scenario)).main
        for run in group
    ]
    for index, group in enumerate(grouped(histories, _path).values()):
        yield from _history(f"protocol-{key}-cwnd-{index}", key, group, series, names)
    for scenario, group in grouped(runs, lambda run: run["scenario"]).items():
        yield from _sweeps(f"protocol-{key}-{scenario}", group, metrics, numbers, names)
    yield from _two_flows(f"protocol-{key}-throughput", runs, series, names)


def _path(run: PlannedRun) -> tuple[Scalar | None, ...]:
    parameters = run["parameters"]
    return tuple(parameters.get(name) for name in ("bottleneck_mbps", "rtt_ms", "buffer_pkts"))


def _history(
    chart_id: str,
    key: str,
    runs: Sequence[PlannedRun],
    series: Mapping[str, RunSeries],
    names: Names,
) -> Iterator[Chart]:
    """Histories of cwnd of runs that differ only in what their scenarios do."""
    colours = (names.protocols[key]["colour"], *_OTHER_COLOURS)
    lines = [
        Curve(run["run_id"], subject, _scenario_label(run, runs, names), colour, names.dash(key))
        for run, colour in zip(runs, colours, strict=False)
        for subject in series[run["run_id"]].get("cwnd", {})
    ]
    if lines:
        shown = [run for run in runs if run["run_id"] in {line.run_id for line in lines}]
        path = names.parameters.value(
            "bottleneck_mbps", runs[0]["parameters"].get("bottleneck_mbps", "")
        )
        chart = time_chart(chart_id, "cwnd", shown, lines, names)
        yield replace(chart, title=f"{chart.title}, {path}")


def _scenario_label(run: PlannedRun, runs: Sequence[PlannedRun], names: Names) -> str:
    """The scenario, and the run's own label if the scenario has several of ``runs``."""
    title = names.scenario(run["scenario"])
    alike = [each for each in runs if each["scenario"] == run["scenario"]]
    return title if len(alike) == 1 else f"{title}: {run['label']}"


def _sweeps(
    prefix: str,
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    numbers: Sequence[NumberRow],
    names: Names,
) -> Iterator[Chart]:
    """The metrics that ``captions.yaml`` names for the parameter that the runs sweep."""
    sweep = find_sweep(runs, swept=names.swept(runs[0]["scenario"]))
    own = [row.number for row in numbers if row.number["scenario"] == runs[0]["scenario"]]
    for metric in names.captions.protocol_sweeps.get(sweep.main, ()):
        chart = sweep_chart(f"{prefix}-{metric}", metric, runs, sweep, metrics, own, names)
        if chart is not None:
            yield chart


def _two_flows(
    chart_id: str, runs: Sequence[PlannedRun], series: Mapping[str, RunSeries], names: Names
) -> Iterator[Chart]:
    """Throughput of two flows of the protocol, one with about twice the other's RTT."""
    unequal = [run for run in runs if _rtt_ratio(run) is not None]
    if not unequal:
        return
    run = min(unequal, key=lambda run: abs((_rtt_ratio(run) or 0.0) - _SHOWN_RTT_RATIO))
    view = View("", (run,), "protocol")
    lines = curves(view, "throughput", series, names.protocols, find_sweep([run]), names.parameters)
    if lines:
        parameters = run["parameters"]
        rtts = " : ".join(format_number(float(parameters[name])) for name in _RTTS)
        chart = time_chart(chart_id, "throughput", [run], lines, names)
        yield replace(chart, title=f"{chart.title}, RTTs {rtts} ms")


def _rtt_ratio(run: PlannedRun) -> float | None:
    """Ratio of the RTT of the first flow to that of the second; None if there is only one."""
    first, second = (float(run["parameters"].get(name, 0)) for name in _RTTS)
    return first / second if first and second else None
