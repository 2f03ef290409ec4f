"""Metrics of a sampled queue: its distribution and its drops."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.queues import cumulative_shares, drops_per_sample, queue_shares

QUEUE = pl.DataFrame(
    {
        "link": ["a", "a", "b", "a", "b"],
        "time_s": [0.0, 1.0, 0.0, 2.0, 1.0],
        "pkts": [3, 0, 7, 0, 7],
        "drops": [2, 2, 0, 5, 1],
    }
)


def test_a_distribution_is_that_of_the_samples() -> None:
    # Two of four samples are 0, one is 1, and one is 3.
    assert cumulative_shares(pl.Series([3, 0, None, 0, 1])).rows() == [(0, 50), (1, 75), (3, 100)]


def test_links_have_distributions_of_their_own() -> None:
    rows = queue_shares(QUEUE).with_columns(pl.col("share_pct").round(6)).rows()
    assert rows == [("a", 0, 66.666667), ("a", 3, 100), ("b", 7, 100)]
    assert queue_shares(QUEUE.clear()).rows() == []


def test_drops_are_told_of_each_sample_those_before_the_first_with_it() -> None:
    drops = drops_per_sample(QUEUE).sort("link", "time_s")["packets"].to_list()
    assert drops == [2, 0, 3, 0, 1]
