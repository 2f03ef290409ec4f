"""The id of a run: a hash of everything that determines the bytes ns-2 writes, and nothing else.

ns-2 gets arguments, reads Tcl files, and treats this run's agents as its source, patches and laws
define. The id is made of these three, and of the names of the traces that ns-2 writes into pipes.
Parameters, labels, tables, paths, comments and the build id are not part of it: a run keeps its id,
and so its results, when its descriptions change or other runs are added.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.plan import Identity
from bdpbench.errors import BdpbenchError
from bdpbench.studies.tcl_text import TclSyntaxError, commands_of, strip_tcl

RUN_ID_DIGITS = 16
UTILS_NAME = "utils.tcl"
ORIGINAL_RUNNER = "original.tcl"
"""Runs a script of a study's authors, which reads ``utils.tcl`` in its working directory."""

_LITERAL = re.compile(
    r"(?:::)?source \[file join (?P<from>\[file dirname \[info script\]\]|\$::env\(BDPBENCH_TCL\))"
    r"(?P<parts>(?: [\w./-]+)+)\]"
)
_States: TypeAlias = tuple[tuple[Path, int, int, int], ...]
# Script → the files that it sources, as they were: each run asks for them again.
_FOLLOWED: dict[Path, _States] = {}
# The script that is an argument of tcl/original.tcl; the caller, which names it, counts it.
_GIVEN = "source $argv0"
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

    The script that an argument names (``source $argv0``) is not among them.

    Raises:
        BdpbenchError: when a file is missing, or is sourced in a form that cannot be followed.
    """
    known = _FOLLOWED.get(script)
    if known is None or known != _states([path for path, *_ in known]):
        files: list[Path] = []
        _follow(script, files, tcl_dir(), where="")
        known = _FOLLOWED[script] = _states(files)
    return [path for path, *_ in known]


def outside_files(folder: Path, script: str) -> dict[str, Path]:
    """File name → path, for files that a script of the authors needs in its working directory."""
    name = Path(script).name
    return {name: folder / name, UTILS_NAME: tcl_dir() / "lib" / UTILS_NAME}


def original_files(folder: Path, script: str) -> list[Path]:
    """All Tcl files that a run of a script of the authors reads."""
    return [*tcl_files(tcl_dir() / ORIGINAL_RUNNER), *outside_files(folder, script).values()]


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
def _find_sources(text: str) -> tuple[tuple[int, tuple[str, ...], str], ...]:
    """The ``source`` commands of a text: line, words of a literal one, and any other as written."""
    return tuple(_iter_sources(text))


def _iter_sources(text: str) -> Iterator[tuple[int, tuple[str, ...], str]]:
    for command in list(commands_of(text)):
        written = "".join(word + gap for word, gap in zip(command.words, command.gaps, strict=True))
        line = 1 + text.count("\n", 0, command.start)
        literal = _LITERAL.fullmatch(written)
        if literal:
            yield line, (literal["from"], *literal["parts"].split()), ""
        elif written != _GIVEN and (found := _other_source(command.words[0], written)):
            yield line + written.count("\n", 0, max(0, written.find(found))), (), found


def _other_source(name: str, written: str) -> str:
    """The part of a command that sources a file in a form other than the literal ones, or ""."""
    if name.removeprefix("::") == "source":
        return written
    if "source" not in written:  # stripping cannot have introduced these
        return ""
    found = _ANYWHERE.search(strip_tcl(written))
    return found["source"] if found else ""
