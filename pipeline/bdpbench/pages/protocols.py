"""A report about its protocols: rules and values of each, their laws, and the table of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import polars as pl

from bdpbench.contracts.judged import Found, Judged, places, rounded
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.scorecard import CLAIM_VERDICTS, NUMBER_VERDICTS
from bdpbench.pages.answers import measured, settings
from bdpbench.pages.experiments import Experiment
from bdpbench.pages.inputs import ReportData, StudyTexts
from bdpbench.pages.names import Names, find_sweep, is_protocol, protocols_of
from bdpbench.pages.scored import ClaimRow, NumberRow
from bdpbench.pages.specs import Channel, Chart, number, spec_content
from bdpbench.pages.sweep_charts import MOST_POINTS, tradeoff_spec
from bdpbench.pages.text import Total, format_number, totals
from bdpbench.pages.texts import (
    Elsewhere,
    ProtocolData,
    Statement,
    data_of,
    read_protocols,
)
from bdpbench.studies.folders import Parameter, ProtocolFile, QueueFile, QueueFolder, Response
from bdpbench.studies.study import ClassDefaults
from bdpbench.units import MINUS, several

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


@dataclass(frozen=True)
class RulesPage:
    """Everything that the page shows about one protocol, or a queue that is a folder.

    Attributes:
        key, label: key and label in the study.
        parameters: each ``parameter``, with ``default``, ``range`` and ``value`` in the study as
            text.
        said: what the study says about it.
        number_totals, claim_totals: verdicts of the scorecard's rows that concern it.
        elsewhere: what reports of other studies say about it.
    """

    key: str
    label: str
    data: ProtocolData | ProtocolFile | QueueFile
    parameters: Sequence[Mapping[str, object]]
    said: Sequence[Statement] = ()
    number_totals: Sequence[Total] = ()
    claim_totals: Sequence[Total] = ()
    elsewhere: Sequence[Elsewhere] = ()


def described(study: StudyTexts) -> dict[str, ProtocolData | ProtocolFile]:
    """The protocols that their folders or ``reports/protocols/`` describe, in the study's order."""
    known = read_protocols()
    found = {key: data_of(each, known) for key, each in study.protocols.items()}
    return {key: data for key, data in found.items() if data is not None}


def protocol_pages(
    data: ReportData, numbers: Sequence[NumberRow], claims: Sequence[ClaimRow]
) -> list[RulesPage]:
    """Pages of the protocols that ``reports/protocols/`` describes, in the order of the study.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/protocols/``.
    """
    study, pages = data.inputs.study, []
    for key, text in described(study).items():
        own = [run for run in data.inputs.plan["runs"] if key in protocols_of(run)]
        parts = [
            part
            for row in numbers
            for part in row.rows
            if any(
                is_protocol(name) and key == each for name, each in part.number["select"].items()
            )
        ]
        said = [row for row in claims if key in row.claim["protocols"]]
        pages.append(
            RulesPage(
                key=key,
                label=data.names.protocol(key),
                data=text,
                parameters=[
                    _parameter_row(each, _values(each, key, study, own)) for each in text.parameters
                ],
                said=study.page.of(key).said,
                number_totals=_tally(parts),
                claim_totals=_tally(said, CLAIM_VERDICTS),
                elsewhere=study.elsewhere.get(key, ()),
            )
        )
    return pages


def queue_pages(data: ReportData) -> list[RulesPage]:
    """Pages of the queues that the study brings along as folders, in its order.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong in a folder.
    """
    found, runs = [], data.inputs.plan["runs"]
    for key, queue in data.inputs.study.queues.items():
        if queue.folder:
            file, rows = QueueFolder(Path(queue.folder)).file, []
            for each in file.parameters:
                said = queue.settings.get(each.variable, each.default)
                name = said.removeprefix("$") if isinstance(said, str) else ""
                rows.append(_parameter_row(each, _swept(runs, name) if name else [float(said)]))
            found.append(RulesPage(key, queue.label or key, file, rows))
    return found


def _tally(
    rows: Sequence[NumberRow | ClaimRow], verdicts: Sequence[str] = NUMBER_VERDICTS
) -> list[Total]:
    return totals(Counter(row.verdict.key for row in rows), verdicts)


def _parameter_row(parameter: Parameter, values: Sequence[float]) -> dict[str, object]:
    """A row of a table of parameters, with the values that a study gives one."""
    return {
        "parameter": parameter,
        "default": _number(parameter.default),
        "range": " to ".join(map(_number, parameter.range or ())),
        "value": ", ".join(map(_number, values)),
    }


