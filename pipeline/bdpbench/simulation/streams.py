"""Pipes from ns-2 to the process that reduces its traces while it runs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from bdpbench.errors import BdpbenchError

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
        self._paths = paths
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
        for path in self._paths:
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
        for path, reader in zip(self._paths, self._readers, strict=True):
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
