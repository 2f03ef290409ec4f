"""network.tcl: networks described by -key value pairs.

tests/pipeline/studies/network tests that each key of study.yaml has its effect.
"""

from __future__ import annotations

import pytest
from tests.tcl.conftest import (
    NETWORK,
    Arguments,
    Built,
    Facts,
    Outputs,
    Run,
    RunOk,
    argv,
    network_flows,
)

BASE: Arguments = {**NETWORK, **network_flows({})}
TWO: Arguments = {**BASE, **network_flows({}, {})}
# Random packet delays, so that random numbers matter.
RANDOM: Arguments = {**BASE, "default.Agent/TCP.overhead_": 0.0001}


@pytest.mark.parametrize(
    ("key", "value"),
    [("sample_s", 0.1), ("queue_sample_s", 0.1), ("trace", 0), ("seed", 9999), ("substream", 1),
     ("backgrounds", 0), ("changes", 0), ("flow.0.within_s", 0), ("flow.0.recorded", 1)],
)  # fmt: skip
def test_what_is_left_out_is_what_the_script_says(
    outputs: Outputs, key: str, value: object
) -> None:
    stated = outputs("network.tcl", *argv(RANDOM, {key: value}))
    assert stated == outputs("network.tcl", *argv(RANDOM))


@pytest.mark.parametrize(
    ("key", "value"),
    [("sample_s", 0.2), ("queue_sample_s", 0.2), ("trace", 1), ("seed", 1), ("substream", 2),
     ("default.Agent/TCP.window_", 20), ("flow.0.set.window_", 20), ("flow.0.record", "rtt_")],
)  # fmt: skip
def test_each_key_of_every_script_acts(outputs: Outputs, key: str, value: object) -> None:
    changed = outputs("network.tcl", *argv(RANDOM, {key: value}))
    assert changed != outputs("network.tcl", *argv(RANDOM))


def test_flows_and_link_are_counted_alike(run_ok: RunOk, facts: Facts) -> None:
    out = run_ok("network.tcl", *argv(TWO, {"duration_s": 10}))
    report = facts(out / "report.txt")
    sent = [report[f"flow.{i}.bytes"][0] for i in (0, 1)]
    assert sum(sent) == report["link.bottleneck.bytes"][0]
    # 1,000 of 1,040 bytes are data, and a few packets were sent twice.
    goodput = sum(report[f"flow.{i}.goodput"][0] for i in (0, 1))
    assert goodput == pytest.approx(sum(sent) * 8e-6 / 5 * 1000 / 1040, rel=0.02)


def test_an_unknown_linux_algorithm_is_named(run_ns: Run) -> None:
    linux = network_flows({"agent": "TCP/Linux", "linux": "nosuch"})
    done = run_ns("network.tcl", *argv(BASE, {"datadir": "."}, linux))
    assert done.returncode == 1
    assert "-flow.0.linux: Agent/TCP/Linux of this ns-2 has no congestion control" in done.stderr


def test_the_seed_changes_random_numbers_only(outputs: Outputs) -> None:
    def cwnd(seed: int, overhead: float) -> bytes:
        changes = {"seed": seed, "flow.0.set.overhead_": overhead}
        return outputs("network.tcl", *argv(BASE, changes))["cwnd_hstcp0.out"]

    assert cwnd(1, 0) == cwnd(2, 0)  # without overhead_ nothing is random
    assert cwnd(1, 0.0001) != cwnd(2, 0.0001)


def test_streams_do_not_depend_on_one_another(outputs: Outputs) -> None:
    """Random losses hit the same packets whether or not a start was drawn before."""

    def start(**more: object) -> bytes:
        changes = {"flow.0.within_s": 1, **more}
        text = outputs("network.tcl", *argv(BASE, changes))["report.txt"]
        return text.splitlines()[0]

    assert start() == start(**{"link.0.loss_rate": 0.01}) == start(**{"flow.0.set.overhead_": 1e-4})
    assert start() != start(substream=2)


def test_a_class_default_holds_where_a_flow_sets_nothing(built: Built) -> None:
    ask = "foreach a [lsort -dictionary [Agent/TCP/Sack1 info instances]] {puts [$a set window_]}"
    given = {"default.Agent/TCP.window_": 30, "flow.1.set.window_": 40}
    assert built(ask, "network.tcl", *argv(TWO, given)) == ["30", "40"]


def test_nodes_of_one_bucket_are_left_out_for_drr(built: Built) -> None:
    """Queue/DRR hashes node n to n - n / 16 + n / 256, so 16 and 15 are the same sender to it."""
    drr = {"link.0.queue": "DRR", "link.0.queue.limit_": None, "link.0.queue.blimit_": 40000,
           "link.0.queue.buckets_": 4096, **network_flows(*[{}] * 9)}  # fmt: skip
    ask = "foreach a [Agent/TCP/Sack1 info instances] {puts [[$a set node_] id]}"
    used = [int(line) for line in built(ask, "network.tcl", *argv(BASE, drr))]
    assert max(used) > 16
    places = [n + (n >> 8) + ~(n >> 4) for n in used]
    assert len(set(places)) == len(used) == 9
