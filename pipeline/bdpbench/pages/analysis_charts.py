"""Charts of a packet trace over time, with a line for each flow or link."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from bdpbench.pages.analysis_specs import kept_specs
from bdpbench.pages.chart import Chart, Spec, Threshold, TimeContent
from bdpbench.pages.packing import Packed, pack, unpack
from bdpbench.pages.series import thinned_shares
from bdpbench.pages.text import axis_title, format_number

Shares: TypeAlias = Callable[[pl.Series], pl.DataFrame]
"""Samples → their values in ascending order, and the % of the samples up to each."""

MOST_LINES = 8
"""Most lines of a chart: more cannot be told apart."""

MOST_POINTS = 500
"""Most points of a line: as many bins as a chart can show. If there are more, their means are
drawn."""

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


@dataclass(frozen=True)
class Kind:
    """One kind of chart.

    ``table`` and ``column`` contain its values. ``ranks`` are metrics; the first that any subject
    has decides which subjects get a line. ``gaps`` is the value of a bin without a row, None for a
    gap. ``shares`` draws the distribution of the values over the bins instead of their course.
    """

    key: str
    table: str
    column: str
    ranks: tuple[str, ...]
    title: str
    quantity: str
    unit: str
    caption: str
    gaps: float | None = None
    shares: bool = False


KINDS = (
    Kind(
        "throughput",
        "flow_series",
        "mbps",
        ("throughput",),
        "Throughput of each flow",
        "throughput",
        "Mbit/s",
        "Bytes that the flow's receiver got in each bin, headers and retransmissions included.",
        0.0,
    ),
    Kind(
        "utilization",
        "link_series",
        "mbps",
        ("link_utilization", "link_throughput"),
        "Throughput of the links",
        "throughput",
        "Mbit/s",
        "Bytes that began their transmission over the link in each bin. Links of known capacity, "
        "if any; that of the first is dashed.",
        0.0,
    ),
    Kind(
        "mean_queue",
        "link_series",
        "queue_pkts",
        ("mean_queue_length",),
        "Queues",
        "queue length",
        "packets",
        "Mean length of the queue over each bin, without the packet being transmitted; only links "
        "on which packets waited.",
    ),
    Kind(
        "delay",
        "flow_series",
        "delay_ms",
        ("one_way_delay",),
        "One-way delay of each flow",
        "one-way delay",
        "ms",
        "Mean over the packets that arrived in each bin.",
    ),
    Kind(
        "rtt",
        "flow_series",
        "rtt_ms",
        ("rtt",),
        "Round-trip time of each flow",
        "RTT",
        "ms",
        "Mean over the samples of each bin; packets sent more than once give none.",
    ),
    Kind(
        "delivered",
        "flow_series",
        "delivered_pct",
        ("throughput",),
        "Delivery ratio of each flow",
        "delivered",
        "%",
        "Of the packets sent in each bin, the share that arrived, then or later. What was still "
        "on its way at the end counts as not arrived.",
    ),
    Kind(
        "drops",
        "loss_series",
        "drops_per_s",
        ("drops",),
        "Drops by reason",
        "drops",
        "packets/s",
        "Packets dropped in each bin over its length, by the layer and the reason that the trace "
        "names.",
        0.0,
    ),
    Kind(
        "energy",
        "node_series",
        "energy_j",
        ("spent_energy",),
        "Energy of each node",
        "energy left",
        "J",
        "Energy that the node's last line in each bin tells.",
    ),
    Kind(
        "throughput_share",
        "flow_series",
        "mbps",
        ("throughput",),
        "Distribution of throughput",
        "throughput",
        "Mbit/s",
        "Cumulative: the share of the bins from a flow's first to its last in which its throughput "
        "was at most so much.",
        0.0,
        shares=True,
    ),
    Kind(
        "delay_share",
        "flow_series",
        "delay_ms",
        ("one_way_delay",),
        "Distribution of the one-way delay",
        "one-way delay",
        "ms",
        "Cumulative: the share of the bins whose mean delay was at most so much.",
        shares=True,
    ),
)
"""The charts of a page, in order."""


@dataclass(frozen=True)
class Line:
    """One line of a chart."""

    subject: str
    label: str
    points: Packed
    capacity_mbps: float | None


def chart_specs() -> dict[str, Spec]:
    """Kind → its specification, which the page's script fills with samples."""
    return kept_specs(
        {
            kind.key: (
                axis_title(kind.quantity, kind.unit),
                "share of the bins (%)" if kind.shares else "",
                kind.gaps is not None,
            )
            for kind in KINDS
        }
    )


