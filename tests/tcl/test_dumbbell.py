"""dumbbell.tcl: networks described by -key value pairs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tcl.checks import check_key_matters, check_keys
from tests.tcl.conftest import (
    PATH,
    Arguments,
    Built,
    Columns,
    Facts,
    Keys,
    Outputs,
    Refused,
    Run,
    RunOk,
    argv,
    flows,
)

BASE: Arguments = {**PATH, "packet_bytes": 1000, **flows({})}
TWO: Arguments = {**BASE, **flows({}, {})}
# Random delays of packets, so that random numbers matter.
RANDOM: Arguments = {**BASE, "default.Agent/TCP.overhead_": 0.0001}
OPTIONAL = {
    "sample_s": (BASE, 0.2),
    "queue_sample_s": (BASE, 0.2),
    "queue": (BASE, "RED"),
    "trace": (BASE, 1),
    "seed": (RANDOM, 1),
    "substream": (RANDOM, 2),
}
CHANGES = {
    "duration_s": (BASE, 5),
    "bottleneck_mbps": (BASE, 9),
    "bottleneck_delay_ms": (BASE, 19),
    "access_mbps": (BASE, 50),
    "receiver_delay_ms": (BASE, 2),
    "buffer_pkts": (BASE, 41),
    "packet_bytes": (BASE, 500),
    "flow.0.agent": (BASE, "TCP/Reno"),
    "flow.0.sink": (BASE, "TCPSink"),
    "flow.0.start_s": (BASE, 1),
    "flow.0.access_delay_ms": (BASE, 5),
    "flow.0.linux": ({**BASE, **flows({"agent": "TCP/Linux", "linux": "cubic"})}, "vegas"),
    "flow.0.record": (BASE, "ssthresh_ rtt_"),
    "flow.0.set.window_": (BASE, 20),
    "default.Agent/TCP.window_": (BASE, 20),
    "default.Agent/TCP/Sack1.window_": (BASE, 20),
    "default.Agent/TCPSink.packetSize_": (BASE, 400),
    "default.Queue/RED.thresh_": ({**BASE, "queue": "RED"}, 15),
    **OPTIONAL,
}


@pytest.mark.parametrize("key", CHANGES)
def test_each_key_reaches_ns_2(outputs: Outputs, key: str) -> None:
    base, other = CHANGES[key]
    check_key_matters(outputs, "dumbbell.tcl", base, {key: other})


def test_no_key_is_left_out_here(keys_of: Keys) -> None:
    check_keys(keys_of, "dumbbell.tcl", BASE, OPTIONAL)
    assert set(BASE) - {"datadir", "flows"} <= set(CHANGES)


@pytest.mark.parametrize("key", OPTIONAL)
def test_what_is_left_out_is_what_the_script_says(outputs: Outputs, key: str) -> None:
    values = {"sample_s": 0.1, "queue": "DropTail", "trace": 0, "seed": 9999, "substream": 1}
    stated = {key: values.get(key, 0.1)}
    assert outputs("dumbbell.tcl", *argv(RANDOM, stated)) == outputs("dumbbell.tcl", *argv(RANDOM))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"queue": "FQ"}, "-queue is 'FQ', expected one of DropTail, RED"),
        ({"packet_bytes": 0}, "-packet_bytes is '0', expected an integer from 1"),
        ({"default.Queue/RED.thresh_": 15}, "nothing in this run is a kind of Queue/RED"),
        (
            {"default.Agent/TCP.packetSize_": 500},
            "-default.Agent/TCP.packetSize_ is '500', expected 1000, -packet_bytes",
        ),
        (
            {"default.Queue/DropTail.limit_": 41},
            "-default.Queue/DropTail.limit_ is '41', expected 40, -buffer_pkts",
        ),
    ],
)
def test_arguments_at_odds_are_refused(refused: Refused, change: Arguments, said: str) -> None:
    assert said in refused("dumbbell.tcl", *argv(BASE, change))


def test_a_default_that_says_what_another_key_says_changes_nothing(outputs: Outputs) -> None:
    stated = {"default.Agent/TCP.packetSize_": 1000}
    assert outputs("dumbbell.tcl", *argv(BASE, stated)) == outputs("dumbbell.tcl", *argv(BASE))


def test_the_files_are_those_of_the_experiments(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("dumbbell.tcl", *argv(BASE, {"trace": 1}))
    assert {path.name for path in out.iterdir()} == {
        "cwnd_hstcp0.out", "tput_hstcp0.out", "queue.out", "util.out", "report.txt", "pckts.trq",
    }  # fmt: skip
    assert [row[0] for row in columns(out / "cwnd_hstcp0.out")] == [i / 10 for i in range(41)]
    assert [row[0] for row in columns(out / "tput_hstcp0.out")] == [1, 2, 3, 4]
    trace = (out / "pckts.trq").read_text().splitlines()
    assert {len(line.split()) for line in trace} == {12}


def test_the_bottleneck_is_full_and_its_queue_bounded(
    run_ok: RunOk, columns: Columns, facts: Facts
) -> None:
    out = run_ok("dumbbell.tcl", *argv(BASE, {"sample_s": 0.01}))
    report = facts(out / "report.txt")
    # BDP + buffer = 8e6 * 0.040 / 8 / 1040 + 40 = 78 packets: a window halved to 39 still fills
    # the 38 of the path, so that the second half has no gap.
    assert report["link.bottleneck.utilization"][0] == pytest.approx(100, abs=0.5)
    assert report["link.bottleneck.total_drops"][0] > 0
    longest = max(row[1] for row in columns(out / "queue.out"))
    assert 0.9 * 40 <= longest <= 40


def test_the_first_acks_come_after_one_rtt(run_ok: RunOk) -> None:
    out = run_ok("dumbbell.tcl", *argv(BASE, {"trace": 1, "duration_s": 0.5}))
    trace = [line.split() for line in (out / "pckts.trq").read_text().splitlines()]
    at = {int(row[10]): float(row[1]) for row in reversed(trace) if row[0] == "+" and row[2] == "0"}
    # Packet 1 answers the ACK of packet 0 (a SYN of 40 bytes): 2 (1 + 18 + 1) ms, plus a hop
    # each at 100, 8 and 100 Mbit/s for SYN and ACK, 40 bytes, and packet 1's own first hop,
    # 1,040 instead of 40 bytes at 100 Mbit/s.
    transmit = 2 * (40 * 8 / 8e6 + 2 * 40 * 8 / 100e6) + (1040 - 40) * 8 / 100e6
    assert at[1] - at[0] == pytest.approx(0.040 + transmit, abs=1e-6)


def test_two_flows_may_start_together(run_ok: RunOk, facts: Facts) -> None:
    out = run_ok("dumbbell.tcl", *argv(TWO, {"duration_s": 10}))
    report = facts(out / "report.txt")
    sent = [report[f"flow.{i}.bytes"][0] for i in (0, 1)]
    assert sum(sent) == report["link.bottleneck.bytes"][0]
    assert min(sent) > 0


def test_a_flow_starts_when_it_is_told_to(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("dumbbell.tcl", *argv(TWO, {"flow.1.start_s": 2}))
    seconds = [row[1] for row in columns(out / "tput_hstcp1.out")]
    assert seconds[:2] == [0, 0]
    assert seconds[2] > 0


def test_red_keeps_the_queue_shorter_than_drop_tail(run_ok: RunOk, columns: Columns) -> None:
    means = {}
    for queue in ("DropTail", "RED"):
        changes = {"queue": queue, "datadir": queue, "duration_s": 10, "buffer_pkts": 100}
        out = run_ok("dumbbell.tcl", *argv(BASE, changes), out=queue)
        lengths = [row[1] for row in columns(out / "queue.out")]
        means[queue] = sum(lengths) / len(lengths)
    assert means["RED"] < means["DropTail"]


def test_linux_algorithms_differ_from_one_another(run_ok: RunOk) -> None:
    written = []
    for name in ("cubic", "vegas"):
        changes = {"flow.0.agent": "TCP/Linux", "flow.0.linux": name, "datadir": name}
        out = run_ok("dumbbell.tcl", *argv(BASE, changes), out=name)
        written.append((out / "cwnd_hstcp0.out").read_text())
    assert written[0] != written[1]


def test_an_unknown_linux_algorithm_is_named(run_ns: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    linux = flows({"agent": "TCP/Linux", "linux": "nosuch"})
    done = run_ns("dumbbell.tcl", *argv(BASE, linux))
    assert done.returncode == 1
    assert "-flow.0.linux: Agent/TCP/Linux of this ns-2 has no congestion control" in done.stderr
    assert not list((tmp_path / "out").iterdir())


def test_the_seed_changes_random_numbers_only(run_ok: RunOk) -> None:
    written = []
    for seed, overhead in ((1, 0), (2, 0), (1, 0.0001), (2, 0.0001)):
        name = f"{seed}-{overhead}"
        changes = {"seed": seed, "datadir": name, "flow.0.set.overhead_": overhead}
        out = run_ok("dumbbell.tcl", *argv(BASE, changes), out=name)
        written.append((out / "cwnd_hstcp0.out").read_text())
    assert written[0] == written[1]  # nothing random without overhead_
    assert written[2] != written[3]


def test_variables_are_recorded_after_cwnd(run_ok: RunOk, columns: Columns) -> None:
    record = {"flow.1.record": "ssthresh_ window_", "flow.1.set.window_": 17}
    out = run_ok("dumbbell.tcl", *argv(TWO, record))
    assert {len(row) for row in columns(out / "cwnd_hstcp0.out")} == {2}
    assert {tuple(row[3:]) for row in columns(out / "cwnd_hstcp1.out")} == {(17,)}


def test_a_class_default_holds_where_a_flow_sets_nothing(built: Built) -> None:
    ask = "foreach a [lsort -dictionary [Agent/TCP/Sack1 info instances]] {puts [$a set window_]}"
    given = {"default.Agent/TCP.window_": 30, "flow.1.set.window_": 40}
    assert built(ask, "dumbbell.tcl", *argv(TWO, given)) == ["30", "40"]
    # A flow alone on the path of a BDP of 38 packets and a buffer of 40 is never limited.
    (window,) = built(ask, "dumbbell.tcl", *argv(BASE))
    assert int(window) > 38 + 40


def test_trying_agents_out_does_not_move_the_random_numbers(built: Built) -> None:
    ask = "puts [$::defaultRNG next-random]"
    linux = flows({"agent": "TCP/Linux", "linux": "cubic"})
    drawn = [
        built(ask, "dumbbell.tcl", *argv(BASE, change))[0]
        for change in ({}, linux, {"flow.0.set.window_": 10}, {"flow.0.record": "rtt_"})
    ]
    assert len(set(drawn)) == 1
