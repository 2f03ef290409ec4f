"""Series of runs for the page: reduced to what a chart can show, and packed."""

from __future__ import annotations

import itertools
import json
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias, TypedDict, cast, final

import polars as pl
from markupsafe import Markup

from bdpbench.pages.drawing import DROPS

LoadTable: TypeAlias = Callable[[str, str], "pl.LazyFrame | None"]
"""(run id, table) → its frame, None if the run does not have the table."""


@final
class Packed(TypedDict):
    """Points: ``dt`` (s) and ``dv`` (unit of the values) are the steps.

    ``t`` and ``v`` are the differences between consecutive rounded points, starting from 0.
    """

    dt: float
    dv: float
    t: list[int]
    v: list[int]


@final
class Multiple(TypedDict):
    """Points at the times of another table's: its values times a factor."""

    of: str
    by: float


# Times and values are rounded to at least 40 % of as many steps, which is finer than a pixel of a
# chart of 230 pixels: 500 s give steps of 0.05 s, a window of 9,410 packets steps of 10.
TIME_STEPS = 16_383
VALUE_STEPS = 1_023

SMALLEST_VALUE = 1e-12
"""Nothing smaller, in any unit, is drawn; 0 is packed instead."""

SMALLEST_TIME_STEP_S = 1e-3

PRECISE_TIME_STEP_S = 1e-4
"""For few points on a logarithmic axis."""

Points: TypeAlias = tuple[list[float], list[float]]
"""Times in ascending order (s), and as many values."""

RunSeries: TypeAlias = dict[str, dict[str, Packed | Multiple]]
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

MULTIPLES = {"queueing_delay": "queue"}
"""Table → the one that it is a multiple of, unless the rate of a link changes."""

QUEUE_SHARE = "queue_share"
"""Cumulative distribution of the queue: its length in packets, the share of time up to it in %."""

COMPLETION = "completion"
"""Cumulative distribution of transfers by their kind: their times in s, which are above 0 and span
decades, and the share up to it in %."""

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
_ROW = "__row"
_BIN = "__bin"


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
        self._run_ids = dict.fromkeys(run_ids)
        self.text = cache(load)  # of a run, that may be placed in the page
        self._parsed = lru_cache(_MOST_PARSED)(self._parse)

    def _parse(self, run_id: str) -> RunSeries:
        if run_id not in self._run_ids:
            raise KeyError(run_id)
        return cast("RunSeries", json.loads(self.text(run_id)))

    def __getitem__(self, run_id: str) -> RunSeries:
        return self._parsed(run_id)

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._run_ids  # without loading the series

    def __iter__(self) -> Iterator[str]:
        return iter(self._run_ids)

    def __len__(self) -> int:
        return len(self._run_ids)


def series_text(run_id: str, load_table: LoadTable, bins: int) -> str:
    """Series of a run as JSON that may be placed in a page, see ``run_series``."""
    return embed_json(run_series(run_id, load_table, bins))


