"""Everything that a page or a set of figures shows of a tier: each section is one function.

A section is made from the data of the report: inputs, series of the runs, names for readers. A new
one is a function, an attribute of ``Sections`` and a template; ``exports.py`` names its files.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from bdpbench.pages.experiments import experiments, placed
from bdpbench.pages.inputs import ReportData, ReportInputs
from bdpbench.pages.matrix_charts import MatrixGroup, matrix_groups
from bdpbench.pages.protocols import (
    law_charts,
    protocol_pages,
    protocol_table,
    queue_pages,
)
from bdpbench.pages.scored import claim_rows, number_rows, printed_chart
from bdpbench.pages.specs import Chart


class Sections:
    """The contents of a page of a tier.

    Args:
        inputs: what to show.
        bins: intervals of time whose extremes a series keeps.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/``.

    Attributes:
        data: what the sections were made of.
        numbers, claims: rows of the scorecard.
        printed: all numbers in one chart; None if none was run.
        experiments, matrices: sections with their charts.
        protocols, queues: their rules and parameters.
        laws: response functions, growth and cuts of cwnd; empty if no runs show them.
        table: main metrics of each protocol; None if nothing was measured of one alone.
    """

    def __init__(self, inputs: ReportInputs, bins: int) -> None:
        self.data = data = ReportData(inputs, bins)
        self.numbers = number_rows(inputs.scorecard, data.names)
        self.claims = claim_rows(inputs.scorecard, data.names)
        self.printed = printed_chart(self.numbers, data.names.captions)
        self.experiments = experiments(data)
        self.matrices = [_placed_group(each, data) for each in matrix_groups(data)]
        self.protocols = protocol_pages(data, self.numbers, self.claims)
        self.queues = queue_pages(data)
        self.laws = law_charts(data)
        described = [page.key for page in self.protocols]
        self.table = protocol_table(data, self.experiments, self.numbers, described)

    @property
    def charts(self) -> list[Chart]:
        """The charts of the page, without those of views and of single runs."""
        return [
            *([self.printed] if self.printed else ()),
            *(chart for each in self.experiments for chart in each.summaries),
            *self.laws,
            *(chart for group in self.matrices for chart in group.charts),
        ]


def _placed_group(group: MatrixGroup, data: ReportData) -> MatrixGroup:
    runs = [run for run in data.scenarios[group.scenario] if run["run_id"] in data.series]
    metrics = data.inputs.metrics.filter(pl.col("scenario") == group.scenario)
    return replace(group, charts=placed(group.charts, group.title, runs, data, metrics))
