"""The parts of an evaluation: a paper's tables with a row more, its figures with a line more."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, cast

import polars as pl

from bdpbench.contracts.evaluation import (
    Column,
    EvaluatedProtocol,
    EvaluatedStudy,
    Evaluation,
    Figure,
    Part,
    PartRun,
    Quantity,
    never_reached,
)
from bdpbench.contracts.judged import Found, direction, places
from bdpbench.pages.curves import points_of_lines, settled
from bdpbench.pages.evaluation.findings import is_known, nearest
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.matrix_specs import Axes, valued_matrix
from bdpbench.pages.names import (
    ParameterWords,
    broken_dash_of,
    dash_of,
    lighter,
    subject_name,
)
from bdpbench.pages.series import RunSeries, points_of
from bdpbench.pages.specs import Chart, CurveContent, Styles, TimeContent, spec_content
from bdpbench.pages.sweep_charts import Abscissa, interval_bars, sweep_spec
from bdpbench.pages.text import format_number, joined, listed
from bdpbench.pages.texts import Elsewhere
from bdpbench.units import axis_title, several, with_unit

Prints: TypeAlias = Mapping[tuple[str, str, str, str], float]
"""(study, run id, metric, subject) → the number that the study prints for it."""

LoadSeries: TypeAlias = Callable[[str], str | None]
"""Run id → what ``pages.series.series_text`` made of the run; None if there is nothing."""

OVER_TIME = ("cwnd", "queue")
"""Tables that are shown beside those of the nearest relative."""

MOST_HISTORIES = 6
"""Most runs whose cwnd and queue are charted for each protocol and part."""

_DASH = "–"

_CELL = ("study", "part", "column", "row", "beside", "panel", "x")
"""What the cells have in common that are compared with one another."""


@dataclass(frozen=True)
class CellText:
    """A cell in words; ``value`` is unrounded, ``printed`` what the study prints, "" if nothing."""

    value: float | None
    text: str
    interval: str
    printed: str
    why: str
    run_ids: tuple[str, ...]


@dataclass(frozen=True)
class TableRow:
    """A row of a table: who it is about, what else (``row``), and its cells."""

    label: str
    evaluated: bool
    row: str
    cells: tuple[CellText, ...]


@dataclass(frozen=True)
class PartTable:
    """Cells as a table.

    Attributes:
        heads: title and unit of each column.
        rows: those of the evaluated protocols first.
        quantity: what all cells are, if not every column has its own.
        absent: titles of the columns that were left out, as no run of them is there.
    """

    heads: tuple[tuple[str, str], ...]
    rows: tuple[TableRow, ...]
    quantity: str = ""
    absent: tuple[str, ...] = ()

    @property
    def has_rows(self) -> bool:
        """Whether rows differ in more than their protocol."""
        return any(each.row for each in self.rows)

    @property
    def has_prints(self) -> bool:
        """Whether any cell has a printed number beside it."""
        return any(cell.printed for each in self.rows for cell in each.cells)


@dataclass(frozen=True)
class ShownPart:
    """A part as the page shows it.

    Attributes:
        part: of the document.
        anchor: id of its element.
        place: whose place the evaluated protocols take, in a sentence.
        answer: in how many values they are best and worst, "" if they cannot be compared.
        table: its cells; None for a history.
        charts: of a matrix, a curve or a history.
        lacking: reasons for values that an evaluated protocol does not have, each once.
    """

    part: Part
    anchor: str
    place: str
    answer: str
    table: PartTable | None
    charts: tuple[Chart, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True)
class ShownStudy:
    """A study with its parts.

    Attributes:
        parts: by their keys.
        place: whose place the evaluated protocols take in all of them, in a sentence, else "".
        answer: in how many values the evaluated protocols are best and worst, "" if in none.
    """

    study: EvaluatedStudy
    parts: Mapping[str, ShownPart]
    place: str
    answer: str


@dataclass(frozen=True)
class Earlier:
    """An earlier evaluation, and how it is named."""

    name: str
    evaluation: Evaluation
    cells: pl.DataFrame


@dataclass(frozen=True)
class EvaluationInputs:
    """An evaluation with what its page needs.

    Attributes:
        evaluation, cells: see ``contracts/evaluation.py``.
        prints: numbers that the studies print.
        load_series: series of runs over time.
        earlier: what it is compared with, if anything.
        elsewhere: key of an evaluated protocol → what reports of other studies say about it.
    """

    evaluation: Evaluation
    cells: pl.DataFrame
    prints: Prints
    load_series: LoadSeries
    earlier: Earlier | None = None
    elsewhere: Mapping[str, Sequence[Elsewhere]] = field(default_factory=dict)


class Parts:
    """Makes tables and charts of the cells of an evaluation; ``cells`` have the printed values."""

    def __init__(self, inputs: EvaluationInputs) -> None:
        self._evaluation, self._load_series = inputs.evaluation, inputs.load_series
        self._captions = read_captions()
        self._texts: dict[str, str] = {}
        printed = [_printed(row, inputs.prints) for row in inputs.cells.iter_rows(named=True)]
        self.cells = inputs.cells.with_columns(printed=pl.Series(printed, dtype=pl.Float64))

    @cached_property
    def protocols(self) -> dict[str, EvaluatedProtocol]:
        """Key → protocol, in the order of the document."""
        return {each.key: each for each in self._evaluation.protocols}

    @cached_property
    def _labels(self) -> dict[str, str]:
        return self._evaluation.labels

    @property
    def _new(self) -> list[str]:
        """Keys of the evaluated protocols."""
        return [key for key, each in self.protocols.items() if each.evaluated]

    @property
    def series_texts(self) -> Mapping[str, str]:
        """Run id → series of the runs that charts over time show, so far."""
        return self._texts

    @property
    def series(self) -> dict[str, RunSeries]:
        """The same, unpacked from JSON."""
        return {key: cast("RunSeries", json.loads(text)) for key, text in self._texts.items()}

    def studies(self) -> list[ShownStudy]:
        """All studies, those of papers first, with their parts but for those of judged figures."""
        figures = self._evaluation.figures
        judged = {(each.study, each.part, each.column) for each in figures}
        ordered = sorted(self._evaluation.studies, key=lambda each: not each.paper)
        found = []
        for study in ordered:
            shown = {
                key: self._shown(study, key, part)
                for key, part in study.parts.items()
                if part.kind != "table"
                or any((study.key, key, name) not in judged for name in part.columns)
            }
            takes = {each.place for each in shown.values()}
            place = takes.pop() if len(takes) == 1 else ""
            if place:
                shown = {key: replace(each, place="") for key, each in shown.items()}
            answer = "; ".join(self._compares(study=study.key))
            found.append(ShownStudy(study, shown, place, answer))
        return found

    @cached_property
    def _placed(self) -> list[tuple[Mapping[str, Any], str]]:
        """Cells that can be compared, with their places (``first``, ``last`` or "").

        Only those of places that not all protocols share.
        """
        columns = self._evaluation.columns.items()
        judged = {place: column.judged for place, column in columns if column.better}
        groups: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
        for cell in self.cells.iter_rows(named=True):
            is_placed = is_known(cell["value"]) or never_reached(cell["value"], cell["why"])
            if is_placed and (cell["study"], cell["part"], cell["column"]) in judged:
                groups.setdefault(tuple(cell[each] for each in _CELL), []).append(cell)
        found: list[tuple[Mapping[str, Any], str]] = []
        for place, cells in groups.items():
            values = [Found(each["value"], each["low"], each["high"]) for each in cells]
            own = places(values, judged[place[:3]])  # type: ignore[index]
            if any(each.rank > 1 for each in own):
                found += zip(cells, (each.known for each in own), strict=True)
        return found

    def _compares(self, **where: str) -> Iterator[str]:
        """Of how many values each evaluated protocol has the best, and of how many the worst."""
        for key in self._new:
            wanted = {"protocol": key, **where}
            own = [
                place
                for cell, place in self._placed
                if all(cell[name] == value for name, value in wanted.items())
            ]
            if own:
                who = f"{self._labels[key]}: " if len(self._new) > 1 else ""
                best, worst = own.count("first"), own.count("last")
                of = several(len(own), "value")
                yield f"{who}best in {best or 'none'} and worst in {worst or 'none'} of {of}"

    def figure(self, figure: Figure) -> Chart | None:
        """The chart of a judged figure: a bar for each protocol, the best on top.

        Returns:
            None if no protocol has a value.
        """
        known = [each for each in figure.values if is_known(each.value)]
        known.sort(key=lambda each: each.rank or 0)
        if not known:
            return None
        never = [
            self._labels[each.protocol]
            for each in figure.values
            if each.rank and not is_known(each.value)
        ]
        order = [self._labels[each.protocol] for each in known]
        bars = pl.DataFrame(
            [
                {
                    "label": label,
                    "mean": each.value,
                    "lower": each.value if each.low is None else each.low,
                    "upper": each.value if each.high is None else each.high,
                    "runs": len(each.runs),
                    "run_id": next(iter(each.runs), ""),
                }
                for label, each in zip(order, known, strict=True)
            ],
            schema_overrides=dict.fromkeys(("mean", "lower", "upper"), pl.Float64),
        )
        colours = [self.protocols[each.protocol].colour for each in known]
        marked = [self._labels[key] for key in self._new]
        quantity = axis_title(figure.title, figure.unit)
        return Chart(
            chart_id=f"figure-{figure.key}",
            title=figure.title,
            caption=joined(
                figure.text,
                _better(figure),
                f"Without a bar, as they never got there: {listed(never)}." if never else "",
                by=" ",
            ),
            alternative=f"Bars of {figure.title}: {'; '.join(order)}.",
            content=spec_content(interval_bars(bars, order, colours, quantity, marked)),
            metrics=(),
        )

    def _shown(self, study: EvaluatedStudy, key: str, part: Part) -> ShownPart:
        own = self.cells.filter(study=study.key, part=key)
        lacks = own.filter(pl.col("evaluated") & (pl.col("why") != "") & pl.col("value").is_null())
        return ShownPart(
            part=part,
            anchor=f"part-{study.key}-{key}",
            place=self._place(part) if study.paper else "",
            answer="; ".join(self._compares(study=study.key, part=key)),
            table=None if part.kind == "history" else self._table(part, own),
            charts=tuple(self._charts(study, key, part, own)),
            lacking=tuple(_lacking(part, lacks)),
        )

    def _place(self, part: Part) -> str:
        """Whose place the evaluated protocols take, in a sentence; "" if nobody's."""
        places = list(dict.fromkeys(part.in_place_of.values()))
        new = [self._labels[key] for key in self._new]
        if not places:
            return ""
        takes = "takes" if len(new) == 1 else "in turn take"
        return f"{listed(new)} {takes} the place of {listed(places)}; all else is as it was."

    def _named(self, own: pl.DataFrame) -> pl.DataFrame:
        """Cells in the order of the protocols, with their ``label``.

        The label has the key in the study where that has several protocols of the kind.
        """
        order, keys = list(self.protocols), own.select("protocol", "own_key")
        alike = Counter(keys.unique()["protocol"])
        labels = [
            f"{self._labels[protocol]} ({own_key})"
            if alike[protocol] > 1 and own_key
            else self._labels[protocol]
            for protocol, own_key in keys.iter_rows()
        ]
        places = [order.index(each) for each in own["protocol"]]
        columns = (pl.Series("label", labels, pl.String), pl.Series("place", places, pl.Int64))
        return own.with_columns(columns).sort("place", maintain_order=True)

    def _table(self, part: Part, own: pl.DataFrame) -> PartTable:
        cells = self._named(own)
        quantity, is_apart = "", False
        if part.kind == "table":
            heads = {key: (each.title, each.unit) for key, each in part.columns.items()}
            places = cells.group_by("label", "column", "row", "panel")
            is_apart = bool((places.agg(pl.col("beside").n_unique())["beside"] > 1).any())
            cells = cells.with_columns(head="column")
        else:
            (column,) = part.columns.values()
            quantity = axis_title(column.title, column.unit)
            if part.kind == "matrix":
                present = set(cells["beside"])
                heads = {key: (self._labels[key], "") for key in self.protocols if key in present}
                cells = cells.with_columns(head="beside")
            else:
                points = [format_number(each) for each in cells["x"].unique().sort()]
                heads = {each: (with_unit(each, part.x_unit), "") for each in points}
                texts = [format_number(each) for each in cells["x"]]
                cells = cells.with_columns(head=pl.Series(texts, dtype=pl.String))
        found: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
        for cell in cells.iter_rows(named=True):
            beside = self._labels.get(cell["beside"], "") if is_apart else ""
            other = joined(cell["row"], cell["panel"], beside)
            found.setdefault((cell["label"], other), {})[cell["head"]] = cell
        rows = [
            TableRow(
                label,
                any(each["evaluated"] for each in of_row.values()),
                other,
                tuple(_cell_text(of_row.get(key)) for key in heads),
            )
            for (label, other), of_row in found.items()
        ]
        if any(each.row for each in rows):  # a case of the paper with all protocols in it
            cases = list(dict.fromkeys(each.row for each in rows))
            rows.sort(key=lambda each: cases.index(each.row))
        return _without_absent(list(heads.values()), rows, quantity)

    def _charts(
        self, study: EvaluatedStudy, key: str, part: Part, own: pl.DataFrame
    ) -> Iterator[Chart]:
        prefix = f"{study.key}-{key}"
        if part.kind == "history":
            yield from self._histories(prefix, part)
        elif part.kind in ("curve", "matrix"):
            known = self._named(own).filter(pl.col("value").is_finite())
            for number, panel in enumerate(own["panel"].unique(maintain_order=True)):
                of_panel = known.filter(panel=panel)
                if part.kind == "matrix" or of_panel["x"].n_unique() > 1:
                    name = f"{prefix}-{number}" if panel else prefix
                    title = joined(part.title, self._panel(part, panel))
                    draw = self._matrix if part.kind == "matrix" else self._curve
                    yield draw(name, title, part, of_panel)

    def _panel(self, part: Part, value: str) -> str:
        """The value of a panel with the name of its parameter; "" without panels."""
        if not value or part.panels is None:
            return ""
        words = ParameterWords(self._captions.parameters, {})
        try:
            return words.with_value(part.panels, float(value))
        except ValueError:
            return words.with_value(part.panels, value)

    def _curve(self, chart_id: str, title: str, part: Part, cells: pl.DataFrame) -> Chart:
        (column,) = part.columns.values()
        lines = cells.with_columns(
            series=pl.when(pl.col("row") == "")
            .then(pl.col("label"))
            .otherwise(pl.col("label") + ", " + pl.col("row")),
            run_id=pl.col("run_ids").list.first(),
            runs=pl.col("run_ids").list.len().cast(pl.Int64),
        )
        measured = lines.select("x", "value", "series", "run_id", run="label")
        intervals = lines.filter(pl.col("high") > pl.col("low")).select(
            "x",
            pl.col("low").alias("lower"),
            "value",
            pl.col("high").alias("upper"),
            "runs",
            "series",
        )
        styles = self._styles(lines)
        name = self._captions.parameters.get(part.x or "") or part.x_title or part.x or ""
        abscissa = Abscissa(axis_title(name, part.x_unit), name)
        quantity = axis_title(column.title, column.unit)
        points = (pl.col("printed").alias(each) for each in ("value", "lower", "upper"))
        printed = lines.filter(pl.col("printed").is_not_null()).select(
            "x", *points, "series", verdict=pl.lit("printed")
        )
        new = lines.filter(lines["protocol"].is_in(self._new))["series"].unique(maintain_order=True)
        spec = sweep_spec(measured, printed, styles, abscissa, quantity, intervals, new.to_list())
        return Chart(
            chart_id=chart_id,
            title=title,
            caption=_caption(
                part, column, bars=not intervals.is_empty(), prints=not printed.is_empty()
            ),
            alternative=f"{column.title} against {abscissa.title}. Series: {'; '.join(styles)}.",
            content=spec_content(spec, list(styles)),
            metrics=(column.metric,),
        )

    def _styles(self, lines: pl.DataFrame) -> Styles:
        """Evaluated protocols have solid lines, the others dashes of their own.

        Further series of a protocol are lighter.
        """
        keys, new = list(self.protocols), len(self._new)
        found: dict[str, tuple[str, Sequence[int]]] = {}
        seen: list[str] = []
        for series, protocol in (
            lines.select("series", "protocol").unique(maintain_order=True).rows()
        ):
            position = keys.index(protocol)
            dash = dash_of(0) if position < new else broken_dash_of(position - new)
            nth = sum(each == protocol for each in seen)
            found[series] = (lighter(self.protocols[protocol].colour, nth), dash)
            seen.append(protocol)
        return found

    def _matrix(self, chart_id: str, title: str, part: Part, cells: pl.DataFrame) -> Chart:
        (column,) = part.columns.values()
        others = [each for each in self.protocols if each in set(cells["beside"])]
        columns = [self._labels[each] for each in others]
        rows = cells["label"].unique(maintain_order=True).to_list()
        values = cells["value"].to_list()
        largest = max(map(abs, values)) or 1.0
        about_zero = min(values) < 0
        shown = cells.select(
            pl.lit("").alias("panel"),
            row="label",
            column=pl.col("beside").replace_strict({each: self._labels[each] for each in others}),
            value="value",
            text=pl.Series([few_digits(each, digits=2) for each in values]),
            run_id=pl.col("run_ids").list.first(),
            run=pl.col("label"),
        )
        quantity = axis_title(column.title, column.unit)
        axes = Axes(rows, columns, ("first flow", "second flow"), quantity)
        ends = (-largest, largest) if about_zero else (min(values), largest)
        return Chart(
            chart_id=chart_id,
            title=title,
            caption=_caption(part, column, bars=False, prints=False),
            alternative=f"Matrix of {column.title}: {'; '.join(rows)} beside {'; '.join(columns)}.",
            content=spec_content(valued_matrix(shown, axes, ends, 0.0 if about_zero else None)),
            metrics=(column.metric,),
        )

    def _histories(self, prefix: str, part: Part) -> Iterator[Chart]:
        """The cwnd and queue of evaluated protocols beside those of the nearest relatives there."""
        titles = {each.scenario: each.title for each in part.columns.values()}
        for key in self._new:
            others = dict.fromkeys(
                run.protocol for run in part.runs if run.protocol not in self._new
            )
            relative = self.protocols[key].relative
            if relative not in others:
                relative = nearest(self._evaluation.figures, key, others)
            pairs = list(_pairs(part.runs, key, relative))
            for number, runs in enumerate(pairs[:MOST_HISTORIES]):
                for table in OVER_TIME:
                    chart_id = f"{prefix}-{key}-{number}-{table}"
                    title = titles.get(runs[0].scenario) or runs[0].label
                    chart = self._over_time(chart_id, table, title, runs)
                    if chart is not None:
                        yield chart

    def _over_time(
        self, chart_id: str, table: str, title: str, runs: Sequence[PartRun]
    ) -> Chart | None:
        lines: list[CurveContent] = []
        for position, run in enumerate(runs):
            own = self._series_of(run.run_id).get(table, {})
            protocol = self.protocols[run.protocol]
            for number, subject in enumerate(own):
                label = protocol.label
                if len(own) > 1:
                    label = f"{label}, {subject_name(subject)}"
                dash = dash_of(position + len(runs) * number)
                lines.append(
                    {
                        "run": run.run_id,
                        "subject": subject,
                        "label": label,
                        "colour": protocol.colour,
                        "dash": list(dash),
                    }
                )
        if not lines:
            return None
        first = self._series_of(runs[0].run_id)
        ends = [points_of(first, table, each)[0][-1] for each in first.get(table, {})]
        words = self._captions.charts[table]
        labels = [self._labels[each.protocol] for each in runs]
        content: TimeContent = {
            "kind": table,
            "end": max(ends, default=0.0) or 1.0,
            "traces": lines,
            "thresholds": [],
        }
        return Chart(
            chart_id=chart_id,
            title=joined(words["title"], title),
            caption=_beside(labels),
            alternative=f"Line chart of {words['quantity']} over time. Lines: "
            f"{'; '.join(line['label'] for line in lines)}.",
            content=settled(content, points_of_lines(lines, table, self.series)),
        )

    def _series_of(self, run_id: str) -> RunSeries:
        if run_id not in self._texts:
            text = self._load_series(run_id)
            if text is None:
                return {}
            self._texts[run_id] = text
        return cast("RunSeries", json.loads(self._texts[run_id]))


