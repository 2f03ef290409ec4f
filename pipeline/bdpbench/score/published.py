"""``published.csv``: numbers that a study prints, with bounds chosen before the run."""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bdpbench.contracts.files import read_text
from bdpbench.errors import BdpbenchError
from bdpbench.score.lookup import located
from bdpbench.score.provenance import Origin, OriginFault, origin_of

PUBLISHED_NAME = "published.csv"

# Columns of a number's own text, in the order of the file with those that are converted.
_COLUMNS = "id part_of where page scenario select metric subject value lower upper unit how found"
COLUMNS = (*_COLUMNS.split(), "chosen_on", "why", "known_miss", "note")
REQUIRED = ("id", "where", "scenario", "metric", "subject", "unit", "how", "why")
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
        line: its last line in the file.
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
    line: int = field(default=0, repr=False, compare=False)


def load_published(path: Path, metrics: Collection[str]) -> list[PublishedNumber]:
    """Read and check ``published.csv``; a study without the file has no numbers.

    Args:
        path: the file, UTF-8 with a header of COLUMNS.
        metrics: ids of all metrics.

    Raises:
        BdpbenchError: naming file, line and column of what is wrong.
    """
    if not path.is_file():
        return []
    numbers: dict[str, PublishedNumber] = {}
    for line, row in _rows(path, read_text(path).removeprefix("\ufeff")):
        with located(f"{path}:{line}"):
            number = _number(line, row, metrics)
            if number.id in numbers:
                raise _slip("id", f"{number.id!r} appears twice")
            numbers[number.id] = number
    _check_parts(path, numbers)
    return list(numbers.values())


def _check_parts(path: Path, numbers: Mapping[str, PublishedNumber]) -> None:
    """Check that the rows of a printed number agree, and that its id is not that of a row."""
    first: dict[str, PublishedNumber] = {}
    counts = Counter(number.part_of for number in numbers.values())
    for number in numbers.values():
        with located(f"{path}:{number.line}"):
            if number.part_of in numbers:
                raise _slip("part_of", f"{number.part_of!r} is the id of a row")
            if number.part_of and counts[number.part_of] == 1:
                known = {each for each in counts if counts[each] > 1} or numbers
                hint = _suggest(number.part_of, known)
                raise _slip("part_of", f"no other row belongs to {number.part_of!r}", hint)
            if number.part_of:
                _check_alike(number, first.setdefault(number.part_of, number))


def _check_alike(number: PublishedNumber, other: PublishedNumber) -> None:
    for column in _SHARED:
        if getattr(number, column) != getattr(other, column):
            raise _slip(
                "found" if column == "origin" else column,
                f"differs from that of {other.id}, which belongs to the same printed number",
                "one sentence has one value and one rule",
            )


def _slip(column: str, message: str, hint: str = "") -> BdpbenchError:
    return BdpbenchError(f"{column}: {message}", hint=hint)


def _rows(path: Path, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Last line and cells of each row; errors name the line."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = next(reader, [])
        with located(f"{path}:1"):
            _check_header(header)
        for cells in reader:
            if len(cells) != len(header):
                message = f"has {len(cells)} cells, not {len(header)}"
                with located(f"{path}:{reader.line_num}"):
                    raise _slip("line", message)
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise BdpbenchError(f"is not CSV: {error}", where=f"{path}:{reader.line_num}") from None


def _check_header(header: list[str]) -> None:
    for column in header:
        if column not in COLUMNS:
            raise _slip(column, "unknown column", _suggest(column, COLUMNS))
    for column in COLUMNS:
        if header.count(column) != 1:
            raise _slip(column, "expected this column once")


def _suggest(word: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known))}"


def _number(line: int, row: Mapping[str, str], metrics: Collection[str]) -> PublishedNumber:
    for column in REQUIRED:
        if not row[column].strip():
            raise _slip(column, "is empty")
    if row["metric"] not in metrics:
        hint = _suggest(row["metric"], metrics)
        raise _slip("metric", f"unknown metric {row['metric']!r}", hint)
    if row["how"] not in HOW:
        raise _slip("how", f"expected one of {', '.join(HOW)}, got {row['how']!r}")
    value, lower, upper = (_float(row, key) for key in ("value", "lower", "upper"))
    if not lower <= value <= upper:
        raise _slip("value", f"{value:g} is not within [{lower:g}, {upper:g}]")
    origin = origin_of(row["found"].strip(), row["chosen_on"].split())
    if isinstance(origin, OriginFault):
        raise _slip(origin.column, origin.message, origin.hint)
    return PublishedNumber(
        **{key: row[key] for key in COLUMNS if key not in _CONVERTED},
        select=_selector(row["select"]),
        value=value,
        lower=lower,
        upper=upper,
        origin=origin,
        line=line,
    )


def _float(row: Mapping[str, str], column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _slip(column, f"expected a number, got {row[column]!r}")
    return value


def _selector(text: str) -> dict[str, str]:
    select = {}
    for part in filter(None, text.split(";")):
        name, equals, value = part.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise _slip("select", f"expected parameter=value, got {part!r}")
        select[name.strip()] = value.strip()
    return select
