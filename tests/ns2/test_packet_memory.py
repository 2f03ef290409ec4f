"""The memory of packets: as much address space as they fill, and a word where there is no more."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.data_of import data_of

_DATA = data_of(__file__)
WAITING = _DATA["waiting"]


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    script = tmp_path / "waiting.tcl"
    script.write_text(WAITING)
    return script


def _run(ns: Path, script: Path, limit_kib: str) -> subprocess.CompletedProcess[str]:
    words = ["bash", "-c", 'ulimit -v "$0"; exec "$@"', limit_kib, str(ns), str(script)]
    return subprocess.run(words, capture_output=True, text=True)


def test_packets_map_the_address_space_that_they_fill(ns_binary: Path, waiting: Path) -> None:
    before, after = (
        [int(pages) for pages in line.split()]
        for line in _run(ns_binary, waiting, "unlimited").stdout.splitlines()
    )
    mapped, filled = after[0] - before[0], after[1] - before[1]
    assert filled * 4096 > 200_000 * 600
    assert mapped < 1.15 * filled


def test_the_want_of_memory_is_told(ns_binary: Path, waiting: Path) -> None:
    free = _run(ns_binary, waiting, "unlimited").stdout.split()
    # What ns-2 has mapped before the packets, and half of what they take.
    limit_kib = 4 * (int(free[0]) + (int(free[2]) - int(free[0])) // 2)
    done = _run(ns_binary, waiting, str(limit_kib))
    # Which allocation finds no memory first is chance: a packet's, one of C++ or one of Tcl, which
    # then may end in a signal.
    assert done.returncode != 0
    assert re.search("no memory for packets|bad_alloc|unable to alloc", done.stderr)
