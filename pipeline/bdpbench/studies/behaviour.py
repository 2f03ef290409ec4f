"""How ns-2 behaves towards a run: source, flags, patches, and the laws of its senders and queues.

``ns2/components.yaml`` says which senders or queues a file of ``ns2/`` acts on. A file that it does
not name counts for every run, so that nothing can be forgotten. Comments and blank lines of C++ do
not count, nor changes of a patch that concern these alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TypedDict

from bdpbench.contracts.files import FolderState, state_of
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import AgentUse, Identity, Output
from bdpbench.contracts.yaml_files import Strict, YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import strip_tcl, tcl_digest, tcl_files, tcl_statements

MANIFEST_NAME = "components.yaml"
_FLAGS = re.compile(r'^(C_FLAGS|CXX_FLAGS|COMMON_FLAGS|LIBRARIES)="([^"$`\\]*)"$', re.MULTILINE)
_FLAG_NAMES = {"C_FLAGS", "CXX_FLAGS", "COMMON_FLAGS", "LIBRARIES"}
_SHA256 = re.compile(r"^sha256=([0-9a-f]{64})$", re.MULTILINE)


class _Stripped(TypedDict):
    """Names of files, with their changes and their contents."""

    patches: dict[str, list[list[str]]]
    code: dict[str, str]


class Components(Strict):
    """Content of ``ns2/components.yaml``: which files act on which senders and queues."""

    every_run: list[str]
    tcp: list[str]
    own_window_options: list[int]
    window_options: dict[int, list[str]]
    agents: dict[str, list[str]]
    queues: dict[str, list[str]]
    no_run: list[str]

    def unused(self, uses: Collection[AgentUse], queues: Collection[str]) -> set[str]:
        """Files, or folders of files, that act on none of these senders and queues."""
        named = {*self.tcp, *(name for _, names in self._parts() for name in names)}
        used = {name for use in uses for name in self._used(use)}
        used |= {name for each, names in self.queues.items() if each in queues for name in names}
        return {*self.no_run, *(named - used)}

    def _parts(self) -> list[tuple[str | int, list[str]]]:
        return [*self.window_options.items(), *self.agents.items(), *self.queues.items()]

    def _used(self, use: AgentUse) -> Iterator[str]:
        if _is_a(use.agent, "TCP"):
            yield from self.tcp
            yield from self._of_option(use.window_option)
        for agent, names in self.agents.items():
            if _is_a(use.agent, agent):
                yield from names

    def _of_option(self, option: int | None) -> Iterator[str]:
        """Files of a law; for an undeclared option, the files of all laws."""
        if option is None or option in self.own_window_options:
            return
        for each, names in self.window_options.items():
            if each == option or option not in self.window_options:
                yield from names


def _is_a(agent: str, parent: str) -> bool:
    """Whether an agent class is another or inherits from it, by TclCL's naming rule."""
    return agent == parent or agent.startswith(f"{parent}/")


def ns2_digest(
    uses: Collection[AgentUse] | None,
    queues: Collection[str] = (),
    state: FolderState | None = None,
) -> str:
    """SHA-256 over everything that decides how ns-2 treats these senders and queues.

    It covers the pristine source, the compiler flags, the patches in their order, and the laws and
    adapters, all without comments and blank lines. If ``uses`` is None, it covers everything that
    may matter. ``queues``: those of ``queues_named`` that the run may create. ``state``: that of
    ``ns2/``, if it is known.

    Raises:
        BdpbenchError: when a file of ``ns2/`` is missing or cannot be read.
    """
    folder = _folder()
    known = None if uses is None else frozenset(uses)
    return _digest(folder, known, frozenset(queues), state or state_of(folder))


def queues_named(texts: Iterable[str], classes: Collection[str]) -> frozenset[str]:
    """The classes of queues that arguments or Tcl statements name.

    A queue is created by its class name, so a run that names none of them has none.
    """
    text = "\0".join(texts)
    return frozenset(each for each in classes if each in text)


def queue_classes() -> frozenset[str]:
    """Classes of queues with files of their own.

    Raises:
        BdpbenchError: when a file of ``ns2/`` is missing or cannot be read.
    """
    folder = _folder()
    return frozenset(_components(folder, state_of(folder)).queues)


def _folder() -> Path:
    folder = repository_root() / "ns2"
    if not folder.is_dir():
        raise BdpbenchError("no such folder", where=str(folder))
    return folder


def read_components(folder: Path) -> Components:
    """Read ``components.yaml`` of a folder like ``ns2/``.

    Raises:
        BdpbenchError: when it is missing or, with the line, invalid.
    """
    return YamlFile(folder / MANIFEST_NAME).validate(Components)


