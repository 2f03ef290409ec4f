"""The process of ns-2: starts, follows and, if the disk is full, stops it, and explains its end.

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from bdpbench.contracts.files import RESUME_HINT, free_bytes, full_disk, no_inodes_left, size_text
from bdpbench.contracts.runs import LOG_NAME, OUTPUT_FOLDER
from bdpbench.errors import BdpbenchError
from bdpbench.processes import end_group, signal_words, start, stat_of
from bdpbench.simulation.backend import Command

PROGRESS_NAME = "progress"

# ns-2 ignores write errors of its packet traces: when the disk is full, lines are lost silently. So
# a run is stopped before, while there is room for what its writers put out between two checks.
LEAST_FREE_BYTES = 4 * 2**20
_LOOK_S = 0.1
# CPU time after which ns-2 is stopped: until it begins, as large networks take long to set up, and
# from one report of the simulated time to the next, a second of it. If it waits for something, it
# takes none, and in a container it is not known: then so many times as much counts while we look.
_SETUP_S, _STEP_S, _PATIENCE = 7200.0, 600.0, 6
_LOG_LINES, _LOG_BYTES, _BLOCK_BYTES = 8, 1 << 20, 1 << 16
_NOT_YET = os.WEXITED | os.WNOHANG | os.WNOWAIT
_MEANINGS = {
    126: "the binary cannot be executed on this machine",
    127: "the binary or a library that it needs is not there",
}
"""Exit status → what it usually means."""
_SIMTIME = re.compile(rb"^simtime (\S+) of (\S+)")


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


class _Ns2:
    """The process of ns-2, which several threads may end and one waits for.

    CPU time and memory are those of this process alone, regardless of earlier children: the kernel
    reports them once, to whoever waits for the process, so nobody else may wait.
    """

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._lock = threading.Lock()

    def terminate(self) -> None:
        """Ask it to end, if it is still running."""
        self._send(signal.SIGTERM)

    def end(self) -> None:
        """Kill it, if it is still running, and wait for its end."""
        with suppress(ProcessLookupError, ChildProcessError):
            self._send(signal.SIGKILL)
            if self._child.returncode is None:
                self.wait()

    def wait(self, *, alone: bool = False) -> tuple[int, float, int]:
        """Wait for its end: exit status, CPU time (s), peak memory (KiB).

        ``alone``: all that it has started ends, too.
        """
        pid = self._child.pid
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        if alone:
            self.end_others()
        with self._lock:
            _, status, used = os.wait4(pid, 0)
            self._child.returncode = os.waitstatus_to_exitcode(status)
        return self._child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss

    def has_ended(self) -> bool:
        """Whether it has ended, and has still to be waited for."""
        return os.waitid(os.P_PID, self._child.pid, _NOT_YET) is not None

    def end_others(self) -> None:
        """Kill what it has started and left behind; it has ended itself."""
        end_group(self._child.pid, 0)

    def cpu_s(self) -> float:
        """CPU time up to now, s; 0 after it has ended."""
        user, system = stat_of(self._child.pid)[11:13] or ("0", "0")
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _send(self, number: signal.Signals) -> None:
        # The lock ensures that it has not been waited for, so its process id has not been reused.
        with self._lock:
            if self._child.returncode is None:
                os.kill(self._child.pid, number)


def run_ns2(
    command: Command, scratch: Path, names: RunNames, pipes: Streams, *, native: bool
) -> Usage:
    """Run ns-2 in ``scratch`` until it ends, and report the simulated time.

    Raises:
        BdpbenchError: when ns-2 fails, is killed or stands still, or the disk is full.
    """
    began = time.monotonic()
    with (scratch / LOG_NAME).open("wb") as log:
        child, told = _start(command, scratch)
        pipes.watch(child)
        try:
            with _Watch(child, scratch, native=native) as watch, told:
                lines = _lines(told, child)
                _follow(lines, log, names.folder / PROGRESS_NAME, watch)
                status, cpu_s, max_rss_kib = child.wait(alone=bool(pipes.paths))
        except BaseException:
            child.end()
            raise
    wall_s = time.monotonic() - began
    if watch.disk_is_full:
        raise _disk_full(names, scratch)
    if watch.stands_still:
        raise _stands_still(names)
    if status != 0 and no_inodes_left(scratch):
        raise full_disk(names.folder)
    if status != 0:
        raise _failure(names, scratch, status)
    # The client of a container engine does not show the CPU time of ns-2 in the container.
    return Usage(
        wall_s=round(wall_s, 3),
        cpu_s=round(cpu_s, 3) if native else None,
        max_rss_kib=max_rss_kib if native else None,
    )


def _start(command: Command, scratch: Path) -> tuple[_Ns2, IO[bytes]]:
    """Start the process, with a pipe for its standard output and standard error."""
    reader, writer = os.pipe()
    try:
        # In a group of its own, whose other processes would keep this pipe and a trace's open.
        environment = {**os.environ, **command.environment}
        child = start(
            command.words,
            cwd=scratch,
            env=environment,
            stdout=writer,
            stderr=writer,
            process_group=0,
        )
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    return _Ns2(child), os.fdopen(reader, "rb")


def _lines(told: IO[bytes], child: _Ns2) -> Iterator[bytes]:
    """What ns-2 prints, in lines, until it has ended, with all that it has started."""
    rest, poll, has_ended = b"", select.poll(), False
    poll.register(told, select.POLLIN)
    while True:
        if has_ended:  # and something keeps the pipe open
            child.end_others()
        has_ended = child.has_ended()
        if poll.poll(_LOOK_S * 1e3):
            block = os.read(told.fileno(), _BLOCK_BYTES)
            *lines, rest = (rest + block).splitlines(keepends=True) or [b""]
            if not block or rest.endswith(b"\n") or len(rest) > _BLOCK_BYTES:
                lines, rest = [*lines, rest], b""
            yield from lines
            if not block:
                return


def _follow(lines: Iterable[bytes], log: IO[bytes], progress: Path, watch: _Watch) -> None:
    """Copy ns-2's output to the log, except for the lines that report the simulated time."""
    for line in lines:
        progress_line = _SIMTIME.match(line)
        if progress_line:
            progress.write_bytes(b"%s %s\n" % progress_line.groups())
            watch.proceeds()
        else:
            log.write(line)


