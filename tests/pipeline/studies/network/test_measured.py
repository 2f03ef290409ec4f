"""Values measured for a scenario agree with the packet trace of the same run."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

import polars as pl
import pytest
from tests.make import measure_run

from bdpbench.contracts.paths import config_dir
from bdpbench.metrics import definitions_for
from bdpbench.trace import read_output

LINK = "link:bottleneck"
SCENARIO: dict[str, Any] = {
    "queues": {"early": {"kind": "RED", "settings": {"min_th_pkts": 4}}},
    "parameters": {"queue": "early", "ecn": "on"},
    "flows": [
        {"group": "near"},
        {"group": "far", "rtt_ms": 60, "access_mbps": 4},
        {"start_s": 1, "size_pkts": 50, "recorded": False},
    ],
    "duration_s": 6,
}


def measured(run: Any, study: str = "studies/zhang2006") -> dict[tuple[str, str], Any]:
    """Metric, also of a study, and subject → value, from the files that the run wrote."""
    parts = defaultdict(list)
    for each in run.run["outputs"]:
        if each["table"] != "packets":
            keys = {name: each.get(name) for name in ("flow", "link")}
            names = each.get("names", ())
            path = run.folder / each["file"]
            parts[each["table"]].append(read_output(path, each["table"], names=names, **keys))
    tables = {name: pl.concat(frames) for name, frames in parts.items()}
    definitions = definitions_for(config_dir() / study)
    parameters = run.run["parameters"]
    frame = measure_run(parameters, tables, run_id="r", scenario="s", definitions=definitions)
    return {(row["metric"], row["subject"]): row["value"] for row in frame.to_dicts()}


@pytest.fixture(scope="module")
def run(simulated: Any) -> Any:
    return simulated(**SCENARIO)


@pytest.fixture(scope="module")
def values(run: Any) -> dict[tuple[str, str], Any]:
    return measured(run)


def in_window(run: Any, event: str) -> list[Any]:
    """Events at the bottleneck's queue in the second half."""
    return [e for e in run.events if e.event == event and e.link == (0, 1) and 3 < e.time_s <= 6]


def test_drops_marks_and_their_rates(run: Any, values: Any) -> None:
    drops, departed = in_window(run, "d"), in_window(run, "-")
    marked = [each for each in departed if "E" in each.flags]  # congestion experienced
    arrivals = len(drops) + len(departed)
    assert values["link_loss_rate", LINK] == pytest.approx(100 * len(drops) / arrivals)
    assert values["marks", LINK] == len(marked) > 0


def test_waiting_in_the_queue(run: Any, values: Any) -> None:
    came = {
        each.uid: each.time_s for each in run.events if each.event == "+" and each.link == (0, 1)
    }
    waits_ms = [1e3 * (each.time_s - came[each.uid]) for each in in_window(run, "-")]
    # Queue samples are compared with the waiting time of each packet, and include the packet in
    # transit.
    assert values["mean_queueing_delay", LINK] == pytest.approx(statistics.fmean(waits_ms), abs=1.1)
    assert values["mean_queueing_delay", LINK] < values["p95_queueing_delay", LINK]
    assert values["p95_queueing_delay", LINK] <= max(waits_ms) + 1.1


def test_goodput_of_groups(run: Any, values: Any) -> None:
    def goodput_mbps(flow: int) -> float:
        got = {each.seq for each in in_window(run, "-") if each.flow == flow and each.size > 40}
        return len(got) * 8e3 / 1e6 / 3

    near, far = goodput_mbps(0), goodput_mbps(1)
    # ACKs arrive one round trip later.
    assert values["goodput", "flow:0"] == pytest.approx(near, rel=0.05)
    assert values["group_goodput_ratio", "run"] == pytest.approx(near / far, rel=0.1)
    # The second flow can have at most 4 of the 8 Mbit/s, so the fair shares are 4 and 4.
    first, second = (values["mean_throughput", f"flow:{flow}"] for flow in (0, 1))
    jain = (first + second) ** 2 / (2 * (first**2 + second**2))
    assert values["max_min_jain_index", "run"] == pytest.approx(jain, abs=0.01)


def test_the_time_of_a_transfer(run: Any, values: Any) -> None:
    own = [each for each in run.events if each.flow == 2 and each.kind == "ack"]
    last_ack_s = max(each.time_s for each in own if each.event == "-")
    # From the queue of the reverse path: 8 ms to the first router, and 1 ms to the sender.
    assert values["mean_flow_completion_time", "run"] == pytest.approx(
        last_ack_s + 0.009 - 1, abs=1e-3
    )
    assert values["finished_flows", "run"] == 1


