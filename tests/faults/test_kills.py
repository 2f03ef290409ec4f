"""A few instants of ``kills.py``; more on demand (README.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.kills import kill_once, reference

# SIGKILL to a batch, SIGTERM to a call (by Snakemake), SIGKILL to a whole group, to Snakemake.
SEEDS = (10, 15, 28, 29)


def test_a_killed_call_resumes_and_leaves_nothing(tmp_path: Path, ns_binary: Path) -> None:
    expected = reference(tmp_path)
    kills = [kill_once(tmp_path, seed, expected) for seed in SEEDS]
    faults = {each.seed: each.faults for each in kills if each.faults}
    if faults:
        pytest.fail(f"seed → faults: {faults}")
