"""The experiments of xu2004: topology, settings and output files against arithmetic by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.studies.load import load_study

RunOk = Callable[..., Path]
Columns = Callable[[Path], list[list[float]]]
Built = Callable[..., list[str]]

STUDY = load_study("xu2004")
# On the wire: 1,000 bytes of data and 40 of headers.
PACKET_BYTES = 1040
SENDER = ("cwnd", "ssthresh", "sequence", "acknowledged")

# Delay (s), rate (bit/s) and queue limit (packets) of the links between nodes a and b, both ways.
LINKS = """
foreach {a b} {0 1 2 0 1 3} {
    foreach {from to} [list $a $b $b $a] {
        set link [$ns link [$ns get-node-by-id $from] [$ns get-node-by-id $to]]
        puts "[[$link link] set delay_] [[$link link] set bandwidth_] [[$link queue] set limit_]"
    }
}
"""
RTTS = """
proc delay {ns a b} {
    return [[[$ns link [$ns get-node-by-id $a] [$ns get-node-by-id $b]] link] set delay_]
}
foreach {sender receiver} {2 3 4 5} {
    puts [expr {2 * ([delay $ns $sender 0] + [delay $ns 0 1] + [delay $ns 1 $receiver])}]
}
"""


def agent_question(agent: str, names: list[str]) -> str:
    return f"""
    foreach agent [Agent/{agent} info instances] {{
        puts [lmap name {{{" ".join(names)}}} {{$agent set $name}}]
    }}
    """


def test_one_flow_writes_its_files_every_rtt(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("xu2004/single_flow.tcl", 2, "Reno", 1000, 200, "out")
    assert {path.name for path in out.iterdir()} == {
        *(f"{name}.out" for name in SENDER),
        "queue.out",
        "util.out",
    }
    # From 0 to 2 s inclusive at 0.025 s, the two-way delay; 0.1 s for the load.
    for name in (*SENDER, "queue"):
        assert [row[0] for row in columns(out / f"{name}.out")] == [i / 40 for i in range(81)]
    assert [row[0] for row in columns(out / "util.out")] == [i / 10 for i in range(1, 21)]
    assert (out / "cwnd.out").read_text().startswith("0.000 1\n0.025 1\n0.050 2\n")


def test_slow_start_doubles_every_25_ms(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("xu2004/single_flow.tcl", 0.25, "SACK", 1000, 200, "out")
    # The SYN takes an RTT of 25 ms and some us. A sample every 25 ms sees each doubling.
    cwnd = [row[1] for row in columns(out / "cwnd.out")]
    assert cwnd == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    # What slow start has sent: all ACKed, and a window more.
    acks = [row[1] for row in columns(out / "acknowledged.out")]
    sent = [row[1] for row in columns(out / "sequence.out")]
    assert [s - a for s, a in zip(sent, acks, strict=True)][2:] == cwnd[2:]


def test_the_network_has_the_thesis_s_delay_and_buffer(built: Built) -> None:
    lines = built(LINKS, "xu2004/single_flow.tcl", 1, "Reno", 622, 200, "out")
    bottleneck, access = lines[:2], lines[2:]
    assert bottleneck == ["0.012500000000000001 622000000 200"] * 2  # 12.5 ms one way
    # Nothing is lost and nothing waits before the bottleneck.
    assert access == ["0 10000000000 40000"] * 4


@pytest.mark.parametrize("protocol", STUDY.protocols)
def test_the_script_and_the_study_set_protocols_up_alike(built: Built, protocol: str) -> None:
    row = STUDY.protocols[protocol]
    names = list(row.settings)
    args = [1, protocol, 1000, 200, "out"]
    lines = built(agent_question(row.agent, names), "xu2004/single_flow.tcl", *args)
    (values,) = [[float(value) for value in line.split()] for line in lines]
    assert values == [row.settings[name] for name in names]
    sinks = f"puts [llength [Agent/{row.sink} info instances]]"
    assert built(sinks, "xu2004/single_flow.tcl", *args) == ["1"]


def test_the_defaults_are_those_of_ns_2_27(built: Built) -> None:
    names = ["numdupacksFrac_", "minrto_", "precisionReduce_", "rtxcur_init_"]
    lines = built(
        agent_question("TCP/Reno", names), "xu2004/single_flow.tcl", 1, "Reno", 1000, 200, "out"
    )
    assert lines == ["100 1 0 6"]


def test_drops_and_arrivals_agree_with_what_was_sent(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok("xu2004/single_flow.tcl", 1.2, "Reno", 1000, 200, "out")
    # Reno's first losses wait for a timeout at 1.3 s, so by 1.2 s every packet was sent once: what
    # passed the bottleneck is what was sent less what was dropped, but for the one retransmission.
    sent = columns(out / "sequence.out")[-1][1]  # packets, and the SYN of 40 bytes is packet 0
    dropped = columns(out / "queue.out")[-1][2]
    passed_mbit = sum(row[1] for row in columns(out / "util.out")) * 0.1
    # Twelve bins of 0.1 s, each rounded to 0.005 Mbit/s at most.
    expected = (sent - dropped + 1) * PACKET_BYTES * 8e-6
    assert passed_mbit == pytest.approx(expected, abs=12 * 0.0005 + PACKET_BYTES * 8e-6)
    assert dropped > 0


def test_slow_start_traces_every_packet_and_changes_none(run_ok: RunOk) -> None:
    args = [0.4, "Reno", 1000, 200]
    plain = run_ok("xu2004/single_flow.tcl", *args, "plain", out="plain")
    traced = run_ok("xu2004/slow_start.tcl", *args, "traced", out="traced")
    for path in plain.iterdir():
        assert (traced / path.name).read_bytes() == path.read_bytes()
    lines = [line.split() for line in (traced / "pckts.trq").read_text().splitlines()]
    assert {len(line) for line in lines} == {12}
    # Nodes 0 and 1 are the routers, 2 the sender: each packet sent enters the link 2 -> 0 once, and
    # sequence.out has the highest number, from 0, of those of the first transmission.
    sent = {int(line[10]) for line in lines if line[0] == "+" and line[2:4] == ["2", "0"]}
    highest = int((traced / "sequence.out").read_text().splitlines()[-1].split()[1])
    assert sent == set(range(highest + 1))
    # All drops are the bottleneck's, as many as its monitor counts.
    drops = [line for line in lines if line[0] == "d"]
    assert {tuple(line[2:4]) for line in drops} == {("0", "1")}
    assert len(drops) == int((traced / "queue.out").read_text().splitlines()[-1].split()[2])


@pytest.mark.parametrize("factor", [1, 2.5, 6])
def test_rtts_of_two_flows(built: Built, factor: float) -> None:
    args = [1, "HS", factor, 200, 1, "out"]
    seconds = [float(line) for line in built(RTTS, "xu2004/fairness.tcl", *args)]
    assert seconds == pytest.approx([0.025, 0.025 * factor], abs=1e-9)
    (bottleneck, _, *_) = built(LINKS, "xu2004/fairness.tcl", *args)
    assert bottleneck.split()[1:] == ["10000000", "200"]


def test_two_flows_write_files_each_and_share_the_bottleneck(
    run_ok: RunOk, columns: Columns
) -> None:
    out = run_ok("xu2004/fairness.tcl", 10, "NewReno", 2, 200, 1, "out")
    own = {f"{name}{flow}.out" for name in (*SENDER, "throughput") for flow in (0, 1)}
    assert {path.name for path in out.iterdir()} == own | {"queue.out", "util.out"}
    # Full from the second second on, a packet of 0.0083 Mbit more or less and rounding apart.
    both = [columns(out / f"throughput{flow}.out") for flow in (0, 1)]
    for first, second in list(zip(*both, strict=True))[2:]:
        assert first[1] + second[1] == pytest.approx(10, abs=0.0083 + 0.01)


def test_another_run_draws_other_random_numbers(run_ok: RunOk) -> None:
    outs = [
        run_ok("xu2004/fairness.tcl", 5, "HS", 2, 200, run, f"run{run}", out=f"run{run}")
        for run in (1, 2)
    ]
    assert len({(out / "cwnd0.out").read_bytes() for out in outs}) == 2


@pytest.mark.parametrize(
    ("script", "args"),
    [
        ("single_flow", [1, "VegasUp16", 100, 200]),
        ("fairness", [2, "Vegas", 3, 200, 1]),
        ("wireless", [40, "Westwood", 20, 0.02, 1]),
    ],
)
def test_the_same_arguments_write_the_same_bytes(
    run_ok: RunOk, script: str, args: list[object]
) -> None:
    written = []
    for name in ("first", "second"):
        out = run_ok(f"xu2004/{script}.tcl", *args, name, out=name)
        written.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert written[0] == written[1]


def rate_mbps(columns: Columns, out: Path) -> float:
    """Data acknowledged from 20 s, where the flow starts, to 60 s."""
    return columns(out / "acknowledged.out")[-1][1] * 8e-3 / 40


def test_a_clear_radio_carries_what_802_11_leaves_of_2_mbps(
    run_ok: RunOk, columns: Columns
) -> None:
    out = run_ok("xu2004/wireless.tcl", 60, "Reno", 0, 0.02, 1, "out")
    assert {path.name for path in out.iterdir()} == {f"{name}.out" for name in SENDER}
    # RTS, CTS, preambles and ACKs at 1 Mbit/s, waits, and TCP's own ACKs take about half.
    assert 0.8 < rate_mbps(columns, out) < 1.4
    assert columns(out / "acknowledged.out")[800][1] == -1  # 800 samples of 0.025 s: 20 s


def test_errors_take_their_share_of_the_radio(run_ok: RunOk, columns: Columns) -> None:
    rates = [
        rate_mbps(columns, run_ok("xu2004/wireless.tcl", 60, "SACK", pct, 0.02, 1, "out"))
        for pct in (0, 10, 40)
    ]
    assert rates[0] > rates[1] > rates[2] > 0


@pytest.mark.parametrize(
    ("script", "args", "said"),
    [
        ("single_flow", [1, "Cubic", 100, 200], "protocol is 'Cubic', expected one of Tahoe, Reno"),
        ("single_flow", [1, "Reno", 0, 200], "mbps is '0', expected a number above 0 (Mbit/s)"),
        ("fairness", [1, "Reno", 0.5, 200, 1], "factor is '0.5', expected 1 or more"),
        ("wireless", [60, "Reno", 100, 0.02, 1], "error_pct is '100', expected less than 100 (%)"),
        ("wireless", [20, "Reno", 10, 0.02, 1], "endtime is '20', expected more than 20 (s)"),
        ("wireless", [60, "Reno", 10, 0, 1], "bad_s is '0', expected a number above 0 (s)"),
    ],
)
def test_wrong_arguments_end_the_run_with_a_message(
    run_ns: Callable[..., object], tmp_path: Path, script: str, args: list[object], said: str
) -> None:
    (tmp_path / "out").mkdir()
    done = run_ns(f"xu2004/{script}.tcl", *args, "out")
    assert done.returncode == 1  # type: ignore[attr-defined]
    assert said in done.stderr  # type: ignore[attr-defined]
    assert not list((tmp_path / "out").iterdir())
