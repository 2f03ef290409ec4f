"""Properties of any trace: it may be cut anywhere with the same result, and its units scale."""

from __future__ import annotations

import random

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.random_examples import examples

from bdpbench.metrics.packets import PacketSums, measure_packets, sum_packets

from .conftest import frame_of


def _random_trace(seed: int, ticks: int = 120) -> pl.DataFrame:
    """Two senders share a queue of four packets; losses are retransmitted, ACKs arrive at once.

    Times are multiples of 1/64 s, which binary numbers represent exactly.
    """
    dice = random.Random(seed)
    lines, queue, uid = [], [], 0
    highest, again = [0, 0], [[], []]
    for tick in range(ticks):
        time_s = tick / 64
        if queue:
            flow, seq, number, size = queue.pop(0)
            lines.append(f"- {time_s} 0 1 tcp {size} {flow} 0.{flow} 1.{flow} {seq} {number}")
            late = time_s + 1 / 128
            lines.append(f"r {late} 0 1 tcp {size} {flow} 0.{flow} 1.{flow} {seq} {number}")
            lines.append(f"r {late} 1 0 ack 40 {flow} 1.{flow} 0.{flow} {seq} {number + 10**6}")
        if dice.random() < 0.7:
            flow = dice.choice((0, 0, 1))
            seq = again[flow].pop() if again[flow] else highest[flow]
            highest[flow] = max(highest[flow], seq + 1)
            uid += 1
            size = dice.choice((540, 1040))
            ends = f"0 1 tcp {size} {flow} 0.{flow} 1.{flow} {seq} {uid}"
            lines.append(f"+ {time_s + 1 / 100} {ends}")
            if len(queue) == 4 or dice.random() < 0.05:
                again[flow].append(seq)
                lines.append(f"d {time_s + 1 / 100} {ends}")
            else:
                queue.append((flow, seq, uid, size))
    return frame_of(lines).sort("time_s", maintain_order=True)


def _equal(one: PacketSums, other: PacketSums) -> None:
    for (name, left), right in zip(one.tables().items(), other.tables().values(), strict=True):
        keys = [each for each in ("subject", "time_s", "link", "flow") if each in left.columns]
        assert_frame_equal(left.sort(keys), right.sort(keys), rel_tol=1e-9, abs_tol=1e-9), name


@examples(5)
@given(seed=st.integers(0, 10**6), rows=st.integers(5, 60))
@example(seed=20_061, rows=3)
def test_a_trace_may_be_cut_anywhere(seed: int, rows: int) -> None:
    trace = _random_trace(seed, ticks=24)  # some 70 rows; each part takes as long as the whole
    whole = sum_packets([trace])
    parts = (trace.slice(start, rows) for start in range(0, trace.height, rows))
    _equal(whole, sum_packets(parts))


@examples(4)
@given(seed=st.integers(0, 10**6))
def test_slower_by_two_is_half_the_rate_and_twice_the_delay(seed: int) -> None:
    trace = _random_trace(seed)
    slow = trace.with_columns(pl.col("time_s") * 2)
    values, slowed = (
        measure_packets(sum_packets([each], bin_s=bin_s))
        for each, bin_s in ((trace, 0.1), (slow, 0.2))
    )
    factor = {"Mbit/s": 0.5, "ms": 2.0, "s": 2.0, "1": 1.0} | dict.fromkeys(
        ("packets", "bytes", "hops", "changes"), 1.0
    )
    for before, after in zip(
        values.iter_rows(named=True), slowed.iter_rows(named=True), strict=True
    ):
        if before["metric"] == "throughput_convergence_time" or before["value"] is None:
            continue  # its interval is 10 s, whatever the scale of the trace
        expected = before["value"] * factor[before["unit"]]
        # Sums of times are rounded differently in the two traces.
        assert after["value"] == pytest.approx(expected, rel=1e-6, abs=1e-9), before["metric"]


@examples(4)
@given(seed=st.integers(0, 10**6))
def test_names_of_flows_do_not_matter(seed: int) -> None:
    trace = _random_trace(seed)
    swapped = trace.with_columns(flow=(1 - pl.col("flow")).cast(pl.Int32))
    name = {"flow:0": "flow:1", "flow:1": "flow:0"}
    values = _by_subject(trace)
    for (metric, subject), value in _by_subject(swapped).items():
        if subject != "trace" or "fairness" in metric:
            expected = values[metric, name.get(subject, subject)]
            assert value == (None if expected is None else pytest.approx(expected, rel=1e-9))


@examples(5)
@given(seed=st.integers(0, 10**6))
def test_bounds(seed: int) -> None:
    values = _by_subject(_random_trace(seed))
    assert 1 / 2 <= values["fairness_index", "trace"] <= 1 + 1e-12
    assert values["max_queue_length", "link:0-1"] <= 4
    assert 0 <= values["packet_loss_rate", "flow:0"] <= 1
    assert values["goodput", "flow:0"] <= values["throughput", "flow:0"]
    # The mean of equal delays is rounded.
    most = values["max_one_way_delay", "flow:0"]
    assert values["one_way_delay", "flow:0"] <= most * (1 + 1e-12)


def _by_subject(trace: pl.DataFrame) -> dict[tuple[str, str], float]:
    rows = measure_packets(sum_packets([trace])).select("metric", "subject", "value").iter_rows()
    return {(metric, subject): value for metric, subject, value in rows}
