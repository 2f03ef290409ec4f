"""The page of one packet trace: existing measurements, written into one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bdpbench import __version__
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.runs import Definition
from bdpbench.pages.analysis_charts import (
    KINDS,
    Line,
    Shares,
    chart_of,
    chart_specs,
    grid_of,
    lines_of,
)
from bdpbench.pages.assets import read_asset
from bdpbench.pages.chart import Chart
from bdpbench.pages.embed import embed_json, embed_text, vega_bundle
from bdpbench.pages.packing import Packed
from bdpbench.pages.templates import page_environment
from bdpbench.pages.text import format_number
from bdpbench.units import addresses_of, slug

MOST_ROWS = 500
"""Most rows of a table on the page; the other formats have all rows."""

_RUN = "trace"  # the name under which the page's script finds the series
SHARES = frozenset(
    {
        "packet_loss_rate",
        "packet_delivery_ratio",
        "receiver_delivery_ratio",
        "total_packet_loss_rate",
        "total_packet_delivery_ratio",
        "slow_start_loss_rate",
        "retransmission_rate",
        "link_loss_rate",
        "link_utilization",
    }
)
"""Metrics that are shown in %."""

_FLOW_COLUMNS = (
    "throughput",
    "goodput",
    "packet_loss_rate",
    "packet_delivery_ratio",
    "retransmissions",
    "one_way_delay",
    "max_one_way_delay",
    "delay_variation",
    "jitter",
    "mean_jitter",
    "rtt",
    "max_rtt",
    "max_min_share",
)
_START_COLUMNS = (
    "lifetime_throughput",
    "response_time",
    "slow_start_duration",
    "slow_start_loss_rate",
    "time_to_90pct_throughput",
    "throughput_recovery_time",
    "sending_goodput",
    "normalised_goodput",
    "retransmission_rate",
    "tcp_friendliness",
)
_PATH_COLUMNS = ("hop_count", "path_length", "route_changes", "longest_gap")
_RECEIVER_COLUMNS = (
    "receiver_throughput",
    "receiver_delivery_ratio",
    "receiver_delay",
    "receiver_max_delay",
)
_NODE_COLUMNS = ("node_sent", "node_received", "node_forwarded", "node_dropped")
_ENERGY_COLUMNS = ("remaining_energy", "spent_energy")
_LINK_COLUMNS = (
    "link_capacity",
    "link_throughput",
    "link_utilization",
    "link_loss_rate",
    "mean_queue_length",
    "max_queue_length",
    "queueing_delay",
    "max_queueing_delay",
)


@dataclass(frozen=True)
class TracePage:
    """What the page shows.

    Attributes:
        name: name of the trace.
        trace_format: forms of its lines.
        start_s, end_s: the window, s.
        last_s: time of the last event, s.
        bin_s: width of the bins of the series, s.
        whole: whether the window is the trace's own.
        metrics: metric, subject, value, unit: a row for each metric and subject.
        tables: flows (subject, kind, type, ends, counts), flow_series, link_series, loss_series,
            node_series (subject, time_s and values), losses (layer, reason, type, dropped_pkts,
            dropped_bytes).
        definitions: ``id``, ``metric``, ``unit``, ``text``, ``source`` of every metric shown.
        account: account of the lines: lines, parsed, forms, skipped, first_skipped, cut, backwards,
            complete.
        shares: returns the distribution of samples.
    """

    name: str
    trace_format: str
    start_s: float
    end_s: float
    last_s: float
    bin_s: float
    whole: bool
    metrics: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    definitions: Sequence[Definition]
    account: Mapping[str, object]
    shares: Shares


@dataclass(frozen=True)
class Table:
    """One table: a caption, the metrics in its columns, and its rows.

    ``kind`` heads the first column; ``heads`` are (metric, name, unit); ``rows`` are (name, about,
    cells), a cell being a number for reading and the same with all digits; ``hidden`` is the number
    of rows that are left out.
    """

    caption: str
    kind: str
    heads: Sequence[tuple[str, str, str]]
    rows: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]
    hidden: int


def build_trace_page(page: TracePage, out: Path) -> None:
    """Write the page of a trace: one HTML file that opens offline.

    It computes no number. Equal inputs give equal bytes.

    Args:
        page: what to show.
        out: file to write, atomically.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    values = values_by_subject(page.metrics)
    lines = lines_of(page.tables, values, label_of, page.shares)
    bins = grid_of(page.tables).height
    charts = [
        chart
        for kind in KINDS
        if (chart := chart_of(kind, lines, page.start_s, page.end_s, page.bin_s, bins)) is not None
    ]
    content = {
        "page": page,
        "version": __version__,
        "html_name": slug(page.name)[:60] or "trace",
        "charts": charts,
        "tables": _tables(page, values),
        "others": page.tables["flows"].filter(pl.col("kind") != "data").head(MOST_ROWS).to_dicts(),
        "losses": page.tables["losses"].head(MOST_ROWS).to_dicts(),
        "together": _together(values, _units(page)),
        "definitions": page.definitions,
        "definition_ids": {each["metric"]: each["id"] for each in page.definitions},
        "metric_name": metric_name,
        "address": _addresses(page),
        "number": format_number,
        **embedded(charts, lines),
    }
    template = page_environment().get_template("analysis.html")
    write_text_atomically(out, template.render(content))


