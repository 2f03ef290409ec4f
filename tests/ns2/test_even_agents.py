"""FAST with a rate-dependent alpha (Agent/TCP/FastModes) and BIC with a smooth part in ns-2."""

from __future__ import annotations

import itertools

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script as Tcl

_DATA = data_of(__file__)
FLOW = _DATA["flow"]


def samples(tcl: Tcl, *arguments: object) -> list[list[float]]:
    done = tcl(FLOW, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("mbps", "mode", "alpha"),
    [(9, 0, 8), (50, 1, 20), (200, 2, 200)],  # 1,125, 6,250 and 25,000 kB/s
)
def test_fast_queues_the_alpha_of_its_rate(tcl: Tcl, mbps: int, mode: int, alpha: int) -> None:
    rows = samples(tcl, "TCP/FastModes", mbps, 2000, "mode_ cwnd_ baseRTT_ avgRTT_", 20)
    assert {row[0] for row in rows[-100:]} == {mode}
    queued = [cwnd * (1 - base / average) for _, cwnd, base, average in rows[-100:]]
    # The minimum RTT is that of an empty queue; cwnd moves in steps of at least one packet.
    assert sum(queued) / len(queued) == pytest.approx(alpha, rel=0.1, abs=2)


def test_fast_with_one_alpha_is_agent_tcp_fast(tcl: Tcl) -> None:
    """As no rate raises the mode, it does exactly what the agent with the constant does."""
    names = "cwnd_ ncwndcuts_ ack_"
    one = samples(tcl, "TCP/Fast", 100, 60, names, 10, "alpha_", 100, "beta_", 100)
    modes = ("m0a_", 100, "m0u_", 1e9)
    assert samples(tcl, "TCP/FastModes", 100, 60, names, 10, *modes) == one
    assert one[-1][1] > 1  # it has had losses


def test_bic_adds_a_fifth_of_a_packet_a_round_trip_next_to_its_last_maximum(tcl: Tcl) -> None:
    """Table II: B 4, smooth_part 20. The window settles within 8 packets of the path's capacity."""
    names = "cwnd_ ncwndcuts_ ack_"
    # 100 Mbit/s of packets of 1,500 bytes in 40 ms: 333 packets, and a queue of 100.
    rows = samples(tcl, "TCP/Sack1", 100, 100, names, 60, "windowOption_", 15, "low_window_", 14)
    late = rows[len(rows) // 3 :]
    steps = [
        (after[0] - before[0]) * before[0] / (after[2] - before[2])
        for before, after in itertools.pairwise(late)
        if after[1] == before[1] and after[2] > before[2]
    ]
    smooth = [step for step in steps if step == pytest.approx(0.2, rel=0.02)]
    assert len(smooth) > len(steps) / 4
    assert max(steps) < 32.5
    assert late[-1][1] > late[0][1]  # it has had losses
