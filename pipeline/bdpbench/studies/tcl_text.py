"""Tcl without comments and blank lines: commands and words as Tcl's own parser finds them.

A ``#`` begins a comment only where a command could begin: in a file, in the body of a procedure or
of a control structure, after ``;``. Everywhere else it is data, as in the rows of a table. In case
of doubt the text stays as it is: a comment that is kept changes an id needlessly, but code that is
removed would hide a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

_BLANKS = " \t\v\f\r"
# What can be skipped at once: characters without a special meaning.
_OF_COMMENT = re.compile(r"(?:[^\\\n]|\\.|\\\Z)*", re.DOTALL)
_OF_WORD = re.compile(r"[^ \t\v\f\r\n;\\\[\]$]+")
_IN_BRACES = re.compile(r"[^\\{}]+")
_IN_QUOTES = re.compile(r"[^\\\[$\"]+")
_MANY = 1_000_000
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:")


class TclSyntaxError(ValueError):
    """The text is not a complete Tcl script."""


@dataclass(frozen=True)
class Command:
    """One command: its words as written, and where it starts in the text that was read."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    start: int


@cache
def strip_tcl(text: str) -> str:
    r"""The commands of a script, one a line, without comments and blank lines.

    >>> strip_tcl("set x 1 ;# one\n\nproc f {} {\n    # two\n    puts {# three}\n}\n")
    'set x 1\nproc f {} {\nputs {# three}\n}'
    """
    if "\x1a" in text:  # Tcl stops reading a file there
        return text
    try:
        return _script(text)
    except TclSyntaxError:
        return text


def commands_of(text: str) -> Iterator[Command]:
    """The top-level commands of a script.

    Raises:
        TclSyntaxError: when the text is not a script, such as one with a brace left open.
    """
    at = 0
    while True:
        at = _next_command(text, at, nested=False)
        if at >= len(text):
            return
        command, at = _command(text, at, nested=False)
        yield command


# ---------------------------------------------------------------- stripping


def _script(text: str) -> str:
    return "\n".join(map(_stripped, commands_of(text)))


def _stripped(command: Command) -> str:
    words = list(command.words)
    if _name(words[0]) == "switch":
        _strip_switch(words)
    for index in _bodies(words):
        words[index] = _body(words[index])
    return "".join(part for pair in zip(words, command.gaps, strict=True) for part in pair)


def _body(word: str) -> str:
    """A braced script without its comments; any other word unchanged."""
    if not word.startswith("{") or word.startswith("{*}"):
        return word
    try:
        inner = _script(word[1:-1])
    except TclSyntaxError:
        return word
    return f"{{\n{inner}\n}}" if inner else "{}"


def _name(word: str) -> str:
    return word.removeprefix("::")


def _strip_switch(words: list[str]) -> None:
    """Strip the bodies of ``switch``, whose last word is a list of patterns and bodies."""
    first = _switch_cases(words)
    cases = words[first:]
    if len(cases) == 1 and cases[0].startswith("{"):
        elements = _elements(cases[0][1:-1])
        if elements is not None and len(elements) % 2 == 0:
            pairs = zip(elements[::2], elements[1::2], strict=True)
            inner = "\n".join(f"{pattern} {_body(body)}" for pattern, body in pairs)
            words[first] = f"{{\n{inner}\n}}"
    elif len(cases) % 2 == 0:
        words[first + 1 :: 2] = [_body(body) for body in cases[1::2]]


