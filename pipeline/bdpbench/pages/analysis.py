"""Pages of traces, one or several side by side: existing measurements in one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

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
from bdpbench.units import addresses_of, axis_title, several, slug, with_unit

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
"""Most points of a line; of more bins, means are drawn."""

# Colours that colour-blind readers can distinguish (after Okabe and Ito), dark enough on white.
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#aa3377",
    "#8c6d00",
    "#4b4b4b",
    "#56a5d8",
    "#b8480f",
)

_IN_PERCENT = ("loss_rate", "delivery_ratio", "retransmission_rate", "utilization")
"""Endings of the ratios that are shown in %."""

# Columns of lost packets, and of streams that are no flows of data.
_LOST = ("layer", "reason", "type", "dropped_pkts", "dropped_bytes")
_COUNTED = ("subject", "sent_pkts", "received_pkts", "received_bytes", "dropped_pkts")

# What comparisons of traces have a table of.
_KINDS_OF_SUBJECTS = ("trace", "flow", "receiver", "link", "type", "node", "drops")


@dataclass(frozen=True)
class Kind:
    """One kind of chart, see ``reports/traces.yaml``."""

    key: str
    title: str
    quantity: str
    caption: str
    table: str
    column: str
    unit: str
    ranks: Sequence[str]
    gaps: float | None = None
    shares: bool = False
    breaks: bool = False


@cache
def _words() -> Any:
    return YamlFile(assets_dir() / "traces.yaml").data


_UNITS = {
    **dict.fromkeys(("cwnd_", "ssthresh_", "pkts", "maxseq_", "ack_", "dupacks_"), "packets"),
    **dict.fromkeys(("rtt_", "srtt_", "rttvar_"), "s"),
    "bytes": "bytes",
}
"""Units of values that ns-2 names, if they are the same for all of its agents."""


@dataclass(frozen=True)
class Trace:
    """What a page shows of a packet trace.

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


class Cell(NamedTuple):
    """A cell: its text, of a number also all digits, and the metric that it names, or ""."""

    text: str
    value: str | None = None
    metric: str = ""


@dataclass(frozen=True)
class Table:
    """One table: what a row is, columns as (metric or "", name, unit), and (name, about, cells)."""

    caption: str
    kind: str
    heads: Sequence[tuple[str, str, str]]
    rows: Sequence[tuple[str, str, Sequence[Cell]]]
    hidden: int = 0


Section: TypeAlias = tuple[str, Sequence[Table]]
"""A part of a page, whose words are in ``reports/traces.yaml``, and its tables."""


@dataclass(frozen=True)
class Line:
    """One line of a chart."""

    subject: str
    label: str
    points: Packed
    capacity_mbps: float | None = None


Drawn: TypeAlias = tuple[Chart, Spec, Mapping[str, Packed]]
"""A chart with the specification that the page's script fills, and the points of its subjects."""


