"""gHSTCP (Agent/TCP/Reno/Gentle, Agent/TCP/Sack1/Gentle) and gARED (Queue/RED/Gared) in ns-2."""

from __future__ import annotations

import itertools
import math
import subprocess
from collections.abc import Callable

import pytest

Tcl = Callable[..., "subprocess.CompletedProcess[str]"]

# One flow over 100 Mbit/s with an RTT of 40 ms and a queue of 300 packets: the pipe holds 481
# packets of 1,040 bytes. The arguments: agent, what to print every RTT, end time, variables and
# values.
FLOW = """
set settings [lassign $argv class names end]
set ns [new Simulator]
foreach node {a r b} {set $node [$ns node]}
$ns duplex-link $a $r 1000Mb 1ms DropTail
$ns duplex-link $r $b 100Mb 19ms DropTail
$ns queue-limit $a $r 10000
$ns queue-limit $r $b 300
Agent/TCP set window_ 10000
set sink [expr {[string match *Sack* $class] ? "TCPSink/Sack1" : "TCPSink"}]
set tcp [$ns create-connection $class $a $sink $b 0]
foreach {name value} $settings {$tcp set $name $value}
set ftp [$tcp attach-app FTP]
proc sample {} {
    global ns tcp names
    puts [join [lmap name $names {$tcp set $name}]]
    $ns at [expr {[$ns now] + 0.04}] sample
}
$ns at 0 "$ftp start"
$ns at 0 sample
$ns at $end {exit 0}
$ns run
"""
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


OUT_OF_RANGE = [
    ("ghstcp_z_", -1, "0 to 1000 (a statistic)"),
    ("ghstcp_z_", "NaN", "0 to 1000 (a statistic)"),
    ("ghstcp_return_", 2, "0 to 1 (0 or 1)"),
    ("windowOption_", 1, "8 to 8 (HighSpeed TCP)"),
    ("packetSize_", 0, "1 to 1000000000 bytes"),
]


@pytest.mark.parametrize("base", AGENTS)
@pytest.mark.parametrize(("name", "value", "allowed"), OUT_OF_RANGE)
def test_a_value_out_of_range_stops_with_a_message(
    tcl: Tcl, base: str, name: str, value: object, allowed: str
) -> None:
    done = tcl(FLOW, f"{base}/Gentle", "cwnd_", 0.1, name, value)
    assert done.returncode == 1
    shown = "nan" if value == "NaN" else value
    assert f"{name} is {shown}, outside its range of {allowed}" in done.stderr


# A queue whose average equals its length (q_weight_ 1), with 125 packets/s. Arrivals are twice the
# link's rate for 5 s, and half of it from then on; min_th 100 and max_th 300 give a target of 180
# to 220. Prints the average before each tick of 0.5 s, and max_p after it.
QUEUE = """
set settings [lassign $argv class]
Queue/RED set bytes_ 0
Queue/RED set queue_in_bytes_ 0
foreach {name value} {thresh_ 100 maxthresh_ 300 q_weight_ 1 linterm_ 10 mean_pktsize_ 1000} {
    Queue/RED set $name $value
}
foreach {name value} $settings {Queue/$class set $name $value}
remove-all-packet-headers
add-packet-header IP RTP Flags
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 1Mb 1ms $class
$ns simplex-link $b $a 1Mb 1ms DropTail
$ns queue-limit $a $b 2000
set udp [new Agent/UDP]
$udp set packetSize_ 1000
$ns attach-agent $a $udp
set null [new Agent/Null]
$ns attach-agent $b $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 1000
$cbr set rate_ 2Mb
$cbr attach-agent $udp
set q [[$ns link $a $b] queue]
for {set i 1} {$i <= 24} {incr i} {
    set tick [expr {0.5 * $i}]
    $ns at [expr {$tick - 1e-6}] {set average [$q set ave_]}
    $ns at [expr {$tick + 0.02}] {puts "$average [$q set cur_max_p_]"}
}
$ns at 0 "$cbr start"
$ns at 5 "$cbr set rate_ 0.5Mb"
$ns at 13 {exit 0}
$ns run
"""


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
