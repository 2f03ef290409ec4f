"""Who is fair to all others: the points that a protocol gets over all of its pairs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bdpbench.pages.chart import Chart
from bdpbench.pages.matrix_charts import protocol_bars
from bdpbench.pages.names import Names
from bdpbench.pages.regions import Regions
from bdpbench.pages.sweeps import Run, protocols_of
from bdpbench.pages.text import format_number


def points_chart(
    chart_id: str,
    condition: str,
    runs: Sequence[Run],
    metrics: pl.DataFrame,
    regions: Regions | None,
    names: Names,
) -> Chart | None:
    """Points of each protocol over all of its pairs; None where they were not measured.

    Args:
        chart_id: of the chart on the page.
        condition: what the runs have in common, in words; "" for nothing.
        runs: finished runs of the pairs.
        metrics: table of ``metrics.parquet``.
        regions: with the ranking that the study prints, if it does.
        names: words.
    """
    bars = _bars(runs, metrics, regions, names)
    if bars.is_empty():
        return None
    words = names.captions.pairs
    quantity = names.captions.metric(words["points"])
    order = bars["protocol"].to_list()
    labels = {names.protocol(key): each["colour"] for key, each in names.protocols.items()}
    colours = {label: labels[label] for label in order}
    told = "; ".join(
        f"{protocol}: {text}" for protocol, text in bars.select("protocol", "text").rows()
    )
    ranked = f" {words['ranked']}" if regions is not None and regions.ranking else ""
    return Chart(
        chart_id=chart_id,
        title=", ".join(filter(None, (quantity, condition))),
        caption=f"{words['points_caption']}{ranked}",
        alternative=f"Bars of {quantity}. {told}",
        content={
            "kind": "spec",
            "spec": protocol_bars(bars.drop("rank"), order, colours, quantity),
            "labels": [],
        },
        metrics=(words["points"],),
    )


def _bars(
    runs: Sequence[Run], metrics: pl.DataFrame, regions: Regions | None, names: Names
) -> pl.DataFrame:
    """Points of each protocol, which its run with itself carries; the printed rank beside them."""
    rows = metrics.filter(pl.col("metric") == names.captions.pairs["points"]).drop_nulls("value")
    values = dict(zip(rows["run_id"], rows["value"], strict=True))
    bars = []
    for run in runs:
        if run["run_id"] not in values:
            continue
        key = protocols_of(run)[0]
        rank = regions.rank(key) if regions is not None else None
        text = format_number(values[run["run_id"]])
        bars.append(
            {
                "protocol": names.protocol(key),
                "value": values[run["run_id"]],
                "text": text if rank is None else f"{text}; printed rank {rank}",
                "rank": rank or 0,
                "run_id": run["run_id"],
                "run": str(run["label"]),
            }
        )
    texts = dict.fromkeys(("run_id", "run"), pl.String)
    start = {"protocol": pl.String, "value": pl.Float64, "text": pl.String, "rank": pl.Int64}
    return pl.DataFrame(bars, schema={**start, **texts}).sort("rank", maintain_order=True)
