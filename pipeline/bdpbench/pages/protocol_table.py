"""The table at the top of a report: a row per protocol (and queue), a column per main metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.scorecard import NUMBER_VERDICTS
from bdpbench.pages.answers import measured
from bdpbench.pages.experiments import Experiment
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.names import declared
from bdpbench.pages.numbers import NumberRow
from bdpbench.pages.text import Total, format_number, totals

MOST_COLUMNS = 6
"""Most metrics of the table: more would not fit beside one another."""


@dataclass(frozen=True)
class Column:
    """A metric of an experiment.

    Attributes:
        scenario, metric: their ids.
        experiment, name: the same in words.
        unit: its unit, "" for ratios.
        chart: id of the chart that shows it, "" if none does.
        better: ``more`` or ``less``; "" where neither is.
    """

    scenario: str
    metric: str
    experiment: str
    name: str
    unit: str
    chart: str
    better: str


@dataclass(frozen=True)
class Cell:
    """What was measured of a protocol: the median over its runs, and their range.

    Attributes:
        value: the median; None if it was never reached.
        text, span: median and range; no range if all runs have the same value.
        runs: how many runs.
        mark: ``best``, ``worst``, ``highest`` or ``lowest`` of the column, or "".
        printed: the printed numbers of it.
    """

    value: float | None
    text: str
    span: str
    runs: int
    mark: str
    printed: tuple[NumberRow, ...]

    @property
    def printed_text(self) -> str:
        """The printed number, if there is one."""
        return format_number(self.printed[0].number["published"])

    @property
    def verdicts(self) -> list[Total]:
        """How many of the printed numbers have each verdict."""
        return [each for each in _totals(self.printed) if each.count]


@dataclass(frozen=True)
class Row:
    """A protocol, with the queue if the study compares queues.

    Attributes:
        who: its name.
        protocol: label of the protocol, by which the page is filtered.
        colour: its colour in all charts.
        anchor: where the page describes it, "" if nowhere.
        cells: one for each column; None where it was not measured.
        numbers: printed numbers about it, by their verdict.
    """

    who: str
    protocol: str
    colour: str
    anchor: str
    cells: tuple[Cell | None, ...]
    numbers: list[Total]


@dataclass(frozen=True)
class ProtocolTable:
    """Rows and columns; ``left_out`` metrics of experiments are shown with these alone."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    left_out: int


def protocol_table(
    data: ReportData,
    experiments: Sequence[Experiment],
    numbers: Sequence[NumberRow],
    described: Sequence[str],
) -> ProtocolTable | None:
    """The table; None if nothing was measured of a single protocol.

    Args:
        data: the data of the report.
        experiments: its experiments, with the metrics that they are asked for.
        numbers: rows of the scorecard.
        described: keys of the protocols that have a section of their own.
    """
    names, found = data.names, dict[tuple[str, str], pl.DataFrame]()
    for experiment in experiments:
        runs = [run for run in data.scenarios[experiment.key] if run["run_id"] in data.series]
        metrics = data.inputs.metrics.filter(pl.col("scenario") == experiment.key)
        for metric in experiment.asked:
            values = measured(runs, metrics, metric, "", names).drop_nulls("protocol")
            if values["value"].is_not_null().any():
                found[experiment.key, metric] = values
    chosen = _main(found, experiments)
    if not chosen:
        return None
    by_key = {each.key: each for each in experiments}
    columns = tuple(
        _column(by_key[scenario], metric, found[scenario, metric], data)
        for scenario, metric in chosen
    )
    senders = pl.concat([found[each].select("who", "protocol") for each in chosen]).unique(
        maintain_order=True
    )
    order = list(names.protocols)
    rows = sorted(senders.rows(), key=lambda row: order.index(row[1]) if row[1] in order else 0)
    cells = [
        _cells(column, found[each], rows, numbers, names.protocol)
        for column, each in zip(columns, chosen, strict=True)
    ]
    return ProtocolTable(
        columns=columns,
        rows=tuple(
            Row(
                who=who,
                protocol=names.protocol(key),
                colour=names.colour(key),
                anchor=f"protocol-{key}" if key in described else "",
                cells=tuple(column[place] for column in cells),
                numbers=[
                    each
                    for each in _totals([n for n in numbers if names.protocol(key) in n.protocols])
                    if each.count
                ],
            )
            for place, (who, key) in enumerate(rows)
        ),
        left_out=len(found) - len(chosen),
    )


def _main(
    found: Mapping[tuple[str, str], pl.DataFrame], experiments: Sequence[Experiment]
) -> list[tuple[str, str]]:
    """The main metrics in the order of the plan: of each experiment its first, then its second.

    Experiments with a question come before others, and those with more protocols before those
    with fewer.
    """
    asked = {each.key: bool(each.question) for each in experiments}
    place: dict[tuple[str, str], int] = {}
    for scenario, metric in found:
        place[scenario, metric] = sum(other == scenario for other, _ in place)
    senders = {key: values["protocol"].n_unique() for key, values in found.items()}
    ranked = sorted(found, key=lambda key: (place[key], not asked[key[0]], -senders[key]))
    kept = set(ranked[:MOST_COLUMNS])
    return [key for key in found if key in kept]


def _column(experiment: Experiment, metric: str, values: pl.DataFrame, data: ReportData) -> Column:
    charts = [each.chart_id for each in experiment.summaries if metric in each.metrics]
    unit = values["unit"][0]
    return Column(
        scenario=experiment.key,
        metric=metric,
        experiment=experiment.title,
        name=data.names.metric(metric),
        unit="" if unit == "1" else unit,
        chart=charts[0] if charts else "",
        better=declared(metric, data.names.captions.better) or "",
    )


def _cells(
    column: Column,
    values: pl.DataFrame,
    rows: Sequence[tuple[str, str]],
    numbers: Sequence[NumberRow],
    label: Callable[[str], str],
) -> list[Cell | None]:
    """The cells of a column, one for each row."""
    own = {who: each for (who,), each in values.group_by("who", maintain_order=True)}
    medians = {who: each["value"].median() for who, each in own.items()}
    known = [each for each in medians.values() if isinstance(each, float)]
    told = {"more": ("best", "worst"), "less": ("worst", "best"), "": ("highest", "lowest")}
    high, low = told[column.better]
    differ = len(known) > 1 and max(known) > min(known)
    cells: list[Cell | None] = []
    for who, key in rows:
        if who not in own:
            cells.append(None)
            continue
        median, found = medians[who], own[who]["value"].drop_nulls()
        value = median if isinstance(median, float) else None
        mark = ""
        if differ and value is not None:
            mark = high if value == max(known) else low if value == min(known) else ""
        cells.append(
            Cell(
                value=value,
                text="not reached" if value is None else format_number(value),
                span=_span(found),
                runs=own[who]["run_id"].n_unique(),
                mark=mark,
                printed=tuple(
                    part
                    for row in numbers
                    for part in row.rows
                    if part.number["metric"] == column.metric
                    and part.number["scenario"] == column.scenario
                    and part.protocols == (label(key),)
                ),
            )
        )
    return cells


def _span(found: pl.Series) -> str:
    """``72 to 98``; "" if all values look the same."""
    if found.is_empty():
        return ""
    low, high = (format_number(float(each)) for each in (found.min(), found.max()))  # type: ignore[arg-type]
    return "" if low == high else f"{low} to {high}"


def _totals(numbers: Sequence[NumberRow]) -> list[Total]:
    counts: dict[str, int] = {}
    for row in numbers:
        counts[row.verdict.key] = counts.get(row.verdict.key, 0) + 1
    return totals(counts, NUMBER_VERDICTS)
