"""Pages of packet traces, one or several side by side: existing measurements in one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import polars as pl

from bdpbench import __version__
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.runs import Definition
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.pages.curves import curve, line_spec, settled
from bdpbench.pages.html import embedded, page_environment
from bdpbench.pages.series import Packed, embed_json, pack, thinned_shares, unpack
from bdpbench.pages.specs import Chart, Spec, Threshold, TimeContent
from bdpbench.pages.text import assets_dir, format_number
from bdpbench.units import addresses_of, axis_title, several, slug

Shares: TypeAlias = Callable[[pl.Series], pl.DataFrame]
"""Samples → their values in ascending order, and the % of the samples up to each."""

Values: TypeAlias = Mapping[str, Mapping[str, float | None]]
"""Subject → metric → value, subjects in order."""

MOST_ROWS = 500
"""Most rows of a table on the page; the other formats have all rows."""

MOST_LINES = 8
"""Most lines of a chart: more cannot be told apart."""

_FAR_ABOVE = 4
"""A capacity that many times as high as all that is drawn would press the lines flat."""

MOST_POINTS = 500
"""Most points of a line: as many bins as a chart can show. If there are more, their means are
drawn."""

# Colours that colour-blind readers can distinguish (after Okabe and Ito), dark enough on white.
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#aa3377",
    "#8c6d00",
    "#4b4b4b",
    "#56a5d8",
    "#b8480f",
)

SHARES = frozenset(
    {
        "packet_loss_rate",
        "packet_delivery_ratio",
        "receiver_delivery_ratio",
        "total_packet_loss_rate",
        "total_packet_delivery_ratio",
        "type_delivery_ratio",
        "slow_start_loss_rate",
        "retransmission_rate",
        "link_loss_rate",
        "link_utilization",
    }
)
"""Metrics that are shown in %."""

# Caption, subjects of the rows, and metrics in the columns of the tables about one trace.
_TABLES: tuple[tuple[str, str, str], ...] = (
    (
        "Flows",
        "flow",
        "throughput goodput packet_loss_rate packet_delivery_ratio retransmissions one_way_delay "
        "max_one_way_delay delay_variation jitter mean_jitter rtt max_rtt max_min_share",
    ),
    (
        "Flows: start, recovery, shares",
        "flow",
        "lifetime_throughput response_time slow_start_duration slow_start_loss_rate "
        "time_to_90pct_throughput throughput_recovery_time sending_goodput normalised_goodput "
        "retransmission_rate tcp_friendliness",
    ),
    ("Flows: paths", "flow", "hop_count path_length route_changes longest_gap"),
    (
        "Receivers of a group or of all",
        "receiver",
        "receiver_throughput receiver_delivery_ratio receiver_delay receiver_max_delay",
    ),
    (
        "Links",
        "link",
        "link_capacity link_throughput link_utilization link_loss_rate mean_queue_length "
        "max_queue_length queueing_delay max_queueing_delay",
    ),
    (
        "Types of packets, at their ends and at each layer of wireless nodes",
        "type",
        "type_sent type_received type_received_bytes type_forwarded type_dropped "
        "type_delivery_ratio type_delay type_hop_count type_routing_load",
    ),
    (
        "Nodes: packets at each layer",
        "node",
        "node_sent node_received node_forwarded node_dropped",
    ),
    ("Nodes: energy", "node", "remaining_energy spent_energy depletion_time"),
)

# Caption and subjects of the tables that compare traces.
_GROUPS = (
    ("Whole traces", "trace"),
    ("Flows", "flow"),
    ("Receivers of a group or of all", "receiver"),
    ("Links", "link"),
    ("Types of packets", "type"),
    ("Nodes", "node"),
    ("Drops", "drops"),
)


@dataclass(frozen=True)
class Kind:
    """One kind of chart, whose words are ``traces`` of ``reports/captions.yaml``.

    ``table`` and ``column`` contain its values. ``ranks`` are metrics; the first that any subject
    has decides which subjects get a line. ``gaps`` is the value of a bin without a row, None for
    none; ``breaks`` says whether the line breaks there. ``shares`` draws the distribution of the
    values over the bins instead of their course.
    """

    key: str
    table: str
    column: str
    unit: str
    ranks: tuple[str, ...]
    gaps: float | None = None
    shares: bool = False
    breaks: bool = False


KINDS = (
    Kind("throughput", "flow_series", "mbps", "Mbit/s", ("throughput",), 0.0),
    Kind("delay", "flow_series", "delay_ms", "ms", ("one_way_delay",), breaks=True),
    Kind("drops", "loss_series", "drops_per_s", "packets/s", ("drops",), 0.0),
    Kind("mean_queue", "link_series", "queue_pkts", "packets", ("mean_queue_length",)),
    Kind(
        "utilization",
        "link_series",
        "mbps",
        "Mbit/s",
        ("link_utilization", "link_throughput"),
        0.0,
    ),
    Kind("rtt", "flow_series", "rtt_ms", "ms", ("rtt",), breaks=True),
    Kind("delivered", "flow_series", "delivered_pct", "%", ("throughput",), breaks=True),
    Kind("energy", "node_series", "energy_j", "J", ("spent_energy",)),
    Kind("alive", "alive_series", "nodes", "nodes", ("total_spent_energy",)),
    Kind("throughput_share", "flow_series", "mbps", "Mbit/s", ("throughput",), 0.0, shares=True),
    Kind("delay_share", "flow_series", "delay_ms", "ms", ("one_way_delay",), shares=True),
)
"""The charts of a page, in order."""


@dataclass(frozen=True)
class Trace:
    """What a page shows of one trace.

    Attributes:
        name: name of its source.
        trace_format: forms of its lines.
        start_s, end_s: the window, s.
        last_s: time of the last event, s.
        bin_s: width of the bins of the series, s.
        whole: whether the window is the trace's own.
        answer: what happened, in a sentence.
        metrics: metric, subject, value, unit: a row for each metric and subject.
        tables: flows (subject, kind, type, ends, counts), flow_series, link_series, loss_series,
            node_series, alive_series (subject, time_s and values), losses (layer, reason, type,
            dropped_pkts, dropped_bytes).
        account: account of the lines: lines, parsed, forms, skipped, first_skipped, cut, backwards,
            complete.
        label: its name on a page of several traces.
    """

    name: str
    trace_format: str
    start_s: float
    end_s: float
    last_s: float
    bin_s: float
    whole: bool
    answer: str
    metrics: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    account: object
    label: str = ""


@dataclass(frozen=True)
class Line:
    """One line of a chart."""

    subject: str
    label: str
    points: Packed
    capacity_mbps: float | None


@dataclass(frozen=True)
class Table:
    """One table of values: of one trace, or of several side by side.

    ``heads`` are (metric, name, unit), the metric "" for a column of a trace; ``rows`` are (name,
    metric, about, cells), the metric "" where the columns name theirs, and a cell being a number
    for reading and the same with all digits; ``hidden`` is the number of rows that are left out.
    """

    caption: str
    kind: str
    heads: Sequence[tuple[str, str, str]]
    rows: Sequence[tuple[str, str, str, Sequence[tuple[str, str]]]]
    hidden: int


def build_page(
    traces: Sequence[Trace],
    rows: pl.DataFrame,
    definitions: Sequence[Definition],
    shares: Shares,
    out: Path,
) -> None:
    """Write the page of a trace, or of several: one HTML file that opens offline.

    It computes no number. Equal inputs give equal bytes.

    Args:
        traces: the traces; if there are several, each has a label, and the others are compared
            with the first.
        rows: of several traces a row for each metric, subject and label, in the order of the
            traces: value, unit, difference and difference_pct (%) from the first trace.
        definitions: definitions of every metric shown.
        shares: returns the distribution of samples.
        out: file to write, atomically.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    labels = [each.label for each in traces if each.label]
    first, name = traces[0], " ".join(labels) or traces[0].name
    content: dict[str, object] = {
        "version": __version__,
        "definitions": definitions,
        "definition_ids": {each["metric"]: each["id"] for each in definitions},
        "metric_name": metric_name,
        "number": format_number,
        "several": several,
        "labels": labels,
        "traces": traces,
        "html_name": slug(name)[:60] or "trace",
        **embedded(),
    }
    if labels:
        tables = {
            kind.table: pl.concat([_labelled(e.tables[kind.table], e.label) for e in traces])
            for kind in KINDS
        }
        metrics = pl.concat([_labelled(each.metrics, each.label) for each in traces])
        content |= {
            "title": ", ".join(labels),
            "tables": _compared(rows, labels),
            **_drawn(tables, values_by_subject(metrics), _label, shares, traces),
        }
    else:
        values, flows = values_by_subject(first.metrics), first.tables["flows"]
        address = addresses_of([*flows["src_node"], *flows["dst_node"]])
        units = dict(first.metrics.select("metric", "unit").unique().iter_rows())
        content |= {
            "page": first,
            "title": ", ".join(Path(each).name for each in first.name.split(", ")),
            "tables": _tables(flows, values, units, address),
            "others": flows.filter(pl.col("kind") != "data").head(MOST_ROWS).to_dicts(),
            "losses": first.tables["losses"].head(MOST_ROWS).to_dicts(),
            "together": [
                (metric, metric_name(metric), _with_unit(metric, value, units[metric]))
                for metric, value in values.get("trace", {}).items()
            ],
            "address": address,
            **_drawn(first.tables, values, label_of, shares, traces),
        }
    template = "analysis_comparison.html" if labels else "analysis.html"
    write_text_atomically(out, page_environment().get_template(template).render(content))


