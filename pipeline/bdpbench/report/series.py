"""Time series of runs, reduced and rounded, as the page carries them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import polars as pl

from bdpbench.report.reduce import reduce_min_max

LoadTable: TypeAlias = Callable[[str, str], "pl.LazyFrame | None"]
Points: TypeAlias = dict[str, list[float]]
RunSeries: TypeAlias = dict[str, dict[str, Points]]

# Table → (column that names the flow or link, kind of subject, column of the values).
CHARTED_TABLES = {
    "cwnd": ("flow", "flow", "cwnd_pkts"),
    "throughput": ("flow", "flow", "mbps"),
    "utilization": ("link", "link", "mbps"),
    "queue": ("link", "link", "pkts"),
}

# A chart is 400 to 900 pixels wide. Several bins a pixel leave something to zoom into; where a page
# holds so many runs that it would grow beyond a few megabytes, the bins become coarser.
MOST_BINS = 2000
FEWEST_BINS = 150
BINS_OF_A_PAGE = 24_000

# A bin of 2,000 over 500 s is 0.25 s wide and a pixel of the ordinate 0.5 % of it: what is rounded
# away below cannot be seen.
TIME_DECIMALS = 3
VALUE_DIGITS = 5


def bins_for(runs: int) -> int:
    """Bins a series gets on a page of ``runs`` runs.

    >>> bins_for(11), bins_for(80), bins_for(1000)
    (2000, 300, 150)
    """
    return max(FEWEST_BINS, min(MOST_BINS, BINS_OF_A_PAGE // max(1, runs)))


def run_series(run_id: str, load_table: LoadTable, bins: int) -> RunSeries:
    """Reduced series of one run: table → subject (``flow:0``, ``link:bottleneck``) → points.

    Points are ``{"t": [s], "v": [packets or Mbit/s]}``. A table that the run does not have, or
    that is empty, is left out.
    """
    found: RunSeries = {}
    for table in CHARTED_TABLES:
        frame = load_table(run_id, table)
        subjects = {} if frame is None else _table_series(frame, table, bins)
        if subjects:
            found[table] = subjects
    return found


def _table_series(frame: pl.LazyFrame, table: str, bins: int) -> dict[str, Points]:
    column, kind, value = CHARTED_TABLES[table]
    reduced = reduce_min_max(frame, "time_s", value, [column], bins).select(
        subject=pl.concat_str(pl.lit(f"{kind}:"), pl.col(column).cast(pl.String)),
        t=pl.col("time_s").cast(pl.Float64).round(TIME_DECIMALS),
        v=pl.col(value).cast(pl.Float64).round_sig_figs(VALUE_DIGITS),
    )
    return {
        str(subject): {"t": _compact(part["t"].to_list()), "v": _compact(part["v"].to_list())}
        for (subject,), part in reduced.partition_by(
            ["subject"], as_dict=True, maintain_order=True
        ).items()
    }


def _compact(values: Sequence[float]) -> list[float]:
    """Whole numbers as integers, which JSON writes without a fraction."""
    return [int(value) if value.is_integer() else value for value in values]
