"""Evaluations in the repository: what they show of others is what is published now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from bdpbench.contracts.evaluation import CELLS_NAME, cells_schema

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "reports"
PAGES = sorted((REPORTS / "evaluations").rglob("*.html"))

Key = tuple[str, str, str]


@cache
def published(study: str) -> Mapping[Key, float | None]:
    """Run, metric and subject → value in ``reports/published/``."""
    table = pl.read_parquet(REPORTS / "published" / study / "metrics.parquet")
    rows = table.select("run_id", "metric", "subject", "value").iter_rows()
    return {(run, metric, subject): value for run, metric, subject, value in rows}


def stale(
    study: str, runs: Iterable[str], metric: str, subject: str, shown: Sequence[float | None]
) -> list[str]:
    """What a cell shows of runs whose published values are others, or that are not published."""
    found, runs = [], list(runs)
    if len(shown) == 1 < len(runs):  # of a group of runs, one of which has its value
        runs = [run for run in runs if (run, metric, subject) in published(study)] or runs[:1]
    for run, value in zip(runs, shown, strict=True):
        key = (run, metric, subject)
        if key not in published(study):
            if value is None:  # a metric of a group, which of a part of its runs has no value
                continue
            found.append(f"{study}: {run} has no published {metric} of {subject}")
        elif published(study)[key] != value:
            found.append(f"{study}: {metric} of {run} is {value}, not {published(study)[key]}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path))
def test_each_cell_of_a_page_is_what_is_published(page: Path) -> None:
    beside = page.with_suffix(".parquet")
    cells = pl.read_parquet(beside if beside.is_file() else page.with_name(CELLS_NAME))
    assert dict(cells.schema) == cells_schema()
    others = cells.filter(pl.col("source") == "published")
    assert not others.is_empty()
    found = [
        each
        for row in others.iter_rows(named=True)
        for each in stale(
            row["study"], row["run_ids"], row["metric"], row["subject"], row["values"]
        )
    ]
    assert not found, json.dumps(found[:20], indent=1)
    # The table of cells is that of the page.
    text = page.read_text(encoding="utf-8")
    in_tables = cells.filter(pl.col("value").is_not_null())
    lacking = [value for value in in_tables["value"] if f'data-value="{value}"' not in text]
    assert not lacking, lacking[:20]
