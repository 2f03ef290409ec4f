"""network_tmix.tcl: what network.tcl accepts, and Tmix.

tests/pipeline/studies/network/test_tmix.py tests that each key of study.yaml has its effect.
"""

from __future__ import annotations

import pytest
from tests.tcl.conftest import NETWORK, Arguments, Outputs, Refused, argv, network_flows

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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"vectors": "X,0"}, "expected connection vectors"),
        ({"vectors": None}, "needs either vectors or offered_mbps"),
        ({"offered_mbps": 1}, "needs either vectors or offered_mbps"),
        ({"vectors": None, "offered_mbps": 1}, "-background.0.exchanges goes together with"),
        ({"think": "constant"}, "-background.0.think goes together with"),
        ({"acceptor_delays_ms": "1 2 3 4 5 6 7 8 9 10 11"}, "have more than 10 pairs"),
        ({"acceptor_delays_ms": "1,2"}, "expected delays between blanks (ms)"),
        ({"agent": "TCP/FullTcp"}, "that needs a peer or packet headers"),
        ({"linux": "cubic"}, "-background.0.linux needs -background.0.agent TCP/Linux"),
        ({"linux.beta": 3}, "-background.0.linux.beta needs -background.0.linux"),
        ({"set.fid_": 3}, "'fid_' is not a variable that can be set"),
        ({"set.nonsense_": 3}, "has no variable 'nonsense_'"),
        ({"stop_s": 1}, "connections end with their last byte"),
        ({"start_s": 1}, "vectors that are given have times of their own"),
        ({"within_s": 1}, "connections start as their vectors say"),
        ({"prefill_s": 1, "prefill_within_s": 2}, "expected at most -background.0.prefill_s, 1"),
        ({"sessions": 2}, "unknown key -background.0.sessions"),
    ],
)
def test_a_source_that_cannot_be_is_refused(refused: Refused, change: Arguments, said: str) -> None:
    own = {f"background.0.{key}": value for key, value in change.items()}
    assert said in refused("network_tmix.tcl", *argv(TMIX, own))


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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"measured_from_s": 1000000}, "expected less than -duration_s"),
        ({"measured_from_s": -1}, "-measured_from_s is '-1', expected"),
        ({"link.0.reverse_mbps": 0}, "-link.0.reverse_mbps is '0', expected"),
        ({"link.0.reverse_mbps": -4}, "-link.0.reverse_mbps is '-4', expected"),
        (
            {"link.0.reverse_mbps": 1, "changes": 1, "change.0.at_s": 0, "change.0.link": 0,
             "change.0.mbps": 2},
            "-change.0.mbps: link 0 has -reverse_mbps",
        ),
        ({"flow.0.loses": "0"}, "-flow.0.loses is '0', expected numbers of packets"),
        ({"flow.0.loses": "3,4"}, "-flow.0.loses is '3,4', expected numbers of packets"),
        ({"flow.0.milestones": 2}, "-flow.0.milestones is '2', expected 0 or 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(refused: Refused, change: Arguments, said: str) -> None:
    assert said in refused("network_tmix.tcl", *argv(BASE, change))


@pytest.mark.parametrize(
    "key", ["link.0.reverse_mbps", "measured_from_s", "flow.0.loses", "flow.0.milestones"]
)
def test_scripts_without_these_parts_refuse_their_keys(refused: Refused, key: str) -> None:
    assert f"-{key}" in refused("network.tcl", *argv(BASE, {key: 1}))
