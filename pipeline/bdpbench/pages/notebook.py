"""What a notebook shows by itself, without a network: charts as SVG."""

from __future__ import annotations

import altair as alt
from altair.utils.display import MimeBundleType

from bdpbench.pages.drawing import svg_of
from bdpbench.pages.specs import Spec


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
