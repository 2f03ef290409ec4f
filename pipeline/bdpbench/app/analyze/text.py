"""The results of `bdpbench analyze` as aligned text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby

from bdpbench.app.analyze.files import KEY, Analysis, Comparison
from bdpbench.later import pl
from bdpbench.metrics.packets import PACKET_DEFINITIONS, PacketMetric
from bdpbench.trace import LineAccount
from bdpbench.units import addresses_of, several, table_lines

_MOST_ROWS = 20
_MOST_COMPARED = 60
_DIGITS = 4
_SHOWN = [each for each in PACKET_DEFINITIONS.values() if each.heading]

_OTHERS = {
    "packets": "of packets, which --kind packets measures",
    "variables": "of variables, which --kind variables measures",
    "queues": "of lengths of queues, which --kind queues measures",
    "events": "of other events, such as movement, or of remarks, which are not measured",
    "series": "of two columns of numbers, which --kind series measures",
}

_MOST_TOLD = 6  # series that a sentence is about
_SAMPLES = ("subject", "name", "samples", "first_s", "last_s", "least", "mean", "largest", "last")
_FALLS = ("subject", "name", "falls", "first_fall_s", "falls_to_one")

_TERMINAL = 80

MetricRow = tuple[str, str, float | None, str]
"""Metric, subject, value and unit."""

_Values = Mapping[str, Mapping[str, "float | None"]]
"""Subject → metric → value, subjects in order."""


def totals_lines(analysis: Analysis) -> Iterator[str]:
    """Flows, links and fairness of a packet trace."""
    sums = analysis.sums
    yield f"{analysis.name}: {_format_of(analysis)}"
    yield _span_of(analysis)
    values = _values_of(analysis.metrics)
    yield ""
    yield what_happened(analysis)
    yield from _trace_lines(values.get("trace", {}))
    for kind, metrics in groupby(PACKET_DEFINITIONS.values(), key=lambda each: each.subject):
        yield from _table(analysis, kind, [each for each in metrics if each.heading], values)
    if sums.losses.height:
        yield ""
        yield from _loss_lines(sums.losses)
    if sums.forgotten:
        packets = several(sums.forgotten, "packet")
        yield f"the trace does not show what became of {packets}"


def what_happened(analysis: Analysis) -> str:
    """One sentence: how many flows got how much, what was lost, and who got least."""
    values = _values_of(analysis.metrics)
    rates = {
        subject: own["throughput"] or 0.0
        for subject, own in values.items()
        if subject.startswith("flow:") and own.get("throughput") is not None
    }
    of_all = values.get("trace", {})
    parts = []
    if rates:
        total = sum(rates.values())
        flows, seconds = several(len(rates), "flow"), analysis.sums.seconds
        parts.append(f"{flows} received {_number(total)} Mbit/s in {seconds:.6g} s")
        lost = of_all.get("total_packet_loss_rate")
        parts += [] if lost is None else [f"{_number(100 * lost)} % of the packets were lost"]
    starved = [subject for subject, rate in rates.items() if rate == 0]
    if starved:
        more = f" and {len(starved) - 3:,} more" if len(starved) > 3 else ""
        names = ", ".join(each.replace(":", " ", 1) for each in starved[:3])
        parts.append(f"{names}{more} received nothing")
    elif len(rates) > 1:
        least, most = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
        parts.append(
            f"{least.replace(':', ' ', 1)} got least, {_number(rates[least])} Mbit/s, and "
            f"{most.replace(':', ' ', 1)} most, {_number(rates[most])}"
        )
    spent, dead_s = of_all.get("total_spent_energy"), of_all.get("network_lifetime")
    if spent is not None:
        nodes = analysis.sums.energy.height
        left = "each has some left" if dead_s is None else f"one had none left at {dead_s:g} s"
        parts.append(f"{several(nodes, 'node')} spent {_number(spent)} J, {left}")
    return f"{'; '.join(parts) or 'No flow of data was measured'}."


def _values_of(metrics: pl.DataFrame) -> _Values:
    """Subject → metric → value, subjects in order."""
    values: dict[str, dict[str, float | None]] = {}
    for metric, subject, value in metrics.select(*KEY, "value").iter_rows():
        values.setdefault(subject, {})[metric] = value
    return values


def _format_of(analysis: Analysis) -> str:
    """The format of a trace, and its length."""
    return f"{analysis.trace_format} trace, {several(analysis.account.lines, 'line')}"


def _span_of(analysis: Analysis) -> str:
    """The measured time, in words."""
    sums = analysis.sums
    kind = "whole trace" if analysis.whole else "window, half-open"
    return (
        f"{sums.start_s:.10g} s to {sums.end_s:.10g} s ({kind}), {sums.seconds:.6g} s; "
        f"last event at {sums.last_s:.10g} s"
    )


def _table(
    analysis: Analysis, kind: str, metrics: Sequence[PacketMetric], values: _Values
) -> Iterator[str]:
    """The subjects of a kind that have these metrics, after a blank line; empty without any."""
    wanted, prefix = {each.metric for each in metrics}, f"{kind}:"
    subjects = [
        each
        for each, own in values.items()
        if each.startswith(prefix) and not wanted.isdisjoint(own)
    ]
    if not subjects:
        return
    shown, more, about = subjects[:_MOST_ROWS], f"more {kind}", {}
    if kind == "flow":
        # The largest are shown; unknown values count as zero.
        by_size = sorted(subjects, key=lambda each: -(values[each].get("throughput") or 0.0))
        largest = set(by_size[:_MOST_ROWS])
        shown, more = [each for each in subjects if each in largest], "smaller flow"
        about = _ends_of(analysis.sums.flows)
    heads = ("type", "from>to") if about else ()
    rows = [(kind, *heads, *(each.heading for each in metrics))]
    for subject in shown:
        cells = (_cell(each, values[subject]) for each in metrics)
        rows.append((subject.removeprefix(prefix), *about.get(subject, ()), *cells))
    yield ""
    yield from _folded(rows, 1 + len(heads))
    if len(subjects) > len(shown):
        yield f"and {several(len(subjects) - len(shown), more)} (-o FILE writes all)"
    if kind == "link":
        yield from _shared_lines(analysis.sums.links, subjects)


def _folded(rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """A table in as many parts as a terminal needs, each with the first column."""
    ends = list(accumulate(2 + max(map(len, column)) for column in zip(*rows, strict=True)))
    count = max(left + 1, sum(end - 2 <= _TERMINAL for end in ends))
    yield from table_lines([row[:count] for row in rows], left=left)
    if count < len(ends):
        yield ""
        yield from _folded([(row[0], *row[count:]) for row in rows], 1)


def _ends_of(flows: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Flow → type of its packets, and its ends."""
    rows = flows.filter(pl.col("kind") == "data").select("subject", "type", "src_node", "dst_node")
    address = addresses_of(rows["src_node"].to_list() + rows["dst_node"].to_list())
    return {
        subject: (kind or "-", f"{address(start)}>{address(end)}")
        for subject, kind, start, end in rows.iter_rows()
    }


