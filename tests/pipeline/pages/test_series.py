"""Series of a run in the form that the page contains."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.pages.series import bins_for, drop_marks, run_series, thinned_shares


def _load(run_id: str, table: str) -> pl.LazyFrame | None:
    assert run_id == "a"
    link = {"link": ["bottleneck"] * 2}
    if table == "queue":
        return pl.LazyFrame({**link, "time_s": [0.0, 0.01], "pkts": [0, 12]})
    if table == "queue_share":
        return pl.LazyFrame({**link, "pkts": [0.0, 12.0], "share_pct": [50.0, 100.0]})
    if table == "drops":
        return pl.LazyFrame({**link, "time_s": [0.0, 0.01], "packets": [0, 0]})
    if table == "cwnd":
        return pl.LazyFrame(
            {"time_s": [0.0, 1.23456, 0.5], "flow": [0, 0, 1], "cwnd_pkts": [1.0, 1234.5678, 2.5]}
        )
    return (
        pl.LazyFrame(schema={"time_s": pl.Float64, "link": pl.String, "mbps": pl.Float64})
        if (table == "utilization")
        else None
    )


def test_points_by_table_and_subject(unpack: Any) -> None:
    found = run_series("a", _load, 600)
    assert {table: list(subjects) for table, subjects in found.items()} == {
        "cwnd": ["flow:0", "flow:1"],
        "queue": ["link:bottleneck"],
        "queue_share": ["link:bottleneck"],
    }
    times, values = unpack(found["cwnd"]["flow:0"])
    assert times == pytest.approx([0, 1.23456], abs=0.0005)  # half of 1 ms
    assert values == pytest.approx([1, 1234.5678], abs=0.05)  # half of 0.1 > 1234.6 / 16,383
    assert unpack(found["queue"]["link:bottleneck"]) == ([0.0, 0.01], [0.0, 12.0])
    # Cumulative, from 0 %: one of two samples is at 0 packets, both are at 12 or below.
    assert unpack(found["queue_share"]["link:bottleneck"]) == ([0.0, 0.0, 12.0], [0, 50, 100])


def test_transfers_are_distributions_by_kind(unpack: Any) -> None:
    transfers = pl.LazyFrame(
        {
            "kind": ["flows", "flows", "objects"],
            "s": [0.5, 2.0, 0.0002],
            "share_pct": [50.0, 100.0, 100.0],
        }
    )
    found = run_series("a", lambda _, table: transfers if table == "completion" else None, 600)
    assert list(found) == ["completion"]
    assert unpack(found["completion"]["kind:flows"]) == ([0.5, 0.5, 2.0], [0, 50, 100])
    # A logarithmic axis has no time 0.
    assert unpack(found["completion"]["kind:objects"]) == ([0.001, 0.001], [0, 100])


def test_the_more_runs_the_coarser() -> None:
    # 72,000 / 50 = 1,440 and 72,000 / 250 = 288, between 150 and 2,000.
    bins = [bins_for(runs) for runs in (0, 1, 50, 250, 10_000)]
    assert bins == [2000, 2000, 1440, 288, 150]


def test_drops_are_marked_when_they_happen_and_counted_by_bin() -> None:
    drops = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 3.0, 4.0], "packets": [0, 2, 0, 1, 4]})
    assert drop_marks(drops, 100).rows() == [(1.0, 2), (3.0, 1), (4.0, 4)]
    # Two bins of 2 s: 2 packets from 1 s on; then 1 + 4 from 3 s on, the last one at the very end.
    assert sum(count for _, count in drop_marks(drops, 2).rows()) == 7
    assert drop_marks(drops, 1).rows()[0] == (1.0, 3)


def test_a_distribution_begins_at_nothing() -> None:
    shares = pl.DataFrame({"pkts": [0.0, 1.0, 3.0], "share_pct": [50.0, 75.0, 100.0]})
    assert thinned_shares(shares).rows() == [(0, 0), (0, 50), (1, 75), (3, 100)]


def test_a_distribution_of_many_values_keeps_each_percent_and_the_last() -> None:
    values = [float(each) for each in range(10_000)]
    shares = pl.DataFrame({"pkts": values, "share_pct": [(each + 1) / 100 for each in values]})
    kept = thinned_shares(shares)
    assert kept.height <= 102
    assert kept.rows()[-1] == (9_999, 100)
    assert kept["share_pct"].diff().max() == pytest.approx(1, abs=0.02)
