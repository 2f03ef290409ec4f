"""Measured laws: cwnd over the loss rate; growth and cuts over cwnd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.chart import Chart, spec_content
from bdpbench.pages.crowds import MOST_POINTS
from bdpbench.pages.names import Names
from bdpbench.pages.protocol_data import Response
from bdpbench.pages.protocols import ProtocolPage
from bdpbench.pages.scatter_charts import AxisWords, response_spec
from bdpbench.pages.sweeps import protocols_of

_LOSSES, _WINDOW = "loss_event_rate", "mean_cwnd"
# Key of the texts in captions.yaml → metrics of the axes.
_LAWS = {
    "response": (_LOSSES, _WINDOW),
    "increase": (_WINDOW, "packets_added_per_rtt"),
    "decrease": (_WINDOW, "mean_cut_share"),
}
_IN_PACKETS = (_WINDOW, "packets_added_per_rtt")
# Loss rates are shown as powers of ten, windows with thousands separators, shares with neither.
_FORMATS = {_LOSSES: "~e", _WINDOW: "~s"}
# Fewer points do not show a function.
_FEWEST_POINTS = 3


def law_charts(
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    protocols: Sequence[ProtocolPage],
    names: Names,
) -> list[Chart]:
    """Response functions, and growth and cuts of cwnd over its mean, of runs of one flow.

    Charts with too few points are left out.

    Args:
        runs: finished runs of all scenarios.
        metrics: table of ``metrics.parquet``.
        protocols: protocols with a description, some with a response function.
        names: the names for readers.
    """
    found = []
    for key, axes in _LAWS.items():
        points = _points(runs, metrics, axes, names)
        if points.height >= _FEWEST_POINTS:
            known = {page.label: page.data.response for page in protocols if page.data.response}
            found.append(_chart(key, axes, points, known if key == "response" else {}, names))
    return found


def _chart(
    key: str,
    axes: tuple[str, str],
    points: pl.DataFrame,
    known: Mapping[str, Response],
    names: Names,
) -> Chart:
    laws = _laws(known, points)
    shown = {*points["series"].to_list(), *laws["series"].to_list()}
    styles = {
        names.protocol(key): (each["colour"], names.dash(key))
        for key, each in names.protocols.items()
        if names.protocol(key) in shown
    }
    words = names.captions.charts[key]
    told = "; ".join(f"{label} ({law.source})" for label, law in known.items())
    spec = response_spec(points, laws, styles, *(_words_of(axis, names) for axis in axes))
    return Chart(
        chart_id=f"{key}-functions",
        title=words["title"],
        caption=f"{words['caption']} {words['laws']} {told}." if told else words["caption"],
        alternative=f"{words['title']} over logarithmic axes. Series: {'; '.join(styles)}.",
        content=spec_content(spec, list(styles)),
        metrics=axes,
    )


def _words_of(metric: str, names: Names) -> AxisWords:
    unit = " (packets)" if metric in _IN_PACKETS else ""
    return AxisWords(names.metric(metric) + unit, _FORMATS.get(metric, "~g"))


def _points(
    runs: Sequence[PlannedRun], metrics: pl.DataFrame, axes: tuple[str, str], names: Names
) -> pl.DataFrame:
    """``x``, ``y`` of two metrics, ``series``, ``run_id``, ``run``; no more than can be drawn."""
    values: dict[str, dict[str, float]] = {}
    rows = metrics.filter(pl.col("metric").is_in([_LOSSES, *axes])).drop_nulls("value")
    for run_id, metric, value in rows.select("run_id", "metric", "value").iter_rows():
        values.setdefault(run_id, {})[metric] = value
    flows = dict(rows.group_by("run_id").agg(pl.col("subject").n_unique()).iter_rows())
    alone = {
        run["run_id"]: run
        for run in runs
        if "protocol" in run["parameters"] and flows.get(run["run_id"]) == 1
    }
    points = [
        {
            "x": found[axes[0]],
            "y": found[axes[1]],
            "series": names.protocol(protocols_of(run)[0]),
            "run_id": run_id,
            "run": str(run["label"]),
        }
        for run_id, run in alone.items()
        # The axes are logarithmic.
        if min((found := values.get(run_id, {})).get(each, 0) for each in (_LOSSES, *axes)) > 0
    ]
    texts = dict.fromkeys(("series", "run_id", "run"), pl.String)
    frame = pl.DataFrame(points, schema={"x": pl.Float64, "y": pl.Float64, **texts})
    # If there are more points than a browser draws at once, every second, third, … is kept.
    return frame.gather_every(1 + (frame.height - 1) // MOST_POINTS) if points else frame


def _laws(known: Mapping[str, Response], points: pl.DataFrame) -> pl.DataFrame:
    """Both ends of each law's line within the range of the points: ``x``, ``y``, ``series``."""
    ends: list[dict[str, float | str]] = []
    rates = points["x"].to_list()
    low, high = min(rates), max(rates)
    for label, law in known.items():
        last = min(high, (law.coefficient / law.smallest_pkts) ** (1 / law.exponent))
        ends += [
            {"x": x, "y": law.coefficient / x**law.exponent, "series": label}
            for x in (low, last)
            if last > low
        ]
    return pl.DataFrame(ends, schema={"x": pl.Float64, "y": pl.Float64, "series": pl.String})
