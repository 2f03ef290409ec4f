"""C++ without comments and blank lines, and what a patch changes in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity.tcl_text import strip_tcl

_TOKEN = re.compile(
    r"""(?P<comment> //(?:\\\n|[^\n])* | /\*.*?\*/ )
      | (?P<literal> (?<![^\n])[ \t]*\#[ \t]*include[ \t]*<[^>\n]*>
                   | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'? )
      | (?P<blank> [ \t\f\v\r]+ | \\\n )
      | (?P<newline> \n )
      | (?P<stray> /\* | \*/ )
      | (?P<code> [^\s"'/*\\#]+ | . )""",
    re.VERBOSE | re.DOTALL,
)
# What this reader cannot handle: raw strings of C++11, and a comment delimiter on two lines.
_UNUSUAL = re.compile(r"""\b(?:u8|[uUL])?R"|\*\\[ \t]*\n[ \t]*/|/\\[ \t]*\n|\\[ \t]+\n""")
_NEEDS_NO_BLANK = frozenset("()[]{};,")
_CPP_SUFFIXES = (".cc", ".h", ".c", ".cpp")
# This file of ns-2 has only commands at its top level, so every hunk can be read as a script.
_TCL_SETTINGS = "tcl/lib/ns-default.tcl"

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@lru_cache(maxsize=2048)  # of files that change seldom, and one by one
def strip_cpp(text: str) -> str:
    r"""C++ without comments, blank lines, and blanks that do not separate tokens.

    Text with an unclosed or unopened comment stays as it is, since it may be only part of a file.

    >>> strip_cpp('int a; /* one */\n\nchar* b = "// two"; // three\n')
    'int a;\nchar* b = "// two";'
    """
    if _UNUSUAL.search(text):
        return text
    tokens = list(_TOKEN.finditer(text))
    if any(token.lastgroup == "stray" for token in tokens):
        return text
    return "\n".join(_lines(tokens))


def _lines(tokens: list[re.Match[str]]) -> Iterator[str]:
    line: list[str] = []
    blank = False
    before = ""  # the character before this token, unless it belongs to a literal
    for token in tokens:
        kind = token.lastgroup
        if kind == "newline":
            if line:
                yield "".join(line)
            line, blank = [], False
        elif kind in ("blank", "comment"):
            blank = True
        else:
            text = token.group()
            if blank and line and _needs_blank(line[0], before, text[0]):
                line.append(" ")
            line.append(text)
            blank, before = False, text[-1] if kind == "code" else ""
    if line:
        yield "".join(line)


def _needs_blank(first: str, before: str, after: str) -> bool:
    """Whether a blank between two characters may matter: always so in a preprocessor line."""
    if first.lstrip().startswith("#"):
        return True
    return before not in _NEEDS_NO_BLANK and after not in _NEEDS_NO_BLANK


@dataclass(frozen=True)
class Change:
    """A hunk of a patch: the lines before and after, both including context."""

    path: str
    before: str
    after: str


def changes_of(patch: str, where: str) -> list[Change]:
    """The changes of a unified diff, without comments and blank lines, nor changes of these alone.

    Prose, line numbers and the names in hunk headers are not part of a change.

    Raises:
        BdpbenchError: when the text is not a whole unified diff.
    """
    changes = []
    lines = iter(patch.splitlines())
    old = path = ""
    for line in lines:
        if line.startswith("--- "):
            old = _path(line)
        elif line.startswith("+++ "):
            path = _path(line) if _path(line) != "/dev/null" else old
        elif head := _HUNK.match(line):
            before, after = _sides(lines, int(head[1] or 1), int(head[2] or 1), where)
            change = Change(path, _strip_part(path, before), _strip_part(path, after))
            if change.before != change.after:
                changes.append(change)
    return changes


def _path(line: str) -> str:
    """The file that the header of a diff names, without its first folder."""
    name = line[4:].split("\t")[0].strip()
    return name if name == "/dev/null" else name.partition("/")[2]


def _sides(lines: Iterator[str], before: int, after: int, where: str) -> tuple[str, str]:
    """The lines of a hunk before and after it; ``before`` and ``after``: their expected numbers."""
    old: list[str] = []
    new: list[str] = []
    while len(old) < before or len(new) < after:
        line = next(lines, None)
        if line is None or (line and line[0] not in " +-\\"):
            raise BdpbenchError("a hunk has other lines than its head says", where=where)
        if line.startswith("\\"):  # "\ No newline at end of file"
            continue
        if not line.startswith("+"):
            old.append(line[1:])
        if not line.startswith("-"):
            new.append(line[1:])
    return "\n".join(old), "\n".join(new)


def _strip_part(path: str, text: str) -> str:
    if path.endswith(_CPP_SUFFIXES):
        return strip_cpp(text)
    return strip_tcl(text) if path == _TCL_SETTINGS else text
