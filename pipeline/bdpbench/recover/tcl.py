"""What the rules need to know about Tcl: comments, variables, commands and blocks, by line.

It reads damaged scripts that Tcl's own parser cannot read; Tcl itself checks the repaired ones. All
variables of a script are in one namespace, whether global or local to a procedure, because the
listings never use one name for two things.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bdpbench.errors import BdpbenchError
from bdpbench.recover.printed import Line

_PARSE = Path(__file__).with_name("parse.tcl")
_TIMEOUT_S = 60

# Commands of Tcl that scripts of this kind use.
TCL_COMMANDS = frozenset(
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
NS2_COMMANDS = frozenset(
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
CLASS = re.compile(r"[A-Z]\w*(/\w+)+$")
"""Form of the name of a class of ns-2, such as Agent/TCP, which is a command."""

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


class Problem(NamedTuple):
    """A problem that Tcl's parser reports for a line of a script."""

    path: Path
    line: int
    message: str


def check_scripts(interpreter: Path, scripts: Sequence[Path]) -> list[Problem]:
    """Have a Tcl interpreter parse scripts, bodies of blocks included, without running them.

    Args:
        interpreter: ``tclsh`` or ``ns``, which is also a Tcl interpreter.
        scripts: paths of scripts.

    Raises:
        BdpbenchError: when the interpreter fails.
    """
    command = [str(interpreter), str(_PARSE), *map(str, scripts)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(
            f"could not parse the scripts: {error}", where=str(interpreter)
        ) from None
    lines = done.stdout.splitlines()
    if done.returncode != 0 or lines[-1:] != [f"checked {len(scripts)}"]:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BdpbenchError(f"could not parse the scripts: {said}", where=str(interpreter))
    found = (line.split("\t", 2) for line in lines[:-1])
    return [Problem(Path(path), int(number), message) for path, number, message in found]
