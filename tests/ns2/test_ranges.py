"""Variables of senders that are out of their range stop ns-2 with a message."""

from __future__ import annotations

import pytest
from tests.ns2.conftest import Script as Tcl
from tests.ns2.test_agents import SHORT_RUN

# Sender, variable, its range as it is told, values outside it. That all variables have the ranges
# that pages tell is a test of the pages.
RANGES: list[tuple[str, str, str, tuple[object, ...]]] = [
    ("TCP/Sack1 windowOption_ 9", "scalable_lwnd_", "1 to 1000000 packets", (0.999, -3, "NaN")),
    ("TCP/Sack1 windowOption_ 9", "packetSize_", "1 to 1000000000 bytes", (-1000, 0)),
    ("TCP/Sack1 windowOption_ -10", "htcp_rtt_scaling_", "0 to 1 (0 or 1)", (2, -1)),
    ("TCP/Sack1 windowOption_ 12", "bic_beta_", "0.01 to 0.99 (share of cwnd kept)", (0, 1.2)),
    ("TCP/Sack1 windowOption_ 13", "cubic_scale_", "1e-06 to 1000000 packets/s^3", (0,)),
    ("TCP/Sack1 windowOption_ 15", "smooth_bic_smooth_part_", "0.001 to 1000000", (0,)),
    ("TCP/Fast", "gamma_", "0.001 to 1 (a share)", (0, 1.5)),
    ("TCP/FastModes", "m2l_", "0 to 1000000000 kB/s", (-1,)),
    ("TCP/FastModule", "window_", "1 to 1000000 packets", (2000000,)),
    ("TCP/Westwood", "westwood_m_", "2 to 1000 samples", (1,)),
    ("TCP/Vegas/Modified", "vegas_theta_", "0.001 to 1000 packets per RTT", (1001,)),
    ("TCP/Reno/Gentle", "ghstcp_z_", "0 to 1000 (a statistic)", (-1, "NaN")),
    ("TCP/Sack1/Gentle", "windowOption_", "8 to 8 (HighSpeed TCP)", (1,)),
]


@pytest.mark.parametrize(("sender", "name", "allowed", "values"), RANGES)
def test_a_value_out_of_range_stops_with_a_message(
    tcl: Tcl, sender: str, name: str, allowed: str, values: tuple[object, ...]
) -> None:
    for value in values:
        done = tcl(SHORT_RUN, *sender.split(), name, value)
        assert (done.returncode, done.stdout) == (1, "")
        told = "nan" if value == "NaN" else value
        assert f"{name} is {told}, outside its range of {allowed}" in done.stderr


def test_an_agent_made_during_the_run_is_checked_too(tcl: Tcl) -> None:
    script = SHORT_RUN.replace('$ns at 0 "$ftp start"', "$ns at 0.1 late").replace(
        "set ns [new",
        """proc late {} {
            global ns a b
            set tcp [$ns create-connection TCP/Fast $a TCPSink/Sack1 $b 1]
            $tcp set alpha_ -1
            [$tcp attach-app FTP] start
        }
        set ns [new""",
    )
    done = tcl(script, "TCP/Sack1")
    assert done.returncode == 1
    assert "alpha_ is -1, outside its range" in done.stderr
