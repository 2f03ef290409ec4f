"""dumbbell.tcl: networks described by -key value pairs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

RunNs = Callable[..., subprocess.CompletedProcess[str]]
RunOk = Callable[..., Path]
Columns = Callable[[Path], list[list[float]]]
Facts = Callable[[Path], dict[str, tuple[float, str]]]

NETWORK = {
    "duration_s": 4,
    "bottleneck_mbps": 8,
    "bottleneck_delay_ms": 18,
    "access_mbps": 100,
    "receiver_delay_ms": 1,
    "buffer_pkts": 40,
    "packet_bytes": 1000,
    "datadir": "out",
    "flows": 1,
    "flow.0.agent": "TCP/Sack1",
    "flow.0.access_delay_ms": 1,
}
SECOND_FLOW = {"flows": 2, "flow.1.agent": "TCP/Sack1", "flow.1.access_delay_ms": 1}


def argv(*changes: Mapping[str, object], without: str = "") -> list[str]:
    """The pairs of NETWORK after some changes."""
    pairs: dict[str, object] = dict(NETWORK)
    for change in changes:
        pairs.update(change)
    return [word for k, v in pairs.items() if k != without for word in (f"-{k}", str(v))]


def test_the_files_are_those_of_the_experiments(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("dumbbell.tcl", *argv({"trace": 1}))
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
    out = run_ok("dumbbell.tcl", *argv({"sample_s": 0.01}))
    report = facts(out / "report.txt")
    # BDP + buffer = 8e6 * 0.040 / 8 / 1040 + 40 = 78 packets: a window halved to 39 still fills
    # the 38 of the path, so that the second half has no gap.
    assert report["link.bottleneck.utilization"][0] == pytest.approx(100, abs=0.5)
    assert report["link.bottleneck.total_drops"][0] > 0
    longest = max(row[1] for row in columns(out / "queue.out"))
    assert 0.9 * 40 <= longest <= 40


def test_the_first_acks_come_after_one_rtt(run_ok: RunOk) -> None:
    out = run_ok("dumbbell.tcl", *argv({"trace": 1, "duration_s": 0.5}))
    trace = [line.split() for line in (out / "pckts.trq").read_text().splitlines()]
    at = {int(row[10]): float(row[1]) for row in reversed(trace) if row[0] == "+" and row[2] == "0"}
    # Packet 1 answers the ACK of packet 0 (a SYN of 40 bytes): 2 (1 + 18 + 1) ms, plus a hop
    # each at 100, 8 and 100 Mbit/s for SYN and ACK, 40 bytes, and packet 1's own first hop,
    # 1,040 instead of 40 bytes at 100 Mbit/s.
    transmit = 2 * (40 * 8 / 8e6 + 2 * 40 * 8 / 100e6) + (1040 - 40) * 8 / 100e6
    assert at[1] - at[0] == pytest.approx(0.040 + transmit, abs=1e-6)


def test_it_repeats_the_experiment_with_one_flow(run_ok: RunOk) -> None:
    study = run_ok("sharma2006/single_flow.tcl", 4, "HS", 312, 1, "study", out="study")
    variables = {
        "windowOption_": 8, "low_window_": 38, "max_ssthresh_": 100, "timestamps_": 1,
        "overhead_": 0.000008, "maxburst_": 2, "window_": 67000,
    }  # fmt: skip
    network = {
        "bottleneck_mbps": 622,
        "bottleneck_delay_ms": 48,
        "access_mbps": 1000,
        "buffer_pkts": 1555,
        "sample_s": 0.01,
    } | {f"flow.0.set.{name}": value for name, value in variables.items()}
    out = run_ok("dumbbell.tcl", *argv(network))
    for kind in ("cwnd", "tput"):
        own, other = out / f"{kind}_hstcp0.out", study / f"{kind}_hstcp.out"
        assert own.read_bytes() == other.read_bytes()
    for name in ("queue.out", "util.out"):
        assert (out / name).read_bytes() == (study / name).read_bytes()


def test_two_flows_may_start_together(run_ok: RunOk, facts: Facts) -> None:
    out = run_ok("dumbbell.tcl", *argv(SECOND_FLOW, {"duration_s": 10}))
    report = facts(out / "report.txt")
    flows = [report[f"flow.{i}.bytes"][0] for i in (0, 1)]
    assert sum(flows) == report["link.bottleneck.bytes"][0]
    assert min(flows) > 0


def test_a_flow_starts_when_it_is_told_to(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("dumbbell.tcl", *argv(SECOND_FLOW, {"flow.1.start_s": 2}))
    seconds = [row[1] for row in columns(out / "tput_hstcp1.out")]
    assert seconds[:2] == [0, 0]
    assert seconds[2] > 0


def test_red_keeps_the_queue_shorter_than_drop_tail(run_ok: RunOk, columns: Columns) -> None:
    means = {}
    for queue in ("DropTail", "RED"):
        changes = {"queue": queue, "datadir": queue, "duration_s": 10, "buffer_pkts": 100}
        out = run_ok("dumbbell.tcl", *argv(changes), out=queue)
        lengths = [row[1] for row in columns(out / "queue.out")]
        means[queue] = sum(lengths) / len(lengths)
    assert means["RED"] < means["DropTail"]


def test_linux_algorithms_differ_from_one_another(run_ok: RunOk) -> None:
    written = []
    for name in ("cubic", "vegas"):
        changes = {"flow.0.agent": "TCP/Linux", "flow.0.linux": name, "datadir": name}
        out = run_ok("dumbbell.tcl", *argv(changes), out=name)
        written.append((out / "cwnd_hstcp0.out").read_text())
    assert written[0] != written[1]


def test_the_seed_changes_random_numbers_only(run_ok: RunOk) -> None:
    written = []
    for seed, overhead in ((1, 0), (2, 0), (1, 0.0001), (2, 0.0001)):
        name = f"{seed}-{overhead}"
        changes = {"seed": seed, "datadir": name, "flow.0.set.overhead_": overhead}
        out = run_ok("dumbbell.tcl", *argv(changes), out=name)
        written.append((out / "cwnd_hstcp0.out").read_text())
    assert written[0] == written[1]  # nothing random without overhead_
    assert written[2] != written[3]


WRONG = [
    (argv(without="buffer_pkts"), "-buffer_pkts is missing"),
    (argv(without="flow.0.agent"), "-flow.0.agent is missing"),
    (argv({"flows": 2}), "-flow.1.agent is missing"),
    (argv({"buffer_packets": 40}), "unknown key -buffer_packets"),
    (argv({"flow.1.agent": "TCP"}), "unknown key -flow.1.agent (-flows is 1)"),
    (argv({"flow.0.start": 1}), "unknown key -flow.0.start"),
    ([*argv(), "-run"], "-run has no value"),
    ([*argv(), "-flows", "1"], "-flows is given twice"),
    ([*argv(), "run", "1"], "'run' is not a key"),
    (argv({"bottleneck_mbps": -8}), "-bottleneck_mbps is '-8', expected a number above 0 (Mbit/s)"),
    (argv({"bottleneck_delay_ms": "fast"}), "expected a number of 0 or more (ms)"),
    (argv({"flow.0.start_s": -1}), "-flow.0.start_s is '-1'"),
    (argv({"sample_s": 0.015}), "-sample_s is '0.015', expected a multiple of 0.01"),
    (argv({"packet_bytes": 0}), "-packet_bytes is '0', expected an integer from 1"),
    (argv({"queue": "FQ"}), "-queue is 'FQ', expected one of DropTail, RED"),
    (argv({"datadir": "absent"}), "-datadir is 'absent', expected an existing"),
    (argv({"flow.0.agent": "TCP/[exit 3]"}), "expected the name of an ns-2 agent"),
    (argv({"flow.0.agent": "TCP/Cubic2050"}), "this ns-2 has no Agent/TCP/Cubic2050"),
    (argv({"flow.0.agent": "UDP"}), "-flow.0.agent is 'UDP', expected a kind of Agent/TCP"),
    (argv({"flow.0.agent": "TCP/FullTcp"}), "needs a peer"),
    (argv({"flow.0.sink": "TCP"}), "-flow.0.sink is 'TCP', expected a kind of Agent/TCPSink"),
    (argv({"flow.0.set.nosuch_": 1}), "Agent/TCP/Sack1 of this ns-2 has no variable 'nosuch_'"),
    (argv({"flow.0.set.window": 1}), "'window' is not a variable that can be set"),
    (argv({"flow.0.set.fid_": 7}), "'fid_' is not a variable that can be set"),
    (argv({"flow.0.set.window_": "[exit 3]"}), "is '[exit 3]', expected a number"),
    (argv({"flow.0.linux": "cubic"}), "-flow.0.linux needs -flow.0.agent TCP/Linux"),
    (
        argv({"flow.0.agent": "TCP/Linux", "flow.0.linux": "nosuch"}),
        "no congestion control 'nosuch'",
    ),
]


@pytest.mark.parametrize(("args", "message"), WRONG)
def test_a_wrong_argument_is_named(
    run_ns: RunNs, tmp_path: Path, args: list[str], message: str
) -> None:
    (tmp_path / "out").mkdir()
    done = run_ns("dumbbell.tcl", *args)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: dumbbell.tcl: ")
    assert message in line
