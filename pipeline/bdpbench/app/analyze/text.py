"""The results of `bdpbench analyze` as aligned text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from bdpbench.app.analyze.analysis import Analysis
from bdpbench.trace import LineAccount
from bdpbench.units import addresses_of

_MOST_ROWS = 20
_DIGITS = 4
# Heading of a column, and its metric.
_FLOW_COLUMNS = {
    "Mbit/s": "throughput",
    "goodput": "goodput",
    "loss": "packet_loss_rate",
    "resent": "retransmissions",
    "delay ms": "one_way_delay",
    "jitter ms": "jitter",
    "RTT ms": "rtt",
    "fair Mbit/s": "max_min_share",
    "hops": "hop_count",
    "gap s": "longest_gap",
}
_RECEIVER_COLUMNS = {
    "Mbit/s": "receiver_throughput",
    "delivered": "receiver_delivery_ratio",
    "delay ms": "receiver_delay",
    "max ms": "receiver_max_delay",
}
_NODE_COLUMNS = {
    "sent": "node_sent",
    "received": "node_received",
    "forwarded": "node_forwarded",
    "dropped": "node_dropped",
}
_ENERGY_COLUMNS = {"left J": "remaining_energy", "spent J": "spent_energy"}
_LINK_COLUMNS = {
    "capacity": "link_capacity",
    "Mbit/s": "link_throughput",
    "used": "link_utilization",
    "loss": "link_loss_rate",
    "mean queue": "mean_queue_length",
    "max": "max_queue_length",
    "wait ms": "queueing_delay",
    "max ms": "max_queueing_delay",
}
COMPARED = (*_FLOW_COLUMNS.values(), *_RECEIVER_COLUMNS.values(), *_LINK_COLUMNS.values())
"""Metrics of flows and links that a comparison in the terminal shows."""

_SHARES = {
    "receiver_delivery_ratio",
    "packet_loss_rate",
    "packet_delivery_ratio",
    "total_packet_loss_rate",
    "total_packet_delivery_ratio",
    "link_utilization",
    "link_loss_rate",
}


def totals_lines(analysis: Analysis) -> Iterator[str]:
    """Flows, links and fairness of a packet trace."""
    sums = analysis.sums
    yield f"{analysis.name}: {analysis.trace_format} trace, {analysis.account.lines:,} lines"
    yield span_of(analysis)
    values = _values(analysis.metrics)
    flows = [each for each in values if each.startswith("flow:")]
    if flows:
        yield ""
        yield from _flow_table(analysis, flows, values)
    yield from _own_table("receiver", _RECEIVER_COLUMNS, values)
    links = [each for each in values if each.startswith("link:")]
    if links:
        yield ""
        yield from _table("link", links, _LINK_COLUMNS, values, {})
        yield from _shared_lines(sums.links, links)
    yield from _own_table("node", _NODE_COLUMNS, values)
    yield from _own_table("node", _ENERGY_COLUMNS, values)
    if analysis.sums.losses.height:
        yield ""
        yield from _loss_lines(analysis.sums.losses)
    if "trace" in values:
        yield ""
        yield from _fairness_lines(values["trace"])
    if sums.forgotten:
        yield f"{sums.forgotten:,} packets were sent whose fate the trace does not show"


def span_of(analysis: Analysis) -> str:
    """The measured time, in words."""
    sums = analysis.sums
    kind = "whole trace" if analysis.whole else "window, half-open"
    return (
        f"{sums.start_s:.10g} s to {sums.end_s:.10g} s ({kind}), {sums.seconds:.6g} s; "
        f"last event at {sums.last_s:.10g} s"
    )


def _own_table(
    kind: str, columns: Mapping[str, str], values: Mapping[str, Mapping[str, float | None]]
) -> Iterator[str]:
    """The table of the subjects that have these metrics, after a blank line; empty without any."""
    wanted = set(columns.values())
    subjects = [each for each, own in values.items() if not wanted.isdisjoint(own)]
    if subjects:
        yield ""
        yield from _table(kind, subjects, columns, values, {})


def metric_lines(metrics: pl.DataFrame) -> Iterator[str]:
    """One line for each value: metric, subject, value, unit."""
    rows = [
        (metric, subject, "-" if value is None else f"{value:.10g}", "" if unit == "1" else unit)
        for metric, subject, value, unit in metrics.select(
            "metric", "subject", "value", "unit"
        ).iter_rows()
    ]
    yield from aligned([("metric", "of", "value", "unit"), *rows], left={0, 1, 3})


def samples_lines(summary: pl.DataFrame, name: str, trace_format: str) -> Iterator[str]:
    """Extremes and means of a trace of samples."""
    yield f"{name}: {trace_format} trace"
    yield ""
    head = tuple(summary.columns)
    rows = [
        tuple(each if isinstance(each, str) else number(each) for each in row)
        for row in summary.iter_rows()
    ]
    yield from aligned([head, *rows], left={0, 1})


def account_lines(account: LineAccount) -> Iterator[str]:
    """The numbers of skipped lines, of cut-off ends, and of times that run backwards."""
    if account.skipped:
        yield f"{account.skipped:,} of {account.lines:,} lines skipped, the first:"
        for each in account.first_skipped[:3]:
            yield f"  {each.source}:{each.line}: {each.reason}"
    if account.backwards:
        places = "1 line" if account.backwards == 1 else f"{account.backwards:,} lines"
        yield f"time runs backwards in {places}"
    if not account.complete:
        yield f"read up to the end of the window: {account.lines:,} lines"


def _values(metrics: pl.DataFrame) -> dict[str, dict[str, float | None]]:
    """Subject → metric → value, subjects in order."""
    found: dict[str, dict[str, float | None]] = {}
    for metric, subject, value in metrics.select("metric", "subject", "value").iter_rows():
        found.setdefault(subject, {})[metric] = value
    return found


def _flow_table(
    analysis: Analysis, flows: Sequence[str], values: Mapping[str, Mapping[str, float | None]]
) -> Iterator[str]:
    rows = analysis.sums.flows.filter(pl.col("kind") == "data").select(
        "subject",
        "type",
        "src_node",
        "dst_node",
    )
    address = addresses_of(rows["src_node"].to_list() + rows["dst_node"].to_list())
    about = {
        subject: (kind or "-", f"{address(start)}>{address(end)}")
        for subject, kind, start, end in rows.iter_rows()
    }
    # The largest are shown; unknown values count as zero.
    largest = sorted(flows, key=lambda each: -(values[each].get("throughput") or 0.0))
    shown = [each for each in flows if each in set(largest[:_MOST_ROWS])]
    yield from _table("flow", shown, _FLOW_COLUMNS, values, about)
    if len(flows) > len(shown):
        yield f"and {len(flows) - len(shown):,} smaller flows (-o FILE writes all)"


def _shared_lines(links: pl.DataFrame, shown: Sequence[str]) -> Iterator[str]:
    shared = links.filter(pl.col("shared") & pl.col("subject").is_in(list(shown)))
    for (node,), rows in shared.partition_by("to_node", as_dict=True).items():
        names = ", ".join(subject.removeprefix("link:") for subject in rows["subject"])
        yield f"{names}: stations of one shared medium ({node}), whose capacity is not measured"


def _table(
    kind: str,
    subjects: Sequence[str],
    columns: Mapping[str, str],
    values: Mapping[str, Mapping[str, float | None]],
    about: Mapping[str, tuple[str, str]],
) -> Iterator[str]:
    more = ("type", "from>to") if about else ()
    rows = [(kind, *more, *columns)]
    for subject in subjects[:_MOST_ROWS]:
        cells = (_cell(metric, values[subject].get(metric)) for metric in columns.values())
        rows.append((subject.removeprefix(f"{kind}:"), *about.get(subject, ()), *cells))
    yield from aligned(rows, left=set(range(1 + len(more))))
    if len(subjects) > _MOST_ROWS:
        yield f"and {len(subjects) - _MOST_ROWS:,} more {kind}s (-o FILE writes all)"


def _loss_lines(losses: pl.DataFrame) -> Iterator[str]:
    rows = [
        (layer or "-", reason or "-", kind or "-", f"{count:,}")
        for layer, reason, kind, count in losses.head(_MOST_ROWS)
        .select("layer", "reason", "type", "dropped_pkts")
        .iter_rows()
    ]
    yield from aligned([("dropped at", "by", "type", "packets"), *rows], left={0, 1, 2})


def _fairness_lines(values: Mapping[str, float | None]) -> Iterator[str]:
    if "total_throughput" in values:
        yield _totals_line(values)
    names = {
        "routing_overhead": "routing overhead, packets",
        "routing_overhead_bytes": "routing overhead, bytes",
        "normalised_routing_load": "normalised routing load, routing packets per packet received",
        "total_remaining_energy": "energy left in all nodes, J",
        "total_spent_energy": "energy spent by all nodes, J",
        "fairness_index": "Jain's fairness index",
        "max_min_fairness_index": "Jain's index of throughput over max-min fair share",
        "throughput_asymmetry": "asymmetry (x1 - x2)/(x1 + x2)",
        "throughput_ratio": "throughput ratio x1/x2",
        "throughput_convergence_time": "convergence time, s",
    }
    for metric, name in names.items():
        if metric in values:
            yield f"{name}: {number(values[metric])}"


def _totals_line(values: Mapping[str, float | None]) -> str:
    cells = (
        f"{_cell(metric, values.get(metric))} {words}"
        for metric, words in (
            ("total_throughput", "Mbit/s"),
            ("total_goodput", "Mbit/s goodput"),
            ("total_packet_delivery_ratio", "delivered"),
            ("total_packet_loss_rate", "lost"),
            ("total_one_way_delay", "ms mean delay"),
        )
    )
    return f"all flows: {', '.join(cells)}"


def _cell(metric: str, value: float | None) -> str:
    if value is not None and metric in _SHARES:
        return f"{number(100 * value)} %"
    return number(value)


def number(value: float | None) -> str:
    """Four significant digits, and all digits before the decimal point."""
    if value is None or not math.isfinite(value):
        return "-"
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    text = f"{value:,.{min(9, max(0, _DIGITS - 1 - magnitude))}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def aligned(rows: Sequence[tuple[str, ...]], left: set[int]) -> Iterator[str]:
    """Rows as lines of columns of equal width; those in ``left`` are left-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
