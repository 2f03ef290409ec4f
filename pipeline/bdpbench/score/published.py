"""``published.csv``: numbers that a study prints, with bounds chosen before the run; their history.

A number or statement is a blind test of its definition unless the definition was chosen on it.
Archives and readers of a report have no git history, so ``history.yaml`` records changes to
definitions, bounds and statements: the earlier version, and the reason for the change.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import Field, RootModel

from bdpbench.contracts.files import read_text
from bdpbench.contracts.scorecard import FOUND, Change, Found, Kind
from bdpbench.contracts.yaml_files import Strict, YamlFile, known_or_suggest, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.score.lookup import located

# --------------------------------------------------------------------- where definitions come from


HISTORY_NAME = "history.yaml"
HINT = (
    f"one of: {', '.join(FOUND)}. `stated` by the study; `chosen before` looking at any run; "
    "`chosen on` the measured values of what chosen_on names"
)

Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class Origin:
    """How a definition was found.

    Attributes:
        found: how it was found.
        chosen_on: ids of the numbers and statements on which it was chosen; ``*`` stands for any
            characters. Empty unless ``found`` is ``chosen on``.
    """

    found: Found
    chosen_on: tuple[str, ...] = ()

    def kind(self, *ids: str) -> Kind:
        """Whether a number or statement with these ids is a blind test of the definition.

        >>> Origin("chosen on", ("t1-hs-*",)).kind("t1-hs-time"), Origin("stated").kind("a")
        ('fitted', 'blind')
        """
        return "fitted" if resolved(self.chosen_on, ids) else "blind"


@dataclass(frozen=True)
class OriginFault:
    """An error in how a row or a claim describes its definition, and its column."""

    column: str
    message: str
    hint: str = HINT


def origin_of(found: str, chosen_on: Iterable[str]) -> Origin | OriginFault:
    """The origin that two cells or keys describe, or their error."""
    named = tuple(chosen_on)
    word = next((each for each in FOUND if each == found), None)
    if word is None:
        problem = f"unknown word {found!r}" if found else "is empty"
        return OriginFault("found", f"{problem}; how was the definition found?")
    if word == "chosen on" and not named:
        return OriginFault("chosen_on", "is empty; on which numbers or statements was it chosen?")
    if word != "chosen on" and named:
        return OriginFault("chosen_on", f"is given for a definition that is {word!r}")
    return Origin(word, named)


def matches(pattern: str, name: str) -> bool:
    """Whether an id matches a pattern, in which ``*`` stands for any characters."""
    return fnmatchcase(name, pattern)


def resolved(patterns: Iterable[str], ids: Collection[str]) -> list[str]:
    """The ids that match, each once, in the order of ``ids``."""
    named = tuple(patterns)
    pattern = _any_of(named)
    return [each for each in ids if pattern.match(each)] if named else []


@lru_cache(maxsize=1024)  # many rows of a study have the same patterns
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


def unknown_pattern(patterns: Iterable[str], ids: Collection[str]) -> tuple[str, str] | None:
    """Message and hint for the first pattern that matches nothing, or None."""
    for pattern in patterns:
        if not any(map(_any_of((pattern,)).match, ids)):
            close = suggest(pattern, ids)
            # A list of all ids would be too long.
            is_close = close.startswith("did you mean")
            hint = close if is_close else "published.csv and claims.yaml list the ids"
            return f"no number or statement is called {pattern!r}", hint
    return None


class ChangeEntry(Strict):
    """One change; see ``contracts.scorecard.Change``."""

    date: datetime.date | Text
    commit: str = Field("", pattern="^([0-9a-f]{7,40})?$")
    what: Literal["definition", "bounds", "statement", "counting"]
    published: bool
    of: list[Text] = Field(min_length=1)
    before: Text
    after: Text
    why: Text

    def document(self, ids: Collection[str]) -> Change:
        """The change as in ``scorecard.json``, with all of ``ids`` that match its patterns."""
        fields = {**dict(self), "date": str(self.date), "of": resolved(self.of, ids)}
        return cast("Change", fields)


class _File(RootModel[list[ChangeEntry]]):
    pass


def load_history(path: Path, ids: Collection[str]) -> list[ChangeEntry]:
    """Read and check ``history.yaml``; a study without the file has no changes.

    Args:
        path: path of the file.
        ids: ids of all numbers, of their rows, and of all statements.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return []
    source = YamlFile(path)
    changes = source.validate(_File).root
    for index, each in enumerate(changes):
        try:
            datetime.date.fromisoformat(str(each.date))
        except ValueError:
            raise source.error((index, "date"), "expected a date such as 2026-11-21") from None
    for index, each in enumerate(changes):
        if wrong := unknown_pattern(each.of, ids):
            raise source.error((index, "of"), wrong[0], hint=wrong[1])
    return changes


# ----------------------------------------------------------------------------------- published.csv


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
                hint = suggest(number.part_of, known)
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
            raise _slip(column, "unknown column", suggest(column, COLUMNS))
    for column in COLUMNS:
        if header.count(column) != 1:
            raise _slip(column, "expected this column once")


def _number(line: int, row: Mapping[str, str], metrics: Collection[str]) -> PublishedNumber:
    for column in REQUIRED:
        if not row[column].strip():
            raise _slip(column, "is empty")
    if unknown := known_or_suggest(row["metric"], metrics, "metric"):
        raise _slip("metric", *unknown)
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
