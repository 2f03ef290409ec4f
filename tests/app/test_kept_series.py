"""A run's chart data is made once, and again only after a change of something it depends on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bdpbench.app.kept_series import KeptSeries
from bdpbench.contracts.paths import run_folder

RUN = "0123456789abcdef"
Make = Callable[..., KeptSeries]


@pytest.fixture
def asked() -> list[str]:
    """Tables that were loaded."""
    return []


@pytest.fixture
def make(tmp_path: Path, asked: list[str]) -> Make:
    """Makes the series of one run with a table of three samples."""
    (run_folder(tmp_path, RUN) / "tables").mkdir(parents=True)
    (run_folder(tmp_path, RUN) / "tables" / "manifest.json").write_text("{}")

    def load(_: str, table: str) -> pl.LazyFrame | None:
        asked.append(table)
        if table != "cwnd":
            return None
        return pl.LazyFrame({"time_s": [0.0, 1.0, 2.0], "flow": 0, "cwnd_pkts": [1.0, 2.0, 4.0]})

    def kept(rtt_ms: int = 20, file: str = "cwnd.out") -> KeptSeries:
        outputs: Any = {RUN: [{"file": file, "table": "cwnd"}]}
        return KeptSeries(tmp_path, load, outputs, {RUN: {"rtt_ms": rtt_ms}})

    return kept


def test_it_is_made_once(make: Make, asked: list[str]) -> None:
    first = make()(RUN, 100)
    assert list(json.loads(first)) == ["cwnd"]
    asked.clear()
    assert make()(RUN, 100) == first
    assert asked == []


@pytest.mark.parametrize("change", ["manifest", "outputs", "parameters", "bins", "damage", "cut"])
def test_it_is_made_anew_when_something_has_changed(
    change: str, make: Make, asked: list[str], tmp_path: Path
) -> None:
    first = make()(RUN, 100)
    asked.clear()
    (kept,) = (run_folder(tmp_path, RUN) / "series").iterdir()
    if change == "manifest":
        (run_folder(tmp_path, RUN) / "tables" / "manifest.json").write_text("{ }")
    elif change == "damage":
        kept.write_text(kept.read_text().replace("flow:0", "flow:1"))
    elif change == "cut":
        kept.write_bytes(kept.read_bytes()[:-20])
    series = make(
        rtt_ms=40 if change == "parameters" else 20,
        file="other.out" if change == "outputs" else "cwnd.out",
    )
    assert series(RUN, 50 if change == "bins" else 100) == first
    assert "cwnd" in asked


def test_results_that_cannot_be_written_to_cost_time_alone(
    make: Make, asked: list[str], tmp_path: Path
) -> None:
    (run_folder(tmp_path, RUN) / "series").write_text("a file where the folder should be")
    series = make()
    assert series(RUN, 100) == series(RUN, 100)
    assert asked.count("cwnd") == 2
