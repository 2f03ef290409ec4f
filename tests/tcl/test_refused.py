"""A wrong argument ends a script with status 1 and a line that says what it should be."""

from __future__ import annotations

from typing import Any

import pytest
from tests.data_of import data_of
from tests.tcl.conftest import NETWORK, Arguments, Refused, argv, network_flows
from tests.tcl.test_network_lan import LAN
from tests.tcl.test_network_packmime import PACKMIME
from tests.tcl.test_network_tmix import TMIX

ONE: Arguments = {**NETWORK, **network_flows({})}
CBR = {"kind": "cbr", "start_s": 0, "access_mbps": 10, "rate_mbps": 1, "packet_bytes": 500}
BACKGROUND = {"backgrounds": 1, **{f"background.0.{key}": value for key, value in CBR.items()}}
BURSTS = {f"background.0.{key}": 1 for key in ("burst_s", "idle_s")}
NETWORKS: dict[str, Arguments] = {
    "one": ONE,
    "two": {**NETWORK, **network_flows({}, {})},
    "cbr": {**ONE, **BACKGROUND},
    "pareto": {**ONE, **BACKGROUND, **BURSTS, "background.0.kind": "pareto"},
    "change": {**ONE, "changes": 1, "change.0.at_s": 1, "change.0.link": 0, "change.0.mbps": 4},
    "tmix": TMIX,
    "packmime": PACKMIME,
    "lan": LAN,
    "lan and packmime": {**LAN, **PACKMIME},
}
REFUSED = [
    (script, network, *row)
    for script, networks in data_of(__file__).items()
    for network, rows in networks.items()
    for row in rows
]


@pytest.mark.parametrize(("script", "network", "change", "said"), REFUSED)
def test_what_cannot_be_is_refused(
    refused: Refused, script: str, network: str, change: dict[str, Any], said: str
) -> None:
    assert said in refused(script, *argv(NETWORKS[network], change))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["-trace"], "-trace has no value: arguments are pairs -key value"),
        (["-flows", "1"], "-flows is given twice"),
        (["trace", "1"], "'trace' is not a key: arguments are pairs -key value"),
    ],
)
def test_arguments_are_pairs(refused: Refused, more: list[str], said: str) -> None:
    assert said in refused("network.tcl", *argv(ONE), *more)
