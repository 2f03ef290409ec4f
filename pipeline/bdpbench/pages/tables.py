"""The scorecard as tables for papers: the same rows as LaTeX (booktabs), Markdown and CSV."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bdpbench.contracts.documents import csv_of
from bdpbench.pages.latex import latex_table
from bdpbench.pages.scored import ClaimRow, NumberRow
from bdpbench.pages.text import distinct, format_deviation, format_number
from bdpbench.units import axis_title, slug

TABLE_FORMATS = ("tex", "md", "csv")

# A table or section of the paper with at least this many numbers gets a table of its own.
_OWN_TABLE = 3
Cell: TypeAlias = str | float | int | None


@dataclass(frozen=True)
class Column:
    """A column: its title for readers, and its name in CSV; ``numeric`` ones are right-aligned."""

    title: str
    key: str
    numeric: bool = False


@dataclass(frozen=True)
class PaperTable:
    """A table with rows for readers and for programs.

    Attributes:
        name: name of the files, without extension.
        title: one phrase.
        columns: columns of the readers' rows.
        rows: cells as text, as many as columns.
        data: rows for CSV: column → value, unrounded; empty if ``rows`` have everything.
        run_ids: runs that the numbers come from.
        definitions: ids of the definitions of the numbers.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    data: tuple[Mapping[str, Cell], ...] = ()
    run_ids: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()


_NUMBER_COLUMNS = (
    Column("Where", "where"),
    Column("Protocol", "protocol"),
    Column("Quantity (unit)", "quantity"),
    Column("Condition", "condition"),
    Column("Published", "published", numeric=True),
    Column("Bounds", "bounds", numeric=True),
    Column("Measured", "measured", numeric=True),
    Column("Deviation", "deviation", numeric=True),
    Column("Verdict", "verdict"),
)

_DATA_FIELDS = (
    *("id", "where", "page", "scenario", "metric", "subject", "published", "lower", "upper"),
    *("measured", "deviation", "deviation_pct", "unit", "verdict", "known_miss", "definition"),
    *("found", "chosen_on", "kind", "margin"),
)

_CLAIM_FIELDS = (
    *("id", "where", "page", "statement", "verdict", "margin", "explanation", "known_miss"),
    *("found", "chosen_on", "kind"),
)


def _cell(value: Any) -> Cell:
    return " ".join(value) if isinstance(value, list) else value


def score_tables(numbers: Sequence[NumberRow], claims: Sequence[ClaimRow]) -> list[PaperTable]:
    """All tables of a scorecard; empty ones are left out."""
    places = Counter(str(row.number["where"]) for row in numbers)
    found = [
        _numbers("numbers", "All published numbers beside the measured ones", numbers),
        *(
            _numbers(
                f"numbers-{slug(where)}",
                f"{where}, published and measured",
                [row for row in numbers if row.number["where"] == where],
            )
            for where, count in places.items()
            if count >= _OWN_TABLE
        ),
        _claims(claims),
    ]
    return [table for table in found if table.rows]


def _numbers(name: str, title: str, numbers: Sequence[NumberRow]) -> PaperTable:
    return PaperTable(
        name=name,
        title=title,
        columns=_NUMBER_COLUMNS,
        rows=tuple(_number_cells(row) for row in numbers),
        data=tuple(_number_data(row) for row in numbers),
        run_ids=distinct(run.run_id for row in numbers for run in row.runs),
        definitions=distinct(str(row.number["definition"]) for row in numbers),
    )


def _number_cells(row: NumberRow) -> tuple[str, ...]:
    number = row.number
    published, measured = number["published"], number["measured"]
    return (
        f"{number['where']}, p. {number['page']}" if number["page"] else str(number["where"]),
        " and ".join(row.protocols),
        axis_title(row.metric, str(number["unit"])),
        row.condition,
        format_number(published, like=published),
        " to ".join(format_number(number[end], like=number[end]) for end in ("lower", "upper")),
        format_number(measured, like=published),
        format_deviation(number["deviation"], measured, published),
        row.verdict.label,
    )


def _number_data(row: NumberRow) -> dict[str, Cell]:
    number: Mapping[str, Any] = row.number  # all of _DATA_FIELDS are cells
    return {
        **{name: _cell(number[name]) for name in _DATA_FIELDS},
        "runs_that_have_to_show_it": len(row.rows),
        "select": ";".join(f"{name}={value}" for name, value in row.number["select"].items()),
        "run_ids": " ".join(run.run_id for run in row.runs),
    }


def _claims(claims: Sequence[ClaimRow]) -> PaperTable:
    return PaperTable(
        name="statements",
        title="Statements of the study and their verdicts",
        columns=(
            Column("Where", "where"),
            Column("Statement", "statement"),
            Column("Verdict", "verdict"),
        ),
        rows=tuple(
            (str(row.claim["where"]), str(row.claim["statement"]), row.verdict.label)
            for row in claims
        ),
        data=tuple(
            {
                **{name: _cell(row.claim[name]) for name in _CLAIM_FIELDS},  # type: ignore[literal-required]
                "run_ids": " ".join(distinct(e["run_id"] for e in row.claim["evidence"])),
            }
            for row in claims
        ),
        run_ids=distinct(e["run_id"] for row in claims for e in row.claim["evidence"]),
    )


def render_table(table: PaperTable, caption: str) -> dict[str, str]:
    """A table as text: format of ``TABLE_FORMATS`` → content, with the caption in the first two."""
    heads = [(column.title, column.numeric) for column in table.columns]
    texts = (
        latex_table(table.name, caption, heads, table.rows),
        _markdown(table, caption),
        _csv(table),
    )
    return dict(zip(TABLE_FORMATS, texts, strict=True))


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def markdown_text(text: str) -> str:
    r"""Any text for a cell of Markdown: no markup, no HTML, no line break.

    >>> markdown_text("a_b | <i>")
    'a\\_b \\| \\<i\\>'
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _markdown(table: PaperTable, caption: str) -> str:
    titles = " | ".join(markdown_text(column.title) for column in table.columns)
    marks = "|".join("---:" if column.numeric else "---" for column in table.columns)
    rows = [" | ".join(markdown_text(cell) for cell in row) for row in table.rows]
    lines = [f"| {titles} |", f"|{marks}|", *(f"| {row} |" for row in rows)]
    return f"{markdown_text(caption)}\n\n" + "\n".join(lines) + "\n"


def _csv(table: PaperTable) -> str:
    """The unrounded rows; numbers as Python prints them, so that no digit is lost."""
    keys = [column.key for column in table.columns]
    data: Sequence[Mapping[str, Any]] = table.data or [
        dict(zip(keys, row, strict=True)) for row in table.rows
    ]
    return csv_of(list(data[0]) if data else keys, data)
