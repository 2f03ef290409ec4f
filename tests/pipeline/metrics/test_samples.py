"""Samples are summed up in one pass, whatever the batches; what is drawn keeps the extremes."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdpbench.metrics.samples import MOST_BINS, SampleMeter, long_samples

# cwnd of a flow: up to 10, a cut to a fifth, 9, down to 1 by a timeout, and what is no fall: -5 %.
CWND = [2.0, 4, 10, 2, 9, 1, 20, 19]


def _meter(values: list[float], name: str = "cwnd_", batches: int = 1) -> SampleMeter:
    rows = pl.DataFrame({"time_s": [0.5 * k for k in range(len(values))], "value": values}).select(
        pl.lit("0-0-1-0").alias("subject"), pl.lit(name).alias("name"), "time_s", "value"
    )
    meter, size = SampleMeter(), -(-len(values) // batches)
    for first in range(0, len(values), size):
        meter.add(rows.slice(first, size))
    return meter


@pytest.mark.parametrize("batches", [1, 2, 3, 8])
def test_falls_of_a_cwnd(batches: int) -> None:
    (row,) = _meter(CWND, batches=batches).summary.rows(named=True)
    assert (row["samples"], row["least"], row["largest"], row["last"]) == (8, 1, 20, 19)
    assert (row["falls"], row["first_fall_s"], row["falls_to_one"]) == (2, 1.5, 1)
    assert row["kept_share"] == pytest.approx((2 / 10 + 1 / 9) / 2)


def test_only_windows_fall() -> None:
    (row,) = _meter(CWND, "pkts").summary.rows(named=True)
    assert (row["falls"], row["first_fall_s"], row["kept_share"]) == (None, None, None)


def test_a_cwnd_that_never_falls_keeps_no_share() -> None:
    (row,) = _meter([1.0, 2]).summary.rows(named=True)
    assert (row["falls"], row["first_fall_s"], row["kept_share"]) == (0, None, None)


def test_samples_without_a_value_do_not_count() -> None:
    nothing = [None, float("nan")]
    rows = pl.LazyFrame({"time_s": [1.0, 2.0, 3.0, 4.0], "value": [3.0, *nothing, 5.0]})
    meter = SampleMeter()
    meter.add(long_samples(rows, (), None, ("value",)).collect())
    (row,) = meter.summary.rows(named=True)
    assert (row["samples"], row["mean"], row["least"], row["largest"]) == (2, 4.0, 3.0, 5.0)
    assert (row["first_s"], row["last_s"], row["last"]) == (1.0, 4.0, 5.0)


@given(
    st.lists(st.integers(0, 1000).map(float), min_size=1, max_size=300),
    st.integers(1, 5),
    st.integers(1, 40),
)
def test_what_is_drawn_are_samples_in_order_with_both_extremes(
    values: list[float], batches: int, repeats: int
) -> None:
    values *= repeats
    points = _meter(values, batches=batches).points
    samples = {(0.5 * k, value) for k, value in enumerate(values)}
    assert set(points.select("time_s", "value").iter_rows()) <= samples
    assert points["time_s"].is_sorted()
    assert points.height <= 4 * (MOST_BINS + 1)
    assert (points["value"].min(), points["value"].max()) == (min(values), max(values))
    assert points.row(0)[2:] == (0, values[0])
    assert points.row(-1)[2:] == (0.5 * (len(values) - 1), values[-1])
