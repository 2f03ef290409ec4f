"""Runs whose packet trace goes through a pipe to a reader in the same process."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest
from tests.pipeline.simulation.specs import arguments, planned
from tests.waiting import HANGS_S, wait_for

from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import LOG_NAME, read_run
from bdpbench.errors import BdpbenchError
from bdpbench.processes import stat_of
from bdpbench.simulation.backend import Command, NativeBackend
from bdpbench.simulation.build import current_build_id
from bdpbench.simulation.ns2_process import RunNames, run_ns2, streams
from bdpbench.simulation.simulate import simulate

KEPT = "pckts.trq.flows.parquet"
NEVER_S = 100_000  # far more than ns-2 simulates during a test


@pytest.fixture
def backend(ns_binary: Path) -> NativeBackend:
    return NativeBackend(current_build_id())


def _planned(results: Path, *, duration_s: int = 2, start_s: int = 0) -> tuple[PlannedRun, Path]:
    argv = arguments(duration_s=duration_s, flow__0__start_s=start_s, trace=1)
    parameters = {"duration_s": duration_s, "bottleneck_mbps": 5, "trace": "stream"}
    return planned(
        results, argv, [{"file": KEPT, "table": "packet_flows", "stream": "pckts.trq"}], parameters
    )


LEAVES = (
    "exec 9>out/trace; sleep 1000 & echo $! >left; echo line >&9; printf '%01000000d' 0; exit 3"
)


def test_what_ns2_leaves_behind_ends_with_it_and_a_long_line_is_cut(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    names, command = RunNames("run 1", "one.tcl", tmp_path), Command(("bash", "-c", LEAVES))
    pipe = tmp_path / "out" / "trace"
    with pytest.raises(BdpbenchError) as found, streams([pipe], _count_lines) as failures:
        run_ns2(command, tmp_path, names, failures, native=True)
    assert "ns-2 stopped with exit status 3" in str(found.value)
    assert "000 [...] 000" in str(found.value)
    assert len(str(found.value)) < 4000
    assert (tmp_path / LOG_NAME).stat().st_size == 1_000_000
    assert (tmp_path / "out" / KEPT).read_text() == "1"
    assert stat_of(int((tmp_path / "left").read_text()))[:1] in ([], ["Z"])


def _count_lines(pipe: Path) -> None:
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pipe.open("rb") as stream:
        lines = sum(1 for _ in stream)
    pipe.with_name(KEPT).write_text(str(lines))


def test_the_reader_gets_all_of_the_trace_and_the_pipe_is_gone(
    tmp_path: Path, backend: NativeBackend
) -> None:
    run, run_dir = _planned(tmp_path)
    simulate(run, run_dir, backend, _count_lines)
    out = run_dir / "out"
    assert not (out / "pckts.trq").exists()
    # 5 Mbit/s for 2 s carry at most 1202 packets of 1040 bytes; each data packet and each ACK
    # writes a +, a - and an r at the bottleneck. Slow start takes some of the time.
    lines = int((out / KEPT).read_text())
    assert 0.8 * 6 * 1202 < lines < 1.05 * 6 * 1202
    record = read_run(run_dir)
    assert record is not None
    assert f"out/{KEPT}" in record["outputs"]


def test_a_reader_that_fails_ends_ns2_with_its_error(
    tmp_path: Path, backend: NativeBackend
) -> None:
    def fail(pipe: Path) -> None:
        with pipe.open("rb") as stream:
            stream.read(10_000)
        raise BdpbenchError("line 3 is no line of a trace", where="pckts.trq:3")

    run, run_dir = _planned(tmp_path, duration_s=NEVER_S)
    with pytest.raises(BdpbenchError, match="line 3 is no line of a trace"):
        simulate(run, run_dir, backend, fail)
    assert "line 3" in (run_dir / "error.txt").read_text()
    assert read_run(run_dir) is None
    assert not (run_dir / "out").exists()


def test_an_ns2_that_fails_is_told_although_the_reader_fails_then_too(
    tmp_path: Path, backend: NativeBackend
) -> None:
    def insist(pipe: Path) -> None:
        if not pipe.read_bytes():
            raise BdpbenchError("the trace is empty")

    run, run_dir = _planned(tmp_path, start_s=-3)
    with pytest.raises(BdpbenchError, match="ns-2 stopped with exit status 1") as caught:
        simulate(run, run_dir, backend, insist)
    assert "start_s" in str(caught.value)
    assert read_run(run_dir) is None


def test_a_failure_at_the_end_of_the_trace_is_told(tmp_path: Path, backend: NativeBackend) -> None:
    def fail_at_the_end(pipe: Path) -> None:
        pipe.read_bytes()
        raise BdpbenchError("the last line is odd")

    run, run_dir = _planned(tmp_path)
    with pytest.raises(BdpbenchError, match="the last line is odd"):
        simulate(run, run_dir, backend, fail_at_the_end)
    assert read_run(run_dir) is None


def test_a_run_that_streams_needs_a_reader(tmp_path: Path, backend: NativeBackend) -> None:
    run, run_dir = _planned(tmp_path)
    with pytest.raises(BdpbenchError, match="nobody reads it"):
        simulate(run, run_dir, backend)


def test_a_reader_that_comes_late_finds_the_end(tmp_path: Path, backend: NativeBackend) -> None:
    """ns-2 fails at once while the reader is still importing modules; the call must not hang."""

    run, run_dir = _planned(tmp_path, start_s=-3)

    def come_late(pipe: Path) -> None:
        log = pipe.parents[2] / LOG_NAME
        wait_for(lambda: log.exists() and "start_s" in log.read_text(), "last words of ns-2")
        pipe.read_bytes()

    told: list[BaseException] = []

    def work() -> None:
        try:
            simulate(run, run_dir, backend, come_late)
        except BdpbenchError as error:
            told.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(HANGS_S)
    assert not thread.is_alive(), "it hangs"
    assert "ns-2 stopped with exit status 1" in str(told[0])


def test_an_interrupt_waits_for_no_reader(tmp_path: Path) -> None:
    interrupted, waited = threading.Event(), []

    def never_open(pipe: Path) -> None:
        waited.append(interrupted.wait(HANGS_S))

    with pytest.raises(KeyboardInterrupt), streams([tmp_path / "pipe"], never_open):
        raise KeyboardInterrupt
    assert waited == []
    interrupted.set()
