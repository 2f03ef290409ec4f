"""TCP/Linux: its parameters, types and arithmetic are those of the kernel on every machine."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from itertools import pairwise

import pytest

Tcl = Callable[..., "subprocess.CompletedProcess[str]"]

PARAMETERS = ["sysctl_tcp_abc", "tcp_max_burst", "debug_level"]
DEFAULTS = [1, 3, 1]

SHOW = "\n".join(f"$tcp get_ca_default_param linux {name}" for name in PARAMETERS)


def values(output: str) -> list[int]:
    """Numbers in answers of the form "tcp_linux.NAME = NUMBER"."""
    return [int(line.split(" = ")[1]) for line in output.splitlines() if " = " in line]


def test_defaults_of_the_parameters(tcl: Tcl) -> None:
    done = tcl("set ns [new Simulator]; set tcp [new Agent/TCP/Linux]\n" + SHOW)
    assert values(done.stdout) == DEFAULTS


@pytest.mark.parametrize("name", PARAMETERS)
def test_setting_a_parameter_leaves_the_others(tcl: Tcl, name: str) -> None:
    # Writing a character as an int, 2, would zero the three bytes after it.
    text = f"set ns [new Simulator]; set tcp [new Agent/TCP/Linux]\n{SHOW}\n"
    done = tcl(text + f"$tcp set_ca_default_param linux {name} 2\n" + SHOW)
    expected = [2 if other == name else DEFAULTS[i] for i, other in enumerate(PARAMETERS)]
    assert values(done.stdout) == [*DEFAULTS, *expected]


# A window of 20,000 packets below the BDP of 22,428, and one packet lost: the queue stays empty.
LONG_PATH = """
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 622Mb 150ms DropTail
$ns queue-limit $a $b 100000
$ns queue-limit $b $a 100000
set loss [new ErrorModel/List]
$loss droplist 100000
$ns lossmodel $loss $a $b
set tcp [$ns create-connection TCP/Linux $a TCPSink/Sack1 $b 0]
$tcp set window_ 20000
$ns at 0 {$tcp select_ca veno}
set ftp [$tcp attach-app FTP]
$ns at 0.1 {$ftp start}
proc watch {} {
    global ns tcp least
    set least [expr {min($least, [$tcp set cwnd_])}]
    $ns at [expr {[$ns now] + 0.05}] watch
}
$ns at 5 {set least [$tcp set cwnd_]; puts "before = [expr {int($least)}]"; watch}
$ns at 9 {puts "least = [expr {int($least)}]"; exit 0}
$ns run
"""


def test_products_overflow_at_32_bits(tcl: Tcl) -> None:
    # TCP Veno computes the packets in the queue from (cwnd * base RTT in us) << 1, a u32. With
    # 20,000 packets and 300 ms that is 1.2e10, more than 2^32: the queue seems long, and cwnd is
    # halved. With 64 bits the queue would seem empty, and cwnd would be cut to 4/5, 16,000.
    before, least = values(tcl(LONG_PATH).stdout)
    assert before == 20000
    # Recovery ends at ssthresh, 10,000; the last ACK of it may add a packet.
    assert 10000 <= least <= 10001


# Compound at 250 Mbit/s and 310 ms: the path holds 9,226 packets of 1,050 bytes, and the queue
# 2,000. Prints a line per round trip.
COMPOUND = """
set ns [new Simulator]
set s [$ns node]
set a [$ns node]
set b [$ns node]
$ns duplex-link $s $a 1000Mb 0ms DropTail
$ns queue-limit $s $a 100000
$ns duplex-link $a $b 250Mb 155ms DropTail
$ns queue-limit $a $b 2000
$ns queue-limit $b $a 100000
set tcp [$ns create-connection TCP/Linux $s TCPSink/Sack1 $b 0]
$tcp set window_ 100000
$tcp set timestamps_ 1
$ns at 0 {$tcp select_ca compound}
set ftp [$tcp attach-app FTP]
$ns at 0.1 {$ftp start}
proc watch {} {
    global ns tcp
    puts "cwnd = [$tcp set cwnd_]"
    $ns at [expr {[$ns now] + 0.31}] watch
}
$ns at 16 watch
$ns at 22 {exit 0}
$ns run
"""


def test_compound_knows_an_empty_queue_with_a_long_path(tcl: Tcl) -> None:
    # (cwnd * base RTT in us) << 1 exceeds 32 bits above 2^31 / 310,000 = 6,927 packets. With an
    # empty queue the delay window grows by cwnd^0.75 / 8 - 1 per round trip (alpha 1/8, k 0.75),
    # with the cwnd of the previous round trip, and Reno's window by 1: 99 packets in total at
    # 7,400.
    cwnds = values(tcl(COMPOUND).stdout)
    steps = [(before, after - before) for before, after in pairwise(cwnds) if before > 7000]
    assert len(steps) >= 10
    assert max(before for before, _ in steps) > 8500
    for before, step in steps:
        assert step == pytest.approx(before**0.75 / 8, abs=3)


# Packets of 60,000 bytes: byte numbers wrap at packet 71,582. One loss occurs long before that.
TURN = """
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 10Gb 50ms DropTail
$ns queue-limit $a $b 100000
$ns queue-limit $b $a 100000
set loss [new ErrorModel/List]
$loss droplist 64000
$ns lossmodel $loss $a $b
set tcp [$ns create-connection TCP/Linux $a TCPSink/Sack1 $b 0]
$tcp set packetSize_ 60000
$tcp set window_ 400
$tcp set timestamps_ 1
$ns at 0 {$tcp select_ca compound}
set ftp [$tcp attach-app FTP]
$ns at 0.1 {$ftp start}
proc watch {} {
    global ns tcp
    if {[$tcp set ack_] > 68000} {
        puts "packet [$tcp set ack_] = [$tcp set cwnd_]"
    }
    $ns at [expr {[$ns now] + 0.1}] watch
}
$ns at 0.1 watch
$ns at 9 {exit 0}
$ns run
"""


def test_numbers_of_bytes_turn_without_notice(tcl: Tcl) -> None:
    # As plain numbers, the byte acknowledged before the wrap exceeds the end of a window after it.
    # Round trips would then end with every ACK, and the window would not grow during that round
    # trip.
    output = tcl(TURN).stdout
    acks = [int(line.split()[1]) for line in output.splitlines() if line.startswith("packet")]
    cwnds = values(output)
    assert acks[0] < 2**32 / 60_000 < acks[-1]
    for before, after in pairwise(cwnds):
        assert after - before == pytest.approx(before**0.75 / 8, abs=3)
