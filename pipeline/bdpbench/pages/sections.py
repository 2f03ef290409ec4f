"""Everything that a page or a set of figures shows of a tier: each section is one function.

A section is made from the inputs, the series of the runs and the names for readers. A new one is a
function, a field of ``Sections``, and its template; ``exports.py`` names the files of its charts.
"""

from __future__ import annotations

from dataclasses import dataclass

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.experiments import Experiment, distinct_runs, experiments
from bdpbench.pages.inputs import ReportInputs, read_captions
from bdpbench.pages.matrix_charts import MatrixGroup, matrix_groups
from bdpbench.pages.names import Names
from bdpbench.pages.numbers import NumberRow, number_rows
from bdpbench.pages.protocols import ProtocolPage, law_charts, protocol_pages
from bdpbench.pages.series import PageSeries, page_series
from bdpbench.pages.specs import Chart
from bdpbench.pages.statements import ClaimRow, claim_rows


@dataclass(frozen=True)
class Sections:
    """The contents of a page of a tier, with names and series.

    Attributes:
        names: the names for readers.
        series: run id → table → subject → packed points, for finished runs.
        numbers, claims: rows of the scorecard.
        experiments, matrices, protocols: sections with their charts.
        laws: response functions, growth and cuts of cwnd; empty if no runs show them.
        runs: the runs of the plan, each once.
    """

    names: Names
    series: PageSeries
    numbers: list[NumberRow]
    claims: list[ClaimRow]
    experiments: list[Experiment]
    matrices: list[MatrixGroup]
    protocols: list[ProtocolPage]
    laws: list[Chart]
    runs: list[PlannedRun]

    @property
    def charts(self) -> list[Chart]:
        """The charts of the page, without those of views and of single runs."""
        return [
            *(chart for each in self.experiments for chart in each.summaries),
            *self.laws,
            *(chart for page in self.protocols for chart in page.charts),
            *(chart for group in self.matrices for chart in group.charts),
        ]


def gather(inputs: ReportInputs, bins: int) -> Sections:
    """Make the sections of a tier.

    Args:
        inputs: what to show.
        bins: intervals of time whose extremes a series keeps.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/``.
    """
    names = Names(inputs.plan, read_captions(inputs.study.page), inputs.definitions)
    series = page_series(inputs, bins)
    numbers = number_rows(inputs.scorecard, names)
    claims = claim_rows(inputs.scorecard, names)
    return Sections(
        names=names,
        series=series,
        numbers=numbers,
        claims=claims,
        experiments=experiments(inputs, series, names),
        matrices=matrix_groups(inputs, series, names),
        protocols=protocol_pages(inputs, numbers, claims, series, names),
        laws=law_charts(inputs, series, names),
        runs=distinct_runs(inputs.plan),
    )
