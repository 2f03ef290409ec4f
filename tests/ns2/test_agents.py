"""The window laws and agents inside the real ns-2.

That they do on the thesis's paths what it prints is among the verdicts of sharma2006, whose runs
have other ids as soon as one of these files changes.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script as Tcl

SHORT_RUN = data_of(__file__)["short_run"]


@pytest.fixture
def sack(tcl: Tcl) -> Tcl:
    """Run one flow of SACK for one second; the arguments are its variables and their values."""
    return lambda *settings: tcl(SHORT_RUN, "TCP/Sack1", *settings)


@pytest.mark.parametrize("option", [7, -9])
def test_unknown_window_option_stops_with_a_message(sack: Tcl, tcl: Tcl, option: int) -> None:
    default = f"Agent/TCP set windowOption_ {option}; new Simulator; new Agent/TCP/Sack1; puts on"
    for done in (sack("windowOption_", option), tcl(default)):
        assert (done.returncode, done.stdout) == (1, "")
        assert f"windowOption_ {option} is unknown" in done.stderr
        assert (
            "12 (BIC TCP), 13 (CUBIC of 2005), -10 (H-TCP), 14 (modified Scalable TCP)"
            in done.stderr
        )


def test_window_option_that_turns_unknown_stops_with_a_message(tcl: Tcl) -> None:
    script = SHORT_RUN.replace("$ns run", '$ns at 0.2 "$tcp set windowOption_ 77"\n$ns run')
    done = tcl(script, "TCP/Sack1", "window_", 10)  # leaves slow start by 0.2 s
    assert done.returncode == 1
    assert "windowOption_ 77 is unknown" in done.stderr


@pytest.mark.parametrize("option", [0, 1, 2, 3, 4, 5, 6, 8, 9, 12, 13])
def test_known_window_options_run(sack: Tcl, option: int) -> None:
    done = sack("windowOption_", option)
    assert (done.returncode, done.stderr) == (0, "")
    assert "packets" in done.stdout


@pytest.mark.parametrize("window", [20, 1000], ids=["without losses", "with losses"])
def test_below_its_threshold_scalable_is_standard_tcp(sack: Tcl, window: int) -> None:
    """windowOption_ 9 must give exactly what ns-2's own windowOption_ 1 gives."""
    settings = ("window_", window)  # also of ssthresh: the window keeps growing beyond it
    standard = sack("windowOption_", 1, *settings).stdout
    below = sack("windowOption_", 9, "scalable_lwnd_", 1000, *settings).stdout
    above = sack("windowOption_", 9, "scalable_lwnd_", 1, *settings).stdout
    assert below == standard
    assert above != standard
    assert (" 0 cuts" in standard) == (window == 20)


def test_variables_of_other_laws_matter_to_none(tcl: Tcl) -> None:
    """One sender of standard TCP for each value that the variable's own law refuses."""
    pairs = ["bic_beta_ NaN", "cubic_scale_ 0", "scalable_lwnd_ 0", "htcp_delta_l_ -1"]
    done = tcl(
        """
        set ns [new Simulator]
        set a [$ns node]
        set b [$ns node]
        $ns duplex-link $a $b 10Mb 1ms DropTail
        foreach pair $argv {
            set tcp [$ns create-connection TCP/Sack1 $a TCPSink/Sack1 $b 0]
            $tcp set windowOption_ 1
            $tcp set {*}$pair
            lappend senders $tcp
            $ns at 0 "[$tcp attach-app FTP] start"
        }
        $ns at 1 {
            foreach tcp $senders {puts [$tcp set ack_]}
            exit 0
        }
        $ns run
        """,
        *pairs,
    )
    assert done.returncode == 0, done.stderr
    acknowledged = [int(word) for word in done.stdout.split()]
    assert len(acknowledged) == len(pairs)
    assert min(acknowledged) > 0


@pytest.mark.parametrize(("option", "law"), [(12, "bic"), (13, "cubic")])
def test_delays_and_low_utilization_can_be_read(tcl: Tcl, option: int, law: str) -> None:
    """A link of 10 Mbit/s with 1 ms in each direction, and a window that fills the queue."""
    names = [f"{law}_delay_min_", f"{law}_delay_avg_", f"{law}_delay_max_"]
    names.append(f"{law}_low_utilization_indication_")
    settings = ("timestamps_", 1, f"{law}_low_utilization_checking_period_", 0.2)
    script = SHORT_RUN.replace(
        '"[$tcp set cwnd_] packets', f'"[lmap n {{{" ".join(names)}}} {{$tcp set $n}}] packets'
    )
    done = tcl(script, "TCP/Sack1", "windowOption_", option, "window_", 40, *settings)
    least, mean, most, indication = map(float, done.stdout.split()[:4])
    # 2 ms there and back, and 40 bytes each for the SYN and its ACK.
    assert least == pytest.approx(0.002 + 2 * 0.000032, abs=1e-9)
    # At most a window of 40 packets, of 1,050 bytes each with the option, is ahead of an ACK.
    assert least < mean < most < 0.002064 + 40 * 0.00084
    assert indication == 0


@pytest.mark.parametrize("option", [1, 8, 12])
def test_hstcp_fix_is_1_and_nothing_else(sack: Tcl, option: int) -> None:
    stock = sack("windowOption_", option)
    assert sack("windowOption_", option, "hstcp_fix_", 1).stdout == stock.stdout
    for value in (0, 2, -1):
        done = sack("windowOption_", option, "hstcp_fix_", value)
        assert done.returncode == 1
        assert f"hstcp_fix_ is {value}, outside its range of 1 to 1" in done.stderr


def test_sack_ts_is_sack_with_timestamps(tcl: Tcl) -> None:
    done = tcl(
        "new Simulator; foreach c {SackTS Sack1} {puts [[new Agent/TCP/$c] set timestamps_]}\n"
        "puts [Agent/TCP/SackTS info superclass]"
    )
    assert done.stdout.split() == ["1", "0", "Agent/TCP/Sack1"]


def test_no_display_library_is_linked(ns_binary: Path) -> None:
    done = subprocess.run(["ldd", str(ns_binary)], capture_output=True, text=True, check=True)
    assert "libtcl8.6" in done.stdout
    assert "libtk" not in done.stdout
    assert "libX11" not in done.stdout


def test_fast_shows_its_round_trip_times(tcl: Tcl) -> None:
    script = SHORT_RUN.replace("[$tcp set cwnd_] packets", "[$tcp set baseRTT_] [$tcp set avgRTT_]")
    base, average = map(float, tcl(script, "TCP/Fast", "alpha_", 10).stdout.split(",")[0].split())
    # That of the SYN: 40 bytes in each direction at 10 Mbit/s, 32 us, and 1 ms in each direction. A
    # data packet has 1,040 bytes, and the default queue limit is 50 packets.
    assert base == pytest.approx(0.002064, rel=1e-6)
    assert base < average < base + 51 * 1040 * 8 / 10e6
