"""One call at a time in a results folder."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(results: Path, waiting: Callable[[str], None]) -> Iterator[bool]:
    """Lock the results folder, waiting while another call uses it; yields whether it had to wait.

    The kernel frees the lock when its holder ends, however it ends. ``waiting`` is called with a
    sentence about the wait.
    """
    results.mkdir(parents=True, exist_ok=True)
    with (results / ".lock").open("w", encoding="utf-8") as stream:
        had_to_wait = False
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            had_to_wait = True
            waiting(f"another bdpbench is using {results}; waiting for it to end")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield had_to_wait
