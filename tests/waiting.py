"""How tests wait: for what they mean, however long that takes on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from bdpbench.processes import stat_of

HANGS_S = 600.0
"""Only so that what would never happen ends a test: whatever happens takes seconds where idle."""


def wait_for(happens: Callable[[], object], what: str) -> None:
    """Wait until something is true."""
    end_s = time.monotonic() + HANGS_S
    while not happens():
        if time.monotonic() > end_s:
            pytest.fail(f"no {what} within {HANGS_S:g} s")
        time.sleep(0.01)


def has_ended(pid: int) -> bool:
    """Whether a process has ended, even if nobody has asked for its status."""
    return stat_of(pid)[:1] in ([], ["Z"], ["X"])
