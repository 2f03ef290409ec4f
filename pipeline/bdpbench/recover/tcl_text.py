"""What the rules need to know about Tcl: comments, variables, commands and blocks, by line.

It reads damaged scripts that Tcl's own parser cannot read; Tcl itself checks the repaired ones (see
``tcl_check``). All variables of a script are in one namespace, whether global or local to a
procedure, because the listings never use one name for two things.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from bdpbench.recover.printed import Line

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
# Commands that ns-2 adds; its classes are recognized by their form (Agent/TCP).
NS2_COMMANDS = frozenset(
    {
        "new", "delete", "Simulator", "RNG", "add-packet-header", "remove-packet-header",
        "remove-all-packet-headers", "ns-int64todbl", "ns-random", "ns-version",
    }
)  # fmt: skip
# Global variables that Tcl or ns-2 sets before a script starts.
GIVEN_VARIABLES = frozenset({"argc", "argv", "argv0", "env", "defaultRNG"})

_WORD = re.compile(r"(?<![\w./])[A-Za-z_][\w-]*(?![\w./-])")
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


def written_in(lines: Iterable[Line]) -> set[str]:
    """Variables that a script sets."""
    return {name for line in lines for name in writes(line.text)}


def mentions(lines: Iterable[Line]) -> Counter[str]:
    """How often each word occurs in the code of a script."""
    return Counter(word for line in lines for word in re.findall(r"\w+", code_of(line.text)))


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


def is_command(word: str, own: Iterable[str]) -> bool:
    """Whether a word is a command of Tcl, of ns-2 (classes included), or one of ``own``."""
    return word in TCL_COMMANDS or word in NS2_COMMANDS or word in own or bool(_CLASS.match(word))
