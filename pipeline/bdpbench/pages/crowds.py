"""A metric over a sweep of very many runs: median and spread for each protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.scorecard import ScoredNumber
from bdpbench.pages.chart import Chart, Spec, spec_content
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.metric_sweeps import metric_over_sweep
from bdpbench.pages.names import Names
from bdpbench.pages.patterns import field, fill, hole, layered, pattern, rows_named
from bdpbench.pages.sweeps import Sweep, grouped, protocol_label, protocols_of
from bdpbench.pages.text import axis_title, subject_name

MOST_SERIES = 24
"""Most lines of a chart: more could not be told apart."""

MOST_POINTS = 2000
"""Most points of a chart: a browser takes seconds to draw more."""

_FEW_SUBJECTS = 4
_HEIGHT = 260
_LOW, _HIGH = 0.1, 0.9


def sweep_chart(
    chart_id: str,
    metric: str,
    runs: Sequence[PlannedRun],
    sweep: Sweep,
    metrics: pl.DataFrame,
    numbers: Sequence[ScoredNumber],
    names: Names,
    repetitions: pl.DataFrame | None = None,
) -> Chart | None:
    """A metric over a sweep, run by run, or as median and spread if there are too many runs.

    The arguments are those of ``metric_over_sweep``.
    """
    if not sweep.main or not is_crowded(runs, sweep):
        chart = metric_over_sweep(
            chart_id, metric, runs, sweep, metrics, numbers, names, repetitions
        )
        if chart is None or any(each["metric"] == metric for each in numbers):
            return chart
        text = names.captions.charts["sweep"]
        return replace(chart, caption=chart.caption.replace(text["caption"], text["measured"]))
    rows = _spread(runs, sweep, metrics.filter(pl.col("metric") == metric), names)
    if rows["x"].n_unique() < 2:
        return None
    name, main = names.metric(metric), sweep.main
    abscissa = axis_title(names.parameters.name(main), names.parameters.unit(main))
    styles = dict(rows.select("series", "colour").unique(maintain_order=True).iter_rows())
    spec = crowd_spec(
        rows.drop("colour", "unit"), styles, abscissa, axis_title(name, rows["unit"][0])
    )
    others = ", ".join(names.parameters.name(each) for each in sweep.others) or "repetitions"
    return Chart(
        chart_id=chart_id,
        title=f"{name} against {names.parameters.name(main)}",
        caption=names.captions.charts["crowd"]["caption"].format(
            runs=f"{len(runs):,}", others=others
        ),
        alternative=f"Median {name} against {abscissa}. Series: {'; '.join(styles)}.",
        content=spec_content(spec, list(styles)),
        metrics=(metric,),
    )


def is_crowded(runs: Sequence[PlannedRun], sweep: Sweep) -> bool:
    """Whether a chart with a point for each run is unreadable, or takes over a second to draw."""
    if len(runs) > MOST_POINTS:
        return True
    series = {
        (protocols_of(run), tuple(run["parameters"].get(name) for name in sweep.others))
        for run in runs
    }
    return len(series) > MOST_SERIES


def _spread(
    runs: Sequence[PlannedRun], sweep: Sweep, rows: pl.DataFrame, names: Names
) -> pl.DataFrame:
    """``series``, ``x``, ``value`` (median), ``low``, ``high``, ``runs``, ``colour``, ``unit``."""
    labels, colours = {}, {}
    for keys, group in grouped(runs, protocols_of).items():
        labels[keys] = protocol_label(group[0], names.protocols) if keys else "all runs"
        colours[keys] = names.colour(next(iter(keys), ""))
    known = pl.DataFrame(
        {
            "run_id": [run["run_id"] for run in runs],
            "x": [float(run["parameters"][sweep.main]) for run in runs],
            "label": [labels[protocols_of(run)] for run in runs],
            "colour": [colours[protocols_of(run)] for run in runs],
        }
    ).unique("run_id", keep="first", maintain_order=True)
    joined = known.join(rows.drop_nulls("value"), on="run_id", maintain_order="left")
    subjects = joined["subject"].unique(maintain_order=True).to_list()
    told = {each: f", {subject_name(each)}" for each in subjects}
    if not 1 < len(subjects) <= _FEW_SUBJECTS:
        told = dict.fromkeys(subjects, "")
    return (
        joined.with_columns(series=pl.col("label") + pl.col("subject").replace_strict(told))
        .group_by("series", "x", maintain_order=True)
        .agg(
            value=pl.col("value").median(),
            low=pl.col("value").quantile(_LOW, "linear"),
            high=pl.col("value").quantile(_HIGH, "linear"),
            runs=pl.col("run_id").n_unique(),
            colour=pl.col("colour").first(),
            unit=pl.col("unit").first(),
        )
        .sort("x", maintain_order=True)
    )


def crowd_spec(rows: pl.DataFrame, styles: Mapping[str, str], abscissa: str, ordinate: str) -> Spec:
    """Medians as lines, and a band from the 10th to the 90th percentile.

    Args:
        rows: ``series`` str, ``x``, ``value``, ``low``, ``high`` f64, ``runs`` i64.
        styles: label of a series → colour; the order of the legend.
        abscissa: title of the x axis, with unit.
        ordinate: title of the y axis, with unit.
    """
    words = {
        "abscissa": abscissa,
        "ordinate": ordinate,
        "series": list(styles),
        "colours": list(styles.values()),
    }
    return fill(_crowd(), words, {"rows": rows})


@pattern
def _crowd() -> alt.LayerChart:
    colours = alt.Scale(domain=hole("series"), range=hole("colours"))
    scale = alt.Scale(type="linear", nice=False, padding=14, zero=False)
    base = alt.Chart(rows_named("rows")).encode(
        x=alt.X(**field("x", "quantitative", title=hole("abscissa"), scale=scale)),
        color=alt.Color(**field("series", "nominal", title=None, scale=colours)),
    )
    value = {"title": hole("ordinate"), "scale": alt.Scale(zero=False)}
    band = base.mark_area(opacity=0.16).encode(
        y=alt.Y(**field("low", "quantitative", **value)), y2=alt.Y2(field="high")
    )
    line = base.mark_line(strokeWidth=1.7).encode(y=alt.Y(**field("value", "quantitative")))
    tooltip = [
        alt.Tooltip(**field("series", "nominal", title="series")),
        alt.Tooltip(**field("x", "quantitative", title=hole("abscissa"))),
        alt.Tooltip(**field("value", "quantitative", title="median", format=",.5~g")),
        alt.Tooltip(**field("low", "quantitative", title="10th percentile", format=",.5~g")),
        alt.Tooltip(**field("high", "quantitative", title="90th percentile", format=",.5~g")),
        alt.Tooltip(**field("runs", "quantitative", title="runs", format=",")),
    ]
    points = base.mark_point(filled=True, size=40, opacity=1).encode(
        y=alt.Y(**field("value", "quantitative")), tooltip=tooltip
    )
    return layered(band, line, points, height=_HEIGHT)
