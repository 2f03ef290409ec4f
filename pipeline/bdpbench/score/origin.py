"""How definitions were found, and which numbers and statements are blind tests of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from functools import lru_cache

from bdpbench.contracts.scorecard import FOUND, Found, Kind
from bdpbench.contracts.yaml_files import suggest

HINT = (
    f"one of: {', '.join(FOUND)}. `stated` by the study; `chosen before` looking at any run; "
    "`chosen on` the measured values of what chosen_on names"
)


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


def matches(pattern: str, name: str) -> bool:
    """Whether an id matches a pattern, in which ``*`` stands for any characters."""
    return fnmatchcase(name, pattern)


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
        said = f"unknown word {found!r}" if found else "is empty"
        return OriginFault("found", f"{said}; how was the definition found?")
    if word == "chosen on" and not named:
        return OriginFault("chosen_on", "is empty; on which numbers or statements was it chosen?")
    if word != "chosen on" and named:
        return OriginFault("chosen_on", f"is given for a definition that is {word!r}")
    return Origin(word, named)


def resolved(patterns: Iterable[str], ids: Collection[str]) -> list[str]:
    """The ids that match, each once, in the order of ``ids``."""
    named = tuple(patterns)
    meant = _any_of(named)
    return [each for each in ids if meant.match(each)] if named else []


@lru_cache(maxsize=1024)  # many rows of a study have the same patterns
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


def unknown_pattern(patterns: Iterable[str], ids: Collection[str]) -> tuple[str, str] | None:
    """Message and hint for the first pattern that matches nothing, or None."""
    for pattern in patterns:
        if not any(matches(pattern, each) for each in ids):
            return f"no number or statement is called {pattern!r}", _closest(pattern, ids)
    return None


def _closest(pattern: str, ids: Collection[str]) -> str:
    """A suggestion; a list of all ids would be too long."""
    hint = suggest(pattern, ids)
    return hint if hint.startswith("did you mean") else "published.csv and claims.yaml list the ids"
