"""network_tmix.tcl: what network.tcl accepts, and Tmix.

tests/pipeline/studies/network/test_tmix.py tests that each key of study.yaml has its effect.
"""

from __future__ import annotations

import pytest
from tests.tcl.conftest import NETWORK, Arguments, Outputs, argv, network_flows

BASE: Arguments = {**NETWORK, **network_flows({})}
TMIX: Arguments = {
    **BASE,
    "backgrounds": 1,
    "background.0.kind": "tmix",
    "background.0.start_s": 0,
    "background.0.access_mbps": 100,
    "background.0.acceptor_delays_ms": "1 2",
    "background.0.initiator_delays_ms": "3",
    "background.0.agent": "TCP/Sack1",
    "background.0.sink": "TCPSink/Sack1",
    "background.0.vectors": "S,0,1000,I:0:0:9,A:0:1:9",
}


def test_without_tmix_it_is_network_tcl(outputs: Outputs) -> None:
    random = {**BASE, "default.Agent/TCP.overhead_": 0.0001, "flow.0.within_s": 1}
    assert outputs("network_tmix.tcl", *argv(random)) == outputs("network.tcl", *argv(random))


def test_both_ways_are_measured_each_at_its_rate(outputs: Outputs) -> None:
    given = {**BASE, "link.0.reverse_mbps": 0.5, "measured_from_s": 0.5}
    lines = outputs("network_tmix.tcl", *argv(given))["report.txt"].decode().splitlines()
    facts = {line.split()[0]: float(line.split()[1]) for line in lines if "measured_" in line}
    back = facts["link.back.measured_throughput"]
    assert 0 < back <= 0.5
    share = facts["link.back.measured_utilization"]
    assert share == pytest.approx(100 * back / 0.5, abs=1e-3)
    there = facts["link.bottleneck.measured_throughput"]
    assert facts["flow.0.measured_throughput"] <= there
