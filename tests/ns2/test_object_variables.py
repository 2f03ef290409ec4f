"""Variables of objects in the variant fast: what scripts see of them is what they see in stock."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.forks import Forks

Tcl = Callable[..., "subprocess.CompletedProcess[str]"]

SCENARIO = Path(__file__).with_name("object_variables.tcl")
AGENT = "set ns [new Simulator]\nset tcp [new Agent/TCP/Sack1]\n"

# An agent whose cwnd is traced, beside a trace of all packets and the samples of a script.
TRACED = """
set ns [new Simulator]
$ns trace-all stdout
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 1Mb 20ms DropTail
$ns queue-limit $a $b 8
Agent/TCP set window_ 40
set tcp [$ns create-connection TCP/Sack1 $a TCPSink/Sack1 $b 1]
$tcp attach-trace stdout
foreach name {cwnd_ ssthresh_ t_seqno_} {$tcp trace $name}
set ftp [$tcp attach-app FTP]
$ns at 0.1 "$ftp start"
proc sample {} {
    global ns tcp
    puts "[$ns now] [$tcp set cwnd_] [$tcp set ack_] [$tcp set rtt_]"
    $ns at [expr {[$ns now] + 0.05}] sample
}
$ns at 0 sample
$ns at 1 {$tcp set maxcwnd_ 6; $tcp set cwnd_ 2.5}
$ns at 2 {exit 0}
$ns run
"""


@pytest.fixture
def both(
    forks: Callable[[Path], Forks], ns_binary: Path, stock_binary: Path, tmp_path: Path
) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run a script with both variants: equal in status, output and errors, which are returned."""

    def run(text: str) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "script.tcl"
        script.write_text(text)
        fast = forks(ns_binary).completed([str(script)], tmp_path)
        stock = forks(stock_binary).completed([str(script)], tmp_path)
        assert fast.stdout.splitlines() == stock.stdout.splitlines()
        assert fast.stderr.splitlines() == stock.stderr.splitlines()
        assert fast.returncode == stock.returncode
        return stock

    return run


def test_scripts_see_what_they_see_in_stock(
    both: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = both(SCENARIO.read_text())
    # The scenario went to its end and did what it is for.
    assert "$tcp cmd set" in done.stderr
    assert len(re.findall("^created ", done.stdout, re.MULTILINE)) > 80
    assert "warning: no class variable Agent/TCP/Sack1::maxcwnd_" in done.stderr
    assert 'can\'t read "nosuch_": no such variable' in done.stdout
    assert re.search(r"^write own_ now 4 at \d+ by SplitObject set own_ 4$", done.stdout, re.M)


def test_traced_variables_and_samples_are_those_of_stock(
    both: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    lines = both(TRACED).stdout.splitlines()
    assert sum(" cwnd_ " in line for line in lines) > 20
    assert sum(line.startswith("d ") for line in lines) > 0


def test_an_object_gets_the_defaults_of_the_moment_of_its_creation(tcl: Tcl) -> None:
    done = tcl(
        AGENT + "Agent/TCP set window_ 31\nset later [new Agent/TCP/Sack1]\n"
        "Agent/TCP/Sack1 set window_ 32\nset last [new Agent/TCP/Sack1]\n"
        "puts [list [$tcp set window_] [$later set window_] [$last set window_]]"
    )
    # ns-2's own default is 20 (tcl/lib/ns-default.tcl).
    assert done.stdout.split() == ["20", "31", "32"]


def test_a_value_reaches_cxx_and_comes_back_as_cxx_has_it(tcl: Tcl) -> None:
    calls = ["window_ 0x10", "window_", "cwnd_ 2.50", "cwnd_"]
    done = tcl(AGENT + "".join(f"puts [$tcp set {call}]\n" for call in calls))
    assert done.stdout.split() == ["0x10", "16", "2.50", "2.5"]