def build_page(
    traces: Sequence[Trace],
    rows: pl.DataFrame,
    definitions: Sequence[Definition],
    shares: Shares,
    out: Path,
) -> None:
    """Write the page of a packet trace, or of several: one HTML file that opens offline.

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
    first, metrics, tables = traces[0], traces[0].metrics, traces[0].tables
    if labels:
        names = [name for name, each in tables.items() if "time_s" in each.columns]
        metrics = pl.concat([_labelled(each.metrics, each.label) for each in traces])
        tables = {n: pl.concat([_labelled(e.tables[n], e.label) for e in traces]) for n in names}
    units = dict(metrics.select("metric", "unit").unique().iter_rows())
    _write(
        out,
        [each.name for each in traces],
        labels,
        draw(tables, values_by_subject(metrics), shares, traces),
        [
            ("traces" if labels else "trace", [_sources(traces)]),
            *(_of_several(rows, labels) if labels else _of_one(first, units)),
        ],
        kicker="Packet traces of ns-2, compared" if labels else "Packet trace of ns-2",
        answers=[each.answer for each in traces],
        facts=[
            (metric, with_unit(_measured(metric, value).text, _unit_shown(metric, units[metric])))
            for metric, value in values_by_subject(metrics).get("trace", {}).items()
        ],
        accounts=[each.account for each in traces],
        definitions=definitions,
    )


def build_samples_page(
    names: Sequence[str],
    labels: Sequence[str],
    accounts: Sequence[object],
    answers: Sequence[str],
    summary: pl.DataFrame,
    points: pl.DataFrame,
    out: Path,
) -> None:
    """Write the page of traces of samples. Equal inputs give equal bytes.

    Args:
        names: names of the sources.
        labels: what subjects of several traces begin with; empty for a single one.
        accounts: account of the lines of each trace.
        answers: sentences on what the samples show.
        summary: subject, name and the columns of ``SAMPLES_SCHEMA``: a row for each series.
        points: subject, name, time_s (f64, s), value (f64), in order: what is drawn.
        out: file to write, atomically.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    heads = _words()["of_samples"]
    rows = [
        (f"{row['subject']} {row['name'].removesuffix('_')}".strip(), "", *map(row.get, heads))
        for row in summary.rows(named=True)
    ]
    table = _listed("Values of each series", "Series", list(heads.values()), rows)
    _write(
        out,
        names,
        labels,
        list(_samples_drawn(labels, summary, points)),
        [("summary", [table])],
        kicker="Samples of ns-2",
        answers=answers,
        accounts=accounts,
    )


def _write(
    out: Path,
    names: Sequence[str],
    labels: Sequence[str],
    drawn: Sequence[Drawn],
    sections: Sequence[Section],
    definitions: Sequence[Definition] = (),
    **more: object,
) -> None:
    store = {
        "time": {chart.chart_id: spec for chart, spec, _ in drawn},
        "charts": {chart.chart_id: chart.content for chart, *_ in drawn},
    }
    content = {
        "facts": (),
        **more,
        "title": ", ".join(labels or [Path(each).name for each in ", ".join(names).split(", ")]),
        "labels": labels,
        "names": names,
        "sections": [
            (key, words["title"], words.get("text", "").format(*labels[:1]), tables)
            for key, tables in sections
            for words in [_words()["sections"][key]]
            if tables
        ],
        "definitions": definitions,
        "definition_ids": {each["metric"]: each["id"] for each in definitions},
        "charts": [chart for chart, *_ in drawn],
        "chart_data": embed_json(store),
        "series": embed_json({chart.chart_id: points for chart, _, points in drawn}),
        "html_name": slug(" ".join(labels or names))[:60] or "trace",
        "metric_name": metric_name,
        "several": several,
        "version": __version__,
        **embedded(),
    }
    html = page_environment().get_template("analysis.html").render(content)
    write_text_atomically(out, html)


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


def _labelled(rows: pl.DataFrame, label: str) -> pl.DataFrame:
    """Rows whose subjects include the trace: flow:1 of the trace old is flow:old: 1."""
    kind = pl.col("subject").str.extract("^([^:]*)")
    rest = pl.col("subject").str.replace("^[^:]*:?", "")
    return rows.with_columns(subject=kind + pl.lit(f":{label}: ") + rest)


def label_of(subject: str) -> str:
    """A subject for readers.

    >>> label_of("link:0–1"), label_of("flow:old: 1"), label_of("trace")
    ('link 0–1', 'old: flow 1', 'trace')
    """
    kind, _, labelled = subject.partition(":")
    label, colon, name = labelled.rpartition(": ")
    return f"{label}{colon}{kind} {name}".strip()


# ------------------------------------------------------------------------------------- tables


