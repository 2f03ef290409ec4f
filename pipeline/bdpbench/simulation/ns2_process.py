"""The process of ns-2: starts it, stops it when it cannot come to an end, and explains its end.

Streamed traces go through named pipes to readers in this process, which reduce them meanwhile.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.files import full_disk, is_full
from bdpbench.contracts.runs import LOG_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.processes import signal_words, started
from bdpbench.simulation.backend import Command

# How long the simulated time may stand still, s: the set-up of a large network takes minutes.
_STILL_S = 3600.0
_LOOK_S = 0.1
_GRACE_S = 10.0
"""How long a container may take to end, s."""
_LOG_LINES, _LOG_BYTES, _BLOCK_BYTES = 8, 1 << 20, 1 << 24
_MEANINGS = {
    126: "the binary cannot be executed on this machine",
    127: "the binary or a library that it needs is not there",
}
"""Exit status → what it usually means."""
_NO_SPACE = re.compile(rb"no space left on device", re.IGNORECASE)
_SIMTIME = re.compile(rb"^simtime (\S+) of (\S+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Usage:
    """Cost of a run: wall and CPU time, s, and peak memory, KiB; None if unknown."""

    wall_s: float
    cpu_s: float | None
    max_rss_kib: int | None


@dataclass(frozen=True)
class RunNames:
    """Names of a run in messages: the run, its script, the folder with its log, the simulator."""

    run: str
    script: str
    folder: Path
    simulator: str = "ns-2"


def run_ns2(
    command: Command,
    scratch: Path,
    names: RunNames,
    failures: Sequence[BaseException],
    *,
    native: bool,
) -> Usage:
    """Run ns-2 in ``scratch`` until it ends, while it writes its log.

    ``failures``: of the readers of its traces, as ``streams`` gives them; the first ends ns-2.

    Raises:
        BdpbenchError: when ns-2 fails, is killed or stands still, or the disk is full.
        BaseException: the failure of a reader while ns-2 was running.
    """
    began = time.monotonic()
    environment = {**os.environ, **command.environment}
    with (
        (names.folder / LOG_NAME).open("wb") as log,
        started(
            command.words,
            _GRACE_S,
            cwd=scratch,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as child,
    ):
        _wait(child.pid, names, failures)
        os.killpg(child.pid, signal.SIGKILL)  # what it has left behind would keep a trace open
        # CPU time and memory of this process alone, which the kernel reports once.
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.monotonic() - began
    failed = child.returncode != 0
    if is_full(names.folder) or (failed and _NO_SPACE.search(_end_of_log(names.folder))):
        raise full_disk(names.folder)
    if failed:
        raise _failure(names, child.returncode)
    # The client of a container engine does not show the CPU time of ns-2 in the container.
    return Usage(
        wall_s=round(wall_s, 3),
        cpu_s=round(used.ru_utime + used.ru_stime, 3) if native else None,
        max_rss_kib=used.ru_maxrss if native else None,
    )


def _wait(pid: int, names: RunNames, failures: Sequence[BaseException]) -> None:
    """Wait until ns-2 has ended, which is not waited for; its time has to go on, on a free disk.

    ns-2 ignores write errors of its packet traces, whose lines would be lost silently: it is
    stopped while there is still room for what it puts out between two looks.
    """
    ended, descriptor = select.poll(), os.pidfd_open(pid)
    ended.register(descriptor, select.POLLIN)
    still_s, reached = 0.0, "before it began"
    try:
        with (names.folder / LOG_NAME).open("rb") as told:
            while not ended.poll(_LOOK_S * 1e3):
                if failures:
                    raise failures[0]
                if is_full(names.folder):
                    raise full_disk(names.folder)
                # Looks are counted, so that time does not count for which all of us are stopped.
                still_s += _LOOK_S
                for now_s, _ in _SIMTIME.findall(told.read(_BLOCK_BYTES)):
                    still_s, reached = 0.0, f"at {now_s.decode(errors='replace')} s"
                if still_s > _STILL_S:
                    raise BdpbenchError(
                        f"{names.simulator} was stopped: its simulated time stood still {reached} "
                        f"for {_STILL_S / 60:g} minutes",
                        where=names.run,
                        hint=f"the script is {names.script}; does a loop of it, or of a law, never "
                        "end?",
                    )
    finally:
        os.close(descriptor)


def simulated_time(run_dir: Path) -> tuple[float, float] | None:
    """Simulated time and when the simulation ends, s, as last reported by ns-2; or None."""
    try:
        last = _SIMTIME.findall(_end_of_log(run_dir))[-1]
        now_s, end_s = map(float, last)
    except (OSError, IndexError, ValueError):
        return None
    return (now_s, end_s) if end_s > 0 else None


def _end_of_log(run_dir: Path) -> bytes:
    """The end of a log, of which only so much is read as nobody could show."""
    with (run_dir / LOG_NAME).open("rb") as log:
        log.seek(max(0, os.fstat(log.fileno()).st_size - _LOG_BYTES))
        return log.read()


def _failure(names: RunNames, status: int) -> BdpbenchError:
    killed = _signal(status)
    if killed is None:
        meaning = f": {_MEANINGS[status]}" if status in _MEANINGS else ""
        reason = f"stopped with exit status {status}{meaning}"
        hint = f"the script is {names.script}"
    else:
        reason = f"was killed by {signal_words(killed)}"
        hint = "run the same command again to resume; finished runs are kept"
    said = f"{names.simulator} {reason}; log: {names.folder / LOG_NAME}"
    return BdpbenchError("\n    ".join([said, *_words(names)]), where=names.run, hint=hint)


def _signal(status: int) -> signal.Signals | None:
    """The signal that ended ns-2; a container engine reports it as 128 + its number."""
    number = -status if status < 0 else status - 128
    return signal.Signals(number) if number in set(signal.Signals) else None


def _words(names: RunNames) -> list[str]:
    """The lines of a log to show: first a script's error, last ns-2's last words."""
    with (names.folder / LOG_NAME).open("rb") as log:
        begin = log.read(_LOG_BYTES)
    end = _end_of_log(names.folder)
    text = begin if len(begin) < _LOG_BYTES else begin + b"\n" + end
    lines = _SIMTIME.sub(b"", text).decode(errors="replace").splitlines() or ["(no output)"]
    half = _LOG_LINES // 2
    return lines if len(lines) <= _LOG_LINES else [*lines[:half], "…", *lines[-half:]]


# ---------------------------------------------------------------- streams

_POLL_S = 0.02
_INTERRUPTED_WAIT_S = 2.0
Reducer = Callable[[Path], None]
"""Reads a trace from a named pipe to its end, and writes its results beside the pipe."""


def refuse(pipe: Path) -> None:
    """The reducer for callers that run no scenario with ``trace: stream``.

    Raises:
        BdpbenchError: always.
    """
    raise BdpbenchError("the run streams its trace, but nobody reads it", where=str(pipe))


@contextmanager
def streams(paths: Sequence[Path], reduce: Reducer) -> Iterator[Sequence[BaseException]]:
    """Provide pipes at these paths for the duration of the block, each read by a thread of its own.

    The block gets what the readers raise, and has to end whoever writes then, which would otherwise
    wait forever. After an interrupt, a reader that is left behind ends with this process.

    Raises:
        BaseException: what a reader raised, if the block ended well.
    """
    failures: list[BaseException] = []

    def read(path: Path) -> None:
        try:
            reduce(path)
        except BaseException as error:  # raised again in the thread that waits for the readers
            failures.append(error)

    readers = {path: threading.Thread(target=read, args=(path,), daemon=True) for path in paths}
    keepers: list[int] = []
    wait_s = _INTERRUPTED_WAIT_S
    try:
        for path, reader in readers.items():
            os.mkfifo(path)
            # Because we hold each pipe open for writing, no reader waits for ns-2 or sees an early
            # end.
            keepers.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))
            reader.start()
        yield failures
        wait_s = float("inf")
    except BdpbenchError:
        wait_s = float("inf")
        raise
    finally:
        for keeper in keepers:
            os.close(keeper)
        deadline = time.monotonic() + wait_s
        for path, reader in readers.items():
            while reader.is_alive() and time.monotonic() < deadline:
                _end_of(path)
                reader.join(_POLL_S)
            path.unlink(missing_ok=True)
    if failures:
        raise failures[0]


def _end_of(pipe: Path) -> None:
    """Let a reader that opens the pipe after all writers have gone see its end.

    It would wait for a writer in open(2) forever. If no reader waits, nothing happens.
    """
    with suppress(OSError):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
