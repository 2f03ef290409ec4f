"""Charts of the atlas: how two flows of one protocol share a link, in one unit for all studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from bdpbench.contracts.atlas import AtlasProtocol, SharePoint
from bdpbench.pages.chart import Chart, Spec, spec_content
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.patterns import FAINT, field, fill, hole, layered, pattern, rows_named

_HEIGHT = 240
_FEWEST_POINTS = 2
# Colours of the studies, which all readers can tell apart (Okabe and Ito); further studies repeat
# them.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9")
_SHAPES = {"printed": "diamond", "measured": "circle"}


def share_charts(
    points: Sequence[SharePoint], protocols: Sequence[AtlasProtocol], studies: Sequence[str]
) -> list[Chart]:
    """A chart for each protocol with two or more known points.

    Args:
        points: printed and measured shares.
        protocols: in order.
        studies: keys of all studies, which determine the same colours in all charts.
    """
    colours = {key: _COLOURS[i % len(_COLOURS)] for i, key in enumerate(studies)}
    found = []
    for protocol in protocols:
        own = [each for each in points if each["protocol"] == protocol["key"]]
        if len(own) >= _FEWEST_POINTS:
            found.append(_chart(protocol, own, colours))
    return found


def _chart(
    protocol: AtlasProtocol, points: Sequence[SharePoint], colours: Mapping[str, str]
) -> Chart:
    counts = {what: sum(each["what"] == what for each in points) for what in _SHAPES}
    studies = sorted({each["study"] for each in points})
    told = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
    return Chart(
        chart_id=f"share-{protocol['key']}",
        title=f"{protocol['name']} with itself",
        caption=f"{told} of {', '.join(studies)}.",
        alternative=f"Ratio of the throughputs of two flows of {protocol['name']} over the ratio "
        f"of their RTTs: {told} values of {', '.join(studies)}",
        content=spec_content(_spec(points, {key: colours[key] for key in studies})),
    )


def _spec(points: Sequence[SharePoint], colours: Mapping[str, str]) -> Spec:
    rows = pl.DataFrame(
        [
            {
                "x": each["rtt_ratio"],
                "y": each["ratio"],
                "study": each["study"],
                "what": each["what"],
                "run": each["told"],
            }
            for each in points
        ]
    )
    words = {
        "studies": list(colours),
        "colours": list(colours.values()),
        "kinds": list(_SHAPES),
        "shapes": list(_SHAPES.values()),
        "most": max(2.0, *(each["rtt_ratio"] for each in points)),
    }
    return fill(_shares(), words, {"points": rows})


@pattern
def _shares() -> alt.LayerChart:
    x_axis = alt.Axis(values=[1, 2, 3, 4, 6, 8, 10], format="~g", grid=True)
    x_scale = alt.Scale(type="log", domain=[0.93, hole("most")], nice=False, padding=10)
    colours = alt.Scale(domain=hole("studies"), range=hole("colours"))
    shapes = alt.Scale(domain=hole("kinds"), range=hole("shapes"))
    base = alt.Chart().properties(data=rows_named("points"))
    fair = base.mark_rule(color=FAINT, strokeDash=[4, 3]).encode(y=alt.YDatum(1))
    marks = base.mark_point(size=55, strokeWidth=1.8, opacity=0.9).encode(
        x=alt.X(
            **field("x", "quantitative", title="longer RTT over the shorter"),
            scale=x_scale,
            axis=x_axis,
        ),
        y=alt.Y(
            **field("y", "quantitative", title="smaller throughput over the larger"),
            scale=alt.Scale(domain=[0, 1.02], nice=False),
        ),
        color=alt.Color(**field("study", "nominal", title=None, scale=colours)),
        shape=alt.Shape(**field("what", "nominal", title=None, scale=shapes)),
        tooltip=[
            alt.Tooltip(**field("study", "nominal", title="study")),
            alt.Tooltip(**field("what", "nominal", title="is")),
            alt.Tooltip(**field("run", "nominal", title="run")),
            alt.Tooltip(**field("y", "quantitative", title="ratio"), format=".3~f"),
        ],
    )
    return layered(fair, marks, height=_HEIGHT)
