"""All that a page or a set of figures shows of a tier, gathered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from bdpbench.pages.assets import read_captions
from bdpbench.pages.chart import Chart
from bdpbench.pages.comparison import PairGroup, pair_groups
from bdpbench.pages.details import RunDetail, run_details
from bdpbench.pages.experiments import Experiment, experiments
from bdpbench.pages.names import Names
from bdpbench.pages.protocols import Outcome, ProtocolPage, protocol_pages
from bdpbench.pages.responses import response_functions
from bdpbench.pages.series import LoadTable, RunSeries, run_series
from bdpbench.pages.verdicts import ClaimRow, NumberRow, claim_rows, number_rows

RunInfo: TypeAlias = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Sections:
    """What is shown of a tier, and the words and series that it is shown with.

    Attributes:
        names: words.
        series: run id → table → subject → packed points, for the runs that are finished.
        numbers, claims: rows of the scorecard.
        experiments, runs, pairs, protocols: sections with their charts.
        response: response functions; None where no runs show them.
    """

    names: Names
    series: Mapping[str, RunSeries]
    numbers: list[NumberRow]
    claims: list[ClaimRow]
    experiments: list[Experiment]
    runs: list[RunDetail]
    pairs: list[PairGroup]
    protocols: list[ProtocolPage]
    response: Chart | None


def gather(
    plan: Mapping[str, Any],
    metrics: pl.DataFrame,
    scorecard: Mapping[str, Any],
    load_table: LoadTable,
    run_info: RunInfo,
    study: Mapping[str, Any],
    bins: int,
) -> Sections:
    """The sections of a tier, of what ``build_report`` is given.

    Args:
        plan: content of ``plan.json``.
        metrics: table of ``metrics.parquet``.
        scorecard: content of ``scorecard.json``.
        load_table: (run id, table) → its frame, None where the run does not have the table.
        run_info: run id → content of ``run.json``, for the runs that are finished.
        study: with its ``regions``, ``protocols`` and ``repetitions`` (means over them, as
            ``metrics.repetitions`` has them), where it has them.
        bins: intervals of time of which a series keeps the extremes.
    """
    names = Names(plan, read_captions())
    series = {
        run["run_id"]: run_series(run["run_id"], load_table, bins)
        for run in plan["runs"]
        if run["run_id"] in run_info
    }
    numbers, claims = number_rows(scorecard, names), claim_rows(scorecard, names)
    outcome = Outcome(plan, metrics, numbers, claims, series)
    pages = protocol_pages(outcome, study.get("protocols", {}), names)
    done = [run for run in plan["runs"] if run["run_id"] in series]
    return Sections(
        names=names,
        series=series,
        numbers=numbers,
        claims=claims,
        experiments=experiments(plan, metrics, scorecard, series, names, study.get("repetitions")),
        runs=run_details(plan, metrics, run_info, series, names),
        pairs=pair_groups(plan, metrics, list(series), study.get("regions"), names),
        protocols=pages,
        response=response_functions(done, metrics, pages, names),
    )
