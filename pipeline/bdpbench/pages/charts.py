"""The charts of a report as objects of altair, for notebooks.

>>> charts = altair_charts(inputs, "*-sweep-*")                               # doctest: +SKIP
>>> charts["buffer-size-sweep-utilization"].properties(width=400)             # doctest: +SKIP

``inputs`` are those of a report, see ``bdpbench.app.run.stages.report_inputs``; names are those of
the files that `bdpbench report --export` writes.
"""

from __future__ import annotations

import fnmatch

from bdpbench.pages.figures import FIGURE_BINS, Renderer, figures_of
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.patterns import as_altair
from bdpbench.pages.sections import gather


def altair_charts(inputs: ReportInputs, only: str = "*") -> dict[str, alt.LayerChart]:
    """Name → a chart with its data, checked against altair's schema, as wide as a figure.

    Args:
        inputs: what the report shows.
        only: pattern of names; a tier has hundreds of charts, and each takes 0.1 s.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/``.
    """
    sections = gather(inputs, FIGURE_BINS)
    renderer = Renderer(sections.series, sections.names.captions)
    return {
        figure.name: as_altair(renderer.spec(figure.chart))
        for figure in figures_of(sections)
        if fnmatch.fnmatch(figure.name, only)
    }
