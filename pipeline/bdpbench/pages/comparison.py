"""What all protocols show together: matrices of the pairs that share a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.pages.chart import Chart
from bdpbench.pages.matrix_charts import diverging_matrix, level_matrix
from bdpbench.pages.names import Names
from bdpbench.pages.ranking import points_chart
from bdpbench.pages.regions import Regions
from bdpbench.pages.sweeps import Run, find_sweep, grouped, protocols_of
from bdpbench.pages.text import MINUS

_FIRST, _SECOND = "starts first", "starts second"


@dataclass(frozen=True)
class PairGroup:
    """Pairs of protocols of one scenario; ``finished`` of ``planned`` have results."""

    scenario: str
    title: str
    finished: int
    planned: int
    charts: tuple[Chart, ...]


def pair_groups(
    plan: Mapping[str, Any],
    metrics: pl.DataFrame,
    finished: Sequence[str],
    regions: Regions | None,
    names: Names,
) -> list[PairGroup]:
    """Matrices of the scenarios in which different protocols meet, one for each condition.

    Args:
        plan: content of ``plan.json``.
        metrics: table of ``metrics.parquet``.
        finished: ids of the runs that have results.
        regions: how the study judged the pairs, where it did.
        names: words.
    """
    scenarios = grouped(_pairs(plan["runs"]), lambda run: str(run["scenario"]))
    return [
        _group(str(scenario), runs, metrics, finished, regions, names)
        for scenario, runs in scenarios.items()
    ]


def _pairs(runs: Sequence[Run]) -> list[Run]:
    """Runs of the scenarios in which, in some run, two protocols meet."""
    mixed = {run["scenario"] for run in runs if len(set(protocols_of(run))) > 1}
    return [run for run in runs if run["scenario"] in mixed and len(protocols_of(run)) > 1]


def _group(
    scenario: str,
    runs: Sequence[Run],
    metrics: pl.DataFrame,
    finished: Sequence[str],
    regions: Regions | None,
    names: Names,
) -> PairGroup:
    keys = {key for run in runs for key in protocols_of(run)}
    order = [names.protocol(key) for key in names.protocols if key in keys]
    done = [run for run in runs if run["run_id"] in finished]
    sweep = find_sweep(runs)
    conditions = {
        sweep.describe(alike[0], names.captions.parameters): alike
        for alike in grouped(done, sweep.key).values()
    }
    judged = regions if regions is not None and regions.scenario == scenario else None
    charts = [
        _measured(f"pairs-{scenario}-{index}", condition, alike, metrics, order, names)
        for index, (condition, alike) in enumerate(conditions.items())
    ]
    if judged is not None:
        charts.append(_judged(f"pairs-{scenario}-regions", judged, order, names))
    charts += [
        points_chart(f"pairs-{scenario}-points-{index}", condition, alike, metrics, judged, names)
        for index, (condition, alike) in enumerate(conditions.items())
    ]
    shown = tuple(chart for chart in charts if chart is not None)
    return PairGroup(scenario, names.scenario(scenario), len(done), len(runs), shown)


def _cells(runs: Sequence[Run], metrics: pl.DataFrame, names: Names) -> pl.DataFrame:
    rows = metrics.filter(pl.col("metric") == names.captions.pairs["metric"]).drop_nulls("value")
    values = dict(zip(rows["run_id"], rows["value"], strict=True))
    cells = [
        {
            "row": names.protocol(first),
            "column": names.protocol(second),
            "value": values[run["run_id"]],
            "text": f"{values[run['run_id']]:.2f}".replace("-", MINUS),
            "run_id": run["run_id"],
            "run": str(run["label"]),
        }
        for run in runs
        if run["run_id"] in values
        for first, second in [protocols_of(run)]
    ]
    texts = dict.fromkeys(("text", "run_id", "run"), pl.String)
    return pl.DataFrame(
        cells, schema={"row": pl.String, "column": pl.String, "value": pl.Float64, **texts}
    )


def _measured(
    chart_id: str,
    condition: str,
    runs: Sequence[Run],
    metrics: pl.DataFrame,
    order: Sequence[str],
    names: Names,
) -> Chart | None:
    cells = _cells(runs, metrics, names)
    if cells.is_empty():
        return None
    words = names.captions.pairs
    quantity = names.captions.metric(words["metric"])
    spec = diverging_matrix(cells, order, _FIRST, _SECOND, quantity)
    return Chart(
        chart_id=chart_id,
        title=", ".join(filter(None, (quantity, condition))),
        caption=words["caption"],
        alternative=f"Matrix of {quantity}. {_told(cells)}",
        content={"kind": "spec", "spec": spec, "labels": []},
        metrics=(words["metric"],),
    )


def _judged(chart_id: str, regions: Regions, order: Sequence[str], names: Names) -> Chart:
    cells = pl.DataFrame(
        [
            {
                "row": names.protocol(first),
                "column": names.protocol(second),
                "value": float(level),
                "text": str(level),
            }
            for first, seconds in regions.pairs.items()
            for second, level in seconds.items()
        ]
    )
    words = names.captions.pairs
    spec = level_matrix(cells, order, _FIRST, _SECOND, words["regions"], regions.levels)
    return Chart(
        chart_id=chart_id,
        title=f"{words['regions']}, {regions.where}",
        caption=regions.note,
        alternative=f"Matrix of {words['regions']}. {_told(cells)}",
        content={"kind": "spec", "spec": spec, "labels": []},
    )


def _told(cells: pl.DataFrame) -> str:
    """Every cell in words, for who does not see the chart."""
    rows = cells.select("row", "column", "text").rows()
    return "; ".join(f"{row} before {column}: {text}" for row, column, text in rows)