def metric_name(metric: str) -> str:
    """A metric in words; node and receiver are omitted, because the heading names them.

    >>> metric_name("max_rtt"), metric_name("one_way_delay"), metric_name("tcp_friendliness")
    ('max. RTT', 'one-way delay', 'TCP friendliness')
    """
    words = (
        metric.replace("one_way", "one-way").replace("90pct", "90 %").replace("max_min", "max-min")
    )
    named = {"rtt": "RTT", "tcp": "TCP", "max": "max."}
    return " ".join(named.get(word, word) for word in words.split("_"))


def values_by_subject(metrics: pl.DataFrame) -> dict[str, dict[str, float | None]]:
    """Subject → metric → value, subjects in order."""
    found: dict[str, dict[str, float | None]] = {}
    for metric, subject, value in metrics.select("metric", "subject", "value").iter_rows():
        found.setdefault(subject, {})[metric] = value
    return found


def label_of(subject: str) -> str:
    """A subject for readers: flow 1, link 0–1."""
    kind, _, name = subject.partition(":")
    return f"{kind} {name}"


def _units(page: TracePage) -> dict[str, str]:
    return dict(page.metrics.select("metric", "unit").unique().iter_rows())


def _addresses(page: TracePage) -> Callable[[int | None], str]:
    flows = page.tables["flows"]
    return addresses_of([*flows["src_node"], *flows["dst_node"]])


def _tables(page: TracePage, values: Mapping[str, Mapping[str, float | None]]) -> list[Table]:
    address = _addresses(page)
    rows = page.tables["flows"].select("subject", "type", "src_node", "dst_node").iter_rows()
    about = {
        subject: f"{kind or '–'}, {address(start)} to {address(end)}"
        for subject, kind, start, end in rows
    }
    units = _units(page)
    wanted = (
        ("Flows", "flow", _FLOW_COLUMNS),
        ("Flows: start, recovery, shares", "flow", _START_COLUMNS),
        ("Flows: paths", "flow", _PATH_COLUMNS),
        ("Receivers of a group or of all", "receiver", _RECEIVER_COLUMNS),
        ("Links", "link", _LINK_COLUMNS),
        ("Nodes: packets at each layer", "node", _NODE_COLUMNS),
        ("Nodes: energy", "node", _ENERGY_COLUMNS),
    )
    return [
        table
        for caption, kind, columns in wanted
        if (table := _table(caption, kind, columns, values, units, about)) is not None
    ]


def _table(
    caption: str,
    kind: str,
    columns: Sequence[str],
    values: Mapping[str, Mapping[str, float | None]],
    units: Mapping[str, str],
    about: Mapping[str, str],
) -> Table | None:
    shown = [metric for metric in columns if metric in units]
    subjects = [
        each
        for each, own in values.items()
        if each.startswith(f"{kind}:") and not own.keys().isdisjoint(shown)
    ]
    if not shown or not subjects:
        return None
    heads = [
        (metric, metric_name(metric), "%" if metric in SHARES else unit_shown(units[metric]))
        for metric in shown
    ]
    rows = [
        (
            subject.partition(":")[2],
            about.get(subject, ""),
            [_cell(metric, values[subject].get(metric)) for metric in shown],
        )
        for subject in subjects[:MOST_ROWS]
    ]
    return Table(caption, kind.capitalize(), heads, rows, max(0, len(subjects) - MOST_ROWS))


def unit_shown(unit: str) -> str:
    """A unit after a number; empty for a ratio."""
    return "" if unit == "1" else unit


def _cell(metric: str, value: float | None) -> tuple[str, str]:
    if value is None:
        return format_number(None), ""
    return format_number(100 * value if metric in SHARES else value), repr(value)


def _together(
    values: Mapping[str, Mapping[str, float | None]], units: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """Metrics of all flows together: metric, name, value with unit."""
    return [
        (metric, metric_name(metric), _with_unit(metric, value, units[metric]))
        for metric, value in values.get("trace", {}).items()
    ]


def _with_unit(metric: str, value: float | None, unit: str) -> str:
    """A value with its unit, or a dash."""
    shown = "%" if metric in SHARES else unit_shown(unit)
    return _cell(metric, value)[0] if value is None else f"{_cell(metric, value)[0]} {shown}"


def embedded(charts: Sequence[Chart], lines: Mapping[str, Sequence[Line]]) -> dict[str, object]:
    """Style sheet, scripts and data, ready to be placed inside their elements."""
    series: dict[str, dict[str, Packed]] = {
        kind: {line.subject: line.points for line in each} for kind, each in lines.items() if each
    }
    store = {
        "time": chart_specs(),
        "charts": {chart.chart_id: chart.content for chart in charts},
    }
    return {
        "style": embed_text(read_asset("static/report.css"), "reports/static/report.css"),
        "script": embed_text(read_asset("static/report.js"), "reports/static/report.js"),
        "vega": embed_text(vega_bundle(), "the Vega bundle"),
        "chart_data": embed_json(store),
        "series": embed_json(series),
    }
