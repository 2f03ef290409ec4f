"""Waits until files written by other machines are visible on this one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bdpbench.contracts.runs import RUN_NAME
from bdpbench.errors import BdpbenchError

PATIENCE_S = 120.0
_POLL_S = 1.0


def wait_for_runs(folders: Sequence[Path], patience_s: float = PATIENCE_S) -> None:
    """Wait until the records of finished runs are visible; a network file system may be late.

    An NFS client may cache for up to a minute that a file does not exist. Listing the folder makes
    it check again.

    Raises:
        BdpbenchError: naming the first run that is not visible in time.
    """
    deadline = time.monotonic() + patience_s
    for folder in folders:
        while not _has_record(folder):
            if time.monotonic() >= deadline:
                raise BdpbenchError(
                    f"a job has finished this run, and after {patience_s:.0f} s its {RUN_NAME} is "
                    "not visible here",
                    where=str(folder),
                    hint="the results must be on a file system that all nodes share",
                )
            time.sleep(_POLL_S)


def _has_record(folder: Path) -> bool:
    with suppress(OSError):
        return any(path.name == RUN_NAME for path in folder.iterdir())
    return False
