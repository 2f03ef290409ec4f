"""The arithmetic of the cost model; tests/benchmarks/cost_model.py measures how well it fits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.planned import planned_run
from tests.random_examples import examples

from bdpbench.contracts.plan import Output, Parameters
from bdpbench.studies.cost import (
    COSTS,
    LEAST_S,
    MOST_RUNS,
    MOST_S,
    Work,
    batch_memory_mb,
    expected_work,
    make_batches,
    utilization,
)
from bdpbench.studies.parts import Protocol
from bdpbench.studies.values import Sender

# 8.4 Mbit/s are 1,000 packets of 1,050 bytes per second.
PATH: Parameters = {
    "bottleneck_mbps": 8.4,
    "packet_bytes": 1000,
    "duration_s": 100.0,
    "sample_s": 0.01,
}
SHARED: Parameters = {**PATH, "bdp_pkts": 1000.0, "buffer_pkts": 1000, "rtt_ms": 1.0}
OUTPUTS: list[Output] = [
    {"file": "cwnd.out", "table": "cwnd", "flow": 0},
    {"file": "queue.out", "table": "queue", "link": "bottleneck"},
    {"file": "util.out", "table": "utilization", "link": "bottleneck"},
]


def _flow(agent: str = "TCP/Sack1", linux: str | None = None, **variables: float) -> Sender:
    protocol = Protocol(label="x", colour="#000000", agent=agent, linux=linux)
    return Sender("x", protocol, variables, {}, 0.0, 1.0)


FAST = _flow("TCP/Fast", alpha_=312)
SCALABLE = _flow(windowOption_=9)
CUBIC = _flow(windowOption_=13)
HTCP = _flow(windowOption_=-10)
HS = _flow(windowOption_=8)


def test_work_of_a_full_bottleneck() -> None:
    # 1,000 packets per second with six lines each, and a sample of flow and queue every 0.01 s.
    assert expected_work(PATH, [], OUTPUTS) == Work(100_000, 0, 20_000)
    traced: Parameters = {**PATH, "trace": "packets", "sample_s": 1.0, "queue_sample_s": 10.0}
    assert expected_work(traced, [], OUTPUTS) == Work(100_000, 600_000, 110)


def test_filling_the_path_takes_a_round_trip_for_each_fifty_packets() -> None:
    # 1,000 packets / 50 = 20 round trips of 1 s; meanwhile half of the capacity is used.
    slow: Parameters = {**SHARED, "rtt_ms": 1000.0}
    assert expected_work(slow, [], []).packets == pytest.approx(90_000)
    # After 10 of the 20 s the rate is one half, and a quarter of 10 s's packets have passed.
    assert expected_work({**slow, "duration_s": 10}, [], []).packets == pytest.approx(2_500)
    # FAST fills 622 Mbit/s and 100 ms in 4.64 s (sharma2006), so 5 s use a bit more than half.
    fast: Parameters = {**slow, "bdp_pkts": 7775.0, "buffer_pkts": 7775, "rtt_ms": 100.0}
    packets = expected_work({**fast, "duration_s": 5}, [FAST], []).packets
    assert packets == pytest.approx(2_680, rel=0.05)


def test_a_long_buffer_lets_every_protocol_use_the_bottleneck() -> None:
    for flow in (HS, HTCP, SCALABLE, FAST, _flow("TCP/Vegas"), _flow("TCP/Linux", "cubic")):
        assert utilization(SHARED, [flow]) == pytest.approx(1, abs=1e-3)


def test_short_buffers_cost_some_protocols_more_than_others() -> None:
    # Buffers of 0.5 % of the BDP, like the 40 packets of sharma2006: its report gives 0.90 for
    # CUBIC, 0.50 for Scalable TCP, 0.22 for H-TCP and 0.01 for FAST in the second half of the runs.
    # For a time, a tenth is close enough.
    short: Parameters = {**SHARED, "bdp_pkts": 7776.0, "buffer_pkts": 40}
    for flow, expected in ((CUBIC, 0.90), (SCALABLE, 0.50), (HTCP, 0.22), (FAST, 0.01)):
        assert utilization(short, [flow]) == pytest.approx(expected, abs=0.1)
    # With an alpha that fits into the buffer, FAST fills the path.
    assert utilization(short, [_flow("TCP/Fast", alpha_=40)]) == 1


def test_standard_tcp_needs_a_buffer_of_one_bdp() -> None:
    half: Parameters = {**SHARED, "buffer_pkts": 500}
    for agent in ("TCP", "TCP/Reno", "TCP/Newreno", "TCP/Sack1", "TCP/SackTS"):
        assert utilization(half, [_flow(agent)]) == pytest.approx(0.875)


def test_two_protocols_use_the_geometric_mean() -> None:
    short: Parameters = {**SHARED, "bdp_pkts": 7776.0, "buffer_pkts": 40}
    alone = [utilization(short, [flow]) for flow in (HS, HTCP)]
    both = utilization(short, [HS, HTCP])
    assert both**2 == pytest.approx(alone[0] * alone[1])


def test_the_time_is_the_sum_of_its_parts() -> None:
    traced: Parameters = {**PATH, "trace": "packets"}
    expected = COSTS.startup_s + 1e5 * COSTS.packet_s + 6e5 * COSTS.line_s + 2e4 * COSTS.sample_s
    assert expected_work(traced, [], OUTPUTS).cpu_s() == pytest.approx(expected)


def test_packets_that_outgrow_the_caches_take_longer() -> None:
    # Measured with all cores busy: 1.1 µs for one flow with 1,100 packets in flight and 1.5 µs with
    # 12,000; for ten flows 2.0 µs with 24,000.
    near, far, ten = (
        Work(1e6, 0, 0, flows, pkts).distance
        for flows, pkts in ((1, 1_100), (1, 12_000), (10, 24_000))
    )
    assert far / near == pytest.approx(1.5 / 1.1, rel=0.1)
    assert ten / near == pytest.approx(2.0 / 1.1, rel=0.15)
    assert Work(1e6, 0, 0).distance == 1


def test_a_batch_has_room_for_what_ns2_took() -> None:
    # Peak memory of ns-2: 121 MB with 300 flows, 62 MB with ten on a path of 11,558 packets and a
    # buffer of 10,000; 110 MB for the batch itself.
    for flows, bdp_pkts, ns2_mb in ((300, 1.0, 121), (10, 11_558.0, 62), (1, 12.5, 15)):
        parameters: Parameters = {"flows": flows, "bdp_pkts": bdp_pkts, "buffer_pkts": 10_000}
        needed = batch_memory_mb(planned_run("0" * 16, parameters=parameters))
        assert 110 + ns2_mb < needed < 600
    # 998 hosts and two routers are a million pairs: 1.5 · (15 + 0.13 · 499 + 210) = 434.8.
    many = planned_run("0" * 16, parameters={"flows": 499})
    assert batch_memory_mb(many) == 250 + 435
    # Half of 1,100 Mbit/s each over 686 s took 8,300 MB, one connection in 48 kB.
    argv = ["-duration_s", "685.6"]
    for source in ("-background.0", "-background.1"):
        argv += f"{source}.kind tmix {source}.offered_mbps 550 {source}.exchanges_mean 4".split()
        argv += [f"{source}.response_size_mean_bytes", "12000"]
    tmix = planned_run("0" * 16, parameters={"flows": 1})
    tmix["argv"] = argv
    assert 8_400 < batch_memory_mb(tmix) < 11_000
    # With the same draw, both sources have the same connections: half of 1,000 Mbit/s each over
    # 639.8 s took 4,700 MB.
    shared = [word for at in (0, 1) for word in (f"-background.{at}.draw", "1")]
    tmix["argv"] = [{"550": "500", "685.6": "639.8"}.get(word, word) for word in argv] + shared
    assert 4_900 < batch_memory_mb(tmix) < 6_000
    traced: Parameters = {"flows": 1, "trace": "packets"}
    assert batch_memory_mb(planned_run("0" * 16, parameters=traced)) > 1500


# ---------------------------------------------------------------- batches

costs = st.dictionaries(st.integers(0, 10**6).map(str), st.floats(0.01, 3000), max_size=200)


@examples(60)
@given(costs_s=costs, cores=st.integers(1, 64))
def test_each_run_is_in_one_batch_and_the_longest_come_first(
    costs_s: dict[str, float], cores: int
) -> None:
    batches = make_batches(costs_s, cores)
    runs = [run for batch in batches for run in batch]
    assert sorted(runs) == sorted(costs_s)
    assert [costs_s[run] for run in runs] == sorted(costs_s.values(), reverse=True)
    for batch in batches:
        assert len(batch) == 1 or sum(costs_s[run] for run in batch) <= MOST_S + 1e-6


def test_a_small_call_is_one_batch() -> None:
    assert make_batches({str(run): 0.4 for run in range(10)}, 8) == [
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
    ]
    assert make_batches({}, 2) == []


def test_cores_stay_busy_to_the_end_although_estimates_are_wrong() -> None:
    """Each batch goes to the first free core; every second one takes twice as long as estimated."""
    costs_s = {str(run): 0.5 + run % 7 for run in range(800)}
    batches = make_batches(costs_s, 4)
    assert len(batches) < 60
    free_s = [0.0] * 4
    for number, batch in enumerate(batches):
        core = free_s.index(min(free_s))
        free_s[core] += (1 + number % 2) * sum(costs_s[run] for run in batch)
    # The last batch has LEAST_S and the run that fills it up, and takes twice as long as expected.
    assert max(free_s) - min(free_s) <= 2 * (LEAST_S + 7)


def test_thousands_of_short_runs_are_not_one_plan() -> None:
    batches = make_batches({str(run): 0.01 for run in range(24_000)}, 1)
    assert max(map(len, batches)) <= MOST_RUNS
    assert len(batches) < 24_000 / MOST_RUNS + math.log2(24_000)


def test_a_scheduler_may_ask_for_larger_batches() -> None:
    costs_s = {str(run): 1.0 for run in range(600)}
    assert len(make_batches(costs_s, 500, least_s=300)) == 2
    assert len(make_batches(costs_s, 500)) == 600 / LEAST_S
