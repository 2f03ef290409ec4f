"""Variables of senders that are out of their range stop ns-2 with a message."""

from __future__ import annotations

import pytest
from tests.ns2.conftest import Script as Tcl
from tests.ns2.test_agents import SHORT_RUN

SACK = "TCP/Sack1 windowOption_"
RENO_GENTLE, SACK_GENTLE = "TCP/Reno/Gentle", "TCP/Sack1/Gentle"
SIZES, FLAG, PACKETS = "1 to 1000000000 bytes", "0 to 1 (0 or 1)", "1 to 1000000 packets"
# Sender, variable, its range as it is told, values outside it.
RANGES: list[tuple[str, str, str, tuple[object, ...]]] = [
    (f"{SACK} 9", "scalable_lwnd_", PACKETS, (0.999, -3, 1000001, "NaN")),
    (f"{SACK} 9", "packetSize_", SIZES, (-1000,)),
    (f"{SACK} -10", "htcp_delta_l_", "0 to 1000 s", (-0.1, "NaN")),
    (f"{SACK} -10", "htcp_rtt_scaling_", FLAG, (2,)),
    (f"{SACK} -10", "htcp_adaptive_backoff_", FLAG, (-1,)),
    (f"{SACK} -10", "packetSize_", SIZES, (0,)),
    (f"{SACK} 15", "smooth_bic_smooth_part_", "0.001 to 1000000", (0,)),
    ("TCP/Fast", "packetSize_", SIZES, (0,)),
    ("TCP/Fast", "alpha_", PACKETS, (-5, "NaN")),
    ("TCP/Fast", "beta_", PACKETS, (0,)),
    ("TCP/Fast", "gamma_", "0.001 to 1 (a share)", (0, 1.5)),
    ("TCP/Fast", "mi_threshold_", "0 to 10 s", (-0.001,)),
    ("TCP/Fast", "cwnd_update_period_", "0 to 10 s", (-1,)),
    ("TCP/Fast", "every_other_rtt_", FLAG, (2,)),
    ("TCP/FastModes", "m0a_", PACKETS, (0,)),
    ("TCP/FastModes", "m2l_", "0 to 1000000000 kB/s", (-1,)),
    ("TCP/FastModes", "gamma_", "0.001 to 1", (0,)),
    ("TCP/FastModule", "alpha_", PACKETS, (0,)),
    ("TCP/FastModule", "rto_restart_", FLAG, (2,)),
    ("TCP/FastModule", "extra_draw_", FLAG, (-1,)),
    ("TCP/FastModule", "window_", PACKETS, (2000000,)),
    ("TCP/FastModule", "packetSize_", SIZES, (0,)),
    ("TCP/Westwood", "westwood_tau_", "0.001 to 1000 s", (0, "NaN")),
    ("TCP/Westwood", "westwood_m_", "2 to 1000 samples", (1,)),
    ("TCP/Westwood", "packetSize_", SIZES, (0,)),
    ("TCP/Vegas/Modified", "vegas_gamma_", "0.001 to 1000 packets per RTT", (0,)),
    ("TCP/Vegas/Modified", "vegas_theta_", "0.001 to 1000 packets per RTT", (1001,)),
    *(
        (base, *row)
        for base in (RENO_GENTLE, SACK_GENTLE)
        for row in (
            ("ghstcp_z_", "0 to 1000 (a statistic)", (-1, "NaN")),
            ("ghstcp_return_", FLAG, (2,)),
            ("windowOption_", "8 to 8 (HighSpeed TCP)", (1,)),
            ("packetSize_", SIZES, (0,)),
        )
    ),
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