def _drawn(
    tables: Mapping[str, pl.DataFrame],
    values: Values,
    label: Callable[[str], str],
    shares: Shares,
    traces: Sequence[Trace],
) -> dict[str, object]:
    """The charts of a page, and their data."""
    lines, bins = lines_of(tables, values, label, shares), grid_of(tables).height
    colours = _colours(lines)
    start_s, end_s = min(each.start_s for each in traces), max(each.end_s for each in traces)
    words, bin_s = _words(), traces[0].bin_s
    charts = [
        chart_of(kind, lines[kind.key], words[kind.key], (start_s, end_s), bin_s, bins, colours)
        for kind in KINDS
        if lines[kind.key]
    ]
    series = {
        kind: {line.subject: line.points for line in each} for kind, each in lines.items() if each
    }
    store = {
        "time": chart_specs(words),
        "charts": {chart.chart_id: chart.content for chart in charts},
    }
    return {"charts": charts, "chart_data": embed_json(store), "series": embed_json(series)}


def _colours(lines: Mapping[str, Sequence[Line]]) -> dict[tuple[str, str], str]:
    """Kind and subject → colour: that of the first chart in all charts where no other has it."""
    first: dict[str, str] = {}
    found: dict[tuple[str, str], str] = {}
    for kind, each in lines.items():
        own: dict[str, str] = {}
        for subject in sorted((line.subject for line in each), key=lambda name: name not in first):
            free = [colour for colour in COLOURS if colour not in own.values()]
            colour = first.get(subject, free[0])
            own[subject] = colour if colour in free else free[0]
            first.setdefault(subject, own[subject])
        found |= {(kind, subject): colour for subject, colour in own.items()}
    return found


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


