"""``published.csv``: numbers that a study prints, with bounds chosen before the run; their history.

A number or statement is a blind test of its definition unless the definition was chosen on it.
Archives and readers of a report have no git history, so ``history.yaml`` records changes to
definitions, bounds and statements: the earlier version, and the reason for the change.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, RootModel, ValidationError, model_validator

from bdpbench.contracts.files import read_text
from bdpbench.contracts.scorecard import Change, Found, Kind
from bdpbench.contracts.yaml_files import Strict, Text, YamlFile, known_or_suggest, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.score.lookup import Asked, located

# --------------------------------------------------------------------- where definitions come from


HISTORY_NAME = "history.yaml"


class Origin(Strict):
    """How a definition was found, and on which numbers and statements it was chosen.

    ``*`` in ``chosen_on`` stands for any characters.
    """

    found: Found
    chosen_on: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _names_what_it_was_chosen_on(self) -> Self:
        if self.found == "chosen on" and not self.chosen_on:
            raise ValueError("chosen_on is empty; on which numbers or statements was it chosen?")
        if self.found != "chosen on" and self.chosen_on:
            raise ValueError(f"chosen_on is given for a definition that is {self.found!r}")
        return self

    def kind(self, *ids: str) -> Kind:
        """Whether a number or statement with these ids is a blind test of the definition.

        >>> Origin(found="chosen on", chosen_on=["t1-hs-*"]).kind("t1-hs-time")
        'fitted'
        >>> Origin(found="stated").kind("a")
        'blind'
        """
        return "fitted" if resolved(self.chosen_on, ids) else "blind"


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

    date: datetime.date = Field(strict=False)
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
        if wrong := unknown_pattern(each.of, ids):
            raise source.error((index, "of"), wrong[0], hint=wrong[1])
    return changes


# ----------------------------------------------------------------------------------- published.csv


PUBLISHED_NAME = "published.csv"

# What the parts of one printed number have in common, since it is one sentence with one meaning.
_SHARED = [
    "where",
    "page",
    "metric",
    "value",
    "lower",
    "upper",
    "unit",
    "how",
    "found",
    "chosen_on",
    "why",
]


def _selection(cell: object) -> object:
    """The parameters and values of a cell such as ``protocol=HS; buffer_pkts=40``."""
    if not isinstance(cell, str):
        return cell
    select = {}
    for part in filter(None, cell.split(";")):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not (equals and name and value):
            raise ValueError(f"expected parameter=value, got {part!r}")
        select[name] = value
    return select


def _words(cell: object) -> object:
    return cell.split() if isinstance(cell, str) else cell


Filled = Annotated[str, Field(pattern=r"\S")]
Number = Annotated[float, Field(allow_inf_nan=False, strict=False)]


class PublishedNumber(Asked, Origin):
    """One printed number, and how to find the value to compare it with: a row of published.csv.

    Attributes:
        id: unique in the study.
        part_of: id of the printed number that this row and others have to show; "" for a number
            that only one run has to show.
        where, page: table, figure or section, and page of the publication.
        scenario, select, metric, subject: which metric of which run; ``select`` maps run parameters
            to values, as text.
        value, lower, upper, unit: the number, and the bounds within which it is reproduced.
        how: stated, derived (from printed numbers) or digitised (from a figure).
        found, chosen_on: how the definition was found.
        why: reason for the bounds.
        known_miss: reason why it is not expected to be reproduced; "" if it is expected.
        note: anything else that a reader should know.
        line: its last line in the file.
    """

    id: Filled
    part_of: str
    where: Filled
    page: str
    scenario: Filled
    select: Annotated[dict[str, Any], BeforeValidator(_selection)]
    metric: Filled
    subject: Filled
    value: Number
    lower: Number
    upper: Number
    unit: Filled
    how: Literal["stated", "derived", "digitised"]
    found: Found
    chosen_on: Annotated[list[str], BeforeValidator(_words)]
    why: Filled
    known_miss: str
    note: str
    line: int = Field(0, repr=False)

    @property
    def whole(self) -> str:
        """The id of the printed number that the row belongs to."""
        return self.part_of or self.id

    @model_validator(mode="after")
    def _is_within_its_bounds(self) -> Self:
        if not self.lower <= self.value <= self.upper:
            raise ValueError(f"{self.value:g} is not within [{self.lower:g}, {self.upper:g}]")
        return self


COLUMNS = tuple(name for name in PublishedNumber.__annotations__ if name != "line")
"""The columns of the file, in the order in which it has them."""


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
            try:
                number = PublishedNumber.model_validate({**row, "line": line})
            except ValidationError as failure:
                raise _wrong(failure) from None
            if unknown := known_or_suggest(number.metric, metrics, "metric"):
                raise _slip("metric", *unknown)
            if number.id in numbers:
                raise _slip("id", f"{number.id!r} appears twice")
            numbers[number.id] = number
    _check_parts(path, numbers)
    return list(numbers.values())


def _check_parts(path: Path, numbers: Mapping[str, PublishedNumber]) -> None:
    """Check that the rows of a printed number agree, and that its id is not that of a row."""
    first: dict[str, PublishedNumber] = {}
    counts = Counter(number.part_of for number in numbers.values())
    for number in filter(lambda each: each.part_of, numbers.values()):
        with located(f"{path}:{number.line}"):
            if number.part_of in numbers:
                raise _slip("part_of", f"{number.part_of!r} is the id of a row")
            if counts[number.part_of] == 1:
                known = {each for each in counts if counts[each] > 1} or numbers
                hint = suggest(number.part_of, known)
                raise _slip("part_of", f"no other row belongs to {number.part_of!r}", hint)
            other = first.setdefault(number.part_of, number)
            for column in (*_SHARED, "chosen_on"):
                if getattr(number, column) != getattr(other, column):
                    said = f"differs from that of {other.id}, which belongs to the same printed "
                    hint = "one sentence has one value and one rule"
                    raise _slip(column, f"{said}number", hint)


def _slip(column: str, message: str, hint: str = "") -> BdpbenchError:
    return BdpbenchError(f"{column}: {message}", hint=hint)


def _wrong(failure: ValidationError) -> BdpbenchError:
    """The first finding about a row."""
    first = failure.errors()[0]
    column, said = ".".join(map(str, first["loc"])) or "row", first["msg"]
    if first["input"] == "":
        return _slip(column, "is empty")
    said = said.removeprefix("Value error, ")
    got = f" (got {first['input']!r})" if first["loc"] else ""
    return _slip(column, f"{said[0].lower()}{said[1:]}{got}")


def _rows(path: Path, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Last line and cells of each row; errors name the line."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = next(reader, [])
        with located(f"{path}:1"):
            for column in header:
                if unknown := known_or_suggest(column, COLUMNS, "column"):
                    raise _slip(column, *unknown)
            if lacking := [each for each in COLUMNS if header.count(each) != 1]:
                raise _slip(lacking[0], "expected this column once")
        for cells in reader:
            if len(cells) != len(header):
                said = f"has {len(cells)} cells, not {len(header)}"
                raise BdpbenchError(said, where=f"{path}:{reader.line_num}")
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise BdpbenchError(f"is not CSV: {error}", where=f"{path}:{reader.line_num}") from None
