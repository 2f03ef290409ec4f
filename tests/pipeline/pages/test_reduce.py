"""reduce_min_max: which points must survive, and how many may."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdpbench.pages.series import reduce_min_max

values = st.floats(min_value=-1e9, max_value=1e9, allow_nan=False)
series = st.lists(st.tuples(st.sampled_from([0, 1]), values), min_size=1, max_size=200)


def _frame(samples: list[tuple[int, float]]) -> pl.DataFrame:
    """Samples of two interleaved series at times 0, 1, 2, …"""
    return pl.DataFrame(
        {
            "flow": [flow for flow, _ in samples],
            "t": [float(time) for time in range(len(samples))],
            "v": [value for _, value in samples],
        }
    )


@settings(deadline=None)
@given(samples=series, bins=st.integers(min_value=1, max_value=50))
def test_keeps_extremes_ends_and_order(samples: list[tuple[int, float]], bins: int) -> None:
    frame = _frame(samples)
    reduced = reduce_min_max(frame, "t", "v", ["flow"], bins)
    for (flow,), part in frame.partition_by("flow", as_dict=True).items():
        kept = reduced.filter(pl.col("flow") == flow)
        assert kept["v"].min() == part["v"].min()
        assert kept["v"].max() == part["v"].max()
        assert kept.row(0) == part.row(0)
        assert kept.row(-1) == part.row(-1)
        # Two extremes per bin, and the two ends.
        assert kept.height <= 2 * bins + 2
    assert reduced["t"].is_sorted()
    assert reduced.join(frame, on=["flow", "t", "v"], how="anti").is_empty()


@settings(deadline=None)
@given(samples=series, bins=st.integers(min_value=1, max_value=50))
def test_each_bin_keeps_its_own_extremes(samples: list[tuple[int, float]], bins: int) -> None:
    only = [(0, value) for _, value in samples]
    frame, last = _frame(only), len(only) - 1
    reduced = reduce_min_max(frame, "t", "v", ["flow"], bins)

    def bin_of(time: float) -> int:
        return min(bins - 1, math.floor(time * bins / last)) if last else 0

    expected: dict[int, list[float]] = {}
    for time, value in enumerate(v for _, v in only):
        expected.setdefault(bin_of(time), []).append(value)
    kept: dict[int, list[float]] = {}
    for _, time, value in reduced.iter_rows():
        kept.setdefault(bin_of(time), []).append(value)
    assert {key: (min(v), max(v)) for key, v in kept.items()} == {
        key: (min(v), max(v)) for key, v in expected.items()
    }


def test_keeps_a_spike_of_one_sample_among_fifty_thousand() -> None:
    time = [i / 100 for i in range(50_000)]
    value = [100.0] * 50_000
    value[33_333] = 9000.0
    frame = pl.DataFrame({"flow": 0, "t": time, "v": value})
    reduced = reduce_min_max(frame, "t", "v", ["flow"], 600)
    assert (0, 333.33, 9000.0) in reduced.rows()
    assert reduced.height <= 1202


def test_a_short_series_is_not_touched() -> None:
    frame = _frame([(0, 3.0), (0, 1.0), (0, 2.0)])
    assert reduce_min_max(frame, "t", "v", ["flow"], 600).equals(frame)


def test_leaves_out_what_cannot_be_drawn() -> None:
    frame = pl.DataFrame(
        {
            "flow": [0] * 6,
            "t": [0.0, 1.0, 2.0, 3.0, None, 5.0],
            "v": [1.0, math.nan, math.inf, None, 4.0, 2.0],
        }
    )
    reduced = reduce_min_max(frame, "t", "v", ["flow"], 10)
    assert reduced.rows() == [(0, 0.0, 1.0), (0, 5.0, 2.0)]


def test_takes_integers_lazy_frames_and_nothing_at_all() -> None:
    frame = pl.LazyFrame({"link": ["a", "a"], "t": [1, 2], "v": [7, 7]})
    assert reduce_min_max(frame, "t", "v", ["link"], 4).rows() == [("a", 1, 7), ("a", 2, 7)]
    assert reduce_min_max(frame.limit(0), "t", "v", ["link"], 4).is_empty()


@pytest.mark.parametrize(("by", "bins"), [([], 10), (["flow"], 0)])
def test_refuses_what_makes_no_sense(by: list[str], bins: int) -> None:
    with pytest.raises(ValueError, match="bins must be at least 1"):
        reduce_min_max(_frame([(0, 1.0)]), "t", "v", by, bins)


@settings(deadline=None)
@given(samples=series, bins=st.integers(min_value=1, max_value=50))
def test_many_rows_are_reduced_as_few_are(samples: list[tuple[int, float]], bins: int) -> None:
    frame = _frame([*samples, (0, math.nan), (1, math.inf)])
    few = reduce_min_max(frame, "t", "v", ["flow"], bins)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bdpbench.pages.series._FEW", 0)
        assert reduce_min_max(frame, "t", "v", ["flow"], bins).equals(few)
