"""A metric over a swept parameter, one line for each protocol, with published values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.scorecard import ScoredNumber
from bdpbench.pages.chart import Chart, spec_content
from bdpbench.pages.names import Names
from bdpbench.pages.sweep_charts import Abscissa, sweep_spec
from bdpbench.pages.sweeps import Sweep, lighter, protocol_label, protocols_of
from bdpbench.pages.text import axis_title, flow_pair, subject_name
from bdpbench.pages.verdicts import VERDICTS


def metric_over_sweep(
    chart_id: str,
    metric: str,
    runs: Sequence[PlannedRun],
    sweep: Sweep,
    metrics: pl.DataFrame,
    numbers: Sequence[ScoredNumber],
    names: Names,
    repetitions: pl.DataFrame | None = None,
) -> Chart | None:
    """Chart of a metric over a sweep; None if no series of ``runs`` has two points.

    Args:
        chart_id: id of the chart on the page.
        metric: id of the metric.
        runs: finished runs of one scenario.
        sweep: what varies between them, see ``find_sweep``.
        metrics: as in ``metrics.parquet``.
        numbers: published numbers of the scenario, as in ``scorecard.json``.
        names: the names for readers.
        repetitions: means over repetitions, as in ``ReportInputs``.
    """
    if not sweep.main:
        return None
    rows = metrics.filter(pl.col("metric") == metric)
    measured = _measured(runs, sweep, rows, names)
    if not _has_sweep(measured):
        return None
    means = _means(metric, runs, sweep, rows["subject"].n_unique() > 1, repetitions, names)
    published = _published(
        runs, sweep, [each for each in numbers if each["metric"] == metric], names
    )
    abscissa = _abscissa(runs, sweep, names)
    return _chart(chart_id, metric, (measured, published, means), abscissa, names)


def _abscissa(runs: Sequence[PlannedRun], sweep: Sweep, names: Names) -> Abscissa:
    words, main = names.parameters, sweep.main
    if (pair := flow_pair(main)) is not None:
        first, second, common = pair
        fixed = {run["parameters"].get(second if main == first else first) for run in runs}
        # The sweep varies a parameter of one of two flows: a point represents the pair.
        if len(fixed) == 1 and isinstance(value := fixed.pop(), int | float):
            title = axis_title(f"{words.name(first)} : {words.name(second)}", words.unit(main))
            label = f"{{x}}:{value:g}" if main == first else f"{value:g}:{{x}}"
            return Abscissa(title, f"{words.name(common)}s", label)
    return Abscissa(axis_title(words.name(main), words.unit(main)), words.name(main), "")


def _has_sweep(measured: pl.DataFrame) -> bool:
    """Whether a series has two or more points; metrics of several runs have one per protocol."""
    reached = measured.drop_nulls("value")
    return bool((reached.group_by("series").agg(pl.col("x").n_unique())["x"] > 1).any())


def _measured(
    runs: Sequence[PlannedRun], sweep: Sweep, rows: pl.DataFrame, names: Names
) -> pl.DataFrame:
    """Points of a metric over the sweep; ``value`` is null if it was not reached."""
    by_id = {run["run_id"]: run for run in runs}
    subjects = rows["subject"].n_unique()
    points = [
        {
            "x": float(run["parameters"][sweep.main]),
            "value": row["value"],
            "series": _series_name(run, sweep, row["subject"] if subjects > 1 else "", names),
            "colour": names.colour(_first_protocol(run)),
            "protocol": _first_protocol(run),
            "run_id": row["run_id"],
            "run": run["label"],
            "unit": row["unit"],
        }
        for row in rows.iter_rows(named=True)
        if (run := by_id.get(row["run_id"])) is not None
    ]
    schema = dict.fromkeys(("series", "colour", "protocol", "run_id", "run", "unit"), pl.String)
    return pl.DataFrame(points, schema={"x": pl.Float64, "value": pl.Float64, **schema})


def _first_protocol(run: PlannedRun) -> str:
    return next(iter(protocols_of(run)), "")


def _series_name(run: PlannedRun, sweep: Sweep, subject: str, names: Names) -> str:
    parts = [protocol_label(run, names.protocols)] if protocols_of(run) else ["all runs"]
    parts += [
        names.parameters.with_value(name, run["parameters"].get(name)) for name in sweep.others
    ]
    return ", ".join([*parts, subject_name(subject)] if subject else parts)


def _published(
    runs: Sequence[PlannedRun], sweep: Sweep, numbers: Sequence[ScoredNumber], names: Names
) -> pl.DataFrame:
    """Published values over the sweep: x, value, lower, upper, series, verdict (words)."""
    by_id = {run["run_id"]: run for run in runs}
    several = len({number["subject"] for number in numbers}) > 1
    points = []
    for number in numbers:
        subject = number["subject"] if several else ""
        selected = number["select"]
        run = next((by_id[each] for each in number["run_ids"] if each in by_id), None)
        x = run["parameters"][sweep.main] if run else selected.get(sweep.main)
        if x is None:
            continue
        points.append(
            {
                "x": float(x),
                "value": number["published"],
                "lower": number["lower"],
                "upper": number["upper"],
                "series": _series_name(run, sweep, subject, names)
                if run
                else " and ".join(names.protocols_in(selected)),
                "verdict": VERDICTS[number["verdict"]].label,
            }
        )
    schema = dict.fromkeys(("x", "value", "lower", "upper"), pl.Float64)
    return pl.DataFrame(points, schema={**schema, "series": pl.String, "verdict": pl.String})


def _chart(
    chart_id: str,
    metric: str,
    points: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame],
    abscissa: Abscissa,
    names: Names,
) -> Chart:
    name = names.metric(metric)
    measured, published, means = points
    reached = measured.drop_nulls("value")
    styles = _styles(reached, names)
    spec = sweep_spec(
        reached.select("x", "value", "series", "run_id", "run"),
        published.filter(pl.col("series").is_in(list(styles))),
        styles,
        abscissa,
        axis_title(name, reached["unit"][0]),
        means.filter(pl.col("upper") > pl.col("lower")),
    )
    never = measured.filter(pl.col("value").is_null())["run"].to_list()
    notes = [repetitions_note(means), f"Not reached: {'; '.join(never)}." if never else ""]
    return Chart(
        chart_id=chart_id,
        title=f"{name} against {abscissa.name}",
        caption=names.captions.charts["sweep"]["caption"],
        alternative=f"{name} against {abscissa.title}. Series: {'; '.join(styles)}.",
        content=spec_content(spec, list(styles)),
        note=" ".join(filter(None, notes)),
        metrics=(metric,),
    )


def _styles(reached: pl.DataFrame, names: Names) -> dict[str, tuple[str, Sequence[int]]]:
    """Series → colour and dashes: a protocol's first has its colour, further ones are lighter."""
    styles: dict[str, tuple[str, Sequence[int]]] = {}
    seen: Counter[str] = Counter()
    for series, colour, protocol in reached.select("series", "colour", "protocol").rows():
        if series not in styles:
            nth = seen[protocol]
            styles[series] = (lighter(colour, nth), names.dash(protocol, nth))
            seen[protocol] += 1
    return styles


