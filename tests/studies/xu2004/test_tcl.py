"""The experiments of xu2004: topology, settings and output files, checked by hand arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tcl.conftest import (
    Arguments,
    Built,
    Columns,
    RunOk,
    argv,
    flows,
)

SINGLE_FLOW = "xu2004/single_flow.tcl"
ACCESS_QUEUES = "xu2004/access_queues.tcl"
FAIRNESS = "xu2004/fairness.tcl"
WIRELESS = "xu2004/wireless.tcl"

# ns-2.27's defaults, then the study's own.
DEFAULTS = {
    f"default.Agent/TCP.{name}": value
    for name, value in {
        "numdupacksFrac_": 100,
        "minrto_": 1,
        "precisionReduce_": 0,
        "rtxcur_init_": 6,
        "window_": 40000,
        "packetSize_": 1000,
    }.items()
}
# Senders as described in section 2 of the study's NOTES.md.
RENO = {"agent": "TCP/Reno", "sink": "TCPSink"}
NEWRENO = {"agent": "TCP/Newreno", "sink": "TCPSink"}
VEGAS = {"agent": "TCP/Vegas", "sink": "TCPSink"}
SACK: Arguments = {}
HS = {"set.windowOption_": 8, "set.max_ssthresh_": 100}


def single_flow(sender: Arguments, duration_s: float, **changes: object) -> Arguments:
    """Chapter 3: a two-way delay of 25 ms."""
    path = {
        "duration_s": duration_s,
        "bottleneck_mbps": 1000,
        "bottleneck_delay_ms": 12.5,
        "access_mbps": 10000,
        "receiver_delay_ms": 0,
        "buffer_pkts": 200,
        "sample_s": 0.025,
        "queue_sample_s": 0.025,
        "datadir": "out",
    }
    return {**path, **DEFAULTS, **flows({"access_delay_ms": 0, **sender}), **changes}


def fairness(sender: Arguments, duration_s: float, factor: float, **changes: object) -> Arguments:
    """Section 4.3: 10 Mbit/s, 20 ms; the second flow has `factor` times the RTT of 40 ms."""
    both = flows(
        {"access_delay_ms": 0, **sender},
        {"access_delay_ms": (factor - 1) * 20, **sender},
    )
    more = {
        "bottleneck_mbps": 10,
        "bottleneck_delay_ms": 20,
        "buffer_pkts": 50,
        "substream": 1,
        "default.Agent/TCP.overhead_": 0.000832,
    }
    return {**single_flow(sender, duration_s), **more, **both, **changes}


def wireless(
    sender: Arguments, duration_s: float, error_pct: float, **changes: object
) -> Arguments:
    """Section 4.2: a two-way delay of 40 ms to the base station, then IEEE 802.11."""
    path = {
        "duration_s": duration_s,
        "bottleneck_mbps": 2,
        "access_mbps": 10,
        "buffer_pkts": 50,
        "error_pct": error_pct,
        "bad_state_s": 0.02 if error_pct else None,
        "sample_s": 0.025,
        "substream": 1,
        "datadir": "out",
    }
    flow = flows({"start_s": 20, "access_delay_ms": 20, **sender})
    return {**path, **DEFAULTS, **flow, **changes}


SENDER = ("cwnd", "ssthresh", "sequence", "acknowledged")

# Delay (s), rate (bit/s) and queue limit (packets) of the links between nodes a and b, both ways.
LINKS = """
foreach {a b} {0 1 2 0 1 3} {
    foreach {from to} [list $a $b $b $a] {
        set link [$ns link [$ns get-node-by-id $from] [$ns get-node-by-id $to]]
        puts "[[$link link] set delay_] [[$link link] set bandwidth_] [[$link queue] set limit_]"
    }
}
"""
RTTS = """
proc delay {ns a b} {
    return [[[$ns link [$ns get-node-by-id $a] [$ns get-node-by-id $b]] link] set delay_]
}
foreach {sender receiver} {2 3 4 5} {
    puts [expr {2 * ([delay $ns $sender 0] + [delay $ns 0 1] + [delay $ns 1 $receiver])}]
}
"""


def test_one_flow_writes_its_files_every_rtt(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok(SINGLE_FLOW, *argv(single_flow(RENO, 2)))
    assert {path.name for path in out.iterdir()} == {
        *(f"{name}.out" for name in SENDER),
        "queue.out",
        "util.out",
    }
    # From 0 to 2 s inclusive, every 0.025 s, which is the two-way delay; 0.1 s for the load.
    for name in (*SENDER, "queue"):
        assert [row[0] for row in columns(out / f"{name}.out")] == [i / 40 for i in range(81)]
    assert [row[0] for row in columns(out / "util.out")] == [i / 10 for i in range(1, 21)]
    assert (out / "cwnd.out").read_text().startswith("0.000 1\n0.025 1\n0.050 2\n")


def test_slow_start_doubles_every_25_ms(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok(SINGLE_FLOW, *argv(single_flow(SACK, 0.25)))
    # The SYN takes an RTT of 25 ms and some us, so a sample every 25 ms sees each doubling.
    cwnd = [row[1] for row in columns(out / "cwnd.out")]
    assert cwnd == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    # What slow start has sent: everything ACKed, plus a window.
    acks = [row[1] for row in columns(out / "acknowledged.out")]
    sent = [row[1] for row in columns(out / "sequence.out")]
    assert [s - a for s, a in zip(sent, acks, strict=True)][2:] == cwnd[2:]


def test_the_network_has_the_thesis_s_delay_and_buffer(built: Built) -> None:
    lines = built(LINKS, SINGLE_FLOW, *argv(single_flow(RENO, 1, bottleneck_mbps=622)))
    bottleneck, access = lines[:2], lines[2:]
    assert bottleneck == ["0.012500000000000001 622000000 200"] * 2  # 12.5 ms one way
    # Nothing is lost and nothing waits before the bottleneck.
    assert access == ["0 10000000000 40000"] * 4


def test_slow_start_traces_every_packet_and_changes_none(run_ok: RunOk) -> None:
    arguments = single_flow(RENO, 0.4)
    plain = run_ok(SINGLE_FLOW, *argv(arguments, {"datadir": "plain"}), out="plain")
    change = {"datadir": "traced", "trace": 1}
    traced = run_ok(SINGLE_FLOW, *argv(arguments, change), out="traced")
    for path in plain.iterdir():
        assert (traced / path.name).read_bytes() == path.read_bytes()
    lines = [line.split() for line in (traced / "pckts.trq").read_text().splitlines()]
    assert {len(line) for line in lines} == {12}
    # Nodes 0 and 1 are the routers, 2 is the sender. Each packet sent enters the link 2 -> 0 once,
    # and sequence.out has the highest number of first transmissions, counted from 0.
    sent = {int(line[10]) for line in lines if line[0] == "+" and line[2:4] == ["2", "0"]}
    highest = int((traced / "sequence.out").read_text().splitlines()[-1].split()[1])
    assert sent == set(range(highest + 1))
    # All drops occur at the bottleneck, as many as its monitor counts.
    drops = [line for line in lines if line[0] == "d"]
    assert {tuple(line[2:4]) for line in drops} == {("0", "1")}
    assert len(drops) == int((traced / "queue.out").read_text().splitlines()[-1].split()[2])


def test_the_access_links_have_queues_of_their_own(built: Built) -> None:
    arguments = single_flow(RENO, 1, access_buffer_pkts=50, access_mbps=1000)
    bottleneck, access = (lines := built(LINKS, ACCESS_QUEUES, *argv(arguments)))[:2], lines[2:]
    assert bottleneck == ["0.012500000000000001 1000000000 200"] * 2
    assert access == ["0 1000000000 50"] * 4


def test_vegas_loses_packets_in_the_queue_of_an_access_link(
    run_ok: RunOk, columns: Columns
) -> None:
    arguments = single_flow(VEGAS, 3, access_buffer_pkts=50, access_mbps=1000)
    out = run_ok(ACCESS_QUEUES, *argv(arguments))
    assert columns(out / "queue.out")[-1][2] == 0  # the bottleneck drops nothing
    # 144 packets after three duplicate ACKs, and after a timeout the half of them: the 72 of 3.2.
    assert columns(out / "ssthresh.out")[-1][1] == 72


@pytest.mark.parametrize("factor", [1, 2.5, 6])
def test_rtts_of_two_flows(built: Built, factor: float) -> None:
    args = argv(fairness(HS, 1, factor))
    seconds = [float(line) for line in built(RTTS, FAIRNESS, *args)]
    assert seconds == pytest.approx([0.04, 0.04 * factor], abs=1e-9)
    (bottleneck, _, *_) = built(LINKS, FAIRNESS, *args)
    assert bottleneck.split()[1:] == ["10000000", "50"]


def test_two_flows_write_files_each_and_share_the_bottleneck(
    run_ok: RunOk, columns: Columns
) -> None:
    out = run_ok(FAIRNESS, *argv(fairness(NEWRENO, 10, 2)))
    own = {f"{name}{flow}.out" for name in (*SENDER, "throughput") for flow in (0, 1)}
    assert {path.name for path in out.iterdir()} == own | {"queue.out", "util.out"}
    both = [columns(out / f"throughput{flow}.out") for flow in (0, 1)]
    sums = [first[1] + second[1] for first, second in zip(*both, strict=True)][2:]
    # Never more than the bottleneck, apart from rounding and one packet of 0.0083 Mbit. The buffer
    # of 50 packets is about the BDP of the first flow, so that the link is full after most cuts.
    assert max(sums) == pytest.approx(10, abs=0.0083 + 0.01)
    assert sum(sums) / len(sums) > 9


def rate_mbps(columns: Columns, out: Path) -> float:
    """Rate of data acknowledged from 20 s, where the flow starts, to 60 s."""
    return columns(out / "acknowledged.out")[-1][1] * 8e-3 / 40


def test_a_clear_radio_carries_what_802_11_leaves_of_2_mbps(
    run_ok: RunOk, columns: Columns
) -> None:
    out = run_ok(WIRELESS, *argv(wireless(RENO, 60, 0)))
    assert {path.name for path in out.iterdir()} == {f"{name}.out" for name in SENDER}
    # RTS, CTS, preambles and ACKs at 1 Mbit/s, waiting, and TCP's own ACKs take about half.
    assert 0.8 < rate_mbps(columns, out) < 1.4
    assert columns(out / "acknowledged.out")[800][1] == -1  # 800 samples of 0.025 s: 20 s


def test_errors_take_their_share_of_the_radio(run_ok: RunOk, columns: Columns) -> None:
    rates = [
        rate_mbps(columns, run_ok(WIRELESS, *argv(wireless(SACK, 60, pct)))) for pct in (0, 10, 40)
    ]
    assert rates[0] > rates[1] > rates[2] > 0
