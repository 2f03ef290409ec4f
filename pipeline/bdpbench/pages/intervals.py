"""Means over repetitions: a bar for each set of runs that differ only in their random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.chart import Chart, spec_content
from bdpbench.pages.matrix_charts import interval_bars
from bdpbench.pages.metric_sweeps import repetitions_note
from bdpbench.pages.names import Names
from bdpbench.pages.sweeps import Sweep, protocol_label, protocols_of
from bdpbench.pages.text import axis_title, subject_name

# More bars would be unreadable in one chart.
_MOST_BARS = 40


def interval_chart(
    chart_id: str,
    metric: str,
    runs: Sequence[PlannedRun],
    sweep: Sweep,
    repetitions: pl.DataFrame,
    names: Names,
) -> Chart | None:
    """Bars of a metric with confidence intervals; None if no runs of the scenario are repeated.

    Args:
        chart_id: id of the chart on the page.
        metric: id of the metric.
        runs: finished runs of one scenario.
        sweep: what varies between them, see ``find_sweep``.
        repetitions: scenario, metric, subject, unit, run_ids, mean, half_width.
        names: the names for readers.
    """
    rows = repetitions.filter(pl.col("metric") == metric)
    bars, colours = _bars(rows, runs, sweep, names)
    if not 0 < len(bars) <= _MOST_BARS:
        return None
    name, order = names.metric(metric), [bar["label"] for bar in bars]
    quantity = axis_title(name, bars[0]["unit"])
    means = pl.DataFrame(bars).drop("unit")
    spec = interval_bars(means, order, colours, quantity)
    return Chart(
        chart_id=chart_id,
        title=f"{name}, means",
        caption=names.captions.charts["repetitions"]["caption"],
        alternative=f"Bars of the mean {name} with confidence intervals: {'; '.join(order)}.",
        content=spec_content(spec),
        note=repetitions_note(means),
        metrics=(metric,),
    )


def _bars(
    rows: pl.DataFrame, runs: Sequence[PlannedRun], sweep: Sweep, names: Names
) -> tuple[list[dict[str, Any]], list[str]]:
    """Bars of these runs, each of which represents its repetitions, and their colours."""
    by_id = {run["run_id"]: run for run in runs}
    several = rows["subject"].n_unique() > 1
    bars, colours = [], []
    for row in rows.iter_rows(named=True):
        run = by_id.get(row["run_ids"][0])
        if run is None or run["scenario"] != row["scenario"]:
            continue
        subject = subject_name(row["subject"]) if several else ""
        bars.append(
            {
                "label": _label(run, subject, sweep, names),
                "mean": row["mean"],
                "lower": row["mean"] - row["half_width"],
                "upper": row["mean"] + row["half_width"],
                "runs": len(row["run_ids"]),
                "run_id": run["run_id"],
                "unit": row["unit"],
            }
        )
        colours.append(names.colour(next(iter(protocols_of(run)), "")))
    return bars, colours


def _label(run: PlannedRun, subject: str, sweep: Sweep, names: Names) -> str:
    known = protocols_of(run)
    who = protocol_label(run, names.protocols) if known else names.scenario(run["scenario"])
    parts = (who, sweep.describe(run, names.parameters), subject)
    return ", ".join(filter(None, parts))
