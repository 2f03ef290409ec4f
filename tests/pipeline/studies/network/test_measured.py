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
