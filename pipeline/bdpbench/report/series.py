"""Time series of runs, reduced and packed, as the page carries them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import polars as pl

from bdpbench.report.packing import Packed, pack
from bdpbench.report.reduce import reduce_min_max

LoadTable: TypeAlias = Callable[[str, str], "pl.LazyFrame | None"]
RunSeries: TypeAlias = dict[str, dict[str, Packed]]

# Table → (column that names the flow or link, kind of subject, column of the values).
CHARTED_TABLES = {
    "cwnd": ("flow", "flow", "cwnd_pkts"),
    "ssthresh": ("flow", "flow", "ssthresh_pkts"),
    "sequence": ("flow", "flow", "seq"),
    "throughput": ("flow", "flow", "mbps"),
    "utilization": ("link", "link", "mbps"),
    "queue": ("link", "link", "pkts"),
}

# Asked for by few studies: where a run has none, nothing is said of it.
SELDOM_SAMPLED = ("ssthresh", "sequence")

# A chart is 400 to 900 pixels wide. Several bins a pixel leave something to zoom into; where a page
# holds so many runs that it would grow beyond 8 MB, the bins become coarser: 250 runs of 500 s get
# bins of 1.6 s.
MOST_BINS = 2000
FEWEST_BINS = 150
BINS_OF_A_PAGE = 80_000


def bins_for(runs: int) -> int:
    """Bins a series gets on a page of ``runs`` runs.

    >>> bins_for(11), bins_for(250), bins_for(1000)
    (2000, 320, 150)
    """
    return max(FEWEST_BINS, min(MOST_BINS, BINS_OF_A_PAGE // max(1, runs)))


def run_series(run_id: str, load_table: LoadTable, bins: int) -> RunSeries:
    """Reduced series of one run: table → subject (``flow:0``, ``link:bottleneck``) → points.

    Points are packed, times in s, values in packets or Mbit/s. A table that the run does not have,
    or that is empty, is left out.
    """
    found: RunSeries = {}
    for table in CHARTED_TABLES:
        frame = load_table(run_id, table)
        subjects = {} if frame is None else _table_series(frame, table, bins)
        if subjects:
            found[table] = subjects
    return found


def _table_series(frame: pl.LazyFrame, table: str, bins: int) -> dict[str, Packed]:
    column, kind, value = CHARTED_TABLES[table]
    reduced = reduce_min_max(frame, "time_s", value, [column], bins).select(
        subject=pl.concat_str(pl.lit(f"{kind}:"), pl.col(column).cast(pl.String)),
        t=pl.col("time_s").cast(pl.Float64),
        v=pl.col(value).cast(pl.Float64),
    )
    return {
        str(subject): pack(part["t"].to_list(), part["v"].to_list())
        for (subject,), part in reduced.partition_by(
            ["subject"], as_dict=True, maintain_order=True
        ).items()
    }
