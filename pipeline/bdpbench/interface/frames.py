"""Results as polars frames, whose columns are the interface."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

import polars as pl

from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.contracts.scorecard import Scorecard, ScoredClaim, ScoredNumber, rows_of

Schema: TypeAlias = Mapping[str, type[pl.DataType] | pl.DataType]
"""Name → type of the columns of a frame."""

STUDIES_SCHEMA: Schema = {
    "study": pl.String,
    "title": pl.String,
    "tier": pl.String,
    "runs": pl.Int64,
    "estimated_cpu_s": pl.Float64,
}
"""One row for each tier of a study."""

TIERS_SCHEMA: Schema = {"tier": pl.String, "runs": pl.Int64, "finished": pl.Int64}
"""One row for each tier of a study, with how many runs it has and how many of them have results."""

RUNS_SCHEMA: Schema = {
    "run_id": pl.String,
    "scenario": pl.String,
    "label": pl.String,
    "protocols": pl.List(pl.String),
    "finished": pl.Boolean,
    "estimated_cpu_s": pl.Float64,
}
"""One row for each run of a scenario; a column for each parameter follows."""

NUMBERS_SCHEMA: Schema = {
    "id": pl.String,
    "where": pl.String,
    "page": pl.String,
    "scenario": pl.String,
    "metric": pl.String,
    "subject": pl.String,
    "unit": pl.String,
    "published": pl.Float64,
    "lower": pl.Float64,
    "upper": pl.Float64,
    "measured": pl.Float64,
    "deviation": pl.Float64,
    "deviation_pct": pl.Float64,
    "verdict": pl.String,
    "margin": pl.Float64,
    "kind": pl.String,
    "found": pl.String,
    "chosen_on": pl.List(pl.String),
    "known_miss": pl.String,
    "reason": pl.String,
    "definition": pl.String,
    "run_ids": pl.List(pl.String),
}
"""One row per published number; the names are those of ``scorecard.json``."""

STATEMENTS_SCHEMA: Schema = {
    "id": pl.String,
    "where": pl.String,
    "page": pl.String,
    "statement": pl.String,
    "verdict": pl.String,
    "margin": pl.Float64,
    "kind": pl.String,
    "found": pl.String,
    "chosen_on": pl.List(pl.String),
    "known_miss": pl.String,
    "explanation": pl.String,
    "protocols": pl.List(pl.String),
    "run_ids": pl.List(pl.String),
}
"""One row per statement; the names are those of ``scorecard.json``."""

_OF_NEWER_SCORECARDS: Mapping[str, object] = {
    "margin": None,
    "kind": None,
    "found": None,
    "chosen_on": [],
}

CHARTS_SCHEMA: Schema = {"name": pl.String, "title": pl.String}
"""One row for each chart of the report, in its order."""


def runs_frame(runs: Sequence[PlannedRun], finished: Collection[str]) -> pl.DataFrame:
    """Planned runs with their parameters; ``finished``: ids of runs with results.

    A parameter that some runs lack is null there. Its type is Int64 or Float64 if all of its values
    are numbers, otherwise String.
    """
    rows = ({**run, "finished": run["run_id"] in finished} for run in runs)
    frame = _frame(rows, RUNS_SCHEMA)
    names = dict.fromkeys(name for run in runs for name in run["parameters"])
    return frame.with_columns(
        _parameter(name, [run["parameters"].get(name) for run in runs]) for name in names
    )


def _parameter(name: str, values: Sequence[Scalar | None]) -> pl.Series:
    """A column; a parameter with the name of a column of ``RUNS_SCHEMA`` gets a longer name."""
    column = f"parameter_{name}" if name in RUNS_SCHEMA else name
    if any(isinstance(value, str) for value in values):
        words = [None if value is None else str(value) for value in values]
        return pl.Series(column, words, dtype=pl.String)
    whole = all(value is None or isinstance(value, int) for value in values)
    return pl.Series(column, values, dtype=pl.Int64 if whole else pl.Float64, strict=False)


def numbers_frame(scorecard: Scorecard, *, each_run: bool) -> pl.DataFrame:
    """Published numbers with their verdicts; ``each_run``: one row for each of their runs."""
    numbers = scorecard["numbers"]
    rows = [row for each in numbers for row in rows_of(each)] if each_run else numbers
    return _frame((_number(each) for each in rows), NUMBERS_SCHEMA)


def _number(number: ScoredNumber) -> Mapping[str, object]:
    return {**_OF_NEWER_SCORECARDS, **number}


def statements_frame(scorecard: Scorecard) -> pl.DataFrame:
    """Statements with their verdicts."""
    return _frame(map(_statement, scorecard["claims"]), STATEMENTS_SCHEMA)


def _statement(claim: ScoredClaim) -> Mapping[str, object]:
    run_ids = list(dict.fromkeys(each["run_id"] for each in claim["evidence"] if each["run_id"]))
    return {**_OF_NEWER_SCORECARDS, **claim, "page": str(claim["page"]), "run_ids": run_ids}


def _frame(rows: Iterable[Mapping[str, object]], schema: Schema) -> pl.DataFrame:
    return pl.DataFrame(
        [tuple(row[name] for name in schema) for row in rows], schema=schema, orient="row"
    )