def values_by_subject(metrics: pl.DataFrame) -> Values:
    """Subject → metric → value, subjects in order."""
    found: dict[str, dict[str, float | None]] = {}
    for metric, subject, value in metrics.select("metric", "subject", "value").iter_rows():
        found.setdefault(subject, {})[metric] = value
    return found


def label_of(subject: str) -> str:
    """A subject for readers: flow 1, link 0–1."""
    kind, _, name = subject.partition(":")
    return f"{kind} {name}"


def _labelled(rows: pl.DataFrame, label: str) -> pl.DataFrame:
    """Rows whose subjects include the trace: flow:1 of the trace old is flow:old: 1."""
    kind = pl.col("subject").str.extract("^([^:]*)")
    rest = pl.col("subject").str.replace("^[^:]*:?", "")
    return rows.with_columns(subject=kind + pl.lit(f":{label}: ") + rest)


def _label(subject: str) -> str:
    """A labelled subject for readers: old: flow 1."""
    kind, label, name = subject.split(":", 2)
    return f"{label}: {label_of(f'{kind}:{name.strip()}')}"


def _tables(
    flows: pl.DataFrame,
    values: Values,
    units: Mapping[str, str],
    address: Callable[[int | None], str],
) -> list[Table]:
    """The tables of one trace, with a metric in each column."""
    about = {
        subject: f"{kind or '–'}, {address(start)} to {address(end)}"
        for subject, kind, start, end in flows.select(
            "subject", "type", "src_node", "dst_node"
        ).iter_rows()
    }
    found = []
    for caption, kind, columns in _TABLES:
        shown = [each for each in columns.split() if each in units]
        subjects = [
            each
            for each, own in values.items()
            if each.startswith(f"{kind}:") and not own.keys().isdisjoint(shown)
        ]
        rows = [
            (
                subject.partition(":")[2],
                "",
                about.get(subject, ""),
                [_cell(metric, values[subject].get(metric)) for metric in shown],
            )
            for subject in subjects[:MOST_ROWS]
        ]
        heads = [(each, metric_name(each), _unit_shown(each, units[each])) for each in shown]
        if rows:
            hidden = max(0, len(subjects) - MOST_ROWS)
            found.append(Table(caption, kind.capitalize(), heads, rows, hidden))
    return found


