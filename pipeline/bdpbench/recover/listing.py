"""A listing under repair: its lines, and the repairs made so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bdpbench.errors import BdpbenchError
from bdpbench.recover.originals import Originals
from bdpbench.recover.printed import Line, PrintedScript
from bdpbench.recover.tcl_text import is_command, procedures, words_of, written_in


@dataclass(frozen=True)
class Repair:
    """One change of one line.

    Attributes:
        rule: id of the rule that made the change.
        line: line of the copy.
        before, after: the text; ``after`` is None for a line that was removed.
        why: reason for the change.
    """

    rule: str
    line: int
    before: str
    after: str | None
    why: str


@dataclass(frozen=True)
class Rule:
    """How one kind of damage is found and repaired.

    Attributes:
        rule_id: name in the reports.
        damage: what scanning did.
        reason: how the damage is distinguished from the author's own text.
        apply: repairs a listing; raises BdpbenchError if the damage has no certain repair.
    """

    rule_id: str
    damage: str
    reason: str
    apply: Callable[[Listing], None]


@dataclass(frozen=True)
class Vocabulary:
    """Words of all scripts together, which have one author.

    Attributes:
        common: words that at least half of the scripts have.
        single: words that occur only once in all of them.
    """

    common: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()

    @classmethod
    def of(cls, scripts: Sequence[PrintedScript]) -> Vocabulary:
        """The vocabulary of some listings."""
        texts = [[word for line in each.lines for word in words_of(line.text)]
                 for each in scripts]  # fmt: skip
        having = Counter(word for words in texts for word in set(words))
        total = Counter(word for words in texts for word in words)
        return cls(
            frozenset(word for word, count in having.items() if 2 * count >= len(texts)),
            frozenset(word for word, count in total.items() if count == 1),
        )


class Listing:
    """The lines of a script, changed by one rule after the other.

    Args:
        script: the listing as printed in the copy.
        originals: what the study declares about its scripts.
        helper_commands: procedures of the helper that a script may source.
        vocabulary: words of all scripts.

    Attributes:
        lines: the current lines.
        repairs: the repairs so far, each with the ``rule_id`` of its rule.
        page_breaks: lines of the copy at which a page starts or ends.
        sources_helper: whether the script sources the helper.
    """

    def __init__(
        self,
        script: PrintedScript,
        originals: Originals,
        helper_commands: frozenset[str],
        vocabulary: Vocabulary,
    ) -> None:
        self.script = script
        self.originals = originals
        self.vocabulary = vocabulary
        self.lines = list(script.lines)
        self.repairs: list[Repair] = []
        self.rule_id = ""
        self.page_breaks: list[int] = []
        sourcing = ["source", originals.helper_file]
        self.sources_helper = any(line.text.split()[:2] == sourcing for line in self.lines)
        own = procedures(self.text)
        self._commands = own | helper_commands if self.sources_helper else own

    def change(self, index: int, text: str, why: str) -> None:
        """Replace the text of a line."""
        line = self.lines[index]
        self.repairs.append(Repair(self.rule_id, line.number, line.text, text, why))
        self.lines[index] = Line(line.number, text)

    def remove(self, index: int, why: str) -> None:
        """Remove a line."""
        line = self.lines.pop(index)
        self.repairs.append(Repair(self.rule_id, line.number, line.text, None, why))

    def join(self, index: int, why: str) -> None:
        """Append the next line that is not blank to a line; blank lines in between are removed."""
        following = self.following(index)
        assert following is not None  # noqa: S101 - a rule found it
        first, second = self.lines[index], self.lines[following]
        text = f"{first.text.rstrip()} {second.text.strip()}"
        before = f"{first.text.rstrip()}\n{second.text.rstrip()}"
        self.repairs.append(Repair(self.rule_id, first.number, before, text, why))
        self.lines[index : following + 1] = [Line(first.number, text)]

    def following(self, index: int) -> int | None:
        """Index of the next line that is not blank."""
        later = range(index + 1, len(self.lines))
        return next((each for each in later if self.lines[each].text.strip()), None)

    def refuse(self, index: int, message: str, hint: str = "") -> BdpbenchError:
        """The error for a line that has no certain repair."""
        return self.script.refuse(self.lines[index], message, hint)

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Indices and texts of a copy of the lines, so that the listing may change meanwhile."""
        return enumerate([line.text for line in self.lines])

    @property
    def text(self) -> str:
        """The text of the script."""
        return "\n".join(line.text for line in self.lines) + "\n"

    def written(self, before: int | None = None) -> set[str]:
        """Variables that the script sets, in all of its lines or in those before an index."""
        return written_in(self.lines[:before])

    def is_command(self, word: str) -> bool:
        """Whether a word is a command in this script."""
        return is_command(word, self._commands)
