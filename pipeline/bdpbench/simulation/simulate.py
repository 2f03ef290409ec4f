"""One run of ns-2: started, watched, and recorded in ``run.json`` when it is whole.

Imports stay light on purpose: this module runs once for each simulation.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from bdpbench.contracts.files import (
    read_json,
    sha256_of,
    write_json_atomically,
    write_text_atomically,
)
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import Backend
from bdpbench.simulation.streams import Reducer, Streams, refuse, streams
from bdpbench.studies.streams import streams_of
from bdpbench.units import unit_of

RUN_VERSION = 1
SPEC_VERSION = 1
OUTPUT_FOLDER = "out"
SCRIPTS_FOLDER = "scripts"
ORIGINAL_SCRIPT = "original.tcl"
REPORT_NAME = "report.txt"
PROGRESS_NAME = "progress"
ERROR_NAME = "error.txt"
LOG_NAME = "ns.log"

_SIMTIME = re.compile(rb"^simtime (\S+) of (\S+)")
_LOG_TAIL_LINES = 6


def read_spec(run_dir: Path) -> dict[str, Any]:
    """What is to be run in ``run_dir``, as `bdpbench plan` wrote it.

    Raises:
        BdpbenchError: when the folder has no valid ``spec.json``.
    """
    return read_json(
        run_dir / "spec.json", what="a run of `bdpbench plan`", schema_version=SPEC_VERSION
    )


def read_run(run_dir: Path) -> dict[str, Any] | None:
    """``run.json`` of a finished run, or None where the run did not happen."""
    if not (run_dir / "run.json").is_file():
        return None
    return read_json(run_dir / "run.json", what="a finished run", schema_version=RUN_VERSION)


def simulate(run_dir: Path, backend: Backend, reduce: Reducer = refuse) -> dict[str, Any]:
    """Run ns-2 for ``run_dir``, unless that is done, and write ``run.json`` last.

    ns-2 writes into a scratch folder beside ``out/``, which takes its place only when the run is
    whole, so that an interrupted run leaves nothing that could be taken for a result. A trace that
    is streamed goes through a named pipe there to ``reduce``, which writes its files beside it.

    Returns:
        The content of ``run.json``.

    Raises:
        BdpbenchError: when ns-2 fails or is killed, naming the run, the reason and the log; what
            ``reduce`` raises, after ns-2 has been stopped.
    """
    spec = read_spec(run_dir)
    with _only_one(run_dir):
        # Another study, or a process that outlived its workflow, may have done it meanwhile.
        return read_run(run_dir) or _simulate(spec, run_dir, backend, reduce)


@contextmanager
def _only_one(run_dir: Path) -> Iterator[None]:
    with (run_dir / ".lock").open("w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _simulate(
    spec: Mapping[str, Any], run_dir: Path, backend: Backend, reduce: Reducer
) -> dict[str, Any]:
    scratch = run_dir / ".scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / OUTPUT_FOLDER).mkdir(parents=True)
    (run_dir / ERROR_NAME).unlink(missing_ok=True)
    started = datetime.now(UTC)
    traces = [scratch / OUTPUT_FOLDER / name for name in streams_of(spec["outputs"])]
    try:
        with streams(traces, reduce) as pipes:
            usage = _run_ns(spec, backend, run_dir, scratch, pipes)
        _check_outputs(spec, scratch)
    except BdpbenchError as error:
        write_text_atomically(run_dir / ERROR_NAME, f"{error}\n")
        raise
    else:
        _install_outputs(run_dir, scratch)
    finally:
        _keep_log(run_dir, scratch)
        (run_dir / PROGRESS_NAME).unlink(missing_ok=True)
        # A reducer may have made a table of what an interrupted ns-2 had written until then.
        shutil.rmtree(scratch, ignore_errors=True)
    record = _record(spec, backend, run_dir, started, usage)
    write_json_atomically(run_dir / "run.json", record)
    return record


def _run_ns(
    spec: Mapping[str, Any], backend: Backend, run_dir: Path, scratch: Path, pipes: Streams
) -> dict[str, Any]:
    """Run ns-2 to its end, passing simulated time on; returns wall, CPU time and peak memory."""
    command = _command(spec, backend, run_dir, scratch)
    began = time.monotonic()
    with (scratch / LOG_NAME).open("wb") as log:
        reader, writer = os.pipe()
        child = subprocess.Popen(
            command,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            preexec_fn=die_with_parent,
        )
        os.close(writer)
        pipes.watch(child)
        try:
            with open(reader, "rb") as stream:
                _follow(stream, log, run_dir / PROGRESS_NAME)
            status = child.wait()
        except BaseException:
            child.kill()
            child.wait()
            raise
    wall_s = time.monotonic() - began
    if status != 0:
        raise _failure(spec, run_dir, scratch, status)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    native = backend.name == "native"
    return {
        "wall_s": round(wall_s, 3),
        # The client of a container engine tells nothing of the time that ns-2 takes in it.
        "cpu_s": round(used.ru_utime + used.ru_stime, 3) if native else None,
        "max_rss_kib": used.ru_maxrss if native else None,
    }


def _command(spec: Mapping[str, Any], backend: Backend, run_dir: Path, scratch: Path) -> list[str]:
    if "scripts" not in spec:
        return backend.command(scratch, spec["script"], spec["argv"])
    for path in (run_dir / SCRIPTS_FOLDER).iterdir():
        shutil.copy(path, scratch)
    # Appendices A and B of sharma2006 write into a folder that is named like the protocol.
    if "protocol" in spec["parameters"]:
        (scratch / spec["parameters"]["protocol"]).symlink_to(OUTPUT_FOLDER)
    return backend.command(scratch, ORIGINAL_SCRIPT, [Path(spec["script"]).name, *spec["argv"]])


def _script_path(spec: Mapping[str, Any]) -> str:
    """The script of a run as a reader finds it."""
    if "scripts" in spec:
        return str(Path(spec["scripts"]) / Path(spec["script"]).name)
    return f"tcl/{spec['script']}"


def die_with_parent() -> None:
    """Let the kernel end a child when its parent ends, however it ends (Linux, prctl(2))."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _follow(stream: IO[bytes], log: IO[bytes], progress: Path) -> None:
    """Copy ns-2's output to the log, except for the lines that tell the simulated time."""
    for line in stream:
        told = _SIMTIME.match(line)
        if told:
            progress.write_bytes(told.group(1) + b" " + told.group(2) + b"\n")
        else:
            log.write(line)