def _shared_lines(links: pl.DataFrame, shown: Sequence[str]) -> Iterator[str]:
    shared = links.filter(pl.col("shared") & pl.col("subject").is_in(list(shown)))
    for (node,), rows in shared.partition_by("to_node", as_dict=True).items():
        names = ", ".join(subject.removeprefix("link:") for subject in rows["subject"])
        yield f"{names}: stations of one shared medium ({node}), whose capacity is not measured"


def _loss_lines(losses: pl.DataFrame) -> Iterator[str]:
    rows = [
        (layer or "-", reason or "-", kind or "-", f"{count:,}")
        for layer, reason, kind, count in losses.head(_MOST_ROWS)
        .select("layer", "reason", "type", "dropped_pkts")
        .iter_rows()
    ]
    yield from table_lines([("dropped at", "by", "type", "packets"), *rows], left=3)


def _trace_lines(values: Mapping[str, float | None]) -> Iterator[str]:
    """Totals of all flows, and how they share the network."""
    of_trace = [each for each in _SHOWN if each.subject == "run"]
    if "total_throughput" in values:
        totals = [each for each in of_trace if "{}" in each.heading]
        cells = (each.heading.format(_cell(each, values)) for each in totals)
        yield f"all flows: {', '.join(cells)}"
    for each in of_trace:
        if "{}" not in each.heading and each.metric in values:
            yield f"{each.heading}: {_cell(each, values)}"


def metric_lines(metrics: Iterable[MetricRow]) -> Iterator[str]:
    """One line for each value."""
    rows = [
        (metric, subject, "-" if value is None else f"{value:.10g}", "" if unit == "1" else unit)
        for metric, subject, value, unit in metrics
    ]
    yield from table_lines([("metric", "of", "value", "unit"), *rows], left=2, right=1)


def what_was_sampled(summary: pl.DataFrame) -> Iterator[str]:
    """A sentence for each of the first series: of cwnd how it fell, of all how large they were."""
    for row in summary.head(_MOST_TOLD).iter_rows(named=True):
        name = str(row["name"]).removesuffix("_")
        parts = [f"{_number(row['mean'])} on average and {_number(row['largest'])} at most"]
        if name == "cwnd" and row["falls"]:
            parts.append(
                f"fell {_times(row['falls'])}, first at {row['first_fall_s']:.6g} s, when slow "
                f"start had ended at the latest, and {_times(row['falls_to_one'])} to one packet, "
                "as a timeout leaves it"
            )
        elif name == "cwnd":
            parts.append("never fell")
        yield f"{' of '.join(each for each in (name, row['subject']) if each)}: {'; '.join(parts)}."
    if summary.height > _MOST_TOLD:
        yield f"{several(summary.height - _MOST_TOLD, 'more series')} in the table."


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count:,} times")


