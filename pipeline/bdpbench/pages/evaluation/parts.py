"""The parts of an evaluation: a paper's tables with a row more, its figures with a line more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import polars as pl

from bdpbench.contracts.evaluation import (
    Column,
    EvaluatedStudy,
    Figure,
    Judgement,
    Part,
    Ranked,
    found_of,
    group_of,
)
from bdpbench.contracts.judged import Judged, direction
from bdpbench.pages.evaluation.findings import is_known
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.matrix_charts import Axes, valued_matrix
from bdpbench.pages.names import (
    ParameterWords,
    broken_dash_of,
    dash_of,
    lighter,
)
from bdpbench.pages.specs import Chart, Styles, spec_content
from bdpbench.pages.sweep_charts import (
    interval_bars,
    standing_chart,
    sweep_spec,
)
from bdpbench.pages.text import format_number, joined, listed
from bdpbench.units import axis_title, several, with_unit

MOST_NAMED = 3
"""Most evaluated protocols of which each has sentences of its own."""

_MOST_LISTED = 4

_MOST_LINES = 12
"""A curve of more protocols is a table in colours."""


class TableRow(NamedTuple):
    """A row of a table: who it is about, what else (``row``), and its cells, some absent."""

    label: str
    evaluated: bool
    row: str
    cells: Sequence[Ranked | None]


@dataclass(frozen=True)
class ShownPart:
    """A part as the page shows it.

    Attributes:
        part: of the document.
        anchor: id of its element.
        place: whose place the evaluated protocols take, in a sentence.
        answer: in how many values they are best and worst, "" if they cannot be compared.
        heads: title and unit of each column of its table.
        rows: those of the evaluated protocols first.
        quantity: what all cells are, if not every column has its own.
        absent: titles of the columns that were left out, as no run of them is there.
        charts: of a matrix or a curve.
        lacking: reasons for values that an evaluated protocol does not have, each once.
    """

    part: Part
    anchor: str
    place: str
    answer: str
    heads: Sequence[tuple[str, str]]
    rows: Sequence[TableRow]
    quantity: str
    absent: Sequence[str]
    charts: Sequence[Chart]
    lacking: Sequence[str]

    @property
    def cells(self) -> list[Ranked]:
        """All cells that are there."""
        return [cell for row in self.rows for cell in row.cells if cell]

    @property
    def has_rows(self) -> bool:
        """Whether rows differ in more than their protocol."""
        return any(each.row for each in self.rows)

    @property
    def has_prints(self) -> bool:
        """Whether any cell has a printed number beside it."""
        return any(each["printed"] is not None for each in self.cells)


class Parts:
    """Makes tables and charts of the cells of an evaluation."""

    def __init__(self, judgement: Judgement) -> None:
        self._judged, evaluation = judgement, judgement.evaluation
        self._labels = evaluation.labels
        self._colours = {each.key: each.colour for each in evaluation.protocols}
        self._new = [each.key for each in evaluation.evaluated]
        self._captions = read_captions()

    @cached_property
    def studies(self) -> list[tuple[EvaluatedStudy, dict[str, ShownPart]]]:
        """All studies, those of papers first, with their parts but for those of judged figures."""
        found = []
        for study in sorted(self._judged.evaluation.studies, key=lambda each: not each.paper):
            judged = {(each.part, each.column) for each in study.figures.values()}
            shown = {
                key: self._shown(study, key, part)
                for key, part in study.parts.items()
                if part.kind != "table" or any((key, name) not in judged for name in part.columns)
            }
            found.append((study, shown))
        return found

    @cached_property
    def _placed(self) -> list[Ranked]:
        """Cells that can be compared, of those of whose protocols not all share a place."""
        columns = self._judged.evaluation.columns
        ranked = [each for each in self._judged.cells if each["rank"] is not None]
        told_apart = {group_of(each) for each in ranked if (each["rank"] or 0) > 1}
        return [
            each
            for each in ranked
            if group_of(each) in told_apart
            and columns[each["study"], each["part"], each["column"]].better
        ]

    def counts(self, **where: str) -> list[tuple[str, int, int, int]]:
        """Of each evaluated protocol: its key, in how many values it is best, worst, and of all."""
        found = []
        for key in self._new:
            wanted = {"protocol": key, **where}.items()
            own = [each["place"] for each in self._placed if wanted <= each.items()]
            if own:
                found.append((key, own.count("first"), own.count("last"), len(own)))
        return found

    def compared(self, **where: str) -> str:
        """``counts`` in words; of many protocols, those that are best and worst most often."""
        counts = self.counts(**where)
        if len(self._new) > MOST_NAMED and counts:
            best = self._most([(key, number) for key, number, _, _ in counts])
            worst = self._most([(key, number) for key, _, number, _ in counts])
            total = several(max(total for *_, total in counts), "value")
            return f"Best most often, of {total}: {best}. Worst most often: {worst}"
        return "; ".join(
            f"{f'{self._labels[key]}: ' if len(self._new) > 1 else ''}best in {best or 'none'} and "
            f"worst in {worst or 'none'} of {several(total, 'value')}"
            for key, best, worst, total in counts
        )

    def _most(self, numbers: Sequence[tuple[str, int]]) -> str:
        """Names of the protocols with the largest numbers."""
        found = sorted((each for each in numbers if each[1]), key=lambda each: -each[1])
        named = found[:_MOST_LISTED]
        return ", ".join(f"{self._labels[key]} ({number})" for key, number in named) or "none"

    @cached_property
    def figures(self) -> list[Chart]:
        """Charts of the judged figures that have values."""
        drawn = map(self._figure, self._judged.figures)
        return [each for each in drawn if each is not None]

    def _figure(self, figure: Figure) -> Chart | None:
        """The chart of a judged figure: a bar for each protocol, the best on top.

        Returns:
            None if no protocol has a value.
        """
        known = [each for each in figure.values if is_known(each["value"]) or each["rank"]]
        known.sort(key=lambda each: each["rank"] or 0)
        if not any(is_known(each["value"]) for each in known):
            return None
        order = [self._labels[each["protocol"]] for each in known]
        ends = [found_of(each).ends for each in known]
        bars = pl.DataFrame(
            {
                "label": order,
                "mean": [each["value"] for each in known],
                "lower": [low for low, _ in ends],
                "upper": [high for _, high in ends],
                "runs": [len(each["run_ids"]) for each in known],
                "run_id": [next(iter(each["run_ids"]), "") for each in known],
            },
            schema_overrides=dict.fromkeys(("mean", "lower", "upper"), pl.Float64),
        )
        column, quantity = figure.column, axis_title(figure.column.title, figure.column.unit)
        colours = [self._colours[each["protocol"]] for each in known]
        marked = [self._labels[key] for key in self._new]
        spec = interval_bars(bars, order, colours, quantity, marked)
        return Chart(
            chart_id=f"figure-{figure.key}",
            title=column.title,
            caption=joined(figure.text, _better(column), by=" "),
            alternative=f"Bars of {column.title}: {'; '.join(order)}.",
            content=spec_content(spec),
        )

    def against(self, key: str, x: Figure, y: Figure) -> Chart | None:
        """Two judged figures against each other; None with fewer than two protocols that have both.

        Of many protocols, none stands out.
        """
        points = pl.DataFrame(
            [
                {
                    "label": self._labels[x["protocol"]],
                    "colour": self._colours[x["protocol"]],
                    "run_id": x["run_ids"][0],
                    "x": x["value"], "x_low": found_of(x).ends[0], "x_high": found_of(x).ends[1],
                    "y": y["value"], "y_low": found_of(y).ends[0], "y_high": found_of(y).ends[1],
                }
                for x, y in product(x.values, y.values)
                if x["protocol"] == y["protocol"] and is_known(x["value"]) and is_known(y["value"])
            ]
        )  # fmt: skip
        if points.height < 2:
            return None
        quantities = [(each.column.title, each.column.judged) for each in (x, y)]
        new = [self._labels[key] for key in self._new]
        marked = new if len(new) < points.height / 2 else []
        said = joined(x.text, y.text, by=" ")
        return standing_chart(key, points, quantities, self._captions, marked, said)

    def _shown(self, study: EvaluatedStudy, key: str, part: Part) -> ShownPart:
        own = [
            each for each in self._judged.cells if (each["study"], each["part"]) == (study.key, key)
        ]
        lacking = dict.fromkeys(
            f"{joined(part.columns[each['column']].title, each['row'])}: {each['why']}"
            for each in own
            if each["evaluated"] and each["why"] and each["value"] is None
        )
        place, new = "", [self._labels[each] for each in self._new]
        if study.paper and part.in_place_of:
            takes = "takes" if len(new) == 1 else "in turn take"
            others = listed(part.in_place_of)
            place = f"{listed(new)} {takes} the place of {others}; all else is as it was."
        heads, rows, quantity = self._table(part, own)
        # Without columns that have no runs, and without other protocols' empty rows.
        columns = [n for n in range(len(heads)) if any(row.cells[n] for row in rows)]
        return ShownPart(
            part=part,
            anchor=f"part-{study.key}-{key}",
            place=place,
            answer=self.compared(study=study.key, part=key),
            heads=[heads[n] for n in columns],
            rows=[
                row._replace(cells=[row.cells[n] for n in columns])
                for row in rows
                if row.evaluated or any(cell and is_known(cell["value"]) for cell in row.cells)
            ],
            quantity=quantity,
            absent=[title for n, (title, _) in enumerate(heads) if n not in columns],
            charts=list(self._charts(f"{study.key}-{key}", part, own)),
            lacking=list(lacking),
        )

    def _named(self, own: Sequence[Ranked]) -> list[tuple[str, Ranked]]:
        """Cells in the order of the protocols, with their labels.

        The label has the key in the study where that has several protocols of the kind.
        """
        order = list(self._labels)
        alike = Counter(name for name, _ in {(each["protocol"], each["own_key"]) for each in own})
        return [
            (f"{label} ({key})" if alike[each["protocol"]] > 1 and key else label, each)
            for each in sorted(own, key=lambda each: order.index(each["protocol"]))
            for label, key in [(self._labels[each["protocol"]], each["own_key"])]
        ]

    def _table(
        self, part: Part, own: Sequence[Ranked]
    ) -> tuple[list[tuple[str, str]], list[TableRow], str]:
        """Heads, rows and quantity of the table of a part."""
        quantity, is_apart = "", False
        if part.kind != "table":
            (column,) = part.columns.values()
            quantity = axis_title(column.title, column.unit)
        if part.kind == "table":
            heads: dict[object, tuple[str, str]] = {
                key: (each.title, each.unit) for key, each in part.columns.items()
            }
            keys = ("protocol", "own_key", "column", "row", "panel", "beside")
            places = {tuple(each[key] for key in keys) for each in own}  # type: ignore[literal-required]
            is_apart = len({place[:-1] for place in places}) < len(places)
        elif part.kind == "matrix":
            present = {each["beside"] for each in own}
            heads = {key: (label, "") for key, label in self._labels.items() if key in present}
        else:
            points = sorted({each["x"] or 0.0 for each in own})
            heads = {each: (with_unit(format_number(each), part.x_unit), "") for each in points}
        head = {"table": "column", "matrix": "beside", "curve": "x"}[part.kind]
        found: dict[tuple[str, str], dict[object, Ranked]] = {}
        for label, each in self._named(own):
            other = self._labels.get(each["beside"], "") if is_apart else ""
            row = joined(each["row"], each["panel"], other)
            found.setdefault((label, row), {})[each[head]] = each  # type: ignore[literal-required]
        rows = [
            TableRow(label, is_new, row, [of_row.get(key) for key in heads])
            for (label, row), of_row in found.items()
            for is_new in [any(each["evaluated"] for each in of_row.values())]
        ]
        if any(each.row for each in rows):  # a case of the paper with all protocols in it
            cases = list(dict.fromkeys(each.row for each in rows))
            rows.sort(key=lambda each: cases.index(each.row))
        return list(heads.values()), rows, quantity

    def _charts(self, prefix: str, part: Part, own: Sequence[Ranked]) -> Iterator[Chart]:
        if part.kind != "table":
            words = ParameterWords(self._captions.parameters, {})
            named = [(label, each) for label, each in self._named(own) if is_known(each["value"])]
            for number, panel in enumerate(dict.fromkeys(each["panel"] for each in own)):
                cells = [(label, each) for label, each in named if each["panel"] == panel]
                if part.kind == "matrix" or len({each["x"] for _, each in cells}) > 1:
                    is_number = panel.replace(".", "", 1).isdigit()
                    at = float(panel) if is_number else panel
                    told = words.with_value(part.panels, at) if part.panels else ""
                    is_matrix = part.kind == "matrix" or len(dict(cells)) > _MOST_LINES
                    draw = self._matrix if is_matrix else self._curve
                    name = f"{prefix}-{number}" if panel else prefix
                    yield draw(name, joined(part.title, told), part, cells)

    def _curve(
        self, chart_id: str, title: str, part: Part, cells: Sequence[tuple[str, Ranked]]
    ) -> Chart:
        (column,) = part.columns.values()
        lines = pl.DataFrame(
            [
                {
                    "x": each["x"],
                    "value": each["value"],
                    "lower": each["low"],
                    "upper": each["high"],
                    "printed": each["printed"],
                    "series": joined(label, each["row"]),
                    "protocol": each["protocol"],
                    "run_id": each["run_ids"][0],
                    "run": label,
                    "runs": len(each["run_ids"]),
                }
                for label, each in cells
            ],
            schema_overrides=dict.fromkeys(("lower", "upper", "printed"), pl.Float64),
        )
        intervals = lines.filter(pl.col("upper") > pl.col("lower"))
        printed = lines.filter(pl.col("printed").is_not_null())
        points = (pl.col("printed").alias(each) for each in ("value", "lower", "upper"))
        styles = self._styles(lines)
        name = self._captions.parameters.get(part.x or "") or part.x_title or part.x or ""
        titles = axis_title(name, part.x_unit), axis_title(column.title, column.unit)
        new = lines.filter(lines["protocol"].is_in(self._new))["series"].unique(maintain_order=True)
        spec = sweep_spec(
            lines.select("x", "value", "series", "run_id", "run"),
            printed.select("x", *points, "series", verdict=pl.lit("printed")),
            styles,
            titles,
            intervals,
            column.judged,
            new.to_list(),
        )
        return Chart(
            chart_id=chart_id,
            title=title,
            caption=joined(
                _better(column),
                f"Bars: {column.interval}." if intervals.height and column.interval else "",
                "Hollow diamonds are the printed values." if printed.height else "",
                by=" ",
            ),
            alternative=f"{column.title} against {titles[0]}. Series: {'; '.join(styles)}.",
            content=spec_content(spec, list(styles)),
        )

    def _styles(self, lines: pl.DataFrame) -> Styles:
        """Evaluated protocols have solid lines, the others dashes of their own.

        Further series of a protocol are lighter.
        """
        keys, new = list(self._labels), len(self._new)
        found: dict[str, tuple[str, Sequence[int]]] = {}
        seen: Counter[str] = Counter()
        pairs = lines.select("series", "protocol").unique(maintain_order=True).rows()
        for series, protocol in pairs:
            position = keys.index(protocol)
            dash = dash_of(0) if position < new else broken_dash_of(position - new)
            found[series] = (lighter(self._colours[protocol], seen[protocol]), dash)
            seen[protocol] += 1
        return found

    def _matrix(
        self, chart_id: str, title: str, part: Part, cells: Sequence[tuple[str, Ranked]]
    ) -> Chart:
        """A value for each protocol beside each other one, or at each point of a curve."""
        (column,) = part.columns.values()
        present = {each["beside"] for _, each in cells}
        columns = [label for key, label in self._labels.items() if key in present]
        if part.x is not None:
            points = sorted({each["x"] or 0.0 for _, each in cells})
            heads = {each: with_unit(format_number(each), part.x_unit) for each in points}
            columns = list(heads.values())
        rows = list(dict.fromkeys(label for label, _ in cells))
        values = [each["value"] or 0.0 for _, each in cells]
        largest = max(map(abs, values)) or 1.0
        about_zero = min(values) < 0
        shown = pl.DataFrame(
            [
                {
                    "panel": "",
                    "row": label,
                    "column": self._labels[each["beside"]]
                    if part.x is None
                    else heads[each["x"] or 0.0],
                    "value": each["value"],
                    "text": few_digits(each["value"], digits=2),
                    "run_id": each["run_ids"][0],
                    "run": label,
                }
                for label, each in cells
            ]
        )
        quantity = axis_title(column.title, column.unit)
        across = self._captions.parameters.get(part.x or "") or part.x_title
        names = ("first flow", "second flow") if part.x is None else ("", across)
        by = "beside" if part.x is None else "over"
        axes = Axes(rows, columns, names, quantity)
        ends = (-largest, largest) if about_zero else (min(values), largest)
        return Chart(
            chart_id=chart_id,
            title=title,
            caption="",
            alternative=f"Matrix of {column.title}: {'; '.join(rows)} {by} {'; '.join(columns)}.",
            content=spec_content(
                valued_matrix(shown, axes, ends, Judged(reference=0.0 if about_zero else None))
            ),
        )


def _better(column: Column) -> str:
    """Which values are better, in a sentence."""
    words = direction(column.judged)
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def value_text(cell: Ranked | None) -> str:
    """The value of a cell, with the decimals of what the study prints."""
    known = cell is not None and is_known(cell["value"])
    return format_number(cell["value"], like=cell["printed"]) if cell and known else "–"


def interval(cell: Ranked) -> str:
    """The interval of a value in words; "" if there is none."""
    low, high = cell["low"], cell["high"]
    if not (is_known(low) and is_known(high)) or low == high:
        return ""
    return f"{few_digits(low)} to {few_digits(high)}"


def few_digits(value: float | None, digits: int = 3) -> str:
    """A value where there is little room, with a few significant digits.

    >>> few_digits(0.67934), few_digits(9409.98), few_digits(99.42), few_digits(None)
    ('0.679', '9,410', '99.4', '–')
    """
    return format_number(float(f"{value:.{digits}g}") if is_known(value) else None)
