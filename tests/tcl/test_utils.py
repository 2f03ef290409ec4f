"""utils.tcl on its own, with a script that has the globals of the thesis's appendices."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data_of import data_of

Columns = Callable[[Path], list[list[float]]]
Facts = Callable[[Path], dict[str, tuple[float, str]]]

# A small network of our own: 8 Mbit/s, 10 ms. Packets have 1,040 bytes on the wire.
_DATA = data_of(__file__)
NETWORK = _DATA["network"]

ONE_FLOW = _DATA["one_flow"]

# The second of two flows never starts, so the flow monitor never hears of it.
TWO_FLOWS = _DATA["two_flows"]


@pytest.fixture
def script(tcl_root: Path, tmp_path: Path) -> Callable[..., Path]:
    """Write a script of the network above, beside a copy of utils.tcl."""

    def write(flows: str, before: str = "", after: str = "") -> Path:
        shutil.copy(tcl_root / "lib" / "utils.tcl", tmp_path)
        (tmp_path / "out").mkdir()
        path = tmp_path / "appendix.tcl"
        path.write_text(NETWORK % {"flows": flows, "before": before, "after": after})
        return path

    return write


def test_one_flow_with_scalar_globals(
    script: Callable[..., Path], run_ok: Callable[..., Path], columns: Columns, facts: Facts
) -> None:
    out = run_ok(script(ONE_FLOW))
    assert [row[0] for row in columns(out / "cwnd_hstcp.out")] == [i / 2 for i in range(13)]
    report = facts(out / "report.txt")
    # ns-2's default window of 20 packets loses none in a buffer of 20; RTT slightly above 20 ms:
    # 20 packets of 8,320 bits per RTT exceed neither 8 Mbit/s nor the window.
    assert report["flow.0.total_drops"] == (0, "packets")
    mbps, _ = report["flow.0.throughput"]
    # One window per RTT: 20 ms, 1.04 ms to send a packet, and 0.04 ms to send an ACK.
    assert mbps == pytest.approx(20 * 8320 / 0.02108 / 1e6, abs=0.02)
    assert columns(out / "tput_hstcp.out")[-1][1] == pytest.approx(mbps, abs=0.02)
    assert report["link.bottleneck.packets"] == report["flow.0.packets"]
    # The appendices with one flow never request the statistics of all flows, so finish writes them.
    assert report["link.back.packets"][0] == pytest.approx(report["flow.0.packets"][0], abs=1)


def test_flows_with_array_globals_one_of_which_never_sends(
    script: Callable[..., Path], run_ok: Callable[..., Path], columns: Columns, facts: Facts
) -> None:
    path = script(TWO_FLOWS, "printlegend", '$ns at $endtime "print-stat-all"')
    out = run_ok(path)
    text = (out / "report.txt").read_text()
    report = facts(out / "report.txt")
    # G and H print the legend before there is a Simulator, and again at the end: it must appear
    # once.
    assert text.startswith("# flow.<id>.*")
    assert text.count("# flow.<id>.*") == 1
    assert text.count("link.bottleneck.total_bytes ") == 1
    for quantity in ("bytes", "packets", "drops", "throughput", "utilization", "total_bytes"):
        assert report[f"flow.1.{quantity}"][0] == 0
    assert columns(out / "tput_hstcp1.out") == [[t, 0] for t in range(1, 7)]
    assert report["flow.0.total_bytes"] == report["link.bottleneck.total_bytes"]


def test_a_run_shorter_than_every_interval(
    script: Callable[..., Path], run_ok: Callable[..., Path], columns: Columns, facts: Facts
) -> None:
    path = script(ONE_FLOW)
    path.write_text(path.read_text().replace("set endtime 6", "set endtime 0"))
    out = run_ok(path)
    # Nothing can have left: no window, no throughput, and no division by the duration.
    report = facts(out / "report.txt")
    assert report["flow.0.throughput"] == (0, "Mbit/s")
    assert columns(out / "tput_hstcp.out") == []


def test_bic_has_four_more_columns(
    script: Callable[..., Path], run_ok: Callable[..., Path], columns: Columns
) -> None:
    # Stand-ins for the variables of BIC's agent, with the names that the appendices read.
    flows = ONE_FLOW.replace(
        "print-cwnd ",
        """foreach {name value} {delay_min 1 delay_avg 2 delay_max 3 low_utilization_indication 4} {
               $tcp set bic_${name}_ $value
           }
           print-cwnd-bic """,
    )
    out = run_ok(script(flows))
    assert columns(out / "cwnd_hstcp.out")[0] == [0, 1, 1, 2, 3, 4]


def test_any_variables_can_be_printed(
    script: Callable[..., Path], run_ok: Callable[..., Path], columns: Columns
) -> None:
    flows = ONE_FLOW.replace("print-cwnd $tcp", "print-variables $tcp {cwnd_ window_ fid_}")
    out = run_ok(script(flows))
    assert columns(out / "cwnd_hstcp.out")[0] == [0, 1, 20, 0]


def test_progress_is_one_line_a_second_of_wall_time(
    ns_binary: Path, script: Callable[..., Path], tmp_path: Path
) -> None:
    # By the clock on the wall, each simulated second lasts 0.4 s. When it has told the first line,
    # ns-2 waits for an answer: what it tells does not stay in a buffer.
    clock = """
        set wall_ms 7000
        proc clock {unit} {global wall_ms; return $wall_ms}
        proc slow {} {global ns wall_ms; incr wall_ms 400; $ns at [expr [$ns now]+1] slow}
    """
    path = script(ONE_FLOW, before=clock, after="$ns at 0.5 {gets stdin; slow}")
    command, pipe = [str(ns_binary), str(path)], subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        first = process.stderr.readline()
        process.stdin.write("\n")
        process.stdin.close()
        seen = [first, *process.stderr]
    assert process.returncode == 0
    assert seen == [f"simtime {at} of 6\n" for at in (0, 3, 6)]
