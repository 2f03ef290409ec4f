"""A run's chart data is made once, and again only after a change of something it depends on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.app.planned import planned_run

from bdpbench.app.stages import RunData

RUN = "0123456789abcdef"
Make = Callable[..., RunData]


@pytest.fixture
def asked() -> list[str]:
    """Tables that were loaded."""
    return []


@pytest.fixture
def make(tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes the data of a run in ``tmp_path``, with one table of three samples."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "manifest.json").write_text("{}")

    def charted(_: RunData, table: str) -> pl.LazyFrame | None:
        asked.append(table)
        if table != "cwnd":
            return None
        return pl.LazyFrame({"time_s": [0.0, 1.0, 2.0], "flow": 0, "cwnd_pkts": [1.0, 2.0, 4.0]})

    monkeypatch.setattr(RunData, "charted", charted)

    def data(rtt_ms: int = 20, file: str = "cwnd.out") -> RunData:
        run = planned_run(RUN, parameters={"rtt_ms": rtt_ms})
        return RunData("study", run, tmp_path, [{"file": file, "table": "cwnd"}])

    return data


@pytest.mark.parametrize(
    "change", ["nothing", "manifest", "outputs", "parameters", "bins", "damage", "cut"]
)
def test_it_is_made_anew_when_something_has_changed(
    change: str, make: Make, asked: list[str], tmp_path: Path
) -> None:
    first = make().series(100)
    assert list(json.loads(first)) == ["cwnd"]
    asked.clear()
    (kept,) = (tmp_path / "series").iterdir()
    if change == "manifest":
        (tmp_path / "tables" / "manifest.json").write_text("{ }")
    elif change == "damage":
        kept.write_text(kept.read_text().replace("flow:0", "flow:1"))
    elif change == "cut":
        kept.write_bytes(kept.read_bytes()[:-20])
    data = make(
        rtt_ms=40 if change == "parameters" else 20,
        file="other.out" if change == "outputs" else "cwnd.out",
    )
    assert data.series(50 if change == "bins" else 100) == first
    assert ("cwnd" in asked) is (change != "nothing")


def test_results_that_cannot_be_written_to_cost_time_alone(
    make: Make, asked: list[str], tmp_path: Path
) -> None:
    (tmp_path / "series").write_text("a file where the folder should be")
    data = make()
    assert data.series(100) == data.series(100)
    assert asked.count("cwnd") == 2
