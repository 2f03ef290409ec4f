"""Series of a run as the page carries them."""

from __future__ import annotations

import json

import polars as pl

from bdpbench.report.series import bins_for, run_series


def _load(run_id: str, table: str) -> pl.LazyFrame | None:
    assert run_id == "a"
    if table == "queue":
        return pl.LazyFrame({"time_s": [0.0, 0.01], "link": ["bottleneck"] * 2, "pkts": [0, 12]})
    if table == "cwnd":
        return pl.LazyFrame(
            {"time_s": [0.0, 1.23456, 0.5], "flow": [0, 0, 1], "cwnd_pkts": [1.0, 1234.5678, 2.5]}
        )
    return (
        pl.LazyFrame(schema={"time_s": pl.Float64, "link": pl.String, "mbps": pl.Float64})
        if (table == "utilization")
        else None
    )


def test_points_by_table_and_subject_rounded_for_the_eye() -> None:
    found = run_series("a", _load, 600)
    assert found == {
        "cwnd": {
            "flow:0": {"t": [0, 1.235], "v": [1, 1234.6]},
            "flow:1": {"t": [0.5], "v": [2.5]},
        },
        "queue": {"link:bottleneck": {"t": [0, 0.01], "v": [0, 12]}},
    }
    assert json.dumps(found["queue"]) == '{"link:bottleneck": {"t": [0, 0.01], "v": [0, 12]}}'


def test_the_more_runs_the_coarser() -> None:
    # 24,000 / 40 = 600 and 24,000 / 100 = 240, between 150 and 2,000.
    bins = [bins_for(runs) for runs in (0, 1, 40, 100, 10_000)]
    assert bins == [2000, 2000, 600, 240, 150]
