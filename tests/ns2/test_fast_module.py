"""The habits of FAST's own module (Agent/TCP/FastModule) in ns-2, each in isolation."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script as Tcl

_DATA = data_of(__file__)
FLOW = _DATA["flow"]
LOOK = _DATA["look"]

Transmissions = list[tuple[float, int]]

HABITS = (
    "rto_restart_",
    "timer_burst_",
    "resend_old_",
    "send_time_rtt_",
    "ack_rtt_round_",
    "keep_increments_",
    "extra_draw_",
)

SACK = "TCPSink/Sack1"


def only(habit: str | None) -> tuple[object, ...]:
    """Settings that switch on a single habit, or none."""
    return tuple(itertools.chain(*((name, int(name == habit)) for name in HABITS)))


@pytest.fixture
def sent(tcl: Tcl, tmp_path: Path) -> Callable[..., Transmissions]:
    """Times and numbers of the packets that the flow sends."""

    def run(lost: range | list[int], end: float, *settings: object) -> Transmissions:
        done = tcl(FLOW, "TCP/FastModule", SACK, " ".join(map(str, lost)), end, *settings)
        assert (done.returncode, done.stderr) == (0, "")
        lines = [line.split() for line in (tmp_path / "packets.tr").read_text().splitlines()]
        return [(float(line[1]), int(line[10])) for line in lines if line[0] == "+"]

    return run


def rounds(transmissions: Transmissions, pause_s: float = 0.5) -> list[Transmissions]:
    """Transmissions between pauses."""
    found: list[Transmissions] = [[]]
    for before, after in itertools.pairwise([transmissions[0], *transmissions]):
        if after[0] - before[0] > pause_s:
            found.append([])
        found[-1].append(after)
    return found


@pytest.mark.parametrize(("habit", "window", "growth"), [("rto_restart_", 2, 1), (None, 1, 2)])
def test_after_a_timeout_two_packets_leave_and_the_next_timeout_is_as_long(
    sent: Callable[..., Transmissions], habit: str | None, window: int, growth: int
) -> None:
    # From packet 30 on, 70 packets are lost: a window of 8, then the retransmissions after
    # timeouts.
    _, *timeouts = rounds(sent(range(30, 100), 20, *only(habit), "window_", 8))
    assert {len(each) for each in timeouts} == {window}
    starts = [each[0][0] for each in timeouts]
    pauses = [after - before for before, after in itertools.pairwise(starts)]
    # With a clock of 10 ms, ns-2's tcpTick_, the timeout is slightly above its minimum of 1 s.
    assert pauses[:3] == pytest.approx([pauses[0] * growth**i for i in range(3)])
    assert len(pauses) >= 3


def largest_burst(transmissions: Transmissions) -> int:
    return max(Counter(time for time, _ in transmissions).values())


@pytest.mark.parametrize("maxburst", [0, 1, 2])
def test_up_to_three_packets_leave_when_the_timer_fires(
    sent: Callable[..., Transmissions], maxburst: int
) -> None:
    # The SYN's ACK lets eight packets leave.
    settings = ("overhead_", 1e-5, "maxburst_", maxburst, "windowInit_", 8)
    assert largest_burst(sent([], 0.15, *only("timer_burst_"), *settings)) == 3
    assert largest_burst(sent([], 0.15, *only(None), *settings)) == (maxburst or 8)


def test_the_last_acknowledged_packet_is_sent_again_in_recovery(
    sent: Callable[..., Transmissions],
) -> None:
    """The send time of 39 is cleared, which counts as old; the lost packet itself is 1 RTT old."""
    without, with_habit = (
        Counter(number for _, number in sent([40], 2, *only(habit), "maxcwnd_", 20))
        for habit in (None, "resend_old_")
    )
    assert {number for number, count in without.items() if count > 1} == {40}
    assert {number for number, count in with_habit.items() if count > 1} == {39, 40}


@pytest.mark.parametrize("habit", [None, "send_time_rtt_"])
def test_what_was_sent_twice_is_no_sample_of_the_rtt(tcl: Tcl, habit: str | None) -> None:
    """A timeout empties the queue, so the next RTT is shorter than the average."""
    script = FLOW.replace("$ns run\n", LOOK)
    settings = (*only(habit), "alpha_", 20, "beta_", 20)
    lost = " ".join(map(str, range(900, 1020)))
    done = tcl(script, "TCP/FastModule", SACK, lost, 10, *settings)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [tuple(map(float, line.split())) for line in done.stdout.splitlines()[:-1]]
    new = [rows[0], *(b for a, b in itertools.pairwise(rows) if b[1] > a[1])]
    # The first ACK of new data after the timeouts.
    (_, _, before), (_, _, after) = next(
        (a, b) for a, b in itertools.pairwise(new) if b[0] - a[0] > 0.9
    )
    assert (after == before) == (habit is not None)
    assert after <= before


def test_without_its_habits_it_is_agent_tcp_fast(tcl: Tcl, tmp_path: Path) -> None:
    lost = " ".join(map(str, [40, *range(500, 520), *range(900, 1020)]))
    settings = ("overhead_", 0.0001, "alpha_", 20, "beta_", 20)
    law = tcl(FLOW, "TCP/Fast", SACK, lost, 30, *settings)
    packets = (tmp_path / "packets.tr").read_bytes()
    module = tcl(FLOW, "TCP/FastModule", SACK, lost, 30, *settings, *only(None))
    assert (module.returncode, module.stdout, module.stderr) == (0, law.stdout, "")
    assert (tmp_path / "packets.tr").read_bytes() == packets
    assert float(module.stdout.split()[4]) > 3  # it has had losses and timeouts


def test_one_more_number_is_drawn_before_the_first_packet(
    sent: Callable[..., Transmissions],
) -> None:
    settings = ("overhead_", 0.01)
    (first, _), (second, _) = sent([], 0.2, *only(None), *settings)[:2]
    (shifted, _), *_ = sent([], 0.2, *only("extra_draw_"), *settings)
    # The SYN and its ACK: 40 bytes at 8 Mbit/s and 50 ms, in each direction.
    assert shifted == pytest.approx(second - first - 0.10008, abs=1e-7)
    assert shifted != pytest.approx(first, abs=1e-4)


def test_stock_and_fast_print_the_same(same: Tcl) -> None:
    lost = " ".join(map(str, [40, *range(500, 520), *range(900, 1020)]))
    fast = same(FLOW, "TCP/FastModule", SACK, lost, 30, "overhead_", 0.0001)
    assert fast.returncode == 0, fast.stderr
