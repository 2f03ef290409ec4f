"""Programs that end with the call of bdpbench that started them, however it ends (Linux).

Each has a process group, all of which ends with the block of ``started``; where that cannot be,
because this process was killed, the kernel kills the program (``start``) and a stage, which is no
child of the call, itself (``end_with_call``).
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

CALL_VARIABLE = "BDPBENCH_CALL"
"""Environment variable that identifies the call to the stages that it starts."""

_PR_SET_PDEATHSIG, _PRCTL = 1, ctypes.CDLL(None).prctl
_POLL_S = 0.01
_KILLED_S = 60.0
"""How long to wait for killed processes, s: longer than the kernel takes where it is busy."""
_MEANINGS = {
    signal.SIGABRT: "it gave up, for example because it got no more memory",
    signal.SIGFPE: "it divided by zero, or a number was too large for an integer",
    signal.SIGILL: "it was built for another processor",
    signal.SIGKILL: "by a user or scheduler, or by the kernel because memory was short",
    signal.SIGSEGV: "it used memory that it does not have, an error of the program or its script",
    signal.SIGXCPU: "it used more CPU time than the limit allows (ulimit -t)",
    signal.SIGXFSZ: "a file became larger than the limit allows (ulimit -f)",
}
"""Signal → why it usually ends a process."""


def run(
    command: Sequence[str], most_s: float, given: str = "", **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and keep what it prints.

    Args:
        command: the program and its arguments.
        most_s: when it is ended with all that it has started, s.
        given: its standard input.
        options: of ``subprocess.Popen``.

    Raises:
        OSError: when it cannot be started.
        subprocess.TimeoutExpired: when it was ended.
    """
    pipe = subprocess.PIPE
    with started(command, 0, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **options) as child:
        said, errors = child.communicate(given, most_s)
    return subprocess.CompletedProcess(command, child.returncode, said, errors)


@contextmanager
def started(
    command: Sequence[str], grace_s: float, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A program in a process group, all of which ends with the block, in ``grace_s`` or killed."""
    with start(command, process_group=0, **options) as child:
        try:
            yield child
        finally:
            _end_group(child.pid, grace_s)


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a program that reads nothing, if not told otherwise, and dies with this thread.

    It alone: what it has started does not (prctl(2), PR_SET_PDEATHSIG).
    """
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.Popen(command, preexec_fn=partial(_die_with, os.getpid()), **options)


def _die_with(parent: int) -> None:
    _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it had ended before the call above
        os._exit(1)


def name_of_this_call() -> str:
    """The value of ``CALL_VARIABLE``: machine and process id."""
    return f"{_machine()} {os.getpid()}"


def end_with_call() -> None:
    """End this process as soon as the call that it works for ends, if there is one.

    A stage is not a child of the call, since Snakemake and a shell are in between, so the kernel
    does not end it by itself. A call on another machine, as on a cluster, is not watched.
    """
    machine, _, pid = os.environ.get(CALL_VARIABLE, "").partition(" ")
    if machine == _machine():
        try:
            descriptor = os.pidfd_open(int(pid))
        except ProcessLookupError:
            os._exit(1)
        threading.Thread(target=_end_after, args=(descriptor,), daemon=True).start()


def _end_after(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    poll.poll()
    os._exit(1)


def _machine() -> str:
    """Identifies the machine or container, each of which has process ids of its own."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"


def signal_words(number: signal.Signals) -> str:
    """The name of a signal that ended a process and, if it is known, the usual reason."""
    return f"{number.name}: {_MEANINGS[number]}" if number in _MEANINGS else number.name


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt like Ctrl-C, unless they are ignored, as under nohup."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)}
    for each, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(each, interrupt)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _end_group(group: int, grace_s: float) -> None:
    """End all processes of a group: ask, kill them after that time, wait until none is alive."""
    for number, most_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, _KILLED_S)):
        with suppress(ProcessLookupError):  # there is none
            os.killpg(group, number)
            deadline = time.monotonic() + most_s
            while _members(group) and time.monotonic() < deadline:
                time.sleep(_POLL_S)


def _members(group: int) -> list[list[str]]:
    """The state of each living process of a group; zombies do not count."""
    stats = (stat_of(int(each.name)) for each in Path("/proc").glob("[0-9]*"))
    return [stat for stat in stats if stat and int(stat[2]) == group and stat[0] not in "ZX"]


def stat_of(pid: int) -> list[str]:
    """What the kernel tells of a process, from its state on; empty if there is no such process."""
    with suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()
    return []
