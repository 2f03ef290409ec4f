"""The charts of a report as objects of altair, for notebooks.

    charts = Charts(inputs)
    charts.chart("buffer-size-sweep-utilization").properties(width=400)

``inputs`` are those of a report, see ``bdpbench.app.stages.report_inputs``; names are those of
the files written by `bdpbench report --export`.
"""

from __future__ import annotations

import difflib

from bdpbench.errors import BdpbenchError
from bdpbench.pages.figures import FIGURE_BINS, Renderer, figures_of
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.patterns import as_altair
from bdpbench.pages.sections import gather


class Charts:
    """All charts of a report. A tier has hundreds, and making one takes 0.1 s.

    Args:
        inputs: what the report shows.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/``.
    """

    def __init__(self, inputs: ReportInputs) -> None:
        sections = gather(inputs, FIGURE_BINS)
        self._renderer = Renderer(sections.series, sections.names.captions)
        self._figures = {figure.name: figure for figure in figures_of(sections)}

    @property
    def titles(self) -> dict[str, str]:
        """Name → title of every chart, in the order of the report."""
        return {name: figure.title for name, figure in self._figures.items()}

    def chart(self, name: str) -> alt.LayerChart:
        """A chart with its data, checked against altair's schema, with the width of a figure.

        Raises:
            BdpbenchError: when there is no chart with that name, with a suggestion.
        """
        if name not in self._figures:
            close = difflib.get_close_matches(name, self._figures, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "charts() lists all names"
            raise BdpbenchError(f"there is no chart {name!r}", hint=hint)
        return as_altair(self._renderer.spec(self._figures[name].chart))
