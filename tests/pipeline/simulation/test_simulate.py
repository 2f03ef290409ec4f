"""One run of the real ns-2: recorded if it is complete, explained if it is not."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from tests.pipeline.simulation.specs import arguments, batch_of, planned
from tests.waiting import HANGS_S, has_ended, wait_for

from bdpbench.contracts import files
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import relative, repository_root
from bdpbench.contracts.plan import Output, PlannedRun
from bdpbench.contracts.runs import read_run
from bdpbench.errors import BdpbenchError
from bdpbench.simulation import ns2_process
from bdpbench.simulation.backend import Command, NativeBackend, choose_backend
from bdpbench.simulation.build import PREFIX_VARIABLE, current_build_id, require_build
from bdpbench.simulation.ns2_process import RunNames, run_ns2
from bdpbench.simulation.simulate import _check_outputs, simulate


def _planned(
    results: Path,
    *,
    argv: Sequence[str] = tuple(arguments()),
    outputs: tuple[str, ...] = ("util.out",),
) -> tuple[PlannedRun, Path]:
    return planned(results, argv, [{"file": name, "table": "utilization"} for name in outputs])


@pytest.fixture
def backend(ns_binary: Path) -> NativeBackend:
    return NativeBackend(current_build_id())


def test_a_run_is_recorded_with_checksums_that_hold(tmp_path: Path, backend: NativeBackend) -> None:
    run, run_dir = _planned(tmp_path)
    began = time.monotonic()
    record = simulate(run, run_dir, backend)
    assert 0 < record["wall_s"] <= time.monotonic() - began
    assert record == read_run(run_dir)
    for name, facts in record["outputs"].items():
        assert sha256_of(run_dir / name) == facts["sha256"]
    assert record["units"] == {"duration_s": "s", "bottleneck_mbps": "Mbit/s"}
    assert record["cpu_s"] > 0
    for name in ("cpu_s", "wall_s"):  # in whole ms
        assert record[name] == round(record[name], 3)
    assert record["ns2"]["build_id"] == backend.build_id
    assert record["ns2"]["binary_sha256"] == sha256_of(require_build(backend.build_id).binary)
    # All runs of a build share its description, which lies beside them.
    assert "info" not in json.loads((run_dir / "run.json").read_text())["ns2"]
    assert record["ns2"]["info"] == backend.info()
    assert not (run_dir / ".scratch").exists()
    assert simulate(run, run_dir, backend)["started"] == record["started"]  # not again
    assert record["script"]["path"] == "tcl/network.tcl"  # not where the checkout is
    sourced = record["script"]["files"]
    assert {"tcl/network.tcl", "tcl/lib/args.tcl"} <= set(sourced)
    for name, checksum in sourced.items():
        assert sha256_of(repository_root() / name) == checksum


def test_an_error_in_tcl_is_told_with_run_and_log(tmp_path: Path, backend: NativeBackend) -> None:
    run, run_dir = _planned(tmp_path, argv=arguments(flow__0__access_delay_ms=-3))
    with pytest.raises(BdpbenchError, match="access_delay_ms") as caught:
        simulate(run, run_dir, backend)
    assert "exit status 1" in str(caught.value)
    assert str(run_dir / "ns.log") in str(caught.value)
    assert (run_dir / "error.txt").read_text().strip() == str(caught.value)
    assert read_run(run_dir) is None


def test_an_output_that_is_not_written_is_told(tmp_path: Path, backend: NativeBackend) -> None:
    run, run_dir = _planned(tmp_path, outputs=("nothing.out",))
    with pytest.raises(BdpbenchError, match=r"did not write nothing\.out"):
        simulate(run, run_dir, backend)


@pytest.mark.parametrize(("table", "is_refused"), [("facts", True), ("utilization", False)])
def test_a_run_whose_facts_are_empty_has_ended_early(
    tmp_path: Path, table: str, *, is_refused: bool
) -> None:
    run, folder = planned(tmp_path, arguments(), [{"file": "one.out", "table": table}])
    (tmp_path / "one.out").touch()
    names = RunNames("a run", "network.tcl", folder)
    with pytest.raises(BdpbenchError, match="ended before") if is_refused else nullcontext():
        _check_outputs(run, names, tmp_path)


def test_a_disk_that_refuses_the_record_is_told_and_other_failures_are_not_hidden(
    tmp_path: Path, backend: NativeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, run_dir = _planned(tmp_path)
    failure = OSError(errno.EROFS, "read-only", "run.json")

    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr("bdpbench.simulation.simulate.write_record_atomically", fail)
    with pytest.raises(BdpbenchError, match=r"run\.json: cannot be used: the disk is read-only"):
        simulate(run, run_dir, backend)
    assert "the disk is read-only" in (run_dir / "error.txt").read_text()
    failure = OSError(errno.EMFILE, "too many open files")
    with pytest.raises(BdpbenchError, match=r"too many files are open.*\n.*`ulimit -n 1024`"):
        simulate(run, run_dir, backend)
    failure = OSError(errno.EIO, "no such luck")
    with pytest.raises(OSError, match="no such luck"):
        simulate(run, run_dir, backend)
    assert read_run(run_dir) is None


def _start(run: PlannedRun, results: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "bdpbench", "simulate", "--batch", str(batch_of(run, results))],
        env={**os.environ, "PYTHONPATH": str(repository_root() / "pipeline")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _child_of(pid: int) -> int:
    """The process of ns-2 that a process starts."""
    wait_for(lambda: _ns2_under(pid), "ns-2")
    return _ns2_under(pid)[0]


def _ns2_under(pid: int) -> list[int]:
    found = []
    for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(OSError):  # it has ended
            if Path(f"/proc/{each}/comm").read_text() == "ns\n":
                found.append(int(each))
    return found


LONG = arguments(duration_s=100000)


def test_an_ns2_that_is_killed_leaves_one_message_and_no_result(
    tmp_path: Path, backend: NativeBackend
) -> None:
    run, run_dir = _planned(tmp_path, argv=LONG)
    process = _start(run, tmp_path)
    os.kill(_child_of(process.pid), signal.SIGKILL)
    said, _ = process.communicate(timeout=HANGS_S)
    assert process.returncode == 1
    assert b"ns-2 was killed by SIGKILL: " in said
    assert b"by the kernel because memory was short" in said
    assert b"Traceback" not in said
    assert not (run_dir / "run.json").exists()


def test_a_limit_of_the_shell_that_ends_ns2_is_named(
    tmp_path: Path, backend: NativeBackend
) -> None:
    run, _ = _planned(tmp_path, argv=LONG)
    script = 'ulimit -S -f 8; exec "$0" -m bdpbench simulate --batch "$1"'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable, str(batch_of(run, tmp_path))],
        env={**os.environ, "PYTHONPATH": str(repository_root() / "pipeline")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "killed by SIGXFSZ" in done.stderr
    assert "(ulimit -f)" in done.stderr


def _failure(folder: Path, script: str) -> str:
    """What is said of an ns-2 that does what a script of the shell does."""
    names = RunNames("run x", "x.tcl", folder)
    with pytest.raises(BdpbenchError) as caught:
        run_ns2(Command(("sh", "-c", script)), folder, names, [], native=True)
    return caught.value.message


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (126, "stopped with exit status 126: the binary cannot be executed on this machine"),
        (127, "stopped with exit status 127: the binary or a library that it needs is not there"),
        (128, "stopped with exit status 128"),
        (136, "was killed by SIGFPE: it divided by zero, or a number was too large for an integer"),
        (137, "was killed by SIGKILL: by a user or scheduler, or by the kernel because memory was"),
        (139, "was killed by SIGSEGV: it used memory that it does not have"),
    ],
)
def test_an_exit_status_is_explained(tmp_path: Path, status: int, reason: str) -> None:
    said = _failure(tmp_path, f"echo last words; exit {status}")
    assert f"ns-2 {reason}" in said.replace("; log:", "")
    assert said.endswith("last words")


def test_a_limit_of_cpu_time_is_named(tmp_path: Path) -> None:
    said = _failure(tmp_path, "ulimit -S -t 1; while :; do :; done")
    assert "was killed by SIGXCPU: it used more CPU time than the limit allows (ulimit -t)" in said


@pytest.mark.parametrize(
    ("begun", "said", "does"),
    [
        ("echo simtime 2 of 8", "at 2 s", "while :; do :; done"),
        (":", "before it began", "exec yes"),
        (":", "before it began", "sleep 600"),
    ],
)
def test_an_ns2_whose_time_stands_still_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: str, said: str, does: str
) -> None:
    monkeypatch.setattr(ns2_process, "_STILL_S", 0.3)
    assert f"simulated time stood still {said} for 0.005 minutes" in _failure(
        tmp_path, f"{begun}; {does}"
    )


def test_an_ns2_whose_time_goes_on_is_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step begins when the one before it is known; all of them take longer than the limit."""
    monkeypatch.setattr(ns2_process, "_STILL_S", 1.0)
    script = "for s in 1 2 3 4 5; do echo simtime $s of 5; sleep 0.3; done; exit 3"
    assert "exit status 3" in _failure(tmp_path, script)