def _unit_shown(metric: str, unit: str) -> str:
    """The unit in which a metric is shown; empty for a ratio."""
    return "%" if metric in SHARES else "" if unit == "1" else unit


def _cell(metric: str, value: float | None) -> tuple[str, str]:
    if value is None:
        return format_number(None), ""
    return format_number(100 * value if metric in SHARES else value), repr(value)


def _with_unit(metric: str, value: float | None, unit: str) -> str:
    """A value with its unit, or a dash."""
    text = _cell(metric, value)[0]
    return text if value is None else f"{text} {_unit_shown(metric, unit)}"


def _compared(rows: pl.DataFrame, labels: Sequence[str]) -> list[Table]:
    """The tables of several traces: their values, and differences from those of the first."""
    heads = [("", label, "") for label in labels]
    for label in labels[1:]:
        heads += [("", f"{label} − {labels[0]}", ""), ("", "", "%")]
    kind, found = pl.col("subject").str.extract("^([^:]*)"), []
    for caption, wanted in _GROUPS:
        parts = rows.filter(kind == wanted).partition_by("subject", "metric", maintain_order=True)
        if parts:
            shown = [_compared_row(each) for each in parts[:MOST_ROWS]]
            found.append(Table(caption, "Of", heads, shown, max(0, len(parts) - MOST_ROWS)))
    return found


def _compared_row(rows: pl.DataFrame) -> tuple[str, str, str, Sequence[tuple[str, str]]]:
    metric, unit = rows["metric"][0], rows["unit"][0]
    cells = [_cell(metric, value) for value in rows["value"]]
    for change, share in rows.select("difference", "difference_pct").tail(-1).iter_rows():
        cells += [
            _cell(metric, change),
            (format_number(share), "" if share is None else repr(share)),
        ]
    return label_of(rows["subject"][0]).strip(), metric, _unit_shown(metric, unit), cells


def _words() -> dict[str, dict[str, str]]:
    """Kind of chart → title, quantity and caption."""
    words: dict[str, dict[str, str]] = YamlFile(assets_dir() / "captions.yaml").data["traces"]
    return words


def chart_specs(words: Mapping[str, Mapping[str, str]]) -> dict[str, Spec]:
    """Kind → its specification, which the page's script fills with samples."""
    found = {}
    for kind in KINDS:
        quantity = axis_title(words[kind.key]["quantity"], kind.unit)
        if kind.shares:
            found[kind.key] = line_spec(quantity, "share of the bins (%)", "step-after")
        else:
            found[kind.key] = line_spec(
                "time (s)", quantity, "linear" if kind.gaps is None else "step-before"
            )
        if kind.breaks:
            found[kind.key]["layer"][0]["mark"]["strokeCap"] = "round"  # shows lone points
    return found


def lines_of(
    tables: Mapping[str, pl.DataFrame], values: Values, label: Callable[[str], str], shares: Shares
) -> dict[str, list[Line]]:
    """Kind → its lines.

    Args:
        tables: flow_series, link_series, loss_series, node_series and alive_series: subject,
            time_s (f64, s, end of the bin), values.
        values: subject → metric → value, for the subjects to show.
        label: a subject in words.
        shares: returns the distribution of samples.
    """
    times = grid_of(tables)
    found: dict[str, list[Line]] = {kind.key: [] for kind in KINDS}
    for kind in KINDS:
        for subject in _chosen(kind, values):
            own = tables[kind.table].filter(pl.col("subject") == subject)
            points = _points(kind, own, times)
            if points.height:
                if kind.shares:
                    points = thinned_shares(shares(points[kind.column]))
                packed = pack(*(points[column].to_list() for column in points.columns))
                capacity_mbps = values[subject].get("link_capacity")
                found[kind.key].append(Line(subject, label(subject), packed, capacity_mbps))
    return found