def _number(value: float) -> str:
    """A parameter with all digits, even if it is small.

    >>> _number(83000), _number(1e-07), _number(0.8)
    ('83,000', '0.0000001', '0.8')
    """
    text = f"{value:,.10f}".rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def _values(
    parameter: Parameter, key: str, study: StudyTexts, runs: Sequence[PlannedRun]
) -> Sequence[float]:
    """Values of a parameter in the study, ascending: from its runs, settings or defaults."""
    protocol = study.protocols[key]
    given = protocol.linux_parameters.get(parameter.variable)
    if isinstance(given, int):
        return [given]
    for name, about in study.parameters.items():
        if given == f"${name}" or parameter.variable in about.sets.get(key, ()):
            return _swept(runs, name)
    default = _default(parameter, protocol.agent, study.defaults)
    return [protocol.settings.get(parameter.variable, default)]


def _swept(runs: Sequence[PlannedRun], name: str) -> list[float]:
    """The numbers that runs have of a parameter, ascending."""
    found = {run["parameters"].get(name) for run in runs}
    return sorted(value for value in found if isinstance(value, int | float))


def _default(parameter: Parameter, agent: str, defaults: ClassDefaults) -> float:
    """Default in the study: that of the agent's own class precedes those of its parents."""
    value, name = parameter.default, "Agent"
    for part in agent.split("/"):
        name = f"{name}/{part}"
        found = defaults.get(name, {}).get(parameter.variable)
        value = found if isinstance(found, int | float) else value
    return value


def law_charts(data: ReportData) -> list[Chart]:
    """Response functions, and growth and cuts of cwnd over its mean, of runs of one flow.

    Charts with too few points are left out.
    """
    names = data.names
    runs = [run for run in data.inputs.plan["runs"] if run["run_id"] in data.series]
    responses = {
        names.protocol(key): each.response
        for key, each in described(data.inputs.study).items()
        if each.response
    }
    points = {key: _points(runs, data.inputs.metrics, axes, names) for key, axes in _LAWS.items()}
    return [
        _law_chart(key, each, responses if key == "response" else {}, names)
        for key, each in points.items()
        if each.height >= _FEWEST_POINTS
    ]


def _law_chart(
    key: str, points: pl.DataFrame, known: Mapping[str, Response], names: Names
) -> Chart:
    laws = _laws(known, points)
    shown = {*points["series"].to_list(), *laws["series"].to_list()}
    styles = {
        names.protocol(each): (names.colour(each), names.dash(each))
        for each in names.protocols
        if names.protocol(each) in shown
    }
    words, axes = names.captions.charts[key], _LAWS[key]
    sources = "; ".join(f"{label} ({law.source})" for label, law in known.items())
    x, y = (_axis(*each, names) for each in zip("xy", axes, strict=True))
    spec = tradeoff_spec(points, styles, x, y, None if laws.is_empty() else laws)
    return Chart(
        chart_id=f"{key}-functions",
        title=words["title"],
        caption=f"{words['caption']} {words['laws']} {sources}." if sources else words["caption"],
        alternative=f"{words['title']} over logarithmic axes. Series: {'; '.join(styles)}.",
        content=spec_content(spec, list(styles)),
        metrics=axes,
    )


def _axis(channel: str, metric: str, names: Names) -> Channel:
    """A logarithmic axis with its title, and d3's format of its numbers."""
    title = names.metric(metric) + (" (packets)" if metric in _IN_PACKETS else "")
    axis = {"format": _FORMATS.get(metric, "~g"), "tickCount": 5}
    return number(channel, title, scale={"type": "log", "nice": False, "padding": 12}, axis=axis)


