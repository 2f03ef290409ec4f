"""The scorecard as tables for papers: numbers, statements, and totals by protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bdpbench.contracts.scorecard import CLAIM_VERDICTS, NUMBER_VERDICTS
from bdpbench.pages.paper_tables import Cell, Column, PaperTable
from bdpbench.pages.sections import Sections
from bdpbench.pages.text import axis_title, format_deviation, format_number
from bdpbench.pages.verdicts import VERDICTS, ClaimRow, NumberRow
from bdpbench.units import slug

_NUMBER_COLUMNS = (
    Column("Where", "where"),
    Column("Protocol", "protocol"),
    Column("Quantity (unit)", "quantity", width=0.24),
    Column("Condition", "condition"),
    Column("Published", "published", numeric=True),
    Column("Bounds", "bounds", numeric=True),
    Column("Measured", "measured", numeric=True),
    Column("Deviation", "deviation", numeric=True),
    Column("Verdict", "verdict"),
)

# A table or section of the paper with at least this many numbers gets a table of its own.
_OWN_TABLE = 3


def score_tables(sections: Sections) -> list[PaperTable]:
    """All tables of a scorecard; empty ones are left out."""
    found = [
        _numbers("numbers", "All published numbers beside the measured ones", sections.numbers),
        *_by_place(sections.numbers),
        _totals(sections),
        _claims(sections.claims),
    ]
    return [table for table in found if table.rows]


def _by_place(numbers: Sequence[NumberRow]) -> Iterator[PaperTable]:
    places = Counter(str(row.number["where"]) for row in numbers)
    for where, count in places.items():
        if count >= _OWN_TABLE:
            rows = [row for row in numbers if row.number["where"] == where]
            yield _numbers(f"numbers-{slug(where)}", f"{where}, published and measured", rows)


def _numbers(name: str, title: str, numbers: Sequence[NumberRow]) -> PaperTable:
    return PaperTable(
        name=name,
        title=title,
        columns=_NUMBER_COLUMNS,
        rows=tuple(_number_cells(row) for row in numbers),
        data=tuple(_number_data(row) for row in numbers),
        run_ids=_distinct(run.run_id for row in numbers for run in row.runs),
        definitions=_distinct(str(row.number["definition"]) for row in numbers),
    )


def _distinct(values: Iterator[str]) -> tuple[str, ...]:
    return tuple(value for value in dict.fromkeys(values) if value)


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


_DATA_FIELDS = (
    "id",
    "where",
    "page",
    "scenario",
    "metric",
    "subject",
    "published",
    "lower",
    "upper",
    "measured",
    "deviation",
    "deviation_pct",
    "unit",
    "verdict",
    "known_miss",
    "definition",
)


def _number_data(row: NumberRow) -> dict[str, Cell]:
    number: Mapping[str, Any] = row.number  # all of _DATA_FIELDS are cells
    return {
        **{name: number[name] for name in _DATA_FIELDS},
        "found": number.get("found", ""),
        "chosen_on": " ".join(number.get("chosen_on", [])),
        "kind": row.kind,
        "runs_that_have_to_show_it": len(row.rows),
        "select": row.selector,
        "run_ids": " ".join(run.run_id for run in row.runs),
    }


def _totals(sections: Sections) -> PaperTable:
    columns = [
        Column(f"{what}: {VERDICTS[key].label}", f"{what}_{key}", numeric=True)
        for what, keys in (("numbers", NUMBER_VERDICTS), ("statements", CLAIM_VERDICTS))
        for key in keys
    ]
    rows = [
        (page.label, *(str(total.count) for total in (*page.number_totals, *page.claim_totals)))
        for page in sections.protocols
    ]
    every = [
        *_counts([row.verdict.key for row in sections.numbers], NUMBER_VERDICTS),
        *_counts([row.verdict.key for row in sections.claims], CLAIM_VERDICTS),
    ]
    return PaperTable(
        name="totals",
        title="Verdicts by protocol; a number of two protocols counts for both",
        columns=(Column("Protocol", "protocol"), *columns),
        rows=(*rows, ("all", *every)),
    )


def _counts(verdicts: Sequence[str], keys: Sequence[str]) -> list[str]:
    counts = Counter(verdicts)
    return [str(counts[key]) for key in keys]


def _claims(claims: Sequence[ClaimRow]) -> PaperTable:
    return PaperTable(
        name="statements",
        title="Statements of the study and their verdicts",
        columns=(
            Column("Where", "where", width=0.2),
            Column("Statement", "statement", width=0.6),
            Column("Verdict", "verdict"),
        ),
        rows=tuple(
            (str(row.claim["where"]), str(row.claim["statement"]), row.verdict.label)
            for row in claims
        ),
        data=tuple(
            {
                "id": row.claim["id"],
                "where": row.claim["where"],
                "page": row.claim["page"],
                "statement": row.claim["statement"],
                "verdict": row.claim["verdict"],
                "explanation": row.claim["explanation"],
                "known_miss": row.claim["known_miss"],
                "found": row.claim.get("found", ""),
                "chosen_on": " ".join(row.claim.get("chosen_on", [])),
                "kind": row.claim.get("kind", ""),
                "run_ids": " ".join(_distinct(e.run.run_id for e in row.evidence if e.run)),
            }
            for row in claims
        ),
        run_ids=_distinct(e.run.run_id for row in claims for e in row.evidence if e.run),
    )
