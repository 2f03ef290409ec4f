"""Metrics of queues that drop early, of transfers and of many flows, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.metrics import DEFINITIONS, RunView, fairness, measure_run
from bdpbench.metrics.series import queueing_delays

Measure = Callable[..., dict[tuple[str, str], Any]]
LINK = "link:bottleneck"
WINDOW = {"window_start": 5.0, "window_end": 10.0}


def test_red_is_what_its_samples_are_in_the_second_half(build: Any, measure: Measure) -> None:
    samples = [(9, 0.1)] * 5 + [(10, 0.1), (20, 0.1), (30, 0.08), (40, 0.06), (50, 0.06)]
    values = measure({"red": build.table({"bottleneck": build.red(samples)})}, "zhang2006")
    assert values["mean_max_p", LINK] == pytest.approx(0.08)  # of 0.1, 0.1, 0.08, 0.06, 0.06


@pytest.fixture
def sampled(build: Any) -> pl.LazyFrame:
    """A sampled queue of the bottleneck that is always empty."""
    table: pl.LazyFrame = build.table({"bottleneck": build.queue([0] * 10)})
    return table


def test_losses_and_marks_are_shares_of_what_came(
    build: Any, measure: Measure, sampled: pl.LazyFrame
) -> None:
    counts = {"packets": 950, "drops": 50, "early_drops": 30, "marks": 80}
    sent = {"packets": 99, "drops": 1, "goodput": 8.5, "retransmissions": 3}
    told = {LINK: {**WINDOW, **counts, "random_losses": 10}, "flow:0": {**WINDOW, **sent}}
    values = measure({"facts": build.facts(told), "queue": sampled}, "even2007")
    assert values["link_loss_rate", LINK] == 5.0  # 50 of 950 + 50
    assert values["early_drop_rate", LINK] == 3.0
    assert values["random_losses", LINK] == 10
    assert (values["marks", LINK], values["mark_rate", LINK]) == (80, 8.0)
    assert values["loss_rate", "flow:0"] == 1.0
    assert (values["goodput", "flow:0"], values["retransmissions", "flow:0"]) == (8.5, 3)


def test_what_a_queue_does_not_do_is_no_metric_of_it(
    build: Any, measure: Measure, sampled: pl.LazyFrame
) -> None:
    told = {LINK: {**WINDOW, "packets": 9, "drops": 1}, "link:back": {**WINDOW, "packets": 9}}
    found = measure({"facts": build.facts({**told, "run": {"seed": 1}}), "queue": sampled})
    assert {name for name, _ in found if "rate" in name or "drops" in name} == {"link_loss_rate"}
    told = {LINK: {**WINDOW, "packets": 0, "drops": 0}}
    idle = measure({"facts": build.facts(told), "queue": sampled})
    assert ("link_loss_rate", LINK) not in idle


def test_counts_have_the_window_that_the_report_says(build: Any) -> None:
    def measured(**counts: float) -> pl.DataFrame:
        facts = build.facts({"flow:0": {"goodput": 9, "packets": 1, **counts}})
        return measure_run({"duration_s": 10}, {"facts": facts}, run_id="r", scenario="s")

    told = measured(window_start=4.0, window_end=9.0)
    assert told.select("metric", "start_s", "end_s").rows() == [("goodput", 4.0, 9.0)]
    with pytest.raises(BdpbenchError, match=r"flow:0 and does not say over which window"):
        measured()


def test_queueing_delay_is_what_the_link_takes_to_send_the_queue(
    build: Any, measure: Measure
) -> None:
    # 1,500,000 bytes in 1,000 packets of 1,500 bytes: 0.12 ms each at 100 Mbit/s.
    facts = build.facts({LINK: {**WINDOW, "packets": 1000, "bytes": 1_500_000, "drops": 0}})
    queue = build.table({"bottleneck": build.queue([999] * 5 + [0, 50, 100, 200, 150])})
    values = measure({"queue": queue, "facts": facts})
    assert values["mean_queueing_delay", LINK] == pytest.approx(12.0)  # of 0, 6, 12, 24, 18 ms
    assert values["p95_queueing_delay", LINK] == pytest.approx(24.0)  # four of five are below


def test_percentiles_are_samples(build: Any, measure: Measure) -> None:
    # 200 samples of 1 to 200 packets in the second half, 0.08 ms each: rank 190.
    times = [200.0 + each for each in range(1, 201)]
    rows = pl.DataFrame({"time_s": times, "pkts": range(1, 201), "drops": [0] * 200})
    facts = build.facts({LINK: {**WINDOW, "packets": 10, "bytes": 10_000}})
    tables = {"queue": build.table({"bottleneck": rows}), "facts": facts}
    values = measure(tables, duration_s=400)
    assert values["p95_queueing_delay", LINK] == pytest.approx(190 * 0.08)


def test_each_link_has_its_own_rate(build: Any, measure: Measure) -> None:
    counts = {**WINDOW, "packets": 10, "bytes": 10_000}
    names = ("bottleneck_1", "bottleneck_2")
    facts = build.facts({f"link:{name}": counts for name in names})
    queue = build.table({name: build.queue([10] * 10) for name in names})
    values = measure({"queue": queue, "facts": facts}, bottleneck_2_mbps=50)
    assert values["mean_queueing_delay", "link:bottleneck_1"] == pytest.approx(0.8)
    assert values["mean_queueing_delay", "link:bottleneck_2"] == pytest.approx(1.6)


def test_a_link_that_changes_its_rate_has_the_rate_of_the_time() -> None:
    queue = pl.DataFrame({"time_s": [1.0, 2.0, 2.5], "pkts": [100, 100, 100]})
    rates = pl.DataFrame({"since_s": [0.0, 2.0], "mbps": [10.0, 5.0]})
    # 100 packets of 1,250 bytes are 1 Mbit.
    assert queueing_delays(queue, 1250, rates)["ms"].to_list() == [100, 200, 200]


def test_capacity_is_that_of_the_window(build: Any, measure: Measure) -> None:
    # 10 Mbit/s, 5 from 4 s on, and 20 from 8 s on: (3 · 5 + 2 · 20)/5 = 11 between 5 and 10 s, and
    # (4 · 10 + 4 · 5 + 2 · 20)/10 = 10 over the whole run.
    tables = {
        "utilization": build.table({"bottleneck": build.bins([5.5] * 10)}),
        "throughput": build.table({0: build.bins([1.1] * 10), 1: build.bins([2.2] * 10)}),
    }
    values = measure(tables, bottleneck_mbps=10, bottleneck_mbps_changes="5 from 4 s, 20 from 8 s")
    assert values["utilization", LINK] == pytest.approx(50)
    assert values["flows_utilization", "run"] == pytest.approx(30)


def test_capacity_of_a_moment_is_that_of_the_beginning() -> None:
    given: dict[str, int | str] = {"duration_s": 10, "bottleneck_mbps": 10}
    given["bottleneck_mbps_changes"] = "5 from 4 s"
    link = RunView({**given}, {}, "r").link("bottleneck")
    assert link.capacity_mbps((5.0, 5.0)) == 10
    assert link.capacity_mbps((5.0, 6.0)) == 5


def test_queueing_delay_has_the_rate_of_its_time(build: Any, measure: Measure) -> None:
    facts = build.facts({LINK: {**WINDOW, "packets": 10, "bytes": 12_500}})
    tables = {"queue": build.table({"bottleneck": build.queue([100] * 10)}), "facts": facts}
    values = measure(tables, bottleneck_mbps=10, bottleneck_mbps_changes="5 from 8 s")
    assert values["mean_queueing_delay", LINK] == pytest.approx(
        160
    )  # of 100 twice, and 200 at 8, 9 and 10 s


def test_transfers_by_kind(build: Any, measure: Measure) -> None:
    rows = [("flow", 0.0, 1.0), ("flow", 1.0, 4.0), ("flow", 0.0, 8.0), ("object", 2.0, 2.25)]
    values = measure({"transfers": build.transfers(rows)})
    assert values["finished_flows", "run"] == 3
    assert values["mean_flow_completion_time", "run"] == 4  # of 1, 3 and 8 s
    assert values["p95_flow_completion_time", "run"] == 8
    assert values["p95_object_response_time", "run"] == 0.25


def test_none_of_the_finite_flows_has_ended(build: Any, measure: Measure) -> None:
    nothing = {"transfers": build.transfers([])}
    values = measure(nothing, flows=2, size_2_pkts=30)
    assert values["finished_flows", "run"] == 0
    assert ("mean_flow_completion_time", "run") not in values
    assert ("finished_flows", "run") not in measure(nothing, flows=2)


def test_nothing_that_ended_has_no_times(build: Any, measure: Measure) -> None:
    assert measure({"transfers": build.transfers([])}) == {}


def test_flows_together(build: Any, measure: Measure) -> None:
    # Second half: 20, 40 and 30 of 100 Mbit/s.
    flows = {0: [90] * 5 + [20] * 5, 1: [5] * 5 + [40] * 5, 2: [0] * 5 + [30] * 5}
    tables = {
        "throughput": build.table({flow: build.bins(mbps) for flow, mbps in flows.items()}),
        "utilization": build.table({"bottleneck": build.bins([95] * 10)}),
    }
    values = measure(tables, "zhang2006")
    assert values["min_max_throughput_ratio", "run"] == 0.5
    assert values["total_throughput", "run"] == 90
    assert values["flows_utilization", "run"] == 90
    assert values["utilization", LINK] == 95
    assert ("total_throughput_half_width", "run") not in values  # 5 s are no ten batches of 1 s


def test_flows_of_a_chain_are_not_held_against_one_link(build: Any, measure: Measure) -> None:
    links = {name: build.bins([95] * 10) for name in ("bottleneck_1", "bottleneck_2")}
    tables = {
        "throughput": build.table({0: build.bins([9] * 10)}),
        "utilization": build.table(links),
    }
    assert ("flows_utilization", "run") not in measure(tables)


def test_batches_of_a_run_give_an_interval(build: Any, measure: Measure) -> None:
    # Ten batches of one second: 1, 2, …, 10, whose standard deviation is sqrt(82.5/9) = 3.02765;
    # t(0.975, 9) = 2.262157; 2.262157 · 3.02765/sqrt(10) = 2.165853.
    bins = build.bins([50] * 10 + list(range(1, 11)))
    values = measure({"throughput": build.table({0: bins})}, study="zhang2006", duration_s=20)
    assert values["total_throughput_half_width", "run"] == pytest.approx(2.165853, rel=1e-5)


def test_what_still_changes_in_the_second_half_is_told(build: Any, measure: Measure) -> None:
    # 10 and 50 from 10 to 15 s, 30 and 40 from 15 to 20 s: totals of 60 and 70, whose mean is 65.
    flows = {0: [99] * 10 + [10] * 5 + [30] * 5, 1: [1] * 10 + [50] * 5 + [40] * 5}
    tables = {
        "throughput": build.table({flow: build.bins(mbps) for flow, mbps in flows.items()}),
        "facts": build.facts(_told([20, 45], [20, 45])),
    }
    groups = {"group_1": "old", "group_2": "new"}
    values = measure(tables, "zhang2006", duration_s=20, **groups)
    assert values["total_throughput_drift", "run"] == pytest.approx(100 * 10 / 65)
    assert values["first_group_throughput_drift", "run"] == 100  # (30 - 10)/20
    values = measure(tables, "zhang2006", duration_s=20)
    assert ("first_group_throughput_drift", "run") not in values
    # 19 s are too short to distinguish a trend from noise.
    assert ("total_throughput_drift", "run") not in measure(tables, "zhang2006", duration_s=19)
    idle = {"throughput": build.table({0: build.bins([9] * 10 + [0] * 10)})}
    assert measure(idle, "zhang2006", duration_s=20)["total_throughput_drift", "run"] is None


def test_flows_have_converged_when_the_slowest_has_four_fifths_of_the_fastest(
    build: Any, measure: Measure
) -> None:
    # The last flow starts in the third second. 20 s with 50 of 60 Mbit/s end after second 23.
    first = build.bins([100, 100, *[60] * 28])
    second = build.bins([0, 0, 10, *[50] * 27])
    tables = {"throughput": build.table({0: first, 1: second})}
    # From second 3 on: 10 + 19 · 50 = 960 of 1,200 is 0.8 at the end of second 22.
    assert measure(tables, duration_s=30)["time_to_converge", "run"] == 20.0
    second = build.bins([0, 0, 9, *[50] * 27])
    tables = {"throughput": build.table({0: first, 1: second})}
    assert measure(tables, duration_s=30)["time_to_converge", "run"] == 21.0
    tables = {"throughput": build.table({0: first, 1: build.bins([0] * 30)})}
    assert measure(tables, duration_s=30)["time_to_converge", "run"] is None


def test_losses_that_flows_have_together(build: Any, measure: Measure) -> None:
    # RTT 0.1 s. In the second half both flows cut at 6.0 and 6.05 s, and the first alone at 8.0 s.
    first = [(1.0, 10), (6.0, 5), (7.0, 10), (8.0, 5), (10.0, 6)]
    second = [(1.0, 10), (2.0, 5), (6.0, 10), (6.05, 5), (10.0, 6)]
    tables = {"cwnd": build.table({0: build.cwnd(first), 1: build.cwnd(second)})}
    assert measure(tables, "zhang2006")["loss_synchronization", "run"] == 0.75  # of 2/2 and 1/2
    # With an RTT of 40 ms, the two cuts are separate events.
    assert measure(tables, "zhang2006", rtt_ms=40)["loss_synchronization", "run"] == 0.5
    calm = {0: build.cwnd([(1.0, 9), (10.0, 9)]), 1: build.cwnd([(1.0, 9), (10.0, 9)])}
    assert measure({"cwnd": build.table(calm)}, "zhang2006")["loss_synchronization", "run"] is None
    alone = {"cwnd": build.table({0: build.cwnd(first)})}
    assert ("loss_synchronization", "run") not in measure(alone, "zhang2006")

    # Flows have different RTTs: the larger one, 100 ms, counts.
    own = {"rtt_ms": None, "rtt_1_ms": 100, "rtt_2_ms": 20}
    assert measure(tables, "zhang2006", **own)["loss_synchronization", "run"] == 0.75


def _told(throughputs: list[float], goodputs: list[float]) -> dict[str, dict[str, float]]:
    return {
        f"flow:{index}": {**WINDOW, "throughput": sent, "goodput": got}
        for index, (sent, got) in enumerate(zip(throughputs, goodputs, strict=True))
    }


def test_two_groups_against_each_other(build: Any, measure: Measure) -> None:
    told = _told([11, 31, 22, 12], [10, 30, 20, 10])
    groups = {"group_1": "old", "group_2": "new", "group_3": "old", "group_4": "new"}
    values = measure({"facts": build.facts(told)}, "zhang2006", **groups)
    assert values["first_group_throughput", "run"] == 33
    assert values["second_group_throughput", "run"] == 43
    assert values["group_goodput_ratio", "run"] == 0.75  # (10 + 20)/2 over (30 + 10)/2
    # A flow without a group belongs to none, and a single group cannot be compared.
    one = measure({"facts": build.facts(told)}, group_1="old", group_2="old")
    assert not [name for name, _ in one if "group" in name]


def test_transfers_of_finite_size_share_with_nobody(build: Any, measure: Measure) -> None:
    told = _told([10, 30, 0.1], [10, 30, 0.1])
    groups = {"group_1": "old", "group_2": "new", "group_3": "new"}
    values = measure({"facts": build.facts(told)}, **groups, size_3_pkts=100)
    assert values["group_goodput_ratio", "run"] == pytest.approx(1 / 3)


def test_fairness_over_max_min_shares(build: Any, measure: Measure) -> None:
    # Two flows with access links of 10 Mbit/s, and two with 100, share 100 Mbit/s: 10, 10, 40, 40.
    facts = build.facts(_told([10, 10, 40, 20], [10, 10, 40, 20]))
    tables = {"facts": facts, "utilization": build.table({"bottleneck": build.bins([80] * 10)})}
    access = {f"access_{flow}_mbps": mbps for flow, mbps in enumerate((10, 10, 100, 100), 1)}
    values = measure(tables, "zhang2006", **access)
    assert values["max_min_jain_index", "run"] == pytest.approx(3.5**2 / (4 * 3.25))
    groups = {"group_1": "S1", "group_2": "S1", "group_3": "S2", "group_4": "S2"}
    values = measure(tables, "zhang2006", **access, **groups)
    assert values["group_max_min_jain_index", "run"] == pytest.approx(1.75**2 / (2 * 1.5625))
    without_access = measure(tables, "zhang2006")
    assert ("max_min_jain_index", "run") not in without_access


def test_the_shares_of_a_run_are_computed_once_and_not_for_each_flow(
    build: Any, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    shares = fairness.max_min_shares
    monkeypatch.setattr(
        fairness, "max_min_shares", lambda *given: calls.append(1) or shares(*given)
    )
    facts = build.facts(_told([1.0, 2.0] * 20, [1.0, 2.0] * 20))
    tables = {"facts": facts, "utilization": build.table({"bottleneck": build.bins([80] * 10)})}
    values = measure(tables, access_mbps=100)
    assert [values["fair_share_ratio", f"flow:{flow}"] for flow in (0, 39)] == [0.4, 0.8]
    assert len(calls) == 1


def test_fairness_in_a_parking_lot(build: Any, measure: Measure) -> None:
    # Links of 10 and 20 Mbit/s. One flow crosses both, one the first, one the second, and one goes
    # in the other direction. Fair shares are 5, 5, 15 and, alone on its path back, the 20 of the
    # second.
    links = {name: build.bins([10] * 10) for name in ("bottleneck_1", "bottleneck_2")}
    tables = {
        "facts": build.facts(_told([2.5, 5, 15, 20], [2, 5, 15, 20])),
        "utilization": build.table(links),
    }
    path = {"enters_3": 2, "enters_4": 2, "leaves_2": 1, "direction_4": "reverse"}
    rates = {"bottleneck_1_mbps": 10, "bottleneck_2_mbps": 20, "access_mbps": 1000}
    values = measure(tables, "zhang2006", **path, **rates)
    assert values["max_min_jain_index", "run"] == pytest.approx(3.5**2 / (4 * 3.25))


def test_their_titles_are_short_and_their_texts_whole() -> None:
    for each in DEFINITIONS.values():
        assert len(each.title) < 60
        assert "  " not in each.text
