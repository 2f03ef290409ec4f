"""A short run of the fuzzer; `fuzz_traces.py` itself reads any number of lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.fuzz_traces import fuzz, sanitized

from bdpbench.contracts.paths import repository_root

pytestmark = pytest.mark.ci
LINES = 2_000
SEED = 20_061


def test_mutated_lines_read_alike_within_bounds_and_without_undefined_behaviour(
    ns_binary: Path, tmp_path: Path
) -> None:
    assert fuzz(ns_binary, tmp_path, LINES, SEED) == LINES
    assert "no fault" in sanitized(tmp_path, LINES, SEED, *tmp_path.glob("*/all.tr"))


def test_random_rows_are_summed_within_bounds_and_without_undefined_behaviour(
    tmp_path: Path,
) -> None:
    assert "no fault" in sanitized(tmp_path, 10 * LINES, SEED)


def test_analyze_measures_or_refuses_hostile_traces_within_bounds() -> None:
    # In a separate process, since its peak memory is measured.
    root = repository_root()
    done = subprocess.run(
        [sys.executable, "tests/faults/fuzz_traces.py", "analyze", "--traces=1", f"--seed={SEED}"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root / 'pipeline'}:{root}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no fault" in done.stdout
