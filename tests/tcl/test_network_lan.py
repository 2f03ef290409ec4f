"""network_lan.tcl: what network_tmix.tcl accepts, and a wireless LAN at the end of the path."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tcl.conftest import NETWORK, Arguments, Outputs, Run, argv, network_flows

BASE: Arguments = {**NETWORK, **network_flows({})}
# Routes are there after some 10 s.
LAN: Arguments = {
    **BASE,
    "lan_mbps": 54,
    "lan_buffer_pkts": 5000,
    "duration_s": 30,
    "measured_from_s": 12,
    "flow.0.start_s": 14,
    "link.0.queue.limit_": 1000,
}
# Flows that are over before the end, so that nothing is on its way then.
SHORT: Arguments = {"start_s": 14, "packets": 2000}


def facts_of(outputs: Outputs, *given: Arguments) -> dict[str, float]:
    lines = outputs("tcpeval/network_lan.tcl", *argv(*given))["report.txt"].decode().splitlines()
    words = [line.split() for line in lines if not line.startswith("#")]
    return {each[0]: float(each[1]) for each in words if len(each) > 1}


def test_without_a_lan_it_is_network_tmix(outputs: Outputs) -> None:
    given = argv({**BASE, "measured_from_s": 0.5})
    assert outputs("tcpeval/network_lan.tcl", *given) == outputs("network_tmix.tcl", *given)


@pytest.mark.parametrize("flows", [[SHORT], [SHORT, {**SHORT, "reverse": 1}]], ids=["one", "both"])
def test_what_is_sent_is_received(outputs: Outputs, flows: list[Arguments]) -> None:
    facts = facts_of(outputs, {**LAN, **network_flows(*flows)})
    wired = sum(facts[f"link.{each}.measured_throughput"] for each in ("bottleneck", "back"))
    assert facts["run.lan_throughput"] == pytest.approx(wired, abs=2e-6)
    assert facts["run.lan_loss_rate"] == facts["run.lan_back_loss_rate"] == 0
    assert wired > 0.9 * len(flows)


def test_what_its_queue_drops_is_lost(outputs: Outputs) -> None:
    slow: Arguments = {"lan_mbps": 1, "lan_buffer_pkts": 5}
    facts = facts_of(outputs, LAN, slow)
    assert 0 < facts["run.lan_loss_rate"] < 50
    assert facts["run.lan_throughput"] < 1
    assert facts["flow.0.retransmissions"] > 0


def test_the_delay_of_a_host_is_that_of_its_station(outputs: Outputs) -> None:
    far: Arguments = {"flow.0.receiver_delay_ms": 500, "flow.0.packets": 1}
    ends = outputs("tcpeval/network_lan.tcl", *argv(LAN, far))["transfers.out"].decode().split()
    # Both ways twice: the base station asks for the station's address first.
    assert 2 < float(ends[3]) - float(ends[2]) < 2.2


def test_too_many_nodes_are_refused(run_ns: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = run_ns("tcpeval/network_lan.tcl", *argv({**LAN, **network_flows(*[SHORT] * 110)}))
    assert done.returncode == 1
    assert "besides the LAN there may be 100 nodes" in done.stderr
