"""Where definitions come from: how they were found, and what was changed after it was first listed.

A number or statement is a blind test of its definition unless the definition was chosen on it.
Archives and readers of a report have no git history, so ``history.yaml`` records changes to
definitions, bounds and statements: the earlier version, and the reason for the change.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import Field, RootModel

from bdpbench.contracts.scorecard import FOUND, Change, Found, Kind
from bdpbench.contracts.yaml_files import Strict, YamlFile, suggest

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