def _printed(cell: Mapping[str, Any], prints: Prints) -> float | None:
    """The number that a study prints for the runs of a cell; None if it prints none."""
    places = ((cell["study"], run, cell["metric"], cell["subject"]) for run in cell["run_ids"])
    return next((prints[each] for each in places if each in prints), None)


def _cell_text(cell: Mapping[str, Any] | None) -> CellText:
    if cell is None:
        return CellText(None, _DASH, "", "", "", ())
    printed, known = cell["printed"], is_known(cell["value"])
    return CellText(
        value=cell["value"] if known else None,
        text=format_number(cell["value"], like=printed) if known else _DASH,
        interval=interval(cell["low"], cell["high"]),
        printed="" if printed is None else format_number(printed, like=printed),
        why="" if known else cell["why"],
        run_ids=tuple(cell["run_ids"]),
    )


def _without_absent(
    heads: Sequence[tuple[str, str]], rows: Sequence[TableRow], quantity: str
) -> PartTable:
    """The table without columns that have no runs, and without other protocols' empty rows."""
    columns = [n for n in range(len(heads)) if any(row.cells[n].run_ids for row in rows)]
    kept = tuple(
        replace(row, cells=tuple(row.cells[n] for n in columns))
        for row in rows
        if row.evaluated or any(cell.value is not None for cell in row.cells)
    )
    absent = tuple(title for n, (title, _) in enumerate(heads) if n not in columns)
    return PartTable(tuple(heads[n] for n in columns), kept, quantity, absent)


