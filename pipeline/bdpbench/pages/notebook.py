"""What a notebook shows by itself, without a network: charts as SVG, and a tier at a glance."""

from __future__ import annotations

import base64

import altair as alt
from altair.utils.display import MimeBundleType

from bdpbench.pages.drawing import svg_of
from bdpbench.pages.exports import Charts, printed_caption
from bdpbench.pages.html import page_environment
from bdpbench.pages.report import leads_of
from bdpbench.pages.specs import Chart, Spec

MOST_OTHERS = 2
"""Charts of a tier that has none beside its answers."""


class OfflineChart(alt.LayerChart):
    """A chart of altair that notebooks show as SVG.

    altair's own way loads Vega from the web. Another renderer is left as it is if a notebook has
    enabled it, and a front end that draws Vega-Lite itself gets the specification, too.
    """

    def _repr_mimebundle_(self, *include: object, **more: object) -> MimeBundleType | None:
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*include, **more)
        spec = self.to_dict()
        return {
            f"application/vnd.vegalite.{alt.SCHEMA_VERSION.split('.')[0]}+json": spec,
            "image/svg+xml": svg_of(spec),
            "text/plain": repr(self),
        }


def offline_chart(spec: Spec) -> OfflineChart:
    """A specification with its rows as a chart.

    Raises:
        jsonschema.ValidationError: when it is not valid Vega-Lite.
    """
    return OfflineChart.from_dict(spec, validate=True)


def glance_html(charts: Charts, title: str, totals: str) -> str:
    """What the report of a tier answers, with the charts that it begins with, and its main metrics.

    Args:
        charts: those of the tier.
        title: its name.
        totals: its verdicts in a sentence.
    """

    def image(chart: Chart) -> str:
        svg = svg_of(charts.spec(chart)).encode()
        return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"

    leads = leads_of(charts.sections)
    return (
        page_environment()
        .get_template("notebook.html")
        .render(
            title=title,
            totals=totals,
            leads=leads,
            others=[] if any(lead.charts for lead in leads) else charts.first(MOST_OTHERS),
            table=charts.sections.table,
            number=len(charts.titles),
            image=image,
            caption=printed_caption,
        )
    )
