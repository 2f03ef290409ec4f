"""A script under repair: its lines as Tcl, as far as damaged lines show it.

Tcl's own parser cannot read damaged scripts; it checks the repaired ones. All variables of a
script are in one namespace, whether global or local to a procedure, because the listings never use
one name for two things.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tcl.sharma2006.recover.printed import (
    HELPER_NAME,
    HELPER_VARIABLES,
    Line,
    Repair,
    Script,
)

from bdpbench.errors import BdpbenchError

# Commands of Tcl that scripts of this kind use.
_TCL_COMMANDS = frozenset(
    {
        "after", "append", "array", "break", "catch", "clock", "close", "concat", "continue",
        "error", "eval", "exit", "expr", "file", "flush", "for", "foreach", "format", "gets",
        "global", "if", "incr", "info", "join", "lappend", "lassign", "lindex", "linsert", "list",
        "llength", "lrange", "lreplace", "lsearch", "lsort", "open", "proc", "puts", "pwd", "read",
        "regexp", "regsub", "return", "scan", "set", "source", "split", "string", "switch",
        "unset", "uplevel", "upvar", "while",
    }
)  # fmt: skip
# Commands that ns-2 adds.
_NS2_COMMANDS = frozenset(
    {
        "new", "delete", "Simulator", "RNG", "add-packet-header", "remove-packet-header",
        "remove-all-packet-headers", "ns-int64todbl", "ns-random", "ns-version",
    }
)  # fmt: skip
# Global variables that Tcl or ns-2 sets before a script starts.
GIVEN_VARIABLES = frozenset({"argc", "argv", "argv0", "env", "defaultRNG"})

_HEAD = re.compile(r"^\s*(?:\}\s*)?(\w[\w-]*)")
_CONTINUES = re.compile(r"^\s*\}\s*(else|elseif)\b")
_WORD = re.compile(r"(?<![\w./])[A-Za-z_][\w-]*(?![\w./-])")
# Form of the name of a class of ns-2, such as Agent/TCP, which is a command.
_CLASS = re.compile(r"[A-Z]\w*(/\w+)+$")
_TRAILING_COMMENT = re.compile(r";\s*#.*$")
_READ = re.compile(r"\$\{?(\w+)|\[set (\w+)[^\]\s]*\]")
_WRITTEN = re.compile(r"(?:^|[\[{;])\s*(?:set\s+(\w+)[^\s\]]*\s+\S|incr\s+(\w+))")
_PARAMETERS = re.compile(r"^\s*proc\s+\S+\s+\{([^}]*)\}")
_PROCEDURE = re.compile(r"^\s*proc\s+([^\s:]+)\s")
_COMMAND_WORDS = (
    re.compile(r"^\s*([^\s\[\]{}$\"}][^\s\[\]{};]*)"),
    re.compile(r"\[\s*([^\s\[\]{}$\";]+)"),
    re.compile(r"\bat\s+(?:\[[^\]]*\]|\S+)\s+\"([A-Za-z][\w-]*)"),
)


def is_comment(text: str) -> bool:
    """Whether a line is only a comment."""
    return text.lstrip().startswith("#")


def code_of(text: str) -> str:
    """A line without its comment; "" for a line that is only a comment."""
    return "" if is_comment(text) else _TRAILING_COMMENT.sub("", text)


def has_comment(text: str) -> bool:
    """Whether a line is or ends with a comment."""
    return is_comment(text) or bool(_TRAILING_COMMENT.search(text))


def open_brackets(text: str) -> int:
    """Command substitutions that a line opens but does not close; negative if it closes more."""
    return text.count("[") - text.count("]")


def reads(text: str) -> list[str]:
    """Variables whose value a line uses, in order."""
    return [name for match in _READ.finditer(code_of(text)) for name in match.groups() if name]


def writes(text: str) -> list[str]:
    """Variables that a line sets, including parameters of a procedure."""
    code = code_of(text)
    names = [name for match in _WRITTEN.finditer(code) for name in match.groups() if name]
    parameters = _PARAMETERS.match(code)
    return names + (parameters.group(1).split() if parameters else [])


def words_of(text: str) -> list[str]:
    """Words in the code of a line, including hyphens, but no parts of file and class names."""
    return _WORD.findall(code_of(text))


def renamed(text: str, old: str, new: str) -> str:
    """A line in whose code the variable ``old`` is renamed ``new``; comments are unchanged."""
    code = code_of(text)
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, code) + text[len(code) :]


def procedures(text: str) -> set[str]:
    """Procedures that a Tcl text defines, except those in namespaces."""
    return {found.group(1) for line in text.split("\n") if (found := _PROCEDURE.match(line))}


def command_words(text: str) -> Iterator[str]:
    """Words of a line where Tcl expects a command: first, after ``[``, and after ``at``."""
    code = code_of(text)
    for pattern in _COMMAND_WORDS:
        yield from (match.group(1) for match in pattern.finditer(code))


@dataclass(frozen=True)
class Block:
    """An open block: the index of the line that opened it, and its command."""

    opened: int
    command: str


@dataclass(frozen=True)
class Structure:
    """Blocks of a script, read until the first brace that matches no open block.

    Attributes:
        around: for each line read, the blocks around it, outermost first.
        fault: index of the line that closes or continues a block that is not open, or None.
        unclosed: blocks open at the end.
    """

    around: tuple[tuple[Block, ...], ...]
    fault: int | None
    unclosed: tuple[Block, ...]


def read_structure(lines: Sequence[Line]) -> Structure:
    """Find the blocks of a script by its braces."""
    stack: list[Block] = []
    around: list[tuple[Block, ...]] = []
    for index, line in enumerate(lines):
        around.append(tuple(stack))
        if not is_comment(line.text) and not _step(stack, index, code_of(line.text)):
            return Structure(tuple(around), index, ())
    return Structure(tuple(around), None, tuple(stack))


def _step(stack: list[Block], index: int, code: str) -> bool:
    """Apply a line's braces to the open blocks; False if one matches none."""
    rest = code.strip()
    if rest.startswith("}"):
        continues = _CONTINUES.match(code)
        if not stack or (continues and stack[-1].command not in ("if", "elseif")):
            return False
        stack.pop()
        rest = rest[1:]
    head = _HEAD.match(code)
    change = rest.count("{") - rest.count("}")
    if change < -len(stack):
        return False
    if change < 0:
        del stack[change:]
    stack.extend(Block(index, head.group(1) if head else "") for _ in range(change))
    return True


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
        helper_commands: procedures of the helper that a script may source.
        vocabulary: words of all scripts.

    Attributes:
        rule_id: the rule at work.
        page_breaks: lines of the copy at which a page starts or ends.
        needed: variables that the helper takes from this script, if the script sources it.
    """

    def __init__(
        self,
        script: Script,
        helper_commands: frozenset[str],
        vocabulary: Vocabulary,
    ) -> None:
        self.script, self.vocabulary = script, vocabulary
        self.rule_id = ""
        self.page_breaks: list[int] = []
        sourcing = ["source", HELPER_NAME]
        has_helper = any(line.text.split()[:2] == sourcing for line in script.lines)
        self.needed = frozenset(HELPER_VARIABLES if has_helper else ())
        own = procedures(script.text) | (helper_commands if has_helper else set())
        self._commands = _TCL_COMMANDS | _NS2_COMMANDS | own

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
        line = self.lines[index]
        return BdpbenchError(
            f"{message}\n    {line.text.strip()}",
            where=f"{self.script.title}, line {line.number}",
            hint=hint or "correct this line in your copy of the thesis, or take another copy",
        )

    def written(self, before: int | None = None) -> set[str]:
        """Variables that the script sets, in all of its lines or in those before an index."""
        return {name for line in self.lines[:before] for name in writes(line.text)}

    def is_command(self, word: str) -> bool:
        """Whether a word is a command of Tcl, of ns-2, of the helper or of this script."""
        return word in self._commands or bool(_CLASS.match(word))