def _better(quantity: Quantity) -> str:
    """Which values are better, in a sentence."""
    words = direction(quantity.judged)
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def interval(low: float | None, high: float | None) -> str:
    """The interval of a value in words; "" if there is none.

    >>> interval(1.25, 12.54), interval(3.0, 3.0), interval(None, None)
    ('1.25 to 12.5', '', '')
    """
    if low is None or high is None or not (is_known(low) and is_known(high)) or low == high:
        return ""
    return f"{few_digits(low)} to {few_digits(high)}"


def few_digits(value: float | None, digits: int = 3) -> str:
    """A value where there is little room, with a few significant digits.

    >>> few_digits(0.67934), few_digits(9409.98), few_digits(99.42), few_digits(None)
    ('0.679', '9,410', '99.4', '–')
    """
    return format_number(float(f"{value:.{digits}g}") if is_known(value) else None)


def _lacking(part: Part, lacks: pl.DataFrame) -> Iterator[str]:
    """Columns without a value, with the reasons, each once."""
    titles = {key: each.title for key, each in part.columns.items()}
    rows = lacks.select("column", "row", "why").unique(maintain_order=True).rows()
    for column, row, why in rows:
        yield f"{joined(titles.get(column, column), row)}: {why}"


def _caption(part: Part, column: Column, *, bars: bool, prints: bool) -> str:
    """What the marks of a chart are."""
    better = _better(column) if part.kind == "curve" else ""
    return joined(
        better,
        f"Bars: {column.interval}." if bars and column.interval else "",
        "Hollow diamonds are the printed values." if prints else "",
        by=" ",
    )


def _beside(labels: Sequence[str]) -> str:
    """Who is shown beside whom, in a sentence; "" if nobody is.

    >>> _beside(["Mine", "CUBIC"])
    'Mine beside CUBIC, which ranks most like it here.'
    """
    first, *others = labels
    return f"{first} beside {others[0]}, which ranks most like it here." if others else ""


def _pairs(runs: Sequence[PartRun], key: str, relative: str) -> Iterator[list[PartRun]]:
    """Each run of a protocol, with the run of its relative at the same place of the scenario."""
    for scenario in dict.fromkeys(each.scenario for each in runs):
        of_scenario = [each for each in runs if each.scenario == scenario]
        own = [each for each in of_scenario if each.protocol == key and each.evaluated]
        others = [each for each in of_scenario if relative and each.protocol == relative]
        for position, run in enumerate(own):
            beside = others[position : position + 1] if len(others) == len(own) else others[:1]
            yield [run, *beside]