@pytest.mark.parametrize(
    ("lines", "shown"),
    [(0, "(no output)"), (8, "1 2 3 4 5 6 7 8"), (9, "1 2 3 4 … 6 7 8 9")],
)
def test_of_a_long_log_the_beginning_and_the_end_are_told(
    tmp_path: Path, lines: int, shown: str
) -> None:
    told = _failure(tmp_path, f"seq {lines}; exit 1").splitlines()[1:]
    assert " ".join(map(str.strip, told)) == shown


def test_a_binary_that_was_not_built_is_refused(
    tmp_path: Path, backend: NativeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = require_build(backend.build_id).binary.parent
    folder = tmp_path / "prefix" / backend.build_id
    shutil.copytree(built, folder)
    monkeypatch.setenv(PREFIX_VARIABLE, str(folder.parent))
    assert backend.is_built()
    (folder / "ns").write_text("#!/bin/sh\nexit 0\n")
    run, run_dir = _planned(tmp_path / "runs")
    with pytest.raises(BdpbenchError, match="is not the one that was built") as caught:
        simulate(run, run_dir, backend)
    assert "bdpbench ns2 build" in str(caught.value)
    assert not (run_dir / "out").exists()
    with pytest.raises(BdpbenchError, match="is not the one that was built"):
        choose_backend("auto", backend.build_id)


def test_ns2_ends_with_the_process_that_started_it(tmp_path: Path, backend: NativeBackend) -> None:
    run, _ = _planned(tmp_path, argv=LONG)
    process = _start(run, tmp_path)
    child = _child_of(process.pid)
    process.kill()
    process.communicate(timeout=HANGS_S)
    wait_for(lambda: has_ended(child), "end of ns-2 after that of bdpbench")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda run: run["identity"]["argv"].append("1"), "its content does not match the run's"),
        (
            lambda run: run.update(script="network_packmime.tcl"),
            r"network_packmime\.tcl or a file that it sources has changed",
        ),
    ],
)
def test_a_plan_of_other_runs_is_not_run(
    tmp_path: Path, backend: NativeBackend, change: Callable[[PlannedRun], object], said: str
) -> None:
    run, run_dir = _planned(tmp_path)
    change(run)
    with pytest.raises(BdpbenchError, match=said) as caught:
        simulate(run, run_dir, backend)
    assert "makes a new plan" in caught.value.hint
    assert not (run_dir / "out").exists()


