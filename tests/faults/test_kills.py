"""One instant of ``kills.py``; ``.ci/run`` tries thirty, and README.md says how to run more."""

from __future__ import annotations

from pathlib import Path

from tests.faults.kills import kill_once, reference

# This seed sends SIGKILL to the whole process group of the call.
SEED = 28


def test_a_killed_call_resumes_and_leaves_nothing(tmp_path: Path, ns_binary: Path) -> None:
    assert kill_once(tmp_path, SEED, reference(tmp_path)).faults == ()
