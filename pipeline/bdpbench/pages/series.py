"""Series of runs, reduced and packed for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

import polars as pl
from markupsafe import Markup

from bdpbench.pages.embed import embed_json, parse_json
from bdpbench.pages.packing import SMALLEST_TIME_STEP_S, Packed, pack
from bdpbench.pages.reduce import reduce_min_max

if TYPE_CHECKING:  # a batch of runs does not need the models of a report
    from bdpbench.pages.inputs import LoadTable, ReportInputs

RunSeries: TypeAlias = dict[str, dict[str, Packed]]
"""Table → subject (``flow:0``, ``link:bottleneck``) → points."""

# Table → (column that names the flow or link, kind of subject, column of the values).
CHARTED_TABLES = {
    "cwnd": ("flow", "flow", "cwnd_pkts"),
    "ssthresh": ("flow", "flow", "ssthresh_pkts"),
    "sequence": ("flow", "flow", "seq"),
    "throughput": ("flow", "flow", "mbps"),
    "utilization": ("link", "link", "mbps"),
    "queue": ("link", "link", "pkts"),
    "red_average": ("link", "link", "average_pkts"),
    "red_max_p": ("link", "link", "max_p"),
    "queueing_delay": ("link", "link", "ms"),
}

# Few studies record these; their absence is not reported.
SELDOM_SAMPLED = ("ssthresh", "sequence", "red_average", "red_max_p", "queueing_delay")

QUEUE_SHARE = "queue_share"
"""Cumulative distribution of the queue: its length in packets, the share of time up to it in %."""

COMPLETION = "completion"
"""Cumulative distribution of transfers by their kind: their times in s, the share up to it in %."""

DROPS = "drops"
"""Packets dropped at a link: the first drop in each bin, in s, and the number in the bin."""

# Points of a distribution: steps of one percent are two pixels of a chart.
_MOST_SHARES = 100

# Runs whose unpacked series are in memory at the same time.
_MOST_PARSED = 1000

# A chart is 400 to 900 pixels wide. Several bins per pixel leave something to zoom into. If a page
# has so many runs that it would exceed 8 MB, the bins get coarser: 250 runs of 500 s get bins of
# 1.7 s.
MOST_BINS = 2000
FEWEST_BINS = 150
BINS_OF_A_PAGE = 72_000


def bins_for(runs: int) -> int:
    """Number of bins of a series on a page of ``runs`` runs.

    >>> bins_for(11), bins_for(250), bins_for(1000)
    (2000, 288, 150)
    """
    return max(FEWEST_BINS, min(MOST_BINS, BINS_OF_A_PAGE // max(1, runs)))


class PageSeries(Mapping[str, RunSeries]):
    """Series of the runs of a page, by run id, each stored as the text for the page.

    The text takes a tenth of the memory of its content, and a page of thousands of runs needs the
    content of only a few at a time.
    """

    def __init__(self, run_ids: Iterable[str], load: Callable[[str], str]) -> None:
        self._texts: dict[str, str | None] = dict.fromkeys(run_ids)
        self._load = load
        self._parsed: dict[str, RunSeries] = {}

    def text(self, run_id: str) -> Markup:
        """JSON that may be placed in the page."""
        found = self._texts[run_id]
        if found is None:
            found = self._texts[run_id] = self._load(run_id)
        return Markup(found)  # noqa: S704  embed_json made it

    def __getitem__(self, run_id: str) -> RunSeries:
        if run_id not in self._parsed:
            text = self.text(run_id)
            while len(self._parsed) >= _MOST_PARSED:
                del self._parsed[next(iter(self._parsed))]  # first in, first out
            self._parsed[run_id] = cast("RunSeries", parse_json(text))
        return self._parsed[run_id]

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._texts  # without loading the series

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def page_series(inputs: ReportInputs, bins: int) -> PageSeries:
    """Series of the finished runs of a plan, in its order, with ``bins`` intervals of time."""
    planned = dict.fromkeys(run["run_id"] for run in inputs.plan["runs"])
    finished = [run_id for run_id in planned if run_id in inputs.run_info]
    kept = inputs.load_series

    def load(run_id: str) -> str:
        return kept(run_id, bins) if kept else series_text(run_id, inputs.load_table, bins)

    return PageSeries(finished, load)


def series_text(run_id: str, load_table: LoadTable, bins: int) -> str:
    """Series of a run as JSON that may be placed in a page, see ``run_series``."""
    return embed_json(run_series(run_id, load_table, bins))


def run_series(run_id: str, load_table: LoadTable, bins: int) -> RunSeries:
    """Reduced series of one run: table → subject (``flow:0``, ``link:bottleneck``) → points.

    Points are packed, times in s, values in packets or Mbit/s. Tables that the run does not have or
    that are empty are left out, and so are ``DROPS`` of a link without drops.
    """
    found: RunSeries = {}
    for table in CHARTED_TABLES:
        frame = load_table(run_id, table)
        subjects = {} if frame is None else _table_series(frame, table, bins)
        if subjects:
            found[table] = subjects
    for table, reduce in (
        (QUEUE_SHARE, thinned_shares),
        (COMPLETION, _above_zero),
        (DROPS, lambda part: drop_marks(part, bins)),
    ):
        found |= _by_subject(load_table(run_id, table), table, reduce)
    return found


def _by_subject(
    frame: pl.LazyFrame | None, table: str, reduce: Callable[[pl.DataFrame], pl.DataFrame]
) -> RunSeries:
    """The rows of each link or kind of transfer, reduced by ``reduce`` and packed."""
    if frame is None:
        return {}
    column = "kind" if table == COMPLETION else "link"
    parts = frame.collect().partition_by(column, as_dict=True, maintain_order=True)
    reduced = {f"{column}:{name}": reduce(part) for (name,), part in parts.items()}
    subjects = {name: _packed(points) for name, points in reduced.items() if points.height}
    return {table: subjects} if subjects else {}


def drop_marks(drops: pl.DataFrame, bins: int) -> pl.DataFrame:
    """When packets were dropped, at most ``bins`` times: ``time_s`` f64 and ``packets`` i64.

    Args:
        drops: drops of one link: ``time_s`` f64, ascending, ``packets`` i64, dropped since the
            previous row.
        bins: number of equal intervals of time from 0 on, in each of which the first time is kept.
    """
    width = (drops["time_s"].max() or 1.0) / bins  # type: ignore[operator]
    return (
        drops.filter(pl.col("packets") > 0)
        .group_by((pl.col("time_s") / width).floor().alias("bin"), maintain_order=True)
        .agg(pl.col("time_s").first(), pl.col("packets").sum())
        .select("time_s", "packets")
    )


def thinned_shares(shares: pl.DataFrame) -> pl.DataFrame:
    """A cumulative distribution from 0 % on, reduced to the points that reach another percent.

    Args:
        shares: the last two columns are values, ascending, and % of the samples up to each.
    """
    value, share = shares.columns[-2:]
    points = shares.select(value, share)
    if points.height > _MOST_SHARES:
        step = (pl.col(share) * _MOST_SHARES / 100).floor()
        points = points.filter((step != step.shift(1)).fill_null(value=True))
    start = points.head(1).with_columns(pl.lit(0.0).alias(share))
    return pl.concat([start, points])


def _above_zero(shares: pl.DataFrame) -> pl.DataFrame:
    """A distribution of times, s, for a logarithmic axis: none below the smallest packed value."""
    return thinned_shares(shares).with_columns(pl.col("s").clip(SMALLEST_TIME_STEP_S))


def _packed(points: pl.DataFrame) -> Packed:
    across, values = points.columns
    return pack(points[across].to_list(), points[values].to_list())


def _table_series(frame: pl.LazyFrame, table: str, bins: int) -> dict[str, Packed]:
    column, kind, value = CHARTED_TABLES[table]
    reduced = reduce_min_max(frame, "time_s", value, [column], bins)
    points: dict[str, tuple[list[float], list[float]]] = {}
    for subject, time_s, number in reduced.select(column, "time_s", value).iter_rows():
        times_s, values = points.setdefault(f"{kind}:{subject}", ([], []))
        times_s.append(time_s)
        values.append(number)
    return {subject: pack(*each) for subject, each in points.items()}