def test_a_script_outside_the_checkout_finds_its_own_files_and_the_library(
    tmp_path: Path, backend: NativeBackend
) -> None:
    folder = tmp_path / "a study" / "tcl"
    folder.mkdir(parents=True)
    (folder / "own.tcl").write_text("proc own {} { return mine }\n")
    (folder / "x.tcl").write_text(
        "source [file join [file dirname [info script]] own.tcl]\n"
        "source [file join $::env(BDPBENCH_TCL) lib args.tcl]\n"
        "set out [open [file join out x.out] w]\n"
        'puts $out "[own] $argv [info exists ::env(BDPBENCH_TCL)]"\n'
        "close $out\n"
    )
    outputs: list[Output] = [{"file": "x.out", "table": "utilization"}]
    run, run_dir = planned(tmp_path, ["-a", "1"], outputs, script=str(folder / "x.tcl"))
    record = simulate(run, run_dir, backend)
    assert (run_dir / "out" / "x.out").read_text() == "mine -a 1 1\n"
    assert set(record["script"]["files"]) == {
        relative(folder / "x.tcl"),
        relative(folder / "own.tcl"),
        "tcl/lib/args.tcl",
    }


def test_a_run_is_stopped_before_the_disk_is_full(
    tmp_path: Path, backend: NativeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pretends that the disk has too little space left.
    monkeypatch.setattr(files, "LEAST_FREE_BYTES", shutil.disk_usage(tmp_path).free * 2)
    run, run_dir = _planned(tmp_path, argv=LONG)
    with pytest.raises(BdpbenchError, match="the disk is full") as caught:
        simulate(run, run_dir, backend)
    assert "resumes" in caught.value.hint
    assert str(run_dir.parent) in str(caught.value)
    assert not (run_dir / "run.json").exists()
    assert not (run_dir / ".scratch").exists()


def test_an_ns2_that_finds_no_room_is_told_as_a_full_disk(tmp_path: Path) -> None:
    said = _failure(tmp_path, "echo 'could not open x: no space left on device'; exit 1")
    assert said.startswith("cannot be used: the disk is full")


def test_a_file_system_that_does_not_tell_its_size_is_not_taken_for_full(
    tmp_path: Path, backend: NativeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = os.statvfs_result((4096, 4096, 0, 0, 0, 0, 0, 0, 0, 255))
    with monkeypatch.context() as patched:
        patched.setattr("bdpbench.contracts.files.os.statvfs", lambda _: unknown)
        record = simulate(*_planned(tmp_path), backend)
    assert record["exit_status"] == 0
