"""What flows lose and reach by the number of a packet, and what sources get, in ns-2's trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Simulated
from tests.pipeline.studies.network.test_background import ALONE, sent
from tests.pipeline.studies.network.test_measured import measured
from tests.pipeline.studies.network.test_tmix import DRAWN, TMIX, drawn

Run = Callable[..., Simulated]
MEASURED = {**TMIX, "arguments": ["measured_from_s"], "declared": ["measured_from_s"]}


NUMBERED = "network_tmix.tcl"


def test_a_flow_loses_the_packets_that_it_is_told(simulated: Run) -> None:
    plain, lossy = (
        simulated(flows=[{"size_pkts": 30, **more}, {"start_s": 2.9}], network=NUMBERED)
        for more in ({}, {"arguments": {"loses": [4, 7]}})
    )
    # The SYN is the first, so that the data have the numbers from 1 on.
    assert [e.seq for e in plain.data()] == list(range(1, 31))
    arrived = [e.seq for e in lossy.data()]
    assert arrived.index(3) > arrived.index(4)
    assert arrived.index(6) > arrived.index(5)
    assert set(arrived) == set(range(1, 31))
    assert "-flow.1.loses" not in lossy.run["argv"]


@pytest.mark.parametrize(
    ("protocol", "more"),
    [("Sack", {"arguments": {"loses": 5}}), ("Reno", {"start_s": 0.3}), ("Cubic", {})],
)
def test_a_milestone_is_when_the_receiver_has_all_packets(
    simulated: Run, protocol: str, more: dict[str, Any]
) -> None:
    arguments = {"milestones": 1, **more.get("arguments", {})}
    flow = {"protocol": protocol, **more, "arguments": arguments}
    run = simulated(network=NUMBERED, parameters={"protocol": None}, flows=[flow], duration_s=3)
    values = measured(run, "tcpeval")
    for number in (10, 100, 1000):
        came = {e.seq: e.time_s for e in reversed(run.data("r"))}
        last_s = max(came[seq] for seq in range(1, number + 1))
        # 1 ms and the packet's 0.0832 ms on the receiver's link of 100 Mbit/s.
        assert values[f"time_to_{number}_packets", "flow:0"] == pytest.approx(
            last_s + 0.001083 - float(flow.get("start_s", 0)), abs=2e-4 + 1e-3 * last_s
        )
    # The link passes 962 packets per second.
    assert values["time_to_10000_packets", "flow:0"] is None


def test_background_is_staggered(simulated: Run) -> None:
    source = {"kind": "cbr", "rate_mbps": 1, "packet_bytes": 500, "count": 3, "stagger_s": 0.5,
              "start_s": 1}  # fmt: skip
    run = simulated(parameters=ALONE, flows=[], background=[source], duration_s=3)
    first_s = {fid: min(e.time_s for e in sent(run, "cbr") if e.flow == fid) for fid in range(3)}
    assert first_s == pytest.approx({0: 1, 1: 1.5, 2: 2}, abs=1e-3)


def test_a_source_gets_what_was_acknowledged_since_the_measured_time(simulated: Run) -> None:
    parameters = {**ALONE, "measured_from_s": 1}
    sources = [
        {**DRAWN, "draw": 1, "load": 0.2},
        # On a path of its own, with the same vectors.
        {**DRAWN, "draw": 1, "load": 0.2, "acceptor_delays_ms": [9]},
    ]
    background = list(map(drawn, sources))
    run = simulated(**MEASURED, parameters=parameters, background=background, duration_s=6)
    for index in (0, 1):
        arrived = [
            e for e in run.events
            if (e.event, e.link, e.kind, e.flow) == ("-", (0, 1), "tcp", index) and e.size > 40
        ]  # fmt: skip
        late = sum(e.size - 40 for e in arrived if e.time_s > 1) * 8e-6 / 5
        goodput = run.facts["run", f"background_{index}_goodput"]
        assert 0.9 * late <= goodput <= 1.02 * late
    near, far = (set(starts_of(run, index)) for index in (0, 1))
    assert len(near & far) >= 0.9 * len(near)
    values = measured(run, "tcpeval")
    assert values["first_source_goodput", "run"] == run.facts["run", "background_0_goodput"]
    assert values["second_source_goodput", "run"] == run.facts["run", "background_1_goodput"]


def starts_of(run: Simulated, index: int) -> list[str]:
    """When the finished connections of a source started."""
    rows = run.rows("transfers.out")
    return [start_s for _, subject, start_s, *_ in rows if subject == f"background:{index}"]


def test_all_data_that_is_acknowledged_counts(simulated: Run) -> None:
    """From 0 s on, the goodput is the whole of the acceptors' data when all of it has arrived."""
    source = drawn({**DRAWN, "load": 0.1, "draw": 1})
    parameters = {**ALONE, "measured_from_s": 0}
    run = simulated(**MEASURED, parameters=parameters, background=[source] * 2, duration_s=20)
    got = {
        (e.flow, e.uid) for e in run.events
        if (e.event, e.link, e.kind) == ("-", (0, 1), "tcp") and e.size > 40
    }  # fmt: skip
    goodput = run.facts["run", "background_0_goodput"] + run.facts["run", "background_1_goodput"]
    assert goodput == pytest.approx(len(got) * 8e-3 / 20, rel=0.02)
