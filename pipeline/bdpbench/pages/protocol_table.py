"""The table at the top of a report: a row per protocol (and queue), a column per main metric.

In a study of pairs of protocols a row is a pair: little is measured of single ones there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.scorecard import NUMBER_VERDICTS
from bdpbench.pages.answers import measured
from bdpbench.pages.experiments import Experiment
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.names import declared, protocols_of
from bdpbench.pages.numbers import NumberRow
from bdpbench.pages.text import Total, format_number, totals

MOST_COLUMNS = 6
"""Most metrics of the table: more would not fit beside one another."""

MOST_PAIRS = 12
"""Most rows of protocols that meet; more are readable as matrices only."""


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
    """A protocol, or several that meet, with the queue if the study compares queues.

    Attributes:
        who: its name.
        protocols: their labels, by which the page is filtered.
        colours: their colours in all charts.
        anchor: where the page describes it, "" if nowhere.
        cells: one for each column; None where it was not measured.
        numbers: printed numbers about it, by their verdict.
    """

    who: str
    protocols: tuple[str, ...]
    colours: tuple[str, ...]
    anchor: str
    cells: tuple[Cell | None, ...]
    numbers: list[Total]


@dataclass(frozen=True)
class ProtocolTable:
    """Rows and columns; ``left_out`` metrics of experiments are shown with these alone."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    left_out: int

    @property
    def protocols(self) -> list[str]:
        """Labels of all protocols, each once, by which the page is filtered."""
        return list(dict.fromkeys(each for row in self.rows for each in row.protocols))

    @property
    def title(self) -> str:
        """What a row is."""
        met = any(len(row.protocols) > 1 for row in self.rows)
        alike = len({row.protocols for row in self.rows}) < len(self.rows)
        return f"By {'protocols that meet' if met else 'protocol'}{' and queue' if alike else ''}"


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
    names = data.names
    found, keys_of = _measured(data, experiments)
    chosen = _main(found, keys_of, experiments)
    if not chosen:
        return None
    by_key = {each.key: each for each in experiments}
    columns = tuple(
        _column(by_key[scenario], metric, found[scenario, metric], data)
        for scenario, metric in chosen
    )
    senders = dict.fromkeys(who for each in chosen for who in found[each]["who"])
    order = {key: place for place, key in enumerate(names.protocols)}
    rows = {
        who: tuple(map(names.protocol, keys_of[who]))
        for who in sorted(senders, key=lambda who: [order.get(key, 0) for key in keys_of[who]])
    }
    cells = [
        _cells(column, found[each], rows, numbers)
        for column, each in zip(columns, chosen, strict=True)
    ]
    return ProtocolTable(
        columns=columns,
        rows=tuple(
            Row(
                who=who,
                protocols=protocols,
                colours=tuple(map(names.colour, keys_of[who])),
                anchor=f"protocol-{key}" if key in described and len(protocols) == 1 else "",
                cells=tuple(column[place] for column in cells),
                numbers=[
                    each
                    for each in _totals([n for n in numbers if set(protocols) <= set(n.protocols)])
                    if each.count
                ],
            )
            for place, (who, protocols) in enumerate(rows.items())
            for key in keys_of[who][:1]
        ),
        left_out=len(found) - len(chosen),
    )


def _measured(
    data: ReportData, experiments: Sequence[Experiment]
) -> tuple[dict[tuple[str, str], pl.DataFrame], dict[str, tuple[str, ...]]]:
    """What was measured of single protocols, or of pairs if most experiments have more of these.

    Returns:
        (scenario, metric) → values as from ``measured``, and ``who`` → keys of its protocols.
    """
    found: dict[bool, dict[tuple[str, str], pl.DataFrame]] = {True: {}, False: {}}
    keys_of: dict[str, tuple[str, ...]] = {}
    mixing = 0
    for experiment in experiments:
        runs = [run for run in data.scenarios[experiment.key] if run["run_id"] in data.series]
        metrics = data.inputs.metrics.filter(pl.col("scenario") == experiment.key)
        keys = {run["run_id"]: tuple(dict.fromkeys(protocols_of(run))) for run in runs}
        senders: dict[bool, set[str]] = {True: set(), False: set()}
        for metric in experiment.asked:
            known = measured(runs, metrics, metric, "", data.names)
            for run_id, key, who in known.select("run_id", "protocol", "who").iter_rows():
                keys_of[who] = (key,) if key else keys[run_id]
                senders[key is None and len(keys[run_id]) > 1].add(who)
            for is_pair, whose in senders.items():
                values = known.filter(pl.col("who").is_in(whose))
                if values["value"].is_not_null().any():
                    found[is_pair][experiment.key, metric] = values
        mixing += 1 if len(senders[True]) > len(senders[False]) else -1
    pairs = {who for values in found[True].values() for who in values["who"]}
    return found[mixing > 0 and len(pairs) <= MOST_PAIRS], keys_of


def _main(
    found: Mapping[tuple[str, str], pl.DataFrame],
    keys_of: Mapping[str, tuple[str, ...]],
    experiments: Sequence[Experiment],
) -> list[tuple[str, str]]:
    """The main metrics in the order of the plan: of each experiment its first, then its second.

    Experiments with a question come before others, and those with more protocols before those
    with fewer. Where few experiments compare queues, these are left out: each queue would have a
    row of its own, empty but for them.
    """
    rows: dict[str, set[str]] = {}
    for (scenario, _), values in found.items():
        rows.setdefault(scenario, set()).update(values["who"])
    queues = {key for key, who in rows.items() if len({keys_of[each] for each in who}) < len(who)}
    left_out = queues if 2 * len(queues) < len(rows) else set()
    asked = {each.key: bool(each.question) for each in experiments}
    place: dict[tuple[str, str], int] = {}
    for scenario, metric in found:
        place[scenario, metric] = sum(other == scenario for other, _ in place)
    senders = {key: values["who"].n_unique() for key, values in found.items()}
    ranked = sorted(
        (key for key in found if key[0] not in left_out),
        key=lambda key: (place[key], not asked[key[0]], -senders[key]),
    )
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
    rows: Mapping[str, tuple[str, ...]],
    numbers: Sequence[NumberRow],
) -> list[Cell | None]:
    """The cells of a column, one for each row."""
    own = {who: each for (who,), each in values.group_by("who", maintain_order=True)}
    medians = {who: each["value"].median() for who, each in own.items()}
    known = [each for each in medians.values() if isinstance(each, float)]
    told = {"more": ("best", "worst"), "less": ("worst", "best"), "": ("highest", "lowest")}
    high, low = told[column.better]
    differ = len(known) > 1 and max(known) > min(known)
    cells: list[Cell | None] = []
    for who, protocols in rows.items():
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
                    and set(part.protocols) == set(protocols)
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
