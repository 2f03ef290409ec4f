"""Runs whose packet trace goes through a pipe to a reader in the same process."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest

from bdpbench.contracts.files import write_json_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import current_build_id
from bdpbench.simulation.simulate import read_run, simulate

KEPT = "pckts.trq.flows.parquet"
NEVER_S = 100_000  # far beyond what ns-2 simulates while a test runs


@pytest.fixture
def backend(ns_binary: Path) -> NativeBackend:
    return NativeBackend(current_build_id())


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "0123456789abcdef"


def _spec(run_dir: Path, *, duration_s: int = 2, more: tuple[str, ...] = ()) -> None:
    values = {
        "duration_s": duration_s,
        "bottleneck_mbps": 5,
        "bottleneck_delay_ms": 8,
        "access_mbps": 50,
        "receiver_delay_ms": 1,
        "buffer_pkts": 20,
        "packet_bytes": 1000,
        "trace": 1,
        "datadir": "out",
        "flows": 1,
        "flow.0.agent": "TCP/Sack1",
        "flow.0.sink": "TCPSink/Sack1",
        "flow.0.access_delay_ms": 1,
    }
    write_json_atomically(
        run_dir / "spec.json",
        {
            "schema_version": 1,
            "run_id": run_dir.name,
            "label": "a test",
            "script": "dumbbell.tcl",
            "script_sha256": "0" * 64,
            "argv": [
                *(word for key, value in values.items() for word in (f"-{key}", str(value))),
                *more,
            ],
            "parameters": {"duration_s": duration_s, "bottleneck_mbps": 5, "trace": "stream"},
            "outputs": [{"file": KEPT, "table": "packet_flows", "stream": "pckts.trq"}],
            "ns2_build_id": current_build_id(),
            "estimated_cpu_s": 1,
        },
    )


def _count_lines(pipe: Path) -> None:
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pipe.open("rb") as stream:
        lines = sum(1 for _ in stream)
    pipe.with_name(KEPT).write_text(str(lines))


def test_the_reader_gets_all_of_the_trace_and_the_pipe_is_gone(
    run_dir: Path, backend: NativeBackend
) -> None:
    _spec(run_dir)
    simulate(run_dir, backend, _count_lines)
    out = run_dir / "out"
    assert not (out / "pckts.trq").exists()
    # 5 Mbit/s for 2 s are 1202 packets of 1040 bytes at most; each data packet and each ACK leaves
    # a +, a - and an r at the bottleneck. Slow start takes some of the time.
    lines = int((out / KEPT).read_text())
    assert 0.8 * 6 * 1202 < lines < 1.05 * 6 * 1202
    record = read_run(run_dir)
    assert record is not None
    assert f"out/{KEPT}" in record["outputs"]


def test_a_reader_that_fails_ends_ns2_with_its_error(run_dir: Path, backend: NativeBackend) -> None:
    def fail(pipe: Path) -> None:
        with pipe.open("rb") as stream:
            stream.read(10_000)
        raise BdpbenchError("line 3 is no line of a trace", where="pckts.trq:3")

    _spec(run_dir, duration_s=NEVER_S)
    began = time.monotonic()
    with pytest.raises(BdpbenchError, match="line 3 is no line of a trace"):
        simulate(run_dir, backend, fail)
    assert time.monotonic() - began < 30
    assert "line 3" in (run_dir / "error.txt").read_text()
    assert read_run(run_dir) is None
    assert not (run_dir / "out").exists()


def test_an_ns2_that_fails_is_told_although_the_reader_fails_then_too(
    run_dir: Path, backend: NativeBackend
) -> None:
    def insist(pipe: Path) -> None:
        if not pipe.read_bytes():
            raise BdpbenchError("the trace is empty")

    _spec(run_dir, more=("-flow.0.start_s", "-3"))
    with pytest.raises(BdpbenchError, match="ns-2 stopped with exit status 1") as caught:
        simulate(run_dir, backend, insist)
    assert "start_s" in str(caught.value)
    assert read_run(run_dir) is None


def test_a_failure_at_the_end_of_the_trace_is_told(run_dir: Path, backend: NativeBackend) -> None:
    def fail_at_the_end(pipe: Path) -> None:
        pipe.read_bytes()
        raise BdpbenchError("the last line is odd")

    _spec(run_dir)
    with pytest.raises(BdpbenchError, match="the last line is odd"):
        simulate(run_dir, backend, fail_at_the_end)
    assert read_run(run_dir) is None


def test_a_run_that_streams_needs_a_reader(run_dir: Path, backend: NativeBackend) -> None:
    _spec(run_dir)
    with pytest.raises(BdpbenchError, match="nobody reads it"):
        simulate(run_dir, backend)