def lines_of(
    tables: Mapping[str, pl.DataFrame],
    values: Mapping[str, Mapping[str, float | None]],
    label: Callable[[str], str],
    shares: Shares,
) -> dict[str, list[Line]]:
    """Kind → its lines.

    Args:
        tables: flow_series, link_series, loss_series and node_series: subject, time_s (f64, s, end
            of the bin), values.
        values: subject → metric → value, for the subjects to show.
        label: a subject in words.
        shares: returns the distribution of samples.
    """
    times = grid_of(tables)
    return {
        kind.key: _lines(kind, tables[kind.table], times, values, label, shares) for kind in KINDS
    }


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


def _lines(
    kind: Kind,
    table: pl.DataFrame,
    times: pl.DataFrame,
    values: Mapping[str, Mapping[str, float | None]],
    label: Callable[[str], str],
    shares: Shares,
) -> list[Line]:
    found = []
    for subject in _chosen(kind, values):
        points = _points(kind, table.filter(pl.col("subject") == subject), times)
        if points.height:
            if kind.shares:
                points = thinned_shares(shares(points[kind.column]))
            packed = pack(*(points[column].to_list() for column in points.columns))
            capacity_mbps = values[subject].get("link_capacity")
            found.append(Line(subject, label(subject), packed, capacity_mbps))
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
    lines: Mapping[str, Sequence[Line]],
    start_s: float,
    end_s: float,
    bin_s: float,
    bins: int = 0,
) -> Chart | None:
    """The chart of a kind, whose series have so many bins; None if there are no lines."""
    drawn = lines[kind.key]
    if not drawn:
        return None
    content: TimeContent = {
        "kind": kind.key,
        "traces": [
            {
                "run": "trace",
                "subject": line.subject,
                "label": line.label,
                "colour": _COLOURS[index % len(_COLOURS)],
                "dash": [],
            }
            for index, line in enumerate(drawn)
        ],
        "thresholds": _thresholds(kind, drawn),
        "start": start_s,
        "end": end_s,
    }
    if kind.shares:
        ends = [unpack(line.points)[0] for line in drawn]
        content["start"] = min(each[0] for each in ends)
        content["end"] = max(each[-1] for each in ends)
        content["top"] = 100
        content["unit"] = kind.unit
        content["columns"] = [kind.column, "share_of_bins_pct"]
    names = ", ".join(line.label for line in drawn)
    over = "" if kind.shares else " over time"
    more = f" Shown are the {MOST_LINES} largest." if len(drawn) == MOST_LINES else ""
    return Chart(
        kind.key,
        kind.title,
        f"{kind.caption}{more}",
        f"{kind.title}{over}, {format_number(start_s)} to {format_number(end_s)} s: {names}",
        content,
        _bins_in_words(kind, bin_s, bins_a_point(bins)),
    )


def _bins_in_words(kind: Kind, bin_s: float, width: int) -> str:
    drawn = f", drawn as means of {width}" if width > 1 and not kind.shares else ""
    return f"Bins of {format_number(bin_s)} s{drawn}."


def _thresholds(kind: Kind, lines: Sequence[Line]) -> list[Threshold]:
    if kind.key != "utilization":
        return []
    known = ((each.label, each.capacity_mbps) for each in lines if each.capacity_mbps is not None)
    return [
        {"v": capacity_mbps, "label": f"capacity of {label}, {format_number(capacity_mbps)} Mbit/s"}
        for label, capacity_mbps in itertools.islice(known, 1)
    ]
