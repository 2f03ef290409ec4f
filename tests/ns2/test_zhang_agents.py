"""gHSTCP (Agent/TCP/Reno/Gentle, Agent/TCP/Sack1/Gentle) and gARED (Queue/RED/Gared) in ns-2."""

from __future__ import annotations

import itertools
import math

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script as Tcl

_DATA = data_of(__file__)
FLOW = _DATA["flow"]
QUEUE = _DATA["queue"]


AGENTS = ["TCP/Reno", "TCP/Sack1"]
PIPE_PKTS = 100e6 / 8 / 1040 * 0.04


def samples(tcl: Tcl, agent: str, names: str, end_s: float, *settings: object) -> list[list[float]]:
    done = tcl(FLOW, agent, names, end_s, *settings)
    assert (done.returncode, done.stderr) == (0, "")
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


def highspeed_increase(w: float) -> float:
    """Packets per RTT: the paper's equations 1 to 3, with W_low 38, W_high 83,000, b_high 0.1."""
    b = -0.4 * math.log(w / 38) / math.log(83000 / 38) + 0.5
    return 2 * w**2 * b * 0.078 / w**1.2 / (2 - b)


@pytest.mark.parametrize("base", AGENTS)
def test_without_a_trend_it_is_ns_2s_highspeed_tcp(tcl: Tcl, base: str) -> None:
    """For a window of 800 packets, Z is at most 14.2 sqrt(797) = 400, below the limit of 500."""
    gentle = samples(tcl, f"{base}/Gentle", "cwnd_ ncwndcuts_", 12, "ghstcp_z_", 500)
    assert gentle == samples(tcl, base, "cwnd_ ncwndcuts_", 12, "windowOption_", 8)
    assert gentle[-1][1] > 0


@pytest.mark.parametrize("base", AGENTS)
def test_it_opens_as_highspeed_tcp_while_round_trips_are_equal(tcl: Tcl, base: str) -> None:
    """The receiver's window keeps 200 packets on the path; cwnd grows on from ssthresh, 200."""
    rows = samples(tcl, f"{base}/Gentle", "cwnd_ mode_ ack_", 4, "window_", 200)
    steps = [
        (before[0], after[0] - before[0], after[2] - before[2])
        for before, after in itertools.pairwise(rows[20:])
    ]
    assert {mode for _, mode, _ in rows} == {0}
    # ns-2's p(w) passes through 1.5/38^2 and 1e-7, and the paper rounds it to 0.078/w^1.2.
    assert [step for _, step, _ in steps] == pytest.approx(
        [highspeed_increase(w) * acks / w for w, _, acks in steps], rel=0.05
    )
    assert min(acks for *_, acks in steps) > 150


@pytest.mark.parametrize("base", AGENTS)
def test_it_opens_by_a_packet_a_round_trip_while_the_queue_grows(tcl: Tcl, base: str) -> None:
    rows = samples(tcl, f"{base}/Gentle", "cwnd_ ncwndcuts_ mode_", 16)
    steps = [
        (after[0] - before[0], after[2])
        for before, after in itertools.pairwise(rows)
        if after[1] == before[1] and before[0] > 1.1 * PIPE_PKTS and rows.index(before) > 50
    ]
    reno = [step for step, mode in steps if mode == 1]
    assert len(reno) > 0.95 * len(steps) > 100
    # With a queue, a round trip is longer than the 40 ms between two samples.
    assert max(reno) <= 1.01
    assert highspeed_increase(1.1 * PIPE_PKTS) > 3


def test_a_cut_leaves_highspeed_tcps_share_and_its_mode(tcl: Tcl) -> None:
    rows = samples(tcl, "TCP/Sack1/Gentle", "cwnd_ ncwndcuts_ mode_", 32)
    at = [i for i, (one, two) in enumerate(itertools.pairwise(rows), 1) if one[1] < two[1]]
    assert len(at) > 2
    for i in at[1:]:  # the first loss halves, as with every agent of ns-2
        before, after = rows[i - 1][0], rows[i][0]
        kept = 0.5 + 0.4 * math.log(before / 38) / math.log(83000 / 38)
        assert after / before == pytest.approx(kept, rel=0.02)
        opening = next(row for row in rows[i:] if row[0] > after)
        assert opening[2] == 0


def queue_samples(tcl: Tcl, *arguments: object) -> list[tuple[float, float]]:
    done = tcl(QUEUE, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return [(float(a), float(p)) for a, p in map(str.split, done.stdout.splitlines())]


def test_gared_looks_at_the_average_every_half_second(tcl: Tcl) -> None:
    rows = queue_samples(tcl, "RED/Gared")
    expected, before = 0.1, 0.0
    rises = falls = 0
    for average, max_p in rows:
        if average > 220 and average > before and expected < 0.5:
            expected += min(0.01, expected / 4)
            rises += 1
        elif 100 < average < 180 and average < before:
            expected *= 0.9
            falls += 1
        assert max_p == pytest.approx(expected, rel=1e-12)
        before = average
    assert rises >= 3
    assert falls >= 2


def test_gared_at_arrivals_moves_at_most_once_an_interval(tcl: Tcl) -> None:
    """It moves at the first arrivals that find the queue above its target and growing: 0.1, ..."""
    rows = queue_samples(tcl, "RED/Gared", "gared_clock_", 0)
    levels = [max_p for _, max_p in rows]
    assert levels[0] == 0.1
    assert max(levels) > 0.12
    assert levels[-1] < max(levels)
    changes = [after / before for before, after in itertools.pairwise(levels) if after != before]
    assert all(change == pytest.approx(0.9) or change > 1 for change in changes)


def test_red_and_adaptive_red_are_as_they_were(tcl: Tcl) -> None:
    """Adaptive RED also raises max_p while the queue shrinks above the target; RED never does."""
    assert {max_p for _, max_p in queue_samples(tcl, "RED")} == {0.1}
    adaptive = queue_samples(tcl, "RED", "adaptive_", 1, "bottom_", 0.01)
    gentle = queue_samples(tcl, "RED/Gared")
    assert max(max_p for _, max_p in adaptive) > max(max_p for _, max_p in gentle)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("gared_clock_", 2, "gared_clock_ is outside its range of 0 to 1"),
        ("adaptive_", 1, "adaptive_ and feng_adaptive_ must be 0"),
        ("interval_", 0, "interval_ is outside its range"),
    ],
)
def test_a_queue_out_of_range_stops_with_a_message(
    tcl: Tcl, name: str, value: object, message: str
) -> None:
    done = tcl(QUEUE, "RED/Gared", name, value)
    assert done.returncode == 1
    assert message in done.stderr


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        (FLOW, ("TCP/Reno/Gentle", "cwnd_ ncwndcuts_ ghstcp_statistic_", 8)),
        (FLOW, ("TCP/Sack1/Gentle", "cwnd_ ncwndcuts_ ghstcp_statistic_", 8)),
        (QUEUE, ("RED/Gared",)),
        (QUEUE, ("RED/Gared", "gared_clock_", 0)),
    ],
)
def test_stock_and_fast_print_the_same(
    same: Tcl, script: str, arguments: tuple[object, ...]
) -> None:
    fast = same(script, *arguments)
    assert fast.returncode == 0, fast.stderr
    assert len(fast.stdout.splitlines()) > 20