def _means(
    metric: str,
    runs: Sequence[PlannedRun],
    sweep: Sweep,
    several: bool,
    repetitions: pl.DataFrame | None,
    names: Names,
) -> pl.DataFrame:
    """Means over repetitions on the sweep, with the bounds of their intervals."""
    by_id = {run["run_id"]: run for run in runs}
    numbers = dict.fromkeys(("x", "lower", "value", "upper"), pl.Float64)
    schema = {**numbers, "runs": pl.Int64, "series": pl.String}
    if repetitions is None:
        return pl.DataFrame(schema=schema)
    rows = [
        {
            "x": float(run["parameters"][sweep.main]),
            "lower": row["mean"] - row["half_width"],
            "value": row["mean"],
            "upper": row["mean"] + row["half_width"],
            "runs": len(row["run_ids"]),
            "series": _series_name(run, sweep, row["subject"] if several else "", names),
        }
        for row in repetitions.filter(pl.col("metric") == metric).iter_rows(named=True)
        if (run := by_id.get(row["run_ids"][0])) is not None and run["scenario"] == row["scenario"]
    ]
    return pl.DataFrame(rows, schema=schema)


def repetitions_note(means: pl.DataFrame) -> str:
    """A note on means and their intervals, "" without repetitions.

    Args:
        means: ``lower``, ``upper``: equal if all repetitions have the same value; ``runs``.
    """
    if means.is_empty():
        return ""
    counts = sorted(set(means["runs"]))
    runs = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    equal = means.filter(pl.col("lower") == pl.col("upper")).height
    if equal == means.height:
        return (
            f"The {runs} repetitions are exactly equal, because nothing random affects this "
            "metric; there is no interval."
        )
    told = f"Bars are 95 % confidence intervals of means over {runs} repetitions."
    return f"{told} There is none where repetitions are exactly equal." if equal else told
