"""``published.csv``: every number that a study prints, with bounds chosen before the run."""

from __future__ import annotations

import _csv
import csv
import difflib
import io
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.files import read_text
from bdpbench.errors import BdpbenchError
from bdpbench.score.origin import Origin, OriginFault, origin_of

COLUMNS = (
    "id",
    "part_of",
    "where",
    "page",
    "scenario",
    "select",
    "metric",
    "subject",
    "value",
    "lower",
    "upper",
    "unit",
    "how",
    "found",
    "chosen_on",
    "why",
    "known_miss",
    "note",
)
REQUIRED = ("id", "where", "scenario", "metric", "subject", "unit", "how", "why")

# Columns that are not stored as text of the number.
_CONVERTED = ("select", "value", "lower", "upper", "found", "chosen_on")

# What the parts of one printed number have in common, since it is one sentence with one meaning.
_SHARED = ("where", "page", "metric", "value", "lower", "upper", "unit", "how", "origin", "why")
HOW = ("stated", "derived", "digitised")


@dataclass(frozen=True)
class PublishedNumber:
    """One printed number, and how to find the value to compare it with.

    Attributes:
        id: unique in the study.
        part_of: id of the printed number that this row and others have to show; "" for a number
            that only one run has to show.
        where, page: table, figure or section, and page of the publication.
        scenario, select, metric, subject: which metric of which run; ``select`` maps run parameters
            to values, as text.
        value, lower, upper, unit: the number, and the bounds within which it is reproduced.
        how: stated, derived (from printed numbers) or digitised (from a figure).
        origin: how the definition was found.
        why: reason for the bounds.
        known_miss: reason why it is not expected to be reproduced; "" if it is expected.
        note: anything else that a reader should know.
    """

    id: str
    part_of: str
    where: str
    page: str
    scenario: str
    select: Mapping[str, str]
    metric: str
    subject: str
    value: float
    lower: float
    upper: float
    unit: str
    how: str
    origin: Origin
    why: str
    known_miss: str
    note: str


def load_published(path: Path, metrics: Collection[str]) -> list[PublishedNumber]:
    """Read and check ``published.csv``; a study without the file has no numbers.

    Args:
        path: the file, UTF-8 with a header of COLUMNS.
        metrics: ids of all metrics.

    Raises:
        BdpbenchError: naming file, line and column of what is wrong.
    """
    return list(published_by_line(path, metrics).values())


def published_by_line(path: Path, metrics: Collection[str]) -> dict[int, PublishedNumber]:
    """Last line of each number in ``published.csv`` → the number, as in ``load_published``."""
    if not path.is_file():
        return {}
    numbers: dict[int, PublishedNumber] = {}
    ids: set[str] = set()
    for line, row in _rows(path, read_text(path).removeprefix("\ufeff")):
        number = _number(path, line, row, metrics)
        if number.id in ids:
            raise _error(path, line, "id", f"{number.id!r} appears twice")
        ids.add(number.id)
        numbers[line] = number
    _check_parts(path, numbers)
    return numbers


def _check_parts(path: Path, numbers: Mapping[int, PublishedNumber]) -> None:
    """Check that the rows of a printed number agree, and that its id is not that of a row."""
    ids = {number.id for number in numbers.values()}
    first: dict[str, PublishedNumber] = {}
    counts = Counter(number.part_of for number in numbers.values())
    for line, number in numbers.items():
        if not number.part_of:
            continue
        if number.part_of in ids:
            raise _error(path, line, "part_of", f"{number.part_of!r} is the id of a row")
        if counts[number.part_of] == 1:
            hint = _suggest(number.part_of, {each for each in counts if counts[each] > 1} or ids)
            raise _error(path, line, "part_of", f"no other row belongs to {number.part_of!r}", hint)
        other = first.setdefault(number.part_of, number)
        for column in _SHARED:
            if getattr(number, column) != getattr(other, column):
                shown = "found" if column == "origin" else column
                message = (
                    f"differs from that of {other.id}, which belongs to the same printed number"
                )
                raise _error(path, line, shown, message, "one sentence has one value and one rule")


def _error(path: Path, line: int, column: str, message: str, hint: str = "") -> BdpbenchError:
    return BdpbenchError(f"{column}: {message}", where=f"{path}:{line}", hint=hint)


def _rows(path: Path, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(io.StringIO(text, newline=""))
    rows = _told(path, reader)
    header = next(rows, [])
    _check_header(path, header)
    for cells in rows:
        if len(cells) != len(header):
            raise _error(
                path, reader.line_num, "line", f"has {len(cells)} cells, not {len(header)}"
            )
        yield reader.line_num, dict(zip(header, cells, strict=True))


def _told(path: Path, reader: _csv.Reader) -> Iterator[list[str]]:
    """The rows of a CSV reader; a row that cannot be read is reported with its line."""
    try:
        yield from reader
    except csv.Error as error:
        raise BdpbenchError(f"is not CSV: {error}", where=f"{path}:{reader.line_num}") from None


def _check_header(path: Path, header: list[str]) -> None:
    for column in header:
        if column not in COLUMNS:
            raise _error(path, 1, column, "unknown column", _suggest(column, COLUMNS))
    for column in COLUMNS:
        if header.count(column) != 1:
            raise _error(path, 1, column, "expected this column once")


def _suggest(word: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known))}"


def _number(
    path: Path, line: int, row: Mapping[str, str], metrics: Collection[str]
) -> PublishedNumber:
    for column in REQUIRED:
        if not row[column].strip():
            raise _error(path, line, column, "is empty")
    if row["metric"] not in metrics:
        hint = _suggest(row["metric"], metrics)
        raise _error(path, line, "metric", f"unknown metric {row['metric']!r}", hint)
    if row["how"] not in HOW:
        raise _error(path, line, "how", f"expected one of {', '.join(HOW)}, got {row['how']!r}")
    value, lower, upper = (_float(path, line, row, key) for key in ("value", "lower", "upper"))
    if not lower <= value <= upper:
        raise _error(path, line, "value", f"{value:g} is not within [{lower:g}, {upper:g}]")
    return PublishedNumber(
        **{key: row[key] for key in COLUMNS if key not in _CONVERTED},
        select=_selector(path, line, row["select"]),
        value=value,
        lower=lower,
        upper=upper,
        origin=_origin(path, line, row),
    )


def _origin(path: Path, line: int, row: Mapping[str, str]) -> Origin:
    found = origin_of(row["found"].strip(), row["chosen_on"].split())
    if isinstance(found, OriginFault):
        raise _error(path, line, found.column, found.message, found.hint)
    return found


def _float(path: Path, line: int, row: Mapping[str, str], column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _error(path, line, column, f"expected a number, got {row[column]!r}")
    return value


def _selector(path: Path, line: int, text: str) -> dict[str, str]:
    select = {}
    for part in filter(None, text.split(";")):
        name, equals, value = part.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise _error(path, line, "select", f"expected parameter=value, got {part!r}")
        select[name.strip()] = value.strip()
    return select