class _Watch:
    """Checks repeatedly, and stops ns-2 before the disk is full or when its time stands still."""

    def __init__(self, child: _Ns2, folder: Path, *, native: bool) -> None:
        self._child = child
        self._folder = folder
        self._cpu_s: Callable[[], float] = child.cpu_s if native else lambda: 0.0
        self._since_s, self._looks, self._limit_s = 0.0, 0, _SETUP_S
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self.disk_is_full = False
        self.stands_still = False

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Check the disk a last time and end."""
        self._ended.set()
        self._thread.join()
        self._look_at_disk()

    def proceeds(self) -> None:
        """Note that ns-2 has reported the simulated time."""
        self._since_s, self._looks, self._limit_s = self._cpu_s(), 0, _STEP_S

    def _look_on(self) -> None:
        while not self._ended.wait(_LOOK_S):
            self._look_at_disk()
            self._look_at_time()

    def _look_at_time(self) -> None:
        # Looks are counted, so that the time does not count for which all of us were stopped.
        self._looks += 1
        waited_s = self._looks * _LOOK_S / _PATIENCE
        if not self.stands_still and max(self._cpu_s() - self._since_s, waited_s) > self._limit_s:
            self.stands_still = True
            self._child.terminate()

    def _look_at_disk(self) -> None:
        # Some file systems do not report their size.
        if not self.disk_is_full and os.statvfs(self._folder).f_blocks > 0:
            self.disk_is_full = free_bytes(self._folder) < LEAST_FREE_BYTES
            if self.disk_is_full:
                self._child.terminate()


def _stands_still(names: RunNames) -> BdpbenchError:
    reached = simulated_time(names.folder / PROGRESS_NAME)
    where, limit_s = (f"at {reached[0]:g} s", _STEP_S) if reached else ("before it began", _SETUP_S)
    return BdpbenchError(
        f"{names.simulator} was stopped: its simulated time stood still {where} for "
        f"{limit_s / 60:g} minutes of CPU time, or for {_PATIENCE * limit_s / 60:g} minutes in all",
        where=names.run,
        hint=f"the script is {names.script}; does a loop of it, or of a law, never end?",
    )


def _disk_full(names: RunNames, scratch: Path) -> BdpbenchError:
    written = sum(path.stat().st_size for path in (scratch / OUTPUT_FOLDER).iterdir())
    now_s, end_s = simulated_time(names.folder / PROGRESS_NAME) or (0.0, 1.0)
    share = now_s / end_s
    said = f"it had written {size_text(written)}"
    if share > 0:
        needed = written / share + LEAST_FREE_BYTES
        said += f" at {share:.0%} of its simulation and needs about {size_text(needed)}"
    return BdpbenchError(
        f"the disk is full: {size_text(free_bytes(scratch))} are left in {names.folder.parent}, "
        f"and {names.simulator} was stopped; {said}",
        where=names.run,
        hint=f"make room; {RESUME_HINT}",
    )


def simulated_time(progress: Path) -> tuple[float, float] | None:
    """Simulated time and when the simulation ends, s, as last reported by ns-2; or None."""
    try:
        now_s, end_s = (float(word) for word in progress.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return None
    return (now_s, end_s) if end_s > 0 else None


def _failure(names: RunNames, scratch: Path, status: int) -> BdpbenchError:
    log = scratch / LOG_NAME
    lines = _text_of(log).splitlines()
    killed = _signal(status)
    if killed is None:
        meaning = f": {_MEANINGS[status]}" if status in _MEANINGS else ""
        reason, hint = (
            f"stopped with exit status {status}{meaning}",
            f"the script is {names.script}",
        )
        lines = lines or ["(no output)"]
    else:
        reason = f"was killed by {signal_words(killed)}"
        hint = "run the same command again to resume; finished runs are kept"
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"bdpbench: {names.simulator} {reason}\n")
    told = (
        f"{names.simulator} {reason}; log: {names.folder / LOG_NAME}",
        *_beginning_and_end(lines),
    )
    return BdpbenchError("\n    ".join(told), where=names.run, hint=hint)


def _signal(status: int) -> signal.Signals | None:
    """The signal that ended ns-2; a container engine reports it as 128 + its number."""
    number = -status if status < 0 else status - 128
    return signal.Signals(number) if number in set(signal.Signals) else None


def _text_of(log: Path) -> str:
    """A log, of whose middle only so much is read as nobody could show."""
    with log.open("rb") as stream:
        text = stream.read(_LOG_BYTES)
        stream.seek(max(stream.tell(), log.stat().st_size - _LOG_BYTES))
        return (text + stream.read()).decode(errors="replace")


def _beginning_and_end(lines: list[str]) -> list[str]:
    """The lines of a log to show: first a script's error, last ns-2's last words."""
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


class Child(Protocol):
    """The writing process; the client of a container engine passes the signal on."""

    def terminate(self) -> None:
        """Ask it to end."""


class Streams:
    """Named pipes, each with a reader in a thread of its own.

    A reader that fails ends the writing process, which would otherwise wait for it forever.
    """

    def __init__(self, paths: Sequence[Path], reduce: Reducer) -> None:
        self.paths = paths
        self._reduce = reduce
        self._child: Child | None = None
        self._ending = False
        self._keepers: list[int] = []
        self._readers = [
            threading.Thread(target=self._read, args=(path,), daemon=True) for path in paths
        ]
        self.cause: BaseException | None = None
        """What a reader raised while the process was writing."""
        self.failure: BaseException | None = None
        """What a reader raised at any time."""

    def open(self) -> None:
        """Create the pipes and start the readers."""
        for path in self.paths:
            os.mkfifo(path)
            # Because we hold each pipe open for writing, no reader waits for ns-2 or sees an early
            # end.
            self._keepers.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        for reader in self._readers:
            reader.start()

    def watch(self, child: Child) -> None:
        """Register the writing process."""
        self._child = child
        if self.failure is not None:
            child.terminate()

    def close(self, timeout_s: float | None = None) -> None:
        """Close the pipes after the last writer has ended, and wait for the readers.

        ``timeout_s`` limits the wait; a reader that is left behind ends with this process.
        """
        self._ending = True
        while self._keepers:
            os.close(self._keepers.pop())
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        for path, reader in zip(self.paths, self._readers, strict=True):
            while reader.is_alive() and (deadline is None or time.monotonic() < deadline):
                _end_of(path)
                reader.join(_POLL_S)
            path.unlink(missing_ok=True)

    def _read(self, path: Path) -> None:
        try:
            self._reduce(path)
        except BaseException as error:  # raised again in the thread that waits for the readers
            self.failure = self.failure or error
            if not self._ending:
                self.cause = self.cause or error
            if self._child is not None:
                self._child.terminate()


def _end_of(pipe: Path) -> None:
    """Let a reader that opens the pipe after all writers have gone see its end.

    It would wait for a writer in open(2) forever. If no reader waits, nothing happens.
    """
    with suppress(OSError):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))


@contextmanager
def streams(paths: Sequence[Path], reduce: Reducer) -> Iterator[Streams]:
    """Provide pipes at these paths for the duration of the block.

    Raises:
        BaseException: what a reader raised, instead of the resulting error of the block, that the
            writing process was ended.
    """
    pipes = Streams(paths, reduce)
    pipes.open()
    try:
        yield pipes
    except BdpbenchError:
        pipes.close()
        if pipes.cause is not None:
            raise pipes.cause from None
        raise
    except BaseException:
        pipes.close(_INTERRUPTED_WAIT_S)
        raise
    pipes.close()
    if pipes.failure is not None:
        raise pipes.failure
