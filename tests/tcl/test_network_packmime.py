"""network_packmime.tcl: what network.tcl accepts, and PackMime.

tests/pipeline/studies/network tests that each key of study.yaml has its effect.
"""

from __future__ import annotations

from tests.tcl.conftest import NETWORK, Arguments, Outputs, argv, network_flows

BASE: Arguments = {**NETWORK, **network_flows({})}
HOSTS: Arguments = {
    f"background.0.{role}_{which}{unit}": value
    for role in ("server", "client")
    for which in ("", "most_")
    for unit, value in (("mbps", 50), ("delay_ms", 4))
}
PACKMIME: Arguments = {
    **BASE,
    "backgrounds": 1,
    "background.0.kind": "packmime",
    "background.0.start_s": 0,
    "background.0.access_mbps": 100,
    "background.0.rate_per_s": 5,
    "background.0.servers": 1,
    "background.0.clients": 1,
    "background.0.segment_bytes": 1000,
    **HOSTS,
}


def test_without_packmime_it_is_network_tcl(outputs: Outputs) -> None:
    random = {**BASE, "default.Agent/TCP.overhead_": 0.0001, "flow.0.within_s": 1}
    assert outputs("network_packmime.tcl", *argv(random)) == outputs("network.tcl", *argv(random))
