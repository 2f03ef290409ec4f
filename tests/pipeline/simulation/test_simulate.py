"""One run of the real ns-2: recorded when it is whole, explained when it is not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bdpbench.contracts.files import sha256_of, write_json_atomically
from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import current_build_id
from bdpbench.simulation.simulate import read_run, simulate

ARGUMENTS = [
    *("-duration_s", "2", "-bottleneck_mbps", "5", "-bottleneck_delay_ms", "8"),
    *("-access_mbps", "50", "-receiver_delay_ms", "1", "-buffer_pkts", "20"),
    *("-packet_bytes", "1000", "-sample_s", "0.1", "-queue", "DropTail", "-trace", "0"),
    *("-run", "1", "-datadir", "out", "-flows", "1", "-flow.0.agent", "TCP/Sack1"),
    *("-flow.0.sink", "TCPSink/Sack1", "-flow.0.start_s", "0", "-flow.0.access_delay_ms", "1"),
]


def _spec(
    run_dir: Path, *, argv: list[str] = ARGUMENTS, outputs: tuple[str, ...] = ("util.out",)
) -> None:
    write_json_atomically(
        run_dir / "spec.json",
        {
            "schema_version": 1,
            "run_id": run_dir.name,
            "label": "a test",
            "script": "dumbbell.tcl",
            "script_sha256": "0" * 64,
            "argv": argv,
            "parameters": {"duration_s": 2, "bottleneck_mbps": 5},
            "outputs": [{"file": name, "table": "utilization"} for name in outputs],
            "ns2_build_id": current_build_id(),
            "estimated_cpu_s": 1,
        },
    )


@pytest.fixture
def backend(ns_binary: Path) -> NativeBackend:
    return NativeBackend(current_build_id())


def test_a_run_is_recorded_with_checksums_that_hold(tmp_path: Path, backend: NativeBackend) -> None:
    run_dir = tmp_path / "0123456789abcdef"
    _spec(run_dir)
    record = simulate(run_dir, backend)
    assert record == read_run(run_dir)
    for name, facts in record["outputs"].items():
        assert sha256_of(run_dir / name) == facts["sha256"]
    assert record["units"] == {"duration_s": "s", "bottleneck_mbps": "Mbit/s"}
    assert record["cpu_s"] > 0
    assert record["ns2"]["build_id"] == backend.build_id
    assert not (run_dir / ".scratch").exists()


def test_a_finished_run_is_not_simulated_again(tmp_path: Path, backend: NativeBackend) -> None:
    run_dir = tmp_path / "0123456789abcdef"
    _spec(run_dir)
    first = simulate(run_dir, backend)
    assert simulate(run_dir, backend)["started"] == first["started"]


def test_an_error_in_tcl_is_told_with_run_and_log(tmp_path: Path, backend: NativeBackend) -> None:
    run_dir = tmp_path / "0123456789abcdef"
    _spec(run_dir, argv=[*ARGUMENTS[:-2], "-flow.0.access_delay_ms", "-3"])
    with pytest.raises(BdpbenchError, match="access_delay_ms") as caught:
        simulate(run_dir, backend)
    assert "exit status 1" in str(caught.value)
    assert str(run_dir / "ns.log") in str(caught.value)
    assert (run_dir / "error.txt").read_text().strip() == str(caught.value)
    assert read_run(run_dir) is None


def test_an_output_that_is_not_written_is_told(tmp_path: Path, backend: NativeBackend) -> None:
    run_dir = tmp_path / "0123456789abcdef"
    _spec(run_dir, outputs=("nothing.out",))
    with pytest.raises(BdpbenchError, match=r"did not write nothing\.out"):
        simulate(run_dir, backend)


def _start(run_dir: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "bdpbench", "simulate", str(run_dir)],
        env={**os.environ, "PYTHONPATH": str(repository_root() / "pipeline")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _child_of(pid: int) -> int:
    for _ in range(100):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        named = [int(each) for each in children if Path(f"/proc/{each}/comm").read_text() == "ns\n"]
        if named:
            return named[0]
        time.sleep(0.05)
    raise AssertionError("ns did not start")


LONG = ["-duration_s", "100000", *ARGUMENTS[2:]]


def test_an_ns2_that_is_killed_leaves_one_message_and_no_result(
    tmp_path: Path, backend: NativeBackend
) -> None:
    run_dir = tmp_path / "0123456789abcdef"
    _spec(run_dir, argv=LONG)
    process = _start(run_dir)
    os.kill(_child_of(process.pid), signal.SIGKILL)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    assert b"killed by SIGKILL" in said
    assert b"Traceback" not in said
    assert not (run_dir / "run.json").exists()


def test_ns2_ends_with_the_process_that_started_it(tmp_path: Path, backend: NativeBackend) -> None:
    run_dir = tmp_path / "0123456789abcdef"
    _spec(run_dir, argv=LONG)
    process = _start(run_dir)
    child = _child_of(process.pid)
    process.kill()
    process.communicate(timeout=20)
    for _ in range(100):
        status = Path(f"/proc/{child}/stat")
        if not status.exists() or status.read_text().split(") ")[1][0] == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("ns-2 outlived bdpbench")
    _spec(run_dir)
    spec = json.loads((run_dir / "spec.json").read_text())
    assert spec["argv"] == ARGUMENTS
    assert simulate(run_dir, backend)["exit_status"] == 0
