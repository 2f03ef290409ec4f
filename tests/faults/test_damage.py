"""Some files of a finished tier, damaged one at a time; `damage.py` damages all in all ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.conftest import finished_once as finished_once
from tests.faults.damage import DAMAGES, faults_of, files_of

CASES = {
    "metrics.csv": "cut",
    "run.json": "flipped",
    "tables/queue.parquet": "folder",
    "SHA256SUMS": "link to nothing",
    "plan.json": "gone",
    "series/": "empty",
}


@pytest.mark.parametrize("part", CASES)
def test_damage_is_repaired_or_refused(finished_once: Path, part: str) -> None:
    whole = finished_once / "results"
    name = next(each for each in files_of(whole) if part in each)
    assert faults_of(finished_once / "config", whole, name, CASES[part]) == []


def test_every_way_of_damage_is_tested() -> None:
    assert set(CASES.values()) == set(DAMAGES)