def samples_lines(summary: pl.DataFrame) -> Iterator[str]:
    """Extremes and means of samples; of windows and of two columns also how they fall."""
    yield from _rows_of(summary.select(_SAMPLES))
    falling = summary.filter(pl.col("falls") > 0)
    if falling.height:
        yield ""
        shares = falling.select(*_FALLS, kept_pct=100 * pl.col("kept_share"))
        yield from _rows_of(shares)


def _rows_of(frame: pl.DataFrame) -> Iterator[str]:
    rows = [
        tuple(each if isinstance(each, str) else _number(each) for each in row)
        for row in frame.iter_rows()
    ]
    shown = rows[:_MOST_COMPARED]
    yield from table_lines([tuple(frame.columns), *shown], left=2)
    if len(rows) > len(shown):
        yield f"and {several(len(rows) - len(shown), 'more row')} (-o FILE.html shows more)"


def lines_told(account: LineAccount) -> str:
    """What the lines of a trace tell, and how many do."""
    counts = account.tables.items()
    return ", ".join(f"{several(lines, 'line')} of {table}" for table, lines in counts)


def account_lines(account: LineAccount, table: str) -> Iterator[str]:
    """The lines that are not of the table that was measured, and what is wrong with others."""
    if account.headings:
        yield f"{several(account.headings, 'line')} of comments or titles before the trace"
    for other, count in account.tables.items():
        if other != table:
            yield f"{several(count, 'line')} {_OTHERS[other]}"
    if account.skipped:
        yield f"{account.skipped:,} of {several(account.lines, 'line')} skipped, the first:"
        for each in account.first_skipped[:3]:
            yield f"  {each.source}:{each.line}: {each.reason}"
    if account.backwards:
        yield f"time runs backwards in {several(account.backwards, 'line')}"
    if not account.complete:
        yield f"read up to the end of the window: {several(account.lines, 'line')}"


def comparison_lines(comparison: Comparison, *, all_rows: bool) -> Iterator[str]:
    """The traces, and a table of their metrics: all, or those of the summary."""
    for label, each in zip(comparison.labels, comparison.analyses, strict=True):
        yield f"{label}: {each.name}, {_format_of(each)}"
        yield f"  {_span_of(each)}"
    yield ""
    rows = comparison.rows
    if not all_rows:
        of_trace = pl.col("subject") == "trace"
        shown_metrics = [each.metric for each in _SHOWN if each.subject != "node"]
        rows = rows.filter(pl.col("metric").is_in(shown_metrics) | of_trace).sort(
            ~of_trace, maintain_order=True
        )
        rows = rows.filter(pl.col("value").is_not_null().any().over(KEY))
    by_row = rows.partition_by(KEY, maintain_order=True)
    shown = by_row if all_rows else by_row[:_MOST_COMPARED]
    first = comparison.labels[0]
    changes = [text for label in comparison.labels[1:] for text in (f"{label} - {first}", "%")]
    head = ("metric", "of", "unit", *comparison.labels, *changes)
    yield from table_lines([head, *(_compared_cells(each) for each in shown)], left=3)
    if len(by_row) > len(shown):
        yield f"and {several(len(by_row) - len(shown), 'more row')} (-o FILE writes all)"


def _compared_cells(rows: pl.DataFrame) -> tuple[str, ...]:
    """Metric, subject, unit, the values, and for all but the first trace difference and %."""
    values = [_number(each) for each in rows["value"]]
    changes = [
        text
        for change, share in rows.select("difference", "difference_pct").tail(-1).iter_rows()
        # What is shown as 0 may be the noise of rounding, of which no share can be taken.
        for text in (_number(change), "-" if values[0] == "0" else _number(share))
    ]
    unit = rows["unit"][0]
    return rows["metric"][0], rows["subject"][0], "" if unit == "1" else unit, *values, *changes


def _cell(metric: PacketMetric, values: Mapping[str, float | None]) -> str:
    value = values.get(metric.metric)
    return _number(value if value is None or "%" not in metric.heading else 100 * value)


def _number(value: float | None) -> str:
    """Four significant digits, and all digits before the decimal point."""
    if value is None or not math.isfinite(value):
        return "-"
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    text = f"{value:,.{min(9, max(0, _DIGITS - 1 - magnitude))}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