def _failure(spec: Mapping[str, Any], run_dir: Path, scratch: Path, status: int) -> BdpbenchError:
    where = f"run {spec['run_id']} ({spec['label']})"
    log = f"log: {run_dir / LOG_NAME}"
    # A container engine reports a signal as 128 + its number.
    killed = -status if status < 0 else status - 128
    if killed in set(signal.Signals):
        name = signal.Signals(killed).name
        hint = "run the same command again to resume; finished runs are kept"
        return BdpbenchError(f"ns-2 was killed by {name}; {log}", where=where, hint=hint)
    lines = (scratch / LOG_NAME).read_text(encoding="utf-8", errors="replace").splitlines()
    said = "\n    ".join(lines[:_LOG_TAIL_LINES]) or "(no output)"
    return BdpbenchError(
        f"ns-2 stopped with exit status {status}; {log}\n    {said}",
        where=where,
        hint=f"the script is {_script_path(spec)}",
    )


def _check_outputs(spec: Mapping[str, Any], scratch: Path) -> None:
    for output in spec["outputs"]:
        if not (scratch / OUTPUT_FOLDER / output["file"]).is_file():
            raise BdpbenchError(
                f"ns-2 ended well but did not write {output['file']}",
                where=f"run {spec['run_id']} ({spec['label']})",
                hint=f"{_script_path(spec)} and the outputs of the scenario disagree",
            )


def _keep_log(run_dir: Path, scratch: Path) -> None:
    log = scratch / LOG_NAME
    if log.is_file():
        os.replace(log, run_dir / LOG_NAME)


def _install_outputs(run_dir: Path, scratch: Path) -> None:
    final = run_dir / OUTPUT_FOLDER
    shutil.rmtree(final, ignore_errors=True)
    os.replace(scratch / OUTPUT_FOLDER, final)


def _record(
    spec: Mapping[str, Any],
    backend: Backend,
    run_dir: Path,
    started: datetime,
    usage: Mapping[str, Any],
) -> dict[str, Any]:
    files = sorted(path for path in (run_dir / OUTPUT_FOLDER).iterdir() if path.is_file())
    report = run_dir / OUTPUT_FOLDER / REPORT_NAME
    info = backend.info()
    return {
        "schema_version": RUN_VERSION,
        "run_id": spec["run_id"],
        "label": spec["label"],
        "parameters": spec["parameters"],
        "units": {name: unit_of(name) for name in spec["parameters"] if unit_of(name)},
        "script": {"path": _script_path(spec), "sha256": spec["script_sha256"]},
        "argv": spec["argv"],
        "ns2": {
            "build_id": spec["ns2_build_id"],
            "backend": backend.name,
            "binary_sha256": info.get("binary_sha256"),
            "info": info,
        },
        "started": started.isoformat(timespec="seconds"),
        **usage,
        "exit_status": 0,
        "outputs": {
            f"{OUTPUT_FOLDER}/{path.name}": {
                "sha256": sha256_of(path),
                "bytes": path.stat().st_size,
            }
            for path in files
        },
        "ns2_report": report.read_text(encoding="utf-8") if report.is_file() else "",
    }
