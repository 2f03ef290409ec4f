"""Westwood, modified Vegas and modified Scalable TCP inside the real ns-2."""

from __future__ import annotations

import itertools

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script as Tcl

_DATA = data_of(__file__)
FLOW = _DATA["flow"]


def samples(
    tcl: Tcl, agent: str, names: str, end_s: float, *settings: object, mbps: int = 10
) -> list[list[float]]:
    done = tcl(FLOW, agent, names, end_s, mbps, *settings)
    assert (done.returncode, done.stderr) == (0, "")
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


# Westwood


def test_westwood_sets_ssthresh_to_the_estimated_pipe(tcl: Tcl) -> None:
    rows = samples(tcl, "TCP/Westwood", "cwnd_ ssthresh_ westwood_bwe_", 20)
    # 10 Mbit/s are 1,202 packets/s. On a busy link the estimate is close to that (within a tenth,
    # because of losses). They fill 24 ms with 28.8 packets (SYN and queue: at most 30).
    estimates = [bwe for _, _, bwe in rows[400:]]
    assert min(estimates) == pytest.approx(1202, rel=0.1)
    assert max(estimates) == pytest.approx(1202, rel=0.1)
    assert {ssthresh for _, ssthresh, _ in rows[400:]} <= set(range(26, 32))


def test_westwood_is_reno_until_the_first_loss(tcl: Tcl) -> None:
    ours = samples(tcl, "TCP/Westwood", "cwnd_ ssthresh_ t_seqno_", 0.12)
    assert ours == samples(tcl, "TCP/Reno", "cwnd_ ssthresh_ t_seqno_", 0.12)


def test_westwood_keeps_more_than_half_of_cwnd(tcl: Tcl) -> None:
    cwnd = [row[0] for row in samples(tcl, "TCP/Westwood", "cwnd_", 20)][400:]
    cuts = [after / before for before, after in itertools.pairwise(cwnd) if after < before]
    # The maximum fills pipe and queue, 49 packets; a cut leaves the pipe, 29: 0.59, in whole
    # packets.
    deep = [cut for cut in cuts if cut < 0.9]
    assert len(deep) > 3
    assert deep == pytest.approx([0.59] * len(deep), abs=0.04)


# Modified Vegas


def test_modified_vegas_with_steps_of_one_is_vegas(tcl: Tcl) -> None:
    names = "cwnd_ ssthresh_ t_seqno_"
    ours = samples(tcl, "TCP/Vegas/Modified", names, 5)
    assert ours == samples(tcl, "TCP/Vegas", names, 5)


@pytest.mark.parametrize(
    ("gamma", "least", "most"),
    [
        (1, 0.95, 1.05),
        (2, 1.9, 2.1),
        # To ns-2's Diff, growth by more than beta, 3 packets, looks like packets in the queue. An
        # RTT of growth then alternates with one without, and half of gamma remains.
        (4, 1.9, 4.1),
        (8, 3.7, 8.1),
    ],
)
def test_modified_vegas_adds_gamma_packets_an_rtt(
    tcl: Tcl, gamma: int, least: float, most: float
) -> None:
    # At 100 Mbit/s the pipe holds 288 packets; slow start ends well below 120. Samples are one RTT
    # of an empty path apart; 0.1 ms of transmission and growth within an RTT cause a few per cent.
    rows = samples(tcl, "TCP/Vegas/Modified", "cwnd_", 8, "vegas_gamma_", gamma, mbps=100)
    rising = [cwnd for (cwnd,) in rows if 120 < cwnd < 250]
    assert least <= (rising[-1] - rising[0]) / (len(rising) - 1) <= most


def test_modified_vegas_leaves_a_window_of_gamma_packets(tcl: Tcl) -> None:
    # At cwnd = gamma the increase per ACK is exactly 1, by which ns-2's Vegas recognizes slow
    # start. A timeout leaves cwnd and ssthresh at 2 packets: the path is cut from 1 s to 1.5 s.
    cut = """$ns at 0 sample
    $ns at 1 {$ns queue-limit $r $b 0}
    $ns at 1.5 {$ns queue-limit $r $b 20}"""
    script = FLOW.replace("$ns at 0 sample", cut)
    done = tcl(script, "TCP/Vegas/Modified", "cwnd_", 6, 10, "vegas_gamma_", 2)
    assert (done.returncode, done.stderr) == (0, "")
    cwnd = [float(line) for line in done.stdout.splitlines()]
    low = cwnd.index(2, int(1 / 0.024))
    assert max(cwnd[low:]) > 20


def test_modified_vegas_takes_theta_packets_away(tcl: Tcl) -> None:
    settings = ("vegas_gamma_", 4, "vegas_theta_", 3)
    cwnd = [row[0] for row in samples(tcl, "TCP/Vegas/Modified", "cwnd_", 5, *settings)]
    falls = [b - a for b, a in itertools.pairwise(cwnd) if a < b]
    # Samples are one RTT apart: whole steps of 3, minus what ACKs within the sample still added.
    assert falls
    assert max(falls) == pytest.approx(3, abs=0.2)


# Modified Scalable TCP


def test_modified_scalable_adds_a_packet_an_rtt_and_keeps_seven_eighths(tcl: Tcl) -> None:
    cwnd = [row[0] for row in samples(tcl, "TCP/Newreno", "cwnd_", 60, "windowOption_", 14)]
    cwnd = cwnd[len(cwnd) // 2 :]
    falls = [(b, a) for b, a in itertools.pairwise(cwnd) if a < b]
    assert falls
    for before, after in falls:
        # 7/8 in whole packets, with growth of at most one packet between sample and cut.
        assert 0.875 * before - 1 <= after <= 0.875 * before + 2
