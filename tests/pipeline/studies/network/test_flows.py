"""The flows of study.yaml appear in the packet trace of the real ns-2."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from tests.pipeline.studies.network.conftest import Simulated

Run = Callable[..., Simulated]
SENDING_S = 1040 * 8 / 8e6
"""One packet on the bottleneck of 8 Mbit/s."""
NO_ACCESS = {"access_mbps": None}


def first_round_trip(run: Simulated, flow: int = 0) -> float:
    """Time from the first packet, which is empty and has 40 bytes, to the first segment."""
    sent = [each.time_s for each in run.events if each.event == "+" and each.flow == flow]
    first = min(sent)
    return min(each.time_s for each in run.data(flow=flow)) - first


def overhead_s(access_mbps: float = 100) -> float:
    """Transmission times in that round trip: packet and ACK of 40 bytes on three links each, except
    that on its access link the segment replaces the first packet."""
    return 2 * (40 * 8 / 8e6 + 2 * 40 * 8 / (access_mbps * 1e6)) + 1000 * 8 / (access_mbps * 1e6)


@pytest.mark.parametrize(
    ("parameters", "flow", "rtt_ms"),
    [
        ({}, {}, 20),
        ({"access_delay_ms": None, "rtt_ms": 60}, {}, 60),
        ({"access_delay_ms": None}, {"access_delay_ms": 11}, 40),
        ({"access_delay_ms": None}, {"rtt_ms": 32}, 32),
        ({"receiver_delay_ms": None}, {"receiver_delay_ms": 6}, 30),
        ({"bottleneck_delay_ms": 18}, {}, 40),
    ],
)
def test_the_round_trip_is_what_is_asked_for(
    simulated: Run, parameters: dict[str, object], flow: dict[str, object], rtt_ms: float
) -> None:
    run = simulated(parameters=parameters, flows=[flow], duration_s=0.5)
    assert first_round_trip(run) == pytest.approx(rtt_ms / 1e3 + overhead_s(), abs=1e-6)
    assert run.run["parameters"]["rtt_ms"] == rtt_ms


def test_flows_of_many_round_trips_have_theirs(simulated: Run) -> None:
    flows = [{"rtt_ms": 20}, {"rtt_ms": 50}, {"rtt_ms": 90}]
    run = simulated(parameters={"access_delay_ms": None}, flows=flows, duration_s=0.5)
    parameters = run.run["parameters"]
    assert [parameters[f"rtt_{i}_ms"] for i in (1, 2, 3)] == [20, 50, 90]
    assert "rtt_ms" not in parameters
    # The second and third flow wait behind packets of others for up to a few transmission times.
    for flow, rtt_s in enumerate((0.020, 0.050, 0.090)):
        assert rtt_s <= first_round_trip(run, flow) < rtt_s + overhead_s() + 5 * SENDING_S


def test_the_access_rate_is_the_flows_own(simulated: Run) -> None:
    # Two consecutive segments of a window leave an access link of 16 Mbit/s 0.52 ms apart.
    run = simulated(parameters=NO_ACCESS, flows=[{"access_mbps": 16}], duration_s=0.5)
    times = [each.time_s for each in run.data()]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert min(gaps) == pytest.approx(1040 * 8 / 16e6, abs=1e-6)


def test_the_access_buffer_is_that_of_the_run(simulated: Run) -> None:
    run = simulated(parameters={"access_buffer_pkts": 5, "access_mbps": 4}, duration_s=4)
    # The sender's own link is the slowest, so all losses are there.
    assert run.facts["flow:0", "retransmissions"] > 0
    assert run.facts["link:bottleneck", "total_drops"] == 0
    ample = simulated(parameters=NO_ACCESS, flows=[{"access_mbps": 4}], duration_s=4)
    assert ample.facts["flow:0", "retransmissions"] == 0


def starts(run: Simulated) -> list[float]:
    """When the first packet of each flow reached the bottleneck, minus its time to get there."""
    flows = range(int(run.run["parameters"]["flows"]))
    way_s = 0.001 + 40 * 8 / 100e6
    return [
        min(e.time_s for e in run.events if e.event == "+" and e.flow == i) - way_s for i in flows
    ]


def test_flows_start_when_they_are_told_to(simulated: Run) -> None:
    flows = [{"count": 2, "start_s": 0.25, "stagger_s": 0.5}]
    assert starts(simulated(flows=flows, duration_s=1)) == pytest.approx([0.25, 0.75])


def test_random_starts_are_in_their_interval_and_differ_with_the_substream(simulated: Run) -> None:
    flows = [{"count": 20, "start_s": 0.25, "start_within_s": 0.5}]
    first, second = (
        starts(simulated(flows=flows, duration_s=1, parameters={"substream": each}))
        for each in (1, 2)
    )
    assert all(0.25 <= each <= 0.75 for each in first + second)
    assert len(set(first)) == 20
    assert first != second
    # Uniform over 0.5 s: the mean of 40 has a standard deviation of 0.5 / sqrt(12 · 40) = 0.023 s.
    assert sum(first + second) / 40 == pytest.approx(0.5, abs=4 * 0.023)


def test_a_flow_stops(simulated: Run) -> None:
    run = simulated(flows=[{"stop_s": 1}], duration_s=2)
    # The packets already sent drain from a queue of 20 packets at 1.04 ms each.
    assert 0.9 < max(each.time_s for each in run.data()) < 1 + 0.020 + 21 * SENDING_S


def test_a_transfer_ends_with_its_last_packet(simulated: Run) -> None:
    packets = 70
    run = simulated(flows=[{"size_pkts": packets, "start_s": 0.5}], duration_s=2)
    # Packet 0 is the empty one.
    assert {each.seq for each in run.data()} == set(range(1, packets + 1))
    ((kind, subject, start_s, end_s, size_bytes),) = run.rows("transfers.out")
    assert (kind, subject, float(start_s), int(size_bytes)) == (
        "flow",
        "flow:0",
        0.5,
        packets * 1000,
    )
    last = max(e.time_s for e in run.events if e.kind == "ack")
    # After the far end of the bottleneck, the last ACK still has to cross the sender's access link.
    assert float(end_s) == pytest.approx(last + 0.001 + 40 * 8 / 100e6, abs=1e-6)


def test_a_reverse_flow_sends_the_other_way(simulated: Run) -> None:
    run = simulated(flows=[{}, {"direction": "reverse"}], duration_s=1)
    assert run.data(link=(0, 1), flow=0)
    assert not run.data(link=(1, 0), flow=0)
    assert run.data(link=(1, 0), flow=1)
    assert not run.data(link=(0, 1), flow=1)
    assert run.facts["link:back", "throughput"] > 1
    assert run.facts["flow:1", "throughput"] > 1


def test_flows_enter_and_leave_a_chain(simulated: Run) -> None:
    flows = [
        {},
        {"enters": 2, "leaves": 2},
        {"enters": 2},
        {"direction": "reverse", "enters": 1, "leaves": 2},
    ]
    run = simulated(bottlenecks=[{}, {}, {}], flows=flows, duration_s=1)
    crossed = {
        flow: {
            e.link
            for e in run.events
            if e.flow == flow and e.size > 40 and e.kind == "tcp" and e.event == "+"
        }
        for flow in range(4)
    }
    assert crossed == {
        0: {(0, 1), (1, 2), (2, 3)},
        1: {(1, 2)},
        2: {(1, 2), (2, 3)},
        3: {(2, 1), (1, 0)},
    }
    # 2 (1 + 3 · 8 + 1) ms, and the same with one and two bottlenecks of 8 ms.
    parameters = run.run["parameters"]
    assert [parameters[f"rtt_{i}_ms"] for i in (1, 2, 3, 4)] == [52, 20, 36, 36]
    assert {name for name, _ in run.facts if name.startswith("link")} == {
        f"link:{name}_{i}" for name in ("bottleneck", "back") for i in (1, 2, 3)
    }


def test_delayed_acks_are_half_as_many(simulated: Run) -> None:
    def acks(**parameters: str) -> float:
        run = simulated(parameters=parameters, duration_s=1)
        received = [each for each in run.data("r")]
        acked = [e for e in run.events if e.event == "r" and e.kind == "ack"]
        return len(acked) / len(received)

    assert acks() == pytest.approx(1, abs=0.02)
    assert acks(delayed_acks="off") == acks()
    # Out-of-order segments are acknowledged at once.
    assert 0.5 <= acks(delayed_acks="on") < 0.7


def test_flows_that_are_not_recorded_have_facts_alone(simulated: Run) -> None:
    run = simulated(flows=[{}, {"recorded": False}], duration_s=1)
    assert {path.name for path in run.folder.glob("*_hstcp*")} == {
        "cwnd_hstcp0.out",
        "tput_hstcp0.out",
    }
    assert run.facts["flow:1", "goodput"] > 0
    assert {each["flow"] for each in run.run["outputs"] if "flow" in each} == {0}
    # SACK's ssthresh_ is recorded beside cwnd.
    assert {len(row) for row in run.rows("cwnd_hstcp0.out")} == {3}
    assert {"recorded"} <= {each["table"] for each in run.run["outputs"]}


def test_parameters_of_tcp_linux_act_on_the_window(simulated: Run) -> None:
    # CUBIC multiplies cwnd by beta/1024 after a loss.
    kept = {}
    for beta in (307, 921):
        run = simulated(
            parameters={"protocol": "Cubic"},
            cubic={"linux_parameters": {"beta": beta}},
            duration_s=10,
        )
        cwnd = [float(row[1]) for row in run.rows("cwnd_hstcp0.out") if float(row[0]) > 3]
        kept[beta] = min(cwnd) / max(cwnd)
    assert kept[307] < 0.5 < kept[921]
