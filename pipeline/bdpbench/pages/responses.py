"""Response functions: the window of each protocol at the rates of loss events that it met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.chart import Chart, spec_content
from bdpbench.pages.crowds import MOST_POINTS
from bdpbench.pages.names import Names
from bdpbench.pages.protocol_data import Response
from bdpbench.pages.protocols import ProtocolPage
from bdpbench.pages.scatter_charts import response_spec
from bdpbench.pages.sweeps import protocols_of

_LOSSES, _WINDOW = "loss_event_rate", "mean_cwnd"
# Fewer points show no function.
_FEWEST_POINTS = 3


def response_functions(
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    protocols: Sequence[ProtocolPage],
    names: Names,
) -> Chart | None:
    """Mean cwnd against loss events of runs of one flow; None where too few met any.

    Args:
        runs: finished runs of all scenarios.
        metrics: table of ``metrics.parquet``.
        protocols: those that are described, some with a response function.
        names: words.
    """
    points = _points(runs, metrics, names)
    # Of more points than a browser draws at once every second, third, … stays.
    points = (
        points.gather_every(1 + (points.height - 1) // MOST_POINTS) if points.height else points
    )
    if points.height < _FEWEST_POINTS:
        return None
    known = {page.label: page.data.response for page in protocols if page.data.response}
    laws = _laws(known, points)
    shown = {*points["series"].to_list(), *laws["series"].to_list()}
    styles = {
        names.protocol(key): (each["colour"], names.dash(key))
        for key, each in names.protocols.items()
        if names.protocol(key) in shown
    }
    words = names.captions.charts["response"]
    told = "; ".join(f"{label} ({law.source})" for label, law in known.items())
    spec = response_spec(
        points,
        laws,
        styles,
        names.metric(_LOSSES),
        f"{names.metric(_WINDOW)} (packets)",
    )
    return Chart(
        chart_id="response-functions",
        title=words["title"],
        caption=f"{words['caption']} {told}." if told else words["caption"].split(" Lines")[0],
        alternative=f"{words['title']} over logarithmic axes. Series: {'; '.join(styles)}.",
        content=spec_content(spec, list(styles)),
        metrics=(_LOSSES, _WINDOW),
    )


def _points(runs: Sequence[PlannedRun], metrics: pl.DataFrame, names: Names) -> pl.DataFrame:
    """``x`` loss events per packet, ``y`` packets, ``series``, ``run_id``, ``run``."""
    values: dict[str, dict[str, float]] = {}
    rows = metrics.filter(pl.col("metric").is_in([_LOSSES, _WINDOW])).drop_nulls("value")
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
            "x": found[_LOSSES],
            "y": found[_WINDOW],
            "series": names.protocol(protocols_of(run)[0]),
            "run_id": run_id,
            "run": str(run["label"]),
        }
        for run_id, run in alone.items()
        if (found := values.get(run_id, {})).get(_LOSSES, 0) > 0 and found.get(_WINDOW, 0) > 0
    ]
    texts = dict.fromkeys(("series", "run_id", "run"), pl.String)
    return pl.DataFrame(points, schema={"x": pl.Float64, "y": pl.Float64, **texts})


def _laws(known: Mapping[str, Response], points: pl.DataFrame) -> pl.DataFrame:
    """Both ends of each law's line, as far as the points reach: ``x``, ``y``, ``series``."""
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