def grid_of(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The bins of all series: time_s (f64, s, end of the bin), and the point that shows each.

    >>> frames = dict.fromkeys({kind.table for kind in KINDS}, pl.DataFrame({"time_s": [0.5, 1.0]}))
    >>> grid_of(frames).rows()
    [(0.5, 0), (1.0, 1)]
    """
    names = sorted({kind.table for kind in KINDS})
    times = pl.concat([tables[name]["time_s"] for name in names]).unique().sort()
    width = bins_a_point(times.len())
    return times.to_frame().with_columns(point=pl.int_range(pl.len()) // width)


def bins_a_point(bins: int) -> int:
    """How many bins a point of a line represents.

    >>> bins_a_point(500), bins_a_point(1000), bins_a_point(1001)
    (1, 1, 3)
    """
    # Twice as many can still be told apart; means of two bins would hide more than they clarify.
    return 1 if bins <= 2 * MOST_POINTS else -(-bins // MOST_POINTS)


def _chosen(kind: Kind, values: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    """The subjects that get a line, in order."""
    for metric in kind.ranks:
        ranked = {subject: each.get(metric) or 0.0 for subject, each in values.items()}
        largest = sorted(ranked, key=lambda each: -ranked[each])[:MOST_LINES]
        chosen = [each for each in values if each in largest and ranked[each] > 0]
        if chosen:
            return chosen
    return []


def _points(kind: Kind, own: pl.DataFrame, times: pl.DataFrame) -> pl.DataFrame:
    own = own.select("time_s", kind.column)
    if kind.gaps is not None and own.height:
        first_s, last_s = own["time_s"][0], own["time_s"][-1]
        # The bin before the first is a point as well: steps end at their points.
        before_s = times.filter(pl.col("time_s") < first_s)["time_s"].max()
        shown = pl.col("time_s").is_between(first_s if before_s is None else before_s, last_s)
        own = times.filter(shown).join(own, on="time_s", how="left", maintain_order="left")
        own = own.with_columns(pl.col(kind.column).fill_null(kind.gaps))
    own = own.filter(pl.col(kind.column).is_finite())
    if kind.shares or times.is_empty() or times["point"][-1] == times.height - 1:
        return own.select("time_s", kind.column)
    return (
        own.select("time_s", kind.column)
        .join(times, on="time_s", how="left", maintain_order="left")
        .group_by("point", maintain_order=True)
        .agg(pl.col("time_s").last(), pl.col(kind.column).mean())
        .drop("point")
    )


def chart_of(
    kind: Kind,
    lines: Sequence[Line],
    words: Mapping[str, str],
    window_s: tuple[float, float],
    bin_s: float,
    bins: int,
    colours: Mapping[tuple[str, str], str],
) -> Chart:
    """The chart of a kind, whose series have so many bins and whose lines these colours."""
    start_s, end_s = window_s
    content: TimeContent = {
        "kind": kind.key,
        "traces": [
            curve("trace", line.subject, line.label, colours[kind.key, line.subject])
            for line in lines
        ],
        "thresholds": _thresholds(kind, lines),
        "start": start_s,
        "end": end_s,
    }
    if kind.shares:
        ends = [unpack(line.points)[0] for line in lines]
        content["start"] = min(each[0] for each in ends)
        content["end"] = max(each[-1] for each in ends)
        content["top"] = 100
        content["unit"] = kind.unit
        content["columns"] = [kind.column, "share_of_bins_pct"]
    if kind.breaks:
        content["gap"] = 1.5 * bin_s * bins_a_point(bins)
    over = "" if kind.shares else " over time"
    more = f" Shown are the {MOST_LINES} largest." if len(lines) == MOST_LINES else ""
    title, span = words["title"], f"{format_number(start_s)} to {format_number(end_s)} s"
    width = bins_a_point(bins)
    means = f", drawn as means of {width}" if width > 1 and not kind.shares else ""
    return Chart(
        chart_id=kind.key,
        title=title,
        caption=f"{words['caption']}{more}",
        alternative=f"{title}{over}, {span}: {', '.join(line.label for line in lines)}",
        content=settled(content, [unpack(line.points) for line in lines]),
        note=f"Bins of {format_number(bin_s)} s{means}.",
    )


def _thresholds(kind: Kind, lines: Sequence[Line]) -> list[Threshold]:
    if kind.key != "utilization":
        return []
    drawn_mbps = (value for each in lines for value in unpack(each.points)[1])
    most_mbps = _FAR_ABOVE * max(drawn_mbps, default=0.0)
    links: dict[float, list[str]] = {}
    for each in lines:
        if each.capacity_mbps is not None and each.capacity_mbps <= most_mbps:
            links.setdefault(each.capacity_mbps, []).append(each.label)
    return [
        {
            "v": capacity_mbps,
            "label": f"capacity of {', '.join(labels)}, {format_number(capacity_mbps)} Mbit/s",
            "of": labels,
        }
        for capacity_mbps, labels in links.items()
    ]