def _listed(caption: str, kind: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table of rows with their name, what they are about, and words or numbers."""
    shown = [(name, about, list(map(_cell, values))) for name, about, *values in rows[:MOST_ROWS]]
    return Table(caption, kind, [("", n, "") for n in names], shown, len(rows) - len(shown))


def _sources(traces: Sequence[Trace]) -> Table:
    """Where the values come from."""
    rows = []
    for each in traces:
        account: Any = each.account
        window = f"{format_number(each.start_s)} to {format_number(each.end_s)} s"
        window += ", the whole trace" if each.whole else ", half-open"
        said = (each.trace_format, account.lines, account.skipped, window, each.last_s)
        rows.append((each.label or "Trace", "", *said))
    heads = ["Format", "Lines", "Skipped", "Window", "Last event (s)"]
    return _listed("Sources of the values", "Trace", heads, rows)


def _of_one(trace: Trace, units: Mapping[str, str]) -> Iterator[Section]:
    """The values of one trace, with a metric in each column."""
    values, flows = values_by_subject(trace.metrics), trace.tables["flows"]
    address = addresses_of([*flows["src_node"], *flows["dst_node"]])
    ends = flows.select("subject", "type", "src_node", "dst_node").iter_rows()
    about = {name: f"{kind or '–'}, {address(a)} to {address(b)}" for name, kind, a, b in ends}
    tables = []
    for words in _words()["tables"]:
        kind = words["subjects"]
        shown = [each for each in words["metrics"].split() if each in units]
        own = [
            each
            for each in values
            if each.startswith(f"{kind}:") and not values[each].keys().isdisjoint(shown)
        ]
        cells = [
            (
                subject.partition(":")[2],
                about.get(subject, ""),
                [_measured(metric, values[subject].get(metric)) for metric in shown],
            )
            for subject in own[:MOST_ROWS]
        ]
        if cells:
            titles = [(each, metric_name(each), _unit_shown(each, units[each])) for each in shown]
            tables.append(
                Table(words["caption"], kind.capitalize(), titles, cells, len(own) - len(cells))
            )
    yield "flows", tables
    if lost := trace.tables["losses"].select(_LOST).rows():
        rows = [(layer or "–", "", *values) for layer, *values in lost]
        caption = "Packets dropped in the window, by place and reason"
        heads = ["By", "Type", "Packets", "Bytes"]
        yield "losses", [_listed(caption, "At", heads, rows)]
    if others := flows.filter(pl.col("kind") != "data").select(_COUNTED).rows():
        rows = [(name, about[name], *values) for name, *values in others]
        heads = ["Sent", "Received", "Bytes received", "Dropped"]
        table = _listed("Packets in the window", "Stream", heads, rows)
        yield "others", [table]


def _of_several(rows: pl.DataFrame, labels: Sequence[str]) -> Iterator[Section]:
    """The values of several traces, and differences from those of the first."""
    heads = [("", name, "") for name in ("Metric", *labels)]
    for label in labels[1:]:
        heads += [("", f"{label} − {labels[0]}", ""), ("", "", "%")]
    kind, tables = pl.col("subject").str.extract("^([^:]*)"), []
    for wanted in _KINDS_OF_SUBJECTS:
        parts = rows.filter(kind == wanted).partition_by("subject", "metric", maintain_order=True)
        if parts:
            shown = [_compared(each) for each in parts[:MOST_ROWS]]
            caption = f"{wanted.removesuffix('s').capitalize()}s"
            tables.append(Table(caption, "Of", heads, shown, len(parts) - len(shown)))
    yield "values", tables


def _compared(rows: pl.DataFrame) -> tuple[str, str, Sequence[Cell]]:
    metric, unit = rows["metric"][0], _unit_shown(rows["metric"][0], rows["unit"][0])
    cells = [Cell(f"{metric_name(metric)}{f' ({unit})' if unit else ''}", None, metric)]
    cells += [_measured(metric, value) for value in rows["value"]]
    for change, share in rows.select("difference", "difference_pct").tail(-1).iter_rows():
        cells += [_measured(metric, change), _cell(share)]
    return label_of(rows["subject"][0]), "", cells


def _unit_shown(metric: str, unit: str) -> str:
    """The unit in which a metric is shown; empty for a ratio."""
    return "%" if metric.endswith(_IN_PERCENT) else "" if unit == "1" else unit


def _measured(metric: str, value: float | None) -> Cell:
    shown = 100 * value if value is not None and metric.endswith(_IN_PERCENT) else value
    return _cell(value)._replace(text=format_number(shown))


def _cell(value: str | float | None) -> Cell:
    if isinstance(value, str):
        return Cell(value)
    return Cell(format_number(value), "" if value is None else repr(value))


# ------------------------------------------------------------------------------------- charts


def draw(
    tables: Mapping[str, pl.DataFrame], values: Values, shares: Shares, traces: Sequence[Trace]
) -> list[Drawn]:
    """The charts of packet traces.

    Args:
        tables: flow_series, link_series, loss_series, node_series and alive_series: subject,
            time_s (f64, s, end of the bin), values.
        values: subject → metric → value, for the subjects to show.
        shares: returns the distribution of samples.
        traces: the traces; their bins have the same width.
    """
    kinds = [Kind(key, **words) for key, words in _words()["charts"].items()]
    names = sorted({kind.table for kind in kinds})
    times = pl.concat([tables[name]["time_s"] for name in names]).unique().sort().to_frame()
    # Twice as many can still be told apart; means of two bins would hide more than they clarify.
    width = 1 if times.height <= 2 * MOST_POINTS else -(-times.height // MOST_POINTS)
    times = times.with_columns(point=pl.int_range(pl.len()) // width)
    lines: dict[str, list[Line]] = {}
    for kind in kinds:
        for subject in _chosen(kind, values):
            own = tables[kind.table].filter(pl.col("subject") == subject)
            points = _points(kind, own, times)
            if points.height:
                if kind.shares:
                    points = thinned_shares(shares(points[kind.column]))
                packed = pack(*(points[column].to_list() for column in points.columns))
                capacity_mbps = values[subject].get("link_capacity")
                line = Line(subject, label_of(subject), packed, capacity_mbps)
                lines.setdefault(kind.key, []).append(line)
    colours = _colours({key: [each.subject for each in own] for key, own in lines.items()})
    span_s = min(each.start_s for each in traces), max(each.end_s for each in traces)
    return [
        _of_kind(kind, lines[kind.key], span_s, traces[0].bin_s, width, colours[kind.key])
        for kind in kinds
        if kind.key in lines
    ]


def _colours(subjects: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Chart → subject → colour: that of the first chart in all charts where no other has it."""
    first: dict[str, str] = {}
    found: dict[str, dict[str, str]] = {}
    for key, shown in subjects.items():
        own: dict[str, str] = {}
        for subject in sorted(shown, key=lambda name: name not in first):
            free = [colour for colour in _COLOURS if colour not in own.values()]
            colour = first.get(subject, free[0])
            own[subject] = colour if colour in free else free[0]
            first.setdefault(subject, own[subject])
        found[key] = own
    return found


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
    if not kind.shares:
        own = (
            own.select("time_s", kind.column)
            .join(times, on="time_s", how="left", maintain_order="left")
            .group_by("point", maintain_order=True)
            .agg(pl.col("time_s").last(), pl.col(kind.column).mean())
        )
    return own.select("time_s", kind.column)


def _of_kind(
    kind: Kind,
    lines: Sequence[Line],
    span_s: tuple[float, float],
    bin_s: float,
    width: int,
    colours: Mapping[str, str],
) -> Drawn:
    """The chart of a kind; ``width`` is how many bins of ``bin_s`` a point represents."""
    quantity = axis_title(kind.quantity, kind.unit)
    if kind.shares:
        spec = line_spec(quantity, "share of the bins (%)", "step-after")
    else:
        course = "linear" if kind.gaps is None else "step-before"
        spec = line_spec("time (s)", quantity, course)  # type: ignore[arg-type]
    content: TimeContent = {
        "kind": kind.key,
        "traces": [],
        "thresholds": _thresholds(kind, lines),
        "start": span_s[0],
        "end": span_s[1],
    }
    if kind.shares:
        ends = [unpack(line.points)[0] for line in lines]
        content["start"] = min(each[0] for each in ends)
        content["end"] = max(each[-1] for each in ends)
        content["top"] = 100
        content["unit"] = kind.unit
        content["columns"] = [kind.column, "share_of_bins_pct"]
    if kind.breaks:
        content["gap"] = 1.5 * bin_s * width
        spec["layer"][0]["mark"]["strokeCap"] = "round"  # shows lone points
    more = f" Shown are the {MOST_LINES} largest." if len(lines) == MOST_LINES else ""
    means = f", drawn as means of {width}" if width > 1 and not kind.shares else ""
    over = "" if kind.shares else " over time"
    span = f"{format_number(span_s[0])} to {format_number(span_s[1])} s"
    return _chart(
        content,
        spec,
        lines,
        colours,
        title=kind.title,
        caption=f"{kind.caption}{more}",
        alternative=f"{kind.title}{over}, {span}",
        note=f"Bins of {format_number(bin_s)} s{means}.",
    )


def _chart(
    content: TimeContent,
    spec: Spec,
    lines: Sequence[Line],
    colours: Mapping[str, str],
    *,
    alternative: str,
    **words: str,
) -> Drawn:
    """A chart with lines in the colours of their subjects."""
    content["traces"] = [
        curve("trace", line.subject, line.label, colours[line.subject]) for line in lines
    ]
    chart = Chart(
        chart_id=content["kind"],
        alternative=f"{alternative}: {', '.join(line.label for line in lines)}",
        content=settled(content, [unpack(line.points) for line in lines]),
        **words,  # type: ignore[arg-type]
    )
    return chart, spec, {line.subject: line.points for line in lines}


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


def _samples_drawn(
    labels: Sequence[str], summary: pl.DataFrame, points: pl.DataFrame
) -> Iterator[Drawn]:
    """The charts of traces of samples, one for each name: of the series with most samples."""
    content: TimeContent
    span_s = min(summary["first_s"].to_list()), max(summary["last_s"].to_list())
    parts = [
        own.sort("samples", descending=True, maintain_order=True).head(MOST_LINES)
        for own in summary.partition_by("name", maintain_order=True)
    ]
    colours = _colours({own["name"][0]: own["subject"].to_list() for own in parts})
    for place, own in enumerate(parts):
        name, title = own["name"][0], own["name"][0].removesuffix("_")
        drawn = points.filter(name=name)
        lines = [
            Line(subject, subject or title, _until(drawn.filter(subject=subject), end_s))
            for subject in own["subject"]
            for end_s in [_end_s(labels, summary, name, subject)]
        ]
        content = {
            "kind": f"{slug(name) or 'value'}-{place}",
            "traces": [],
            "thresholds": [],
            "start": span_s[0],
            "end": span_s[1],
        }
        most = f" Shown are the {MOST_LINES} with most samples." if len(lines) == MOST_LINES else ""
        yield _chart(
            content,
            line_spec("time (s)", axis_title(title, _UNITS.get(name, "")), "step-after"),
            lines,
            colours[name],
            title=title,
            caption=f"A value holds until the next sample.{most}",
            alternative=f"{title} over time",
            note="Of 500 intervals or more, each shows its first, least, largest and last sample.",
        )


def _end_s(labels: Sequence[str], summary: pl.DataFrame, name: str, subject: str) -> float:
    """Until when the last value of a series holds, s: of a variable to the end of its trace."""
    own = pl.col("subject") == subject
    if name.endswith("_"):
        label = next((each for each in labels if subject.startswith(f"{each}: ")), "")
        own = pl.col("subject").str.starts_with(f"{label}: " if label else "")
    last_s: list[float] = summary.filter(own)["last_s"].to_list()
    return max(last_s)


def _until(points: pl.DataFrame, end_s: float) -> Packed:
    times_s, values = points["time_s"].to_list(), points["value"].to_list()
    if times_s and times_s[-1] < end_s:
        times_s, values = [*times_s, end_s], [*values, values[-1]]
    return pack(times_s, values)
