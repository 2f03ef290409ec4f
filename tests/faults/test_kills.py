"""One instant of ``kills.py``; ``.ci/run`` tries thirty, and more are had on demand (README.md)."""

from __future__ import annotations

from pathlib import Path

from tests.faults.kills import kill_once, reference

# SIGKILL to the whole group of the call.
SEED = 28


def test_a_killed_call_resumes_and_leaves_nothing(tmp_path: Path, ns_binary: Path) -> None:
    assert kill_once(tmp_path, SEED, reference(tmp_path)).faults == ()
