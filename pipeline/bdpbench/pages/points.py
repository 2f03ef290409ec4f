"""Summaries of the rows of a matrix, as bars in the order in which the study ranks the rows."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.chart import Chart, spec_content
from bdpbench.pages.matrices import Matrix, Points
from bdpbench.pages.matrix_charts import protocol_bars
from bdpbench.pages.names import Names
from bdpbench.pages.sweeps import is_protocol
from bdpbench.pages.text import format_number


def points_chart(
    chart_id: str,
    condition: str,
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    matrix: Matrix,
    names: Names,
) -> Chart | None:
    """Points of each row; None if the matrix has none, or they were not measured.

    Args:
        chart_id: id of the chart on the page.
        condition: what the runs have in common, in words; may be "".
        runs: finished runs of the matrix.
        metrics: table of ``metrics.parquet``.
        matrix: the matrix with its points, and the study's ranking, if it prints one.
        names: the names for readers.
    """
    points = matrix.points
    if points is None:
        return None
    bars = _bars(runs, metrics, matrix, points, names)
    if bars.is_empty():
        return None
    quantity = names.metric(points.metric)
    order = bars["protocol"].to_list()
    colours = dict(zip(order, bars["colour"].to_list(), strict=True))
    told = "; ".join(f"{name}: {text}" for name, text in bars.select("protocol", "text").rows())
    return Chart(
        chart_id=chart_id,
        title=", ".join(filter(None, (quantity, condition))),
        caption=" ".join(filter(None, (points.caption, points.ranked if points.ranking else ""))),
        alternative=f"Bars of {quantity}. {told}",
        content=spec_content(protocol_bars(bars.drop("rank", "colour"), order, colours, quantity)),
        metrics=(points.metric,),
    )


def _bars(
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    matrix: Matrix,
    points: Points,
    names: Names,
) -> pl.DataFrame:
    """Points of each row, taken from its run with itself, and the printed rank."""
    rows = metrics.filter(pl.col("metric") == points.metric).drop_nulls("value")
    values = dict(zip(rows["run_id"], rows["value"], strict=True))
    axis, bars = matrix.rows.parameter, []
    for run in runs:
        if run["run_id"] not in values:
            continue
        key = run["parameters"][axis]
        rank, text = points.rank(key), format_number(values[run["run_id"]])
        bars.append(
            {
                "protocol": names.protocol(str(key))
                if is_protocol(axis)
                else names.parameters.value(axis, key),
                "value": values[run["run_id"]],
                "text": text if rank is None else f"{text}; printed rank {rank}",
                "rank": rank or 0,
                "run_id": run["run_id"],
                "run": run["label"],
                "colour": names.colour(str(key)),
            }
        )
    texts = dict.fromkeys(("run_id", "run", "colour"), pl.String)
    start = {"protocol": pl.String, "value": pl.Float64, "text": pl.String, "rank": pl.Int64}
    return pl.DataFrame(bars, schema={**start, **texts}).sort("rank", maintain_order=True)