def _switch_cases(words: Sequence[str]) -> int:
    """Index of the word after the string that ``switch`` examines."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            at += 1
            break
        at += 2 if words[at] in ("-matchvar", "-indexvar") else 1
    return at + 1


def _elements(text: str) -> list[str] | None:
    """Elements of a list as written; None for a list that has quotes or backslashes outside braces.

    Tcl reads such lists by other rules, so nothing is stripped from them.
    """
    elements: list[str] = []
    at = 0
    while True:
        while at < len(text) and text[at] in _BLANKS + "\n":
            at += 1
        if at >= len(text):
            return elements
        start = at
        if text[at] == "{":
            at = _braced(text, at)
        while at < len(text) and text[at] not in _BLANKS + "\n":
            if text[at] in '"\\' or text[start] == "{":
                return None
            at += 1
        elements.append(text[start:at])


# ---------------------------------------------------------------- which words are scripts


_BODIES_OF: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "proc": (4, 4, (3,)),
    "namespace eval": (4, 4, (3,)),
    "while": (3, 3, (2,)),
    "for": (5, 5, (1, 3, 4)),
    "foreach": (4, _MANY, (-1,)),
    "lmap": (4, _MANY, (-1,)),
    "dict for": (4, _MANY, (-1,)),
    "dict map": (4, _MANY, (-1,)),
    "dict with": (4, _MANY, (-1,)),
    "dict update": (4, _MANY, (-1,)),
    "catch": (2, _MANY, (1,)),
    "time": (2, _MANY, (1,)),
    "eval": (2, 2, (1,)),
    "uplevel": (2, _MANY, (-1,)),
}
"""Command → fewest and most words with which these words of it are scripts."""


def _bodies(words: Sequence[str]) -> list[int]:
    """Indices of the words of a command that are scripts."""
    name, count = _name(words[0]), len(words)
    if count >= 5 and words[1] in ("proc", "instproc") and name[0:1].isupper():
        return [4]  # OTcl: a method of a class, whose name begins with a capital
    if name == "if":
        return [i for i in _bodies_of_if(words) if i < count]
    if name == "try":  # body ?on code vars body? ?trap pattern vars body? ?finally body?
        return [
            i
            for i in range(1, count)
            if i == 1 or words[i - 1] == "finally" or words[i - 3] in ("on", "trap")
        ]
    if name in ("namespace", "dict") and count > 1:
        name = f"{name} {words[1]}"
    least, most, indices = _BODIES_OF.get(name, (0, 0, ()))
    return list(indices) if least <= count <= most else []


def _bodies_of_if(words: Sequence[str]) -> list[int]:
    """``if test ?then? body ?elseif test ?then? body ...? ?else? ?body?``."""
    bodies = []
    at = 2
    while at < len(words):
        if words[at] == "then":
            at += 1
        bodies.append(at)
        following = words[at + 1] if at + 1 < len(words) else ""
        if following != "elseif":
            bodies.append(at + 2 if following == "else" else at + 1)
            break
        at += 3
    return bodies


# ---------------------------------------------------------------- reading


def _next_command(text: str, at: int, *, nested: bool) -> int:
    """Position of the next command, after blanks, separators and comments."""
    while at < len(text):
        if text[at] in _BLANKS or text[at] in "\n;":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        elif text[at] == "#":
            at = _comment(text, at)
        else:
            return at
    if nested:
        raise TclSyntaxError("missing close-bracket")
    return at


def _comment(text: str, at: int) -> int:
    """Position after a comment; a backslash takes the next character, even a newline, into it."""
    return _behind(_OF_COMMENT, text, at)


def _command(text: str, at: int, *, nested: bool) -> tuple[Command, int]:
    """The command at a position, and the position of its terminator."""
    start = at
    words, gaps = [], []
    while True:
        end = _word(text, at, nested=nested)
        words.append(text[at:end])
        at = _blanks(text, end)
        if at >= len(text) or text[at] in "\n;" or (nested and text[at] == "]"):
            gaps.append("")
            return Command(tuple(words), tuple(gaps), start), at
        gaps.append(text[end:at])


def _blanks(text: str, at: int) -> int:
    while at < len(text):
        if text[at] in _BLANKS:
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        else:
            break
    return at


def _word(text: str, at: int, *, nested: bool) -> int:
    """Position after the word at a position."""
    if text.startswith("{*}", at) and not _ends_word(text, at + 3, nested=nested):
        at += 3
    if text[at] in '{"':
        end = _braced(text, at) if text[at] == "{" else _quoted(text, at)
        if not _ends_word(text, end, nested=nested):
            raise TclSyntaxError("extra characters behind a closing brace or quote")
        return end
    while not _ends_word(text, at, nested=nested):
        at = _behind(_OF_WORD, text, _piece(text, at))
    return at


def _behind(passed: re.Pattern[str], text: str, at: int) -> int:
    """Position after text that can be skipped; the position itself if there is none."""
    found = passed.match(text, at)
    return found.end() if found else at


def _ends_word(text: str, at: int, *, nested: bool) -> bool:
    if at >= len(text) or text[at] in _BLANKS or text[at] in "\n;":
        return True
    return (nested and text[at] == "]") or text.startswith("\\\n", at)


def _piece(text: str, at: int) -> int:
    """Position after one character of a word, or after a substitution."""
    if text[at] == "\\":
        return min(at + 2, len(text))
    if text[at] == "[":
        return _bracket(text, at)
    return _variable(text, at) if text[at] == "$" else at + 1


def _braced(text: str, at: int) -> int:
    depth = 0
    while (at := _behind(_IN_BRACES, text, at)) < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise TclSyntaxError("missing close-brace")


def _quoted(text: str, at: int) -> int:
    at += 1
    while (at := _behind(_IN_QUOTES, text, at)) < len(text):
        if text[at] == '"':
            return at + 1
        at = _piece(text, at)
    raise TclSyntaxError("missing closing quote")


def _bracket(text: str, at: int) -> int:
    at += 1
    while True:
        at = _next_command(text, at, nested=True)
        if text[at] == "]":
            return at + 1
        _, at = _command(text, at, nested=True)


def _variable(text: str, at: int) -> int:
    at += 1
    if text.startswith("{", at):
        end = text.find("}", at)
        if end < 0:
            raise TclSyntaxError("missing close-brace of a variable's name")
        return end + 1
    while at < len(text) and text[at] in _NAME:
        at += 1
    if not text.startswith("(", at):
        return at
    at += 1
    while at < len(text):
        if text[at] == ")":
            return at + 1
        at = _piece(text, at)
    raise TclSyntaxError("missing )")
