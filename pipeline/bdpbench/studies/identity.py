"""The id of a run: a hash of everything that determines the bytes ns-2 writes, and nothing else.

ns-2 gets arguments, reads Tcl files, and treats this run's agents as its source, patches and laws
define. The id is made of these three, and of the names of the traces that ns-2 writes into pipes.
Parameters, labels, tables, paths, comments and the build id are not part of it: a run keeps its id,
and so its results, when its descriptions change or other runs are added.

Of Tcl, comments and blank lines do not count. A ``#`` begins a comment only where a command could
begin: in a file, in the body of a procedure or of a control structure, after ``;``. Everywhere else
it is data, as in the rows of a table. In case of doubt the text stays as it is: a comment that is
kept changes an id needlessly, but code that is removed would hide a change.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.plan import Identity
from bdpbench.errors import BdpbenchError

RUN_ID_DIGITS = 16

_LITERAL = re.compile(
    r"(?:::)?source \[file join (?P<from>\[file dirname \[info script\]\]|\$::env\(BDPBENCH_TCL\))"
    r"(?P<parts>(?: [\w./-]+)+)\]"
)
_States: TypeAlias = tuple[tuple[Path, int, int, int], ...]
# Script → the files that it sources, as they were: each run asks for them again.
_FOLLOWED: dict[Path, _States] = {}
# Anything that could be the command elsewhere: in a body, in brackets, as an argument of uplevel.
_ANYWHERE = re.compile(
    r"(?:(?:^|[\n;{\[\"])\s*|\b(?:uplevel|eval|catch)\b[^\n;]*\s)"
    r"(?P<source>(?:::)?source\s+(?:\[|\$|[{\"]?\S*\.tcl))"
)
_FORMS = (
    "a file is sourced at the top of a file, by `source [file join [file dirname [info script]] "
    "...]` or `source [file join $::env(BDPBENCH_TCL) ...]` with the rest in plain words"
)


def run_id(identity: Identity) -> str:
    """The id of a run: 16 hex digits that stand for its identity."""
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:RUN_ID_DIGITS]


def tcl_files(script: Path) -> list[Path]:
    """The script and all files that it sources, each once, in the order of sourcing.

    Raises:
        BdpbenchError: when a file is missing, or is sourced in a form that cannot be followed.
    """
    known = _FOLLOWED.get(script)
    if known is None or known != _states([path for path, *_ in known]):
        files: list[Path] = []
        _follow(script, files, tcl_dir(), where="")
        known = _FOLLOWED[script] = _states(files)
    return [path for path, *_ in known]


def tcl_digest(files: Sequence[Path]) -> str:
    """SHA-256 over the contents of the files, in order, without comments and blank lines."""
    return _digest_of(_states(files))


@lru_cache(maxsize=256)
def _digest_of(files: _States) -> str:
    digest = hashlib.sha256()
    for path, *_ in files:
        digest.update(tcl_statements(path).encode() + b"\0")
    return digest.hexdigest()


def _states(files: Iterable[Path]) -> _States:
    """The files, with what changes when they do; a missing file has no state."""
    found: list[tuple[Path, int, int, int]] = []
    for path in files:
        try:
            about = path.stat()
        except OSError:
            found.append((path, 0, 0, 0))
        else:
            found.append((path, about.st_ino, about.st_mtime_ns, about.st_size))
    return tuple(found)


def tcl_statements(path: Path) -> str:
    """The statements of a file, without comments and blank lines.

    Raises:
        BdpbenchError: when it is missing, or not UTF-8: Tcl would read it as the locale says.
    """
    return strip_tcl(_read(path))


def _follow(path: Path, files: list[Path], tcl: Path, where: str) -> None:
    path = Path(os.path.normpath(path))
    if path in files:
        return
    text = _read(path, where)
    files.append(path)
    for line, sourced in _sources(path, text, tcl):
        _follow(sourced, files, tcl, where=f"{path}:{line}")


def _read(path: Path, where: str = "") -> str:
    """A file as Tcl reads it: every kind of line end is a newline."""
    try:
        text = utf8_text(path)
    except (FileNotFoundError, IsADirectoryError):
        raise BdpbenchError(f"no such Tcl file: {path}", where=where) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _sources(path: Path, text: str, tcl: Path) -> Iterator[tuple[int, Path]]:
    """Line and file of each ``source`` command."""
    try:
        found = _find_sources(text)
    except TclSyntaxError as error:
        raise BdpbenchError(f"is not a Tcl script: {error}", where=str(path)) from None
    for line, literal, other in found:
        if other:
            raise BdpbenchError(
                f"cannot determine which file this sources: {other}",
                where=f"{path}:{line}",
                hint=_FORMS,
            )
        start, *parts = literal
        yield line, (tcl if "$" in start else path.parent).joinpath(*parts)


@cache
def _find_sources(text: str) -> Sequence[tuple[int, tuple[str, ...], str]]:
    """The ``source`` commands of a text: line, words of a literal one, and any other as written."""
    sources: list[tuple[int, tuple[str, ...], str]] = []
    for command in list(commands_of(text)):
        written = "".join(word + gap for word, gap in zip(command.words, command.gaps, strict=True))
        line = 1 + text.count("\n", 0, command.start)
        literal = _LITERAL.fullmatch(written)
        if literal:
            sources.append((line, (literal["from"], *literal["parts"].split()), ""))
        elif found := _other_source(command.words[0], written):
            line += written.count("\n", 0, max(0, written.find(found)))
            sources.append((line, (), found))
    return sources


def _other_source(name: str, written: str) -> str:
    """The part of a command that sources a file in a form other than the literal ones, or ""."""
    if name.removeprefix("::") == "source":
        return written
    if "source" not in written:  # stripping cannot have introduced these
        return ""
    found = _ANYWHERE.search(strip_tcl(written))
    return found["source"] if found else ""


# ---------------------------------------------------------------- Tcl without comments

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
            # A backslash takes the next character, even a newline, into the comment.
            at = _behind(_OF_COMMENT, text, at)
        else:
            return at
    if nested:
        raise TclSyntaxError("missing close-bracket")
    return at


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