def run_series(run_id: str, load_table: LoadTable, bins: int) -> RunSeries:
    """Reduced series of one run: table → subject (``flow:0``, ``link:bottleneck``) → points.

    Points are packed, times in s, values in packets or Mbit/s. Tables that the run does not have or
    that are empty are left out, and so are ``DROPS`` of a link without drops.
    """
    found: RunSeries = {}
    points: dict[str, dict[str, Points]] = {}
    for table in CHARTED_TABLES:
        frame, of = load_table(run_id, table), MULTIPLES.get(table, "")
        points[table] = {} if frame is None else _table_points(frame, table, bins)
        if points[table]:
            found[table] = {
                subject: _multiple(own, of, points[of].get(subject, ([], []))) if of else pack(*own)
                for subject, own in points[table].items()
            }
    for table, reduce in (
        (QUEUE_SHARE, thinned_shares),
        # On a logarithmic axis, no time is below the smallest step.
        (
            COMPLETION,
            lambda part: thinned_shares(part).with_columns(pl.col("s").clip(SMALLEST_TIME_STEP_S)),
        ),
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
    step_s = PRECISE_TIME_STEP_S if table == COMPLETION else None
    subjects: dict[str, Packed | Multiple] = {
        name: pack(*(each.to_list() for each in points), step_s=step_s)
        for name, points in reduced.items()
        if points.height
    }
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


def _table_points(frame: pl.LazyFrame, table: str, bins: int) -> dict[str, Points]:
    """Subject → times (s) and values, reduced."""
    column, kind, value = CHARTED_TABLES[table]
    reduced = reduce_min_max(frame, "time_s", value, [column], bins)
    points: dict[str, Points] = {}
    for subject, time_s, number in reduced.select(column, "time_s", value).iter_rows():
        times_s, values = points.setdefault(f"{kind}:{subject}", ([], []))
        times_s.append(time_s)
        values.append(number)
    return points


def _multiple(points: Points, of: str, others: Points) -> Packed | Multiple:
    """Points as a multiple of those of another table if they are.

    >>> _multiple(([0.0, 1.0], [0.0, 6.0]), "queue", ([0.0, 1.0], [0.0, 4.0]))
    {'of': 'queue', 'by': 1.5}
    """
    by = max(points[1]) / (max(others[1], default=0.0) or 1.0)
    pairs = zip(points[1], others[1], strict=False)
    same = points[0] == others[0] and all(math.isclose(a, by * b, rel_tol=1e-9) for a, b in pairs)
    return {"of": of, "by": by} if same else pack(*points)


def reduce_min_max(
    frame: pl.DataFrame | pl.LazyFrame, x: str, y: str, by: Sequence[str], bins: int
) -> pl.DataFrame:
    """Keep, of every series, the extremes of each of ``bins`` equal intervals of ``x``.

    An interval corresponds to a pixel column of a chart, which is painted from its smallest to its
    largest ``y``. So a spike of one sample, such as the peak of cwnd before a loss, survives;
    averaging or taking every n-th sample would lose it. If an extreme is reached several times, the
    first time is kept. The first and the last sample of a series are kept as well.

    Args:
        frame: columns ``by``, ``x`` and ``y``, in any unit; rows of a series ordered by ``x``.
        x: numeric column of the abscissa.
        y: numeric column of the ordinate.
        by: columns that identify a series, at least one.
        bins: intervals between the smallest and the largest ``x`` of a series, at least 1.

    Returns:
        The columns ``by``, ``x``, ``y``, rows in the order of the input, at most ``2 · bins + 2``
            per series. Samples whose ``x`` or ``y`` is null, NaN or infinite are left out.

    Raises:
        ValueError: when ``bins`` is below 1 or ``by`` is empty.
    """
    if bins < 1 or not by:
        raise ValueError(f"bins must be at least 1 and by not empty, not {bins} and {by!r}")
    columns = frame.lazy().select(*by, x, y).collect()
    samples = columns.with_row_index(_ROW).filter(_is_finite(x) & _is_finite(y))
    if samples.is_empty():
        return samples.drop(_ROW)
    start, span = pl.col(x).min().over(by), (pl.col(x).max() - pl.col(x).min()).over(by)
    place = ((pl.col(x) - start) * bins / span).floor().clip(0, bins - 1)
    extremes = (
        samples.with_columns(pl.when(span > 0).then(place).otherwise(0).alias(_BIN))
        .group_by(*by, _BIN)
        .agg(
            pl.col(_ROW).gather(pl.col(y).arg_min()).first().alias("least"),
            pl.col(_ROW).gather(pl.col(y).arg_max()).first().alias("most"),
        )
    )
    ends = samples.group_by(by).agg(
        pl.col(_ROW).first().alias("least"), pl.col(_ROW).last().alias("most")
    )
    kept = pl.concat([each[end] for each in (extremes, ends) for end in ("least", "most")])
    return columns[kept.unique().sort()]


def _is_finite(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64).is_finite().fill_null(value=False)


def pack(
    times_s: Sequence[float],
    values: Sequence[float],
    *,
    step_s: float | None = None,
    steps: int = VALUE_STEPS,
) -> Packed:
    """Points as differences in steps, most of which have one or two digits.

    Args:
        times_s: times in ascending order, s.
        values: finite values, in any unit; as many as ``times_s``.
        step_s: step of the times, s; None for one that a chart can show.
        steps: most steps from 0 to the largest value.
    """
    dt = step_s or max(SMALLEST_TIME_STEP_S, _decimal_step(max(times_s, default=0.0), TIME_STEPS))
    dv = _decimal_step(max(map(abs, values), default=0.0), steps)
    return {"dt": dt, "dv": dv, "t": _differences(times_s, dt), "v": _differences(values, dv)}


def unpack(packed: Packed) -> Points:
    """Times (s) and values of packed points, each a whole number of steps.

    >>> unpack(pack([0.0, 0.5, 2.5], [10.0, 12.0, 3.0]))
    ([0.0, 0.5, 2.5], [10.0, 12.0, 3.0])
    """
    return _running(packed["t"], packed["dt"]), _running(packed["v"], packed["dv"])


def points_of(series: RunSeries, table: str, subject: str) -> Points:
    """Times (s) and values of a subject.

    >>> queue = pack([0.0, 0.5], [10.0, 12.0])
    >>> delay = {"of": "queue", "by": 1.5}
    >>> points_of({"queue": {"a": queue}, "queueing_delay": {"a": delay}}, "queueing_delay", "a")
    ([0.0, 0.5], [15.0, 18.0])
    """
    found = series[table][subject]
    if "of" not in found:
        return unpack(found)
    times_s, values = points_of(series, found["of"], subject)
    return times_s, [value * found["by"] for value in values]


def _running(differences: Iterable[int], step: float) -> list[float]:
    """Sums of differences in steps; division by an integer keeps 12.34 exact."""
    per_unit = round(1 / step) if step < 1 else 1
    factor = 1.0 if step < 1 else step
    return [count * factor / per_unit for count in itertools.accumulate(differences)]


def _decimal_step(largest: float, most: int) -> float:
    """Smallest step of 1, 2 or 5 times a power of ten of which ``most`` reach ``largest``.

    >>> _decimal_step(9409.98, 16_383), _decimal_step(9409.98, 4_095), _decimal_step(0.0, 4_095)
    (1.0, 5.0, 1.0)
    """
    if largest < SMALLEST_VALUE:
        return 1.0
    exponent = math.floor(math.log10(largest / most))
    steps = (float(f"{digit}e{exponent + up}") for up in (0, 1) for digit in (1, 2, 5))
    return next(step for step in steps if step * most >= largest)


def _differences(numbers: Sequence[float], step: float) -> list[int]:
    counts = [round(number / step) for number in numbers]
    return list(map(operator.sub, counts, itertools.chain((0,), counts)))


def embed_json(value: Any) -> Markup:
    """JSON that may be placed inside ``<script>``, whatever texts it contains.

    Raises:
        ValueError: for NaN and infinity, which JSON does not have.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  contains no character with a meaning in HTML