@cache
def _digest(
    folder: Path, uses: frozenset[AgentUse] | None, queues: frozenset[str], state: FolderState
) -> str:
    components = _components(folder, state)
    unused = set(components.no_run) if uses is None else components.unused(uses, queues)
    stripped = _stripped(folder, state)
    content = {
        "source": _source(folder / "SOURCE.lock"),
        "flags": _flags(folder / "build.sh"),
        "patches": [
            changes for name, changes in stripped["patches"].items() if not _is_under(name, unused)
        ],
        # Sorted by content, because ns-2 cannot see names and places of files.
        "code": sorted(
            text for name, text in stripped["code"].items() if not _is_under(name, unused)
        ),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@cache
def _components(folder: Path, state: FolderState) -> Components:
    return read_components(folder)


def _is_under(name: str, places: Collection[str]) -> bool:
    parts = name.split("/")
    return any("/".join(parts[: i + 1]) in places for i in range(len(parts)))


def _source(lock: Path) -> str:
    found = _SHA256.search(_read(lock))
    if found is None:
        raise BdpbenchError("has no sha256 of the source archive", where=str(lock))
    return found[1]


def _flags(script: Path) -> dict[str, str]:
    """The compiler flags, which ``build.sh`` has as plain text."""
    flags: dict[str, str] = dict(_FLAGS.findall(_read(script)))
    if set(flags) != _FLAG_NAMES:
        missing = ", ".join(sorted(_FLAG_NAMES - set(flags)))
        raise BdpbenchError(f"has no plain text for {missing}", where=str(script))
    return flags


# Runs of a study differ in a few of these files; most files are part of all their digests.
@lru_cache(maxsize=2)
def _stripped(folder: Path, state: FolderState) -> _Stripped:
    """The patches and our own C++ files, without comments and blank lines."""
    lines = _read(folder / "patches" / "series").splitlines()
    names = [f"patches/{name}" for line in lines if (name := line.partition("#")[0].strip())]
    patches = {name: _read(folder / name) for name in names}
    code = {
        path.relative_to(folder).as_posix(): _read(path)
        for part in ("laws", "agents", "speed")
        for path in sorted((folder / part).rglob("*"))
        if path.suffix in (".cc", ".h")
    }

    return {
        "patches": {name: changes_of(text, name) for name, text in patches.items()},
        "code": {name: strip_cpp(text) for name, text in code.items()},
    }


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        raise BdpbenchError("no such file", where=str(path)) from None


# ---------------------------------------------------------------- identities


class Identities:
    """Makes the identities of many runs; each script and each set of agents is examined once."""

    def __init__(self) -> None:
        self._scripts: dict[Path, tuple[str, frozenset[str]]] = {}
        self._behaviours: dict[tuple[frozenset[AgentUse] | None, frozenset[str]], str] = {}
        self._outputs: dict[str, list[Output]] = {}

    @cached_property
    def _state(self) -> FolderState:
        return state_of(_folder())

    @cached_property
    def _classes(self) -> frozenset[str]:
        return queue_classes()

    def shared(self, outputs: list[Output]) -> list[Output]:
        """The same list for equal outputs: among tens of thousands of runs few differ."""
        return self._outputs.setdefault(json.dumps(outputs), outputs)

    def of(
        self,
        script: Path,
        argv: Sequence[str],
        uses: Collection[AgentUse] | None,
        streams: Sequence[str],
    ) -> Identity:
        """Identity of a run.

        Args:
            script: the script that ns-2 runs.
            argv: its arguments.
            uses: the senders that it creates; None if they are unknown, so that everything counts.
            streams: names of the traces that ns-2 writes into pipes.

        Raises:
            BdpbenchError: when the script sources a file in a way that cannot be followed.
        """
        if script not in self._scripts:
            read = tcl_files(script)
            named = queues_named(map(tcl_statements, read), self._classes)
            self._scripts[script] = (tcl_digest(read), named)
        tcl, queues = self._scripts[script]
        senders = None if uses is None else frozenset(uses)
        known = (senders, queues | queues_named(argv, self._classes))
        if known not in self._behaviours:
            self._behaviours[known] = ns2_digest(*known, self._state)
        return {
            "argv": [sys.intern(word) for word in argv],  # most of many runs share them
            "tcl": tcl,
            "ns2": self._behaviours[known],
            "streams": list(streams),
        }


# ---------------------------------------------------------------- C++

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


@lru_cache(maxsize=128)
def changes_of(patch: str, where: str) -> list[list[str]]:
    """The changes of a unified diff, without comments and blank lines, nor changes of these alone.

    Prose, line numbers and the names in hunk headers are not part of a change.

    Returns:
        For each hunk the file, and its lines before and after, both including context.

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
            old_text, new_text = _strip_part(path, before), _strip_part(path, after)
            if old_text != new_text:
                changes.append([path, old_text, new_text])
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