def _points(
    runs: Sequence[PlannedRun], metrics: pl.DataFrame, axes: tuple[str, str], names: Names
) -> pl.DataFrame:
    """``x``, ``y`` of two metrics, ``series``, ``run_id``, ``run``; no more than can be drawn."""
    rows = metrics.filter(pl.col("metric").is_in([_LOSSES, *axes])).drop_nulls("value")
    values = {
        run_id: dict(own.select("metric", "value").iter_rows())
        for (run_id,), own in rows.group_by("run_id")
        if own["subject"].n_unique() == 1
    }
    alone = {run["run_id"]: run for run in runs if "protocol" in run["parameters"]}
    points = [
        (own[axes[0]], own[axes[1]], names.protocol(protocols_of(run)[0]), run_id, run["label"])
        for run_id, run in alone.items()
        for own in [values.get(run_id, {})]
        # The axes are logarithmic.
        if min(own.get(each, 0) for each in (_LOSSES, *axes)) > 0
    ]
    texts = dict.fromkeys(("series", "run_id", "run"), pl.String)
    schema = {"x": pl.Float64, "y": pl.Float64, **texts}
    frame = pl.DataFrame(points, schema=schema, orient="row")
    # If there are more points than a browser draws at once, every second, third, … is kept.
    return frame.gather_every(1 + (frame.height - 1) // MOST_POINTS) if points else frame


def _laws(known: Mapping[str, Response], points: pl.DataFrame) -> pl.DataFrame:
    """Both ends of each law's line within the range of the points: ``x``, ``y``, ``series``."""
    rates, ends = points["x"].to_list(), []
    low, high = min(rates), max(rates)
    for label, law in known.items():
        last = min(high, (law.coefficient / law.smallest_pkts) ** (1 / law.exponent))
        ends += [(x, law.coefficient / x**law.exponent, label) for x in (low, last) if last > low]
    schema = {"x": pl.Float64, "y": pl.Float64, "series": pl.String}
    return pl.DataFrame(ends, schema=schema, orient="row")


# ---------------------------------------------------------------- the table at the top of a report

# A row per protocol (and queue), a column per main metric. In a study of pairs of protocols a row
# is a pair: little is measured of single ones there.

MOST_COLUMNS = 6
"""Most metrics of the table: more would not fit beside one another."""

_LEAST_BAR = 3.0

MOST_PAIRS = 12
"""Most rows of protocols that meet; more are readable as matrices only."""


@dataclass(frozen=True)
class Column:
    """A metric of an experiment, with ``chart``, the id of one that shows it, or "".

    ``full`` is the end of the bars in its cells, which begin at 0; None for a column without.
    """

    scenario: str
    metric: str
    experiment: str
    name: str
    unit: str
    chart: str
    judged: Judged
    full: float | None = None


@dataclass(frozen=True)
class Cell:
    """What was measured of a protocol with one setting of the swept parameters, or with several.

    Attributes:
        value: the mean of its runs; None if one of them never reached it.
        ends: the smallest and the largest value of the runs, or of the means of settings.
        text: the mean, or with several settings the smallest and the largest one.
        span: the smallest and the largest value of the runs, or the number of settings.
        runs: how many runs.
        is_range: whether it has several settings.
        mark: ``best``, ``worst``, ``highest`` or ``lowest`` of the column, or "".
        printed: the printed numbers of it.
        verdicts: how many of the printed numbers have each verdict.
    """

    value: float | None
    ends: tuple[float, float]
    text: str
    span: str
    runs: int
    is_range: bool
    mark: str
    printed: Sequence[NumberRow]
    verdicts: Sequence[Total]


@dataclass(frozen=True)
class Row:
    """A protocol, or several that meet, with the queue if the study compares queues.

    Attributes:
        who: its name.
        keys: their keys.
        protocols: their labels, by which the page is filtered.
        cells: one for each column; None where it was not measured.
        numbers: printed numbers about it, by their verdict.
    """

    who: str
    keys: tuple[str, ...]
    protocols: tuple[str, ...]
    cells: Sequence[Cell | None]
    numbers: Sequence[Total]


@dataclass(frozen=True)
class ProtocolTable:
    """Rows and columns; ``left_out`` metrics of experiments are shown with these alone."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    left_out: int

    @property
    def heads(self) -> list[tuple[str, str, int]]:
        """Name and unit of each metric, and of how many columns it is, one after the other."""
        return [
            (*head, len(list(own)))
            for head, own in groupby(self.columns, lambda each: (each.name, each.unit))
        ]

    def bar(self, column: Column, cell: Cell) -> tuple[float, float] | None:
        """Where the bar of a cell begins and ends, %; a range where it has several settings."""
        if column.full is None or cell.value is None:
            return None
        low, high = cell.ends if cell.is_range else (0.0, cell.value)
        end = 100 * high / column.full
        return max(0.0, min(100 * low / column.full, end - _LEAST_BAR)), end

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
    data: ReportData, experiments: Sequence[Experiment], numbers: Sequence[NumberRow]
) -> ProtocolTable | None:
    """The table; None if nothing was measured of a single protocol.

    Args:
        data: the data of the report.
        experiments: its experiments, with the metrics that they are asked for.
        numbers: rows of the scorecard.
    """
    names = data.names
    found, keys_of = _measured(data, experiments)
    chosen = _main(found, keys_of, experiments)
    if not chosen:
        return None
    by_key = {each.key: each for each in experiments}
    columns = [_column(by_key[each[0]], each[1], found[each], data) for each in chosen]
    # Those of one metric stand side by side, below one head.
    first = list(dict.fromkeys((each.name, each.unit) for each in columns))
    in_order = sorted(
        range(len(columns)), key=lambda n: first.index((columns[n].name, columns[n].unit))
    )
    columns, chosen = [columns[n] for n in in_order], [chosen[n] for n in in_order]
    senders = dict.fromkeys(who for each in chosen for who in found[each]["who"])
    order = {key: place for place, key in enumerate(names.protocols)}
    rows = {
        who: tuple(map(names.protocol, keys_of[who]))
        for who in sorted(senders, key=lambda who: [order.get(key, 0) for key in keys_of[who]])
    }
    values = [
        _cells(column, found[each], rows, numbers)
        for column, each in zip(columns, chosen, strict=True)
    ]
    columns = [_with_bars(each, columns, values) for each in columns]
    shown = []
    for who, protocols in rows.items():
        about = _given([each for each in numbers if set(protocols) <= set(each.protocols)])
        shown.append(Row(who, keys_of[who], protocols, [each.get(who) for each in values], about))
    return ProtocolTable(columns, shown, len(found) - len(chosen))


def _with_bars(
    column: Column, columns: Sequence[Column], values: Sequence[Mapping[str, Cell]]
) -> Column:
    """A column with bars, on the scale of all columns of its metric, if any of them differ."""
    alike = [own for each, own in zip(columns, values, strict=True) if each.name == column.name]
    ends = [end for own in alike for cell in own.values() for end in cell.ends]
    if (
        not ends
        or min(ends) < 0
        or not column.judged.lead(max(ends), min(ends)) + column.judged.lead(min(ends), max(ends))
    ):
        return column
    return replace(column, full=max(ends))


def _given(numbers: Sequence[NumberRow]) -> list[Total]:
    """How many of the numbers have each verdict that occurs."""
    return [each for each in _tally(numbers) if each.count]


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
        sweep = find_sweep(runs, swept=data.names.swept(experiment.key))
        keys = {run["run_id"]: tuple(dict.fromkeys(protocols_of(run))) for run in runs}
        senders: dict[bool, set[str]] = {True: set(), False: set()}
        for metric in experiment.asked:
            known = measured(runs, metrics, metric, sweep, data.names)
            for run_id, key, who in known.select("run_id", "protocol", "who").iter_rows():
                keys_of[who] = (key,) if key else keys[run_id]
                senders[key is None and len(keys[run_id]) > 1].add(who)
            for is_pair, whose in senders.items():
                values = known.filter(pl.col("who").is_in(whose))
                if values["value"].is_not_null().any():
                    found[is_pair][experiment.key, metric] = values
        mixing += 1 if len(senders[True]) > len(senders[False]) else -1
    shown = _main(found[True], keys_of, experiments)
    pairs = {who for each in shown for who in found[True][each]["who"]}
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
        judged=data.names.judged(metric),
    )


def _cells(
    column: Column,
    values: pl.DataFrame,
    rows: Mapping[str, tuple[str, ...]],
    numbers: Sequence[NumberRow],
) -> dict[str, Cell]:
    """The cells of a column: name of a row → what was measured of it."""
    found = {who: own for (who,), own in settings(values).group_by("who", maintain_order=True)}
    told = {who: _over_settings(own) for who, own in found.items()}
    known = {
        who: each for who, each in told.items() if column.judged.better or each.value is not None
    }
    placed = dict(zip(known, places(list(known.values()), column.judged), strict=True))
    words = {"first": "highest", "last": "lowest", "": ""}
    if column.judged.better:
        words = {"first": "best", "last": "worst", "": ""}
    printed = [
        part
        for row in numbers
        for part in row.rows
        if (part.number["scenario"], part.number["metric"]) == (column.scenario, column.metric)
    ]
    cells = {}
    for who, own in found.items():
        value, about = told[who], [n for n in printed if set(n.protocols) == set(rows[who])]
        spread = value.ends[1] - value.ends[0]
        low, high = (format_number(rounded(each, spread) or rounded(each)) for each in value.ends)
        text = "not reached"
        if value.value is not None:
            text = format_number(rounded(value.value, spread))
        span = "" if low == high or value.value is None else f"{low} to {high}"
        if own.height > 1:
            text, span = span or text, f"{own.height} settings"
        elif missed := int(own["missed"][0]):
            span = f"in {missed} of {several(int(own['runs'][0]), 'run')}"
        mark = words[placed[who].known] if who in placed else ""
        runs = int(own["runs"].sum())
        is_range = own.height > 1
        about_it = (about, _given(about))
        cells[who] = Cell(value.value, value.ends, text, span, runs, is_range, mark, *about_it)
    return cells


def _over_settings(own: pl.DataFrame) -> Found:
    """The value of a sender: of its only setting, or the range of the means over several."""
    means = own["value"].to_list()
    if len(means) == 1:
        return Found(means[0], own["low"][0], own["high"][0])
    if None in means:
        return Found(None)
    return Found(sum(means) / len(means), min(means), max(means))
