"""The estimate of a run; tests/benchmarks/measure.py measures how well it fits. Batches."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.planned import planned_run
from tests.random_examples import examples

from bdpbench.contracts.plan import Parameters
from bdpbench.studies.cost import (
    LEAST_S,
    MOST_RUNS,
    MOST_S,
    batch_memory_mb,
    estimated_cpu_s,
    make_batches,
)

# 8.4 Mbit/s are 1,000 packets of 1,050 bytes per second.
PATH: Parameters = {"bottleneck_mbps": 8.4, "packet_bytes": 1000, "duration_s": 100.0}


def test_a_run_takes_its_start_its_flows_and_its_packets() -> None:
    start_s, flow_s, packet_s = 0.1, 0.01, 1e-6
    expected_s = start_s + 10 * flow_s + 100_000 * packet_s
    assert estimated_cpu_s(PATH, 10, ns3=False) == pytest.approx(expected_s)
    assert estimated_cpu_s(PATH, 10, ns3=True) > 5 * expected_s
    # The rate of a script's own network may be unknown.
    assert estimated_cpu_s({"duration_s": 100.0}, 0, ns3=False) == start_s


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


def test_many_cores_do_not_make_batches_too_short() -> None:
    costs_s = {str(run): 1.0 for run in range(600)}
    assert len(make_batches(costs_s, 500)) == 600 / LEAST_S
