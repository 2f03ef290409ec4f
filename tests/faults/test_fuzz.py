"""A short run of the fuzzer; `fuzz_traces.py` reads as many lines as one likes."""

from __future__ import annotations

from pathlib import Path

from tests.faults.fuzz_traces import fuzz, sanitized

LINES = 8_000
SEED = 20_061


def test_mutated_lines_read_alike_within_bounds_and_without_undefined_behaviour(
    ns_binary: Path, tmp_path: Path
) -> None:
    assert fuzz(ns_binary, tmp_path, LINES, SEED) == LINES
    assert "no fault" in sanitized(ns_binary, tmp_path, 10 * LINES, SEED)
