"""A script under repair, and the words by which damage in it is recognised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bdpbench.errors import BdpbenchError
from bdpbench.recover.printed import Line, Originals, Repair, Script
from bdpbench.recover.tcl import (
    CLASS,
    NS2_COMMANDS,
    TCL_COMMANDS,
    procedures,
    words_of,
    writes,
)


class Vocabulary(NamedTuple):
    """Words of all scripts together, which have one author.

    Attributes:
        common: words that at least half of the scripts have.
        single: words that occur only once in all of them.
    """

    common: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()

    @classmethod
    def of(cls, scripts: Sequence[Script]) -> Vocabulary:
        """The vocabulary of some scripts."""
        texts = [[word for line in each.lines for word in words_of(line.text)] for each in scripts]
        having = Counter(word for words in texts for word in set(words))
        total = Counter(word for words in texts for word in words)
        return cls(
            frozenset(word for word, count in having.items() if 2 * count >= len(texts)),
            frozenset(word for word, count in total.items() if count == 1),
        )


class Listing:
    """A script under repair, changed by one rule after the other.

    Args:
        script: the script; its lines and repairs are changed.
        originals: what the study declares about its scripts.
        helper_commands: procedures of the helper that a script may source.
        vocabulary: words of all scripts.

    Attributes:
        rule_id: the rule at work.
        page_breaks: lines of the copy at which a page starts or ends.
        helper_file: name of the study's helper, "" if it has none.
        needed: variables that the helper takes from this script, if the script sources it.
    """

    def __init__(
        self,
        script: Script,
        originals: Originals,
        helper_commands: frozenset[str],
        vocabulary: Vocabulary,
    ) -> None:
        self.script, self.originals, self.vocabulary = script, originals, vocabulary
        self.rule_id = ""
        self.page_breaks: list[int] = []
        helper = originals.helper
        self.helper_file = helper.file if helper else ""
        sourcing = ["source", self.helper_file]
        has_helper = any(line.text.split()[:2] == sourcing for line in script.lines)
        self.needed = frozenset(helper.variables if helper and has_helper else ())
        own = procedures(script.text) | (helper_commands if has_helper else set())
        self._commands = TCL_COMMANDS | NS2_COMMANDS | own

    @property
    def lines(self) -> list[Line]:
        """The lines as they are now."""
        return self.script.lines

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Indices and texts of a copy of the lines, so that the script may change meanwhile."""
        return enumerate([line.text for line in self.lines])

    def change(self, index: int, text: str, why: str) -> None:
        """Replace the text of a line."""
        self._record(self.lines[index].text, index, text, why)
        self.lines[index] = Line(self.lines[index].number, text)

    def remove(self, index: int, why: str) -> None:
        """Remove a line."""
        self._record(self.lines[index].text, index, None, why)
        del self.lines[index]

    def join(self, index: int, why: str) -> None:
        """Append the next line that is not blank to a line; blank lines in between are removed."""
        following = next(i for i in range(index + 1, len(self.lines)) if self.lines[i].text.strip())
        first, second = self.lines[index], self.lines[following]
        text = f"{first.text.rstrip()} {second.text.strip()}"
        self._record(f"{first.text.rstrip()}\n{second.text.rstrip()}", index, text, why)
        self.lines[index : following + 1] = [Line(first.number, text)]

    def _record(self, before: str, index: int, after: str | None, why: str) -> None:
        number = self.lines[index].number
        self.script.repairs.append(Repair(self.rule_id, number, before, after, why))

    def following(self, index: int) -> int | None:
        """Index of the next line that is not blank."""
        later = range(index + 1, len(self.lines))
        return next((each for each in later if self.lines[each].text.strip()), None)

    def refuse(self, index: int, message: str, hint: str = "") -> BdpbenchError:
        """The error for damage that no rule repairs: heading, line and text."""
        line, noun = self.lines[index], self.originals.document
        return BdpbenchError(
            f"{message}\n    {line.text.strip()}",
            where=f"{self.script.title}, line {line.number}",
            hint=hint or f"correct this line in your copy of the {noun}, or take another copy",
        )

    def written(self, before: int | None = None) -> set[str]:
        """Variables that the script sets, in all of its lines or in those before an index."""
        return {name for line in self.lines[:before] for name in writes(line.text)}

    def is_command(self, word: str) -> bool:
        """Whether a word is a command of Tcl, of ns-2, of the helper or of this script."""
        return word in self._commands or bool(CLASS.match(word))