def test_what_red_makes_of_the_queue(run: Any, values: Any) -> None:
    rows = [row for row in run.rows("red.out") if 3 < float(row[0]) <= 6]
    assert {float(row[2]) for row in rows} == {0.1}
    assert values["mean_max_p", LINK] == pytest.approx(0.1)
    assert run.run["parameters"]["min_th_pkts"] == 4
    assert run.run["parameters"]["max_th_pkts"] == 12


def test_what_follows_from_flows_and_links_is_told(planned: Any) -> None:
    (chain,) = planned(
        bottlenecks=[{"bottleneck_mbps": 8}, {"bottleneck_mbps": 4}],
        parameters={"bottleneck_mbps": None},
        flows=[{}, {"enters": 2, "group": "late"}, {"leaves": 1, "direction": "reverse"}],
        changes=[
            {"at_s": 2, "bottleneck": 2, "bottleneck_mbps": 6},
            {"at_s": 1, "bottleneck": 2, "bottleneck_mbps": 2.5},
        ],
    )
    parameters = chain["parameters"]
    told = {
        "bottleneck_1_mbps": 8,
        "bottleneck_2_mbps": 4,
        "bottleneck_2_mbps_changes": "2.5 from 1 s, 6 from 2 s",
        "enters_2": 2,
        "group_2": "late",
        "leaves_3": 1,
        "direction_3": "reverse",
        "access_mbps": 100,
    }
    assert {name: parameters.get(name) for name in told} == told
    flows: list[Any] = [{"access_mbps": 10}, {"access_mbps": 20, "size_pkts": 7}]
    (sized,) = planned(flows=flows, parameters={"access_mbps": None})
    told = {"access_1_mbps": 10, "access_2_mbps": 20, "size_2_pkts": 7}
    assert {name: sized["parameters"].get(name) for name in told} == told


def test_of_many_flows_with_different_protocols_each_tells_its_own(planned: Any) -> None:
    flows: list[Any] = [{"protocol": "Sack", "count": 2}, {"protocol": "Reno"}]
    (run,) = planned(flows=flows, parameters={"protocol": None})
    told = {name: run["parameters"].get(f"flow_protocol_{name}") for name in (1, 2, 3)}
    assert told == {1: "Sack", 2: "Sack", 3: "Reno"}


def test_no_two_runs_share_a_label(planned: Any) -> None:
    """If the buffer does not follow from the RTT, the label contains both."""
    runs = planned(
        sweep={"rtt_ms": [30, 60], "buffer_pkts": [10, 20]},
        flows=[{"rtt_ms": "$rtt_ms"}],
        parameters={"access_delay_ms": None, "rtt_ms": 30},
    )
    labels = [run["label"] for run in runs]
    assert len(set(labels)) == 4
    assert labels[0] == "SACK, RTT 30 ms, 3 s, buffer 10 packets"


def test_queues_with_one_label_are_told_apart(planned: Any) -> None:
    kinds = {key: {"kind": "RED", "label": "RED", "settings": {"min_th_pkts": number}}
             for key, number in (("low", 5), ("high", 9))}  # fmt: skip
    runs = planned(queues=kinds, sweep={"queue": ["low", "high"]})
    labels = [run["label"] for run in runs]
    assert labels == ["SACK, RED, 3 s, RED (low)", "SACK, RED, 3 s, RED (high)"]


def test_goodput_of_the_whole_run_is_what_arrived_since_the_start(simulated: Any) -> None:
    flows = [{"start_s": 0.5}, {"size_pkts": 9}]
    sack = {"label": "SACK", "colour": "#993366", "agent": "TCP/Sack1", "sink": "TCPSink/Sack1",
            "record": ["ack_"]}  # fmt: skip
    run = simulated(flows=flows, protocols={"Sack": sack}, duration_s=4)
    values = measured(run)
    got = {e.seq for e in run.events if (e.event, e.flow, e.link) == ("r", 0, (0, 1))}
    # 1,000 bytes of data each; what arrived in the last round trip has not been acknowledged yet.
    assert values["overall_goodput", "flow:0"] == pytest.approx(len(got) * 8e-3 / 3.5, rel=0.02)
    # Slow start and its losses are over in the second half.
    assert values["overall_goodput", "flow:0"] < values["goodput", "flow:0"]
    assert ("overall_goodput", "flow:1") not in values
