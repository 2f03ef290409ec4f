"""Everything that a page or a set of figures shows of a tier, gathered once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.assets import read_captions
from bdpbench.pages.chart import Chart
from bdpbench.pages.details import RunDetail, distinct_runs, run_details
from bdpbench.pages.experiments import Experiment, experiments
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.matrix_groups import MatrixGroup, matrix_groups
from bdpbench.pages.names import Names
from bdpbench.pages.protocols import ProtocolPage, TierResults, protocol_pages
from bdpbench.pages.responses import law_charts
from bdpbench.pages.series import PageSeries, page_series
from bdpbench.pages.verdicts import ClaimRow, NumberRow, claim_rows, number_rows


@dataclass(frozen=True)
class Sections:
    """The contents of a page of a tier, with names and series.

    Attributes:
        names: the names for readers.
        series: run id → table → subject → packed points, for finished runs.
        numbers, claims: rows of the scorecard.
        experiments, matrices, protocols: sections with their charts.
        runs: the runs of the plan, each once.
        details: makes the sections of the runs, one after the other.
        laws: response functions, growth and cuts of cwnd; empty if no runs show them.
    """

    names: Names
    series: PageSeries
    numbers: list[NumberRow]
    claims: list[ClaimRow]
    experiments: list[Experiment]
    runs: list[PlannedRun]
    details: Callable[[], Iterator[RunDetail]]
    matrices: list[MatrixGroup]
    protocols: list[ProtocolPage]
    laws: list[Chart]


def gather(inputs: ReportInputs, bins: int) -> Sections:
    """Gather the sections of a tier.

    Args:
        inputs: what to show.
        bins: intervals of time whose extremes a series keeps.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/``.
    """
    plan, metrics, scorecard = inputs.plan, inputs.metrics, inputs.scorecard
    names = Names(plan, read_captions(), inputs.definitions, inputs.study.page)
    series = page_series(inputs, bins)
    numbers, claims = number_rows(scorecard, names), claim_rows(scorecard, names)
    results = TierResults(plan, metrics, numbers, claims, series)
    pages = protocol_pages(results, inputs.study, names)
    done = [run for run in plan["runs"] if run["run_id"] in series]
    return Sections(
        names=names,
        series=series,
        numbers=numbers,
        claims=claims,
        experiments=experiments(plan, metrics, scorecard, series, names, inputs.repetitions),
        runs=distinct_runs(plan),
        details=lambda: run_details(plan, metrics, inputs.run_info, series, names, inputs.places),
        matrices=matrix_groups(inputs, series, names),
        protocols=pages,
        laws=law_charts(done, metrics, pages, names),
    )
