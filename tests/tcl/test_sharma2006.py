"""The thesis's experiments: topology, settings and output files against arithmetic by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

RunOk = Callable[..., Path]
Columns = Callable[[Path], list[list[float]]]
Facts = Callable[[Path], dict[str, tuple[float, str]]]
Built = Callable[..., list[str]]

# On the wire: 1,000 bytes of data, 40 of headers, 10 of the timestamp option.
PACKET_BYTES = 1050
FILES = {"report.txt", "queue.out", "util.out"}

QUEUE_LIMIT = "puts [[[$ns link [$ns get-node-by-id 0] [$ns get-node-by-id 1]] queue] set limit_]"
# The RTT of flows 0 and 1, s: both directions of access link, bottleneck, receiver's link.
RTTS = """
proc delay {ns a b} {
    return [[[$ns link [$ns get-node-by-id $a] [$ns get-node-by-id $b]] link] set delay_]
}
foreach {sender receiver} {2 3 4 5} {
    puts [expr {[delay $ns $sender 0] + [delay $ns 0 1] + [delay $ns 1 $receiver]
        + [delay $ns $receiver 1] + [delay $ns 1 0] + [delay $ns 0 $sender]}]
}
"""
SETTINGS = """
foreach agent [lsort -dictionary [Agent/TCP/Sack1 info instances]] {
    puts [lmap name {windowOption_ low_window_ max_ssthresh_ window_ packetSize_} {
        $agent set $name
    }]
}
"""


def test_one_flow_writes_the_files_of_the_appendices(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("sharma2006/single_flow.tcl", 3, "HS", 312, 1, "out")
    assert {path.name for path in out.iterdir()} == FILES | {"cwnd_hstcp.out", "tput_hstcp.out"}
    # From 0 to 3 s inclusive at the appendix's steps: 0.01 s, 0.01 s, 1 s, 0.1 s.
    cwnd, queue = columns(out / "cwnd_hstcp.out"), columns(out / "queue.out")
    assert [row[0] for row in cwnd] == [i / 100 for i in range(301)]
    assert [row[0] for row in queue] == [i / 100 for i in range(301)]
    assert [row[0] for row in columns(out / "tput_hstcp.out")] == [1, 2, 3]
    assert [row[0] for row in columns(out / "util.out")] == [i / 10 for i in range(1, 31)]
    assert {len(row) for row in cwnd} == {2}
    assert {len(row) for row in queue} == {3}
    assert (out / "cwnd_hstcp.out").read_text().startswith("0.00 1 \n0.01 1 \n")


def test_two_flows_write_a_cwnd_and_a_throughput_file_each(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("sharma2006/inter_protocol.tcl", 3, "HS", "SACK", 312, 1, 1, "out")
    own = {f"{kind}_hstcp{i}.out" for kind in ("cwnd", "tput") for i in (0, 1)}
    assert {path.name for path in out.iterdir()} == FILES | own
    for i in (0, 1):
        times = [row[0] for row in columns(out / f"cwnd_hstcp{i}.out")]
        assert times == [i / 10 for i in range(31)]
    # Flow 2 starts at 1 s: nothing of it had left the bottleneck in the first second.
    assert columns(out / "tput_hstcp1.out")[0] == [1, 0]
    assert columns(out / "tput_hstcp1.out")[2][1] > 0


def test_the_first_round_trips_take_100_ms(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("sharma2006/single_flow.tcl", 0.5, "HS", 312, 1, "out")
    cwnd = {row[0]: row[1] for row in columns(out / "cwnd_hstcp.out")}
    # RTT = 2 (1 + 48 + 1) ms, and some 0.04 ms to transmit: slow start doubles cwnd just
    # after 100 ms and again just after 200 ms.
    assert [cwnd[t] for t in (0.10, 0.11, 0.20, 0.21)] == [1, 2, 2, 4]


def test_counters_files_and_report_agree(run_ok: RunOk, columns: Columns, facts: Facts) -> None:
    out = run_ok("sharma2006/single_flow.tcl", 4, "HS", 312, 1, "out")
    report = facts(out / "report.txt")
    total, unit = report["flow.0.total_bytes"]
    assert unit == "B"
    # Four lines of 1 s, each rounded to 0.01 Mbit/s: at most 0.005e6/8 bytes off.
    tput = sum(row[1] for row in columns(out / "tput_hstcp.out")) * 1e6 / 8
    assert tput == pytest.approx(total, abs=4 * 0.005e6 / 8)
    # Forty bins of 0.1 s, each rounded likewise.
    util = sum(row[1] for row in columns(out / "util.out")) * 0.1 * 1e6 / 8
    assert util == pytest.approx(report["link.bottleneck.total_bytes"][0], abs=40 * 0.0005e6 / 8)


def test_the_report_covers_the_second_half(run_ok: RunOk, columns: Columns, facts: Facts) -> None:
    out = run_ok("sharma2006/single_flow.tcl", 4, "HS", 312, 1, "out")
    report = facts(out / "report.txt")
    assert report["flow.0.window_start"] == (2, "s")
    assert report["flow.0.window_end"] == (4, "s")
    packets, _ = report["flow.0.packets"]
    # Slow start began with a SYN of 40 bytes; all later packets are full.
    assert report["flow.0.bytes"] == (packets * PACKET_BYTES, "B")
    mbps, unit = report["flow.0.throughput"]
    assert unit == "Mbit/s"
    # Six decimals are printed.
    assert mbps == pytest.approx(packets * PACKET_BYTES * 8 / 2 / 1e6, abs=1e-6)
    percent, unit = report["link.bottleneck.utilization"]
    assert unit == "%"
    assert percent == pytest.approx(100 * mbps / 622, abs=1e-6)
    # The two lines of the second half, each rounded to 0.01 Mbit/s.
    tput = [row[1] for row in columns(out / "tput_hstcp.out")]
    assert (tput[2] + tput[3]) / 2 == pytest.approx(mbps, abs=0.005)


def test_the_same_arguments_write_the_same_bytes(run_ok: RunOk) -> None:
    written = []
    for name in ("first", "second"):
        out = run_ok("sharma2006/two_flows_rtt.tcl", 2, "HS", "HS", 312, 1, 1, name, 2, 0, out=name)
        written.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert written[0] == written[1]


def test_another_run_draws_other_random_numbers(run_ok: RunOk) -> None:
    outs = [
        run_ok("sharma2006/single_flow.tcl", 3, "HS", 312, run, f"run{run}", out=f"run{run}")
        for run in (1, 2)
    ]
    cwnd = [(out / "cwnd_hstcp.out").read_bytes() for out in outs]
    # overhead_ delays each packet by up to 8 us at random, which ACK times inherit.
    assert cwnd[0] != cwnd[1]


def test_a_script_runs_from_anywhere(ns_binary: Path, run_ok: RunOk, tcl_root: Path) -> None:
    # run_ok has tmp_path for its working directory, far from tcl/lib.
    out = run_ok("sharma2006/buffer_size.tcl", 0.1, "HS", 312, 1, "out", 40)
    assert (out / "report.txt").read_text().startswith("hstcp starttime: 0\n")


def test_single_drop_loses_packet_20000(run_ok: RunOk, columns: Columns, facts: Facts) -> None:
    out = run_ok("sharma2006/single_drop.tcl", 4, "HS", 312, 1, "out")
    report = facts(out / "report.txt")
    assert report["link.bottleneck.total_drops"] == (1, "packets")
    assert report["flow.0.total_drops"] == (1, "packets")
    dropped_at = next(row[0] for row in columns(out / "queue.out") if row[2] == 1)
    bins = columns(out / "util.out")
    before = sum(mbps for time, mbps in bins if time <= dropped_at) * 0.1e6 / 8 / PACKET_BYTES
    in_bin = next(mbps for time, mbps in bins if time > dropped_at) * 0.1e6 / 8 / PACKET_BYTES
    # 19,999 packets had come before it, all but the few in the queue had left; one bin is the
    # resolution of util.out.
    assert before - 1 <= 19999 <= before + in_bin + 1
    # The sender halves cwnd once: the first cut of the run.
    cwnd = [row[1] for row in columns(out / "cwnd_hstcp.out")]
    falls = [after / before for before, after in itertools.pairwise(cwnd) if after < before]
    assert len(falls) == 1
    # Half, but for what the growth between two samples adds (0.01 s of an RTT of 0.1 s).
    assert falls[0] == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("script", "extra", "packets"),
    [
        ("single_flow", [], 1555),  # a fifth of 7,775 = 622e6 * 0.1 / 8 / 1000
        ("single_drop", [], 1555),
        ("buffer_size", [40], 40),
        ("buffer_size", [7776], 7776),
        ("rtt", [10], 311),  # 622e6 * 0.020 / 8 / 1000 / 5 = 311
        ("rtt", [48], 1492),  # 622e6 * 0.096 / 8 / 1000 / 5 = 1492.8
        ("rtt", [110], 3421),  # 622e6 * 0.220 / 8 / 1000 / 5 = 3421
    ],
)
def test_buffers_of_one_flow(built: Built, script: str, extra: list[int], packets: int) -> None:
    args = [1, "HS", 312, 1, "out", *extra]
    assert built(QUEUE_LIMIT, f"sharma2006/{script}.tcl", *args) == [str(packets)]


@pytest.mark.parametrize(
    ("difference", "which", "rtts"),
    [  # RTTdiff and the RTTs it stands for in the thesis's Table 2, ms
        (2, 0, (16, 162)),
        (68, 1, (162, 82)),
        (148, 0, (162, 162)),
        (154, 1, (162, 168)),
        (15, 0, (29, 162)),  # not in the thesis: odd ones are exact too
    ],
)
def test_rtts_of_two_flows(
    built: Built, difference: int, which: int, rtts: tuple[int, int]
) -> None:
    args = [1, "HS", "HS", 312, 0.5, 1, "out", difference, which]
    seconds = [float(line) for line in built(RTTS, "sharma2006/two_flows_rtt.tcl", *args)]
    # Six delays of whole or half ms add up to within double precision.
    assert seconds == pytest.approx([rtt / 1000 for rtt in rtts], abs=1e-9)
    # A fifth of 622e6 * 0.162 / 8 / 1000 = 12,595.5.
    assert built(QUEUE_LIMIT, "sharma2006/two_flows_rtt.tcl", *args) == ["2519"]


def test_both_flows_of_inter_protocol_have_100_ms(built: Built) -> None:
    args = [1, "HS", "SACK", 312, 0.5, 1, "out"]
    seconds = [float(line) for line in built(RTTS, "sharma2006/inter_protocol.tcl", *args)]
    assert seconds == pytest.approx([0.1, 0.1], abs=1e-9)
    assert built(QUEUE_LIMIT, "sharma2006/inter_protocol.tcl", *args) == ["1555"]
    assert built(QUEUE_LIMIT, "sharma2006/inter_protocol.tcl", *args, 40) == ["40"]


def test_each_flow_has_its_own_settings(built: Built) -> None:
    # The second flow must not inherit HighSpeed TCP's option 8 and low window of 38 packets.
    args = [1, "HS", "SACK", 312, 0.5, 1, "out"]
    lines = built(SETTINGS, "sharma2006/inter_protocol.tcl", *args)
    assert lines == ["8 38 100 67000 1000", "1 0 100 67000 1000"]


def test_scalable_has_its_window_option(built: Built) -> None:
    args = [1, "Scalable", 312, 1, "out"]
    assert built(SETTINGS, "sharma2006/single_flow.tcl", *args) == ["9 16 100 67000 1000"]


@pytest.mark.parametrize(("script", "packets"), [("low", 62), ("high", 7775)])
def test_buffers_of_standard_tcp_are_one_bdp(built: Built, script: str, packets: int) -> None:
    # 5e6 * 0.1 / 8 / 1000 = 62.5 and 622e6 * 0.1 / 8 / 1000 = 7775.
    path = f"sharma2006/standard_tcp_{script}_bdp.tcl"
    assert built(QUEUE_LIMIT, path, "SACK", 1, "out") == [str(packets)]


def test_standard_tcp_traces_every_packet(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("sharma2006/standard_tcp_low_bdp.tcl", "SACK", 10, "out")
    assert {path.name for path in out.iterdir()} == {"cwnd.out", "tput.out", "pckts.trq"}
    trace = [line.split() for line in (out / "pckts.trq").read_text().splitlines()]
    assert {len(row) for row in trace} == {12}
    # Departures ("-") from router 0 to router 1 in (1, 9] s, in Mbit/s, are tput.out's lines of
    # 2 to 9 s, each rounded to 0.01.
    sent = sum(int(r[5]) for r in trace if r[0] == "-" and r[2] == "0" and 1 < float(r[1]) <= 9)
    tput = [mbps for time, mbps in columns(out / "tput.out") if 2 <= time <= 9]
    assert sum(tput) == pytest.approx(sent * 8 / 1e6, abs=8 * 0.005)
    # The capacity of 5 Mbit/s is used up after slow start and before the next loss (here near
    # 8 s); a second has room for a whole packet of 0.0084 Mbit more or less.
    assert tput[2:6] == pytest.approx([5] * 4, abs=0.0084 + 0.005)


def test_standard_tcp_writes_into_a_directory_named_like_the_protocol(
    run_ok: RunOk, tmp_path: Path
) -> None:
    out = run_ok("sharma2006/standard_tcp_low_bdp.tcl", "HS", 2, out="HS")
    assert (out / "cwnd.out").read_text().startswith("0.00 ")
