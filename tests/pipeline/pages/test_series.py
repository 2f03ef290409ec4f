"""Series of a run: points that must survive, in the form that the page contains."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pipeline.pages import golden
from tests.pipeline.pages.conftest import unpacked

from bdpbench.pages.series import (
    TIME_STEPS,
    VALUE_STEPS,
    bins_for,
    drop_marks,
    pack,
    reduce_min_max,
    run_series,
    thinned_shares,
)


def test_series_of_tables_are_what_they_were() -> None:
    """Shares are cumulative, from 0 %; short transfers are told apart beside long ones.

    A logarithmic axis has no time 0, and drops that did not happen no series.
    """
    link, times = {"link": ["bottleneck"] * 2}, {"time_s": [0.0, 0.01]}
    tables: dict[str, dict[str, Any]] = {
        "cwnd": {"time_s": [0.0, 1.23456, 0.5], "flow": [0, 0, 1], "cwnd_pkts": [1, 1234.567, 2.5]},
        "queue": {**link, **times, "pkts": [0, 12]},
        "queue_share": {**link, "pkts": [0.0, 12.0], "share_pct": [50.0, 100.0]},
        "drops": {**link, **times, "packets": [0, 0]},
        "completion": {
            "kind": ["flows", "flows", "flows", "objects"],
            "s": [0.05, 0.5, 2775.6, 0.0002],
            "share_pct": [25.0, 50.0, 100.0, 100.0],
        },
    }
    frames = {name: pl.LazyFrame(each, strict=False) for name, each in tables.items()}
    found = run_series("a", lambda _, name: frames.get(name), 600)
    lines = [
        f"{table} of {subject}: {golden.flat(unpacked(each))}"
        for table, subjects in found.items()
        for subject, each in subjects.items()
    ]
    golden.compare("series.txt", "\n".join(lines))


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


def test_a_distribution_begins_at_nothing_and_keeps_each_percent_and_the_last() -> None:
    values = [float(each) for each in range(10_000)]
    shares = pl.DataFrame({"pkts": values, "share_pct": [(each + 1) / 100 for each in values]})
    kept = thinned_shares(shares)
    assert kept.row(0) == (0, 0)
    assert kept.height <= 102
    assert kept.rows()[-1] == (9_999, 100)
    assert kept["share_pct"].diff().max() == pytest.approx(1, abs=0.02)


times = st.lists(
    st.floats(min_value=0, max_value=1e4).map(lambda x: x if x >= 1e-12 else 0.0), max_size=60
).map(sorted)
# Smaller numbers than SMALLEST_VALUE are packed as 0.
numbers = st.floats(min_value=-1e7, max_value=1e7).map(lambda x: x if abs(x) >= 1e-12 else 0.0)


@given(times_s=times, data=st.data())
def test_points_come_back_within_half_a_step(times_s: list[float], data: Any) -> None:
    values = data.draw(st.lists(numbers, min_size=len(times_s), max_size=len(times_s)))
    packed = pack(times_s, values)
    # A step is at most two and a half times the finest step that reaches the largest number.
    assert packed["dt"] <= max(1e-3, 2.5 * max(times_s, default=0) / TIME_STEPS, not any(times_s))
    assert packed["dv"] <= max(
        2.5 * max(map(abs, values), default=0) / VALUE_STEPS, not any(values)
    )
    back_s, back = unpacked(packed)
    rounding = 1 + 1e-9
    assert back_s == pytest.approx(times_s, abs=packed["dt"] / 2 * rounding, rel=1e-12)
    assert back == pytest.approx(values, abs=packed["dv"] / 2 * rounding, rel=1e-12)


def test_samples_of_a_simulation_keep_their_times() -> None:
    # 100 s in steps of 0.01 s are 10,000, which 16,383 steps hold; 9,410 / 1,023 = 9.2 → 10.
    packed = pack([0.0, 0.01, 100.0], [5.0, 10.0, 9410.0])
    assert packed == {"dt": 0.01, "dv": 10.0, "t": [0, 1, 9999], "v": [0, 1, 940]}
    assert pack([0.0], [float(VALUE_STEPS)])["dv"] == 1  # no more steps than there are


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


@given(samples=series, bins=st.integers(min_value=1, max_value=50))
def test_each_bin_keeps_its_extremes_ends_and_order(
    samples: list[tuple[int, float]], bins: int
) -> None:
    frame = _frame(samples)
    reduced = reduce_min_max(frame, "t", "v", ["flow"], bins)
    assert reduced["t"].is_sorted()
    assert reduced.join(frame, on=["flow", "t", "v"], how="anti").is_empty()
    for (flow,), part in frame.partition_by("flow", as_dict=True).items():
        kept = reduced.filter(pl.col("flow") == flow)
        assert (kept.row(0), kept.row(-1)) == (part.row(0), part.row(-1))
        # Two extremes per bin, and the two ends.
        assert kept.height <= 2 * bins + 2
        assert _extremes(kept, bins) == _extremes(part, bins)


def _extremes(frame: pl.DataFrame, bins: int) -> Any:
    """Bin → its smallest and largest value."""
    found: dict[int, list[float]] = {}
    first, last = frame["t"][0], frame["t"][-1]
    for _, time, value in frame.iter_rows():
        place = math.floor((time - first) * bins / (last - first)) if last > first else 0
        found.setdefault(min(bins - 1, place), []).append(value)
    return {place: (min(own), max(own)) for place, own in found.items()}


NONE = None, math.nan, math.inf
ROWS: dict[str, tuple[list[Any], list[Any], int, list[tuple[Any, Any]]]] = {
    "a short series is not touched": ([0, 1, 2], [3, 1, 2], 600, [(0, 3), (1, 1), (2, 2)]),
    "what cannot be drawn is left out": (
        [0, 1, 2, 3, None, 5], [1.0, *NONE, 4.0, 2.0], 10, [(0, 1), (5, 2)]
    ),
    "of equal values the first and the last stay": ([0, 1, 2], [7, 7, 7], 1, [(0, 7), (2, 7)]),
    "a bin has a spike of one sample": (
        [0, 1, 2, 3, 4], [5, 5, 9, 5, 5], 1, [(0, 5), (2, 9), (4, 5)]
    ),
    "nothing": ([], [], 4, []),
}  # fmt: skip


@pytest.mark.parametrize("case", ROWS.values(), ids=ROWS)
def test_reductions_keep_what_is_seen(case: Any) -> None:
    times, found, bins, kept = case
    frame = pl.LazyFrame({"link": ["a"] * len(times), "t": times, "v": found}, strict=False)
    reduced = reduce_min_max(frame, "t", "v", ["link"], bins)
    assert reduced.rows() == [("a", *each) for each in kept]
