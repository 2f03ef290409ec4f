"""The id of a run: a hash of everything that determines the bytes ns-2 writes, and nothing else.

ns-2 gets arguments, reads Tcl files, and treats this run's agents as its source, patches and laws
define. The id is made of these three, and of the names of the traces that ns-2 writes into pipes.
Parameters, labels, tables, paths and the build id are not part of it: a run keeps its id, and so
its results, when its descriptions change or other runs are added.

A file counts by its version: the beginning of its SHA-256, unless ``ns2/versions.lock`` says that a
file of this content has the version of an earlier one. `tests/ns2/lock.py` writes that after a
sample of runs gave the same bytes with both, so that a remark or a change that makes ns-2 faster
changes no id. What somebody edits has a version of its own at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from bdpbench.contracts.files import sha256_of, utf8_text
from bdpbench.contracts.paths import repository_root, tcl_dir
from bdpbench.contracts.plan import AgentUse, Identity, Output
from bdpbench.contracts.yaml_files import Strict, YamlFile
from bdpbench.errors import BdpbenchError

RUN_ID_DIGITS = 16
VERSION_DIGITS = 16
LOCK_NAME = "versions.lock"
MANIFEST_NAME = "components.yaml"

_FLAGS = re.compile(r"^(?:C_FLAGS|CXX_FLAGS|COMMON_FLAGS|LIBRARIES)=.*$", re.MULTILINE)
_LOCKED = re.compile(rf"([0-9a-f]{{{VERSION_DIGITS}}}) ([0-9a-f]{{64}})  (\S.*)")
_LITERAL = re.compile(
    r"(?:::)?source \[file join (?P<from>\[file dirname \[info script\]\]|\$::env\(BDPBENCH_TCL\))"
    r"(?P<parts>(?: [\w./-]+)+)\]\s*(?:;\s*#.*)?"
)
# Anything that could be the command elsewhere: in a body, in brackets, as an argument of uplevel.
_ANYWHERE = re.compile(
    r"(?:(?:^|[;{\[\"])\s*|\b(?:uplevel|eval|catch)\b[^;]*\s)"
    r"(?P<source>(?:::)?source\s+(?:\[|\$|[{\"]?\S*\.tcl))|^(?P<first>(?:::)?source(?:\s.*)?)$"
)
_FORMS = (
    "a file is sourced at the top of a file, by `source [file join [file dirname [info script]] "
    "...]` or `source [file join $::env(BDPBENCH_TCL) ...]` with the rest in plain words"
)


def run_id(identity: Identity) -> str:
    """The id of a run: 16 hex digits that stand for its identity."""
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:RUN_ID_DIGITS]


# ---------------------------------------------------------------- versions of files


def read_lock() -> dict[str, tuple[str, str]]:
    """File, from ``ns2/``, ``tcl/`` or ``ns3/`` on → its SHA-256 and its version."""
    path = repository_root() / "ns2" / LOCK_NAME
    found = {}
    for number, line in enumerate(utf8_text(path).splitlines(), 1):
        if line.startswith("#"):
            continue
        entry = _LOCKED.fullmatch(line)
        if entry is None:
            raise BdpbenchError(
                "is not `VERSION SHA256  FILE`",
                where=f"{path}:{number}",
                hint="tests/ns2/lock.py writes this file",
            )
        found[entry[3]] = (entry[2], entry[1])
    return found


class Versions:
    """The version of each file; the lock is read once."""

    @cached_property
    def _of_content(self) -> Mapping[str, str]:
        return dict(read_lock().values())

    def of(self, path: Path) -> str:
        """The version of a file."""
        try:
            content = sha256_of(path)
        except (FileNotFoundError, IsADirectoryError):
            raise BdpbenchError("no such file", where=str(path)) from None
        return self._of_content.get(content, content[:VERSION_DIGITS])

    def digest(self, paths: Iterable[Path]) -> str:
        """SHA-256 over the versions of some files, in order."""
        return _digest(map(self.of, paths))


def _digest(versions: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(versions).encode()).hexdigest()


# ---------------------------------------------------------------- Tcl


def tcl_files(script: Path) -> list[Path]:
    """The script and all files that it sources, each once, in the order of sourcing."""
    files: list[Path] = []
    _follow(script, files, where="")
    return files


def _follow(path: Path, files: list[Path], where: str) -> None:
    path = Path(os.path.normpath(path))
    if path in files:
        return
    statements = _statements(path, where)
    files.append(path)
    for line, text in statements:
        if literal := _LITERAL.fullmatch(text):
            start = tcl_dir() if "$" in literal["from"] else path.parent
            _follow(start.joinpath(*literal["parts"].split()), files, where=f"{path}:{line}")
        elif other := _ANYWHERE.search(text.lstrip()):
            raise BdpbenchError(
                f"cannot determine which file this sources: {other['source'] or other['first']}",
                where=f"{path}:{line}",
                hint=_FORMS,
            )


def _statements(path: Path, where: str = "") -> list[tuple[int, str]]:
    """Number and text of each line that is neither blank nor only a remark."""
    try:
        text = utf8_text(path)
    except (FileNotFoundError, IsADirectoryError):
        raise BdpbenchError(f"no such Tcl file: {path}", where=where) from None
    lines = ((number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line and line.lstrip()[0] != "#"]


# ---------------------------------------------------------------- ns-2


class Components(Strict):
    """Content of ``ns2/components.yaml``: which files act on which senders and queues."""

    every_run: list[str]
    tcp: list[str]
    own_window_options: list[int]
    window_options: dict[int, list[str]]
    agents: dict[str, list[str]]
    queues: dict[str, list[str]]
    no_run: list[str]

    @property
    def words(self) -> set[str]:
        """What a run's arguments or Tcl have to contain for some files to act on it."""
        return {*self.queues, *(each.partition(" with ")[2] for each in self.agents)} - {""}

    def unused(self, uses: Collection[AgentUse] | None, words: Collection[str]) -> set[str]:
        """Files, or folders of files, that act on no run of these senders and words.

        If senders are unknown, these are those of senders with other words alone.
        """
        wordy = {key: key.partition(" with ")[2] for key in self.agents}
        silent = (self.agents[key] for key, word in wordy.items() if word not in {"", *words})
        if uses is None:
            return {name for names in silent for name in names}
        parts = (self.window_options, self.agents, self.queues)
        named = {*self.tcp, *(name for part in parts for names in part.values() for name in names)}
        used = {name for use in uses for name in self._used(use, words)}
        used |= {name for each, names in self.queues.items() if each in words for name in names}
        return {*self.no_run, *(named - used)}

    def _used(self, use: AgentUse, words: Collection[str]) -> Iterator[str]:
        if _is_a(use.agent, "TCP"):
            yield from self.tcp
            yield from self._of_option(use.window_option)
        for key, names in self.agents.items():
            agent, _, word = key.partition(" with ")
            if _is_a(use.agent, agent) and word in {"", *words}:
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


def read_components() -> Components:
    """Read ``ns2/components.yaml``."""
    return YamlFile(repository_root() / "ns2" / MANIFEST_NAME).validate(Components)


def ns2_names() -> tuple[list[str], list[str]]:
    """Names, from ``ns2/`` on, of all patches in their order, and of our own C++ files."""
    folder = repository_root() / "ns2"
    lines = utf8_text(folder / "patches" / "series").splitlines()
    patches = [f"patches/{name}" for line in lines if (name := line.partition("#")[0].strip())]
    code = [
        path.relative_to(folder).as_posix()
        for part in ("laws", "agents", "speed")
        for path in sorted((folder / part).rglob("*"))
        if path.suffix in (".cc", ".h")
    ]
    return patches, code


def _is_under(name: str, places: Collection[str]) -> bool:
    parts = name.split("/")
    return any("/".join(parts[: i + 1]) in places for i in range(len(parts)))


# ---------------------------------------------------------------- identities


class Identities:
    """Makes the identities of many runs; each file and each set of agents is examined once."""

    def __init__(self) -> None:
        self._versions = Versions()
        self._scripts: dict[Path, tuple[str, frozenset[str]]] = {}
        self._behaviours: dict[tuple[frozenset[AgentUse] | None, frozenset[str]], str] = {}
        self._outputs: dict[str, list[Output]] = {}

    @cached_property
    def _components(self) -> Components:
        return read_components()

    @cached_property
    def _ns2(self) -> tuple[dict[str, str], dict[str, str]]:
        """Version of each patch, in order, and of each of our own C++ files."""
        folder = repository_root() / "ns2"
        patches, code = (
            {
                name: self._versions.of(folder / name)
                for name in names
                if not _is_under(name, self._components.no_run)
            }
            for names in ns2_names()
        )
        return patches, code

    @cached_property
    def _made(self) -> list[str]:
        """What the source of ns-2 and the compiler's flags count by."""
        folder = repository_root() / "ns2"
        flags = "\n".join(_FLAGS.findall(utf8_text(folder / "build.sh")))
        return [self._versions.of(folder / "SOURCE.lock"), flags]

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

        ``uses`` are the senders that it creates, None if they are unknown, so that everything
        counts; ``streams`` names the traces that ns-2 writes into pipes.
        """
        if script not in self._scripts:
            read = tcl_files(script)
            named = self._words(text for path in read for _, text in _statements(path))
            self._scripts[script] = (self._versions.digest(read), named)
        tcl, words = self._scripts[script]
        return {
            "argv": [sys.intern(word) for word in argv],  # most of many runs share them
            "tcl": tcl,
            "ns2": self.behaviour(uses, words | self._words(argv)),
            "streams": list(streams),
        }

    def _words(self, texts: Iterable[str]) -> frozenset[str]:
        """Classes of queues and variables with files of their own that these name."""
        text = "\0".join(texts)
        return frozenset(each for each in self._components.words if each in text)

    def behaviour(
        self, uses: Collection[AgentUse] | None, words: Collection[str] = frozenset()
    ) -> str:
        """SHA-256 over everything that decides how ns-2 treats a run of these senders and words.

        If ``uses`` is None, it covers everything that may matter.
        """
        known = (None if uses is None else frozenset(uses), frozenset(words))
        if known not in self._behaviours:
            unused = self._components.unused(uses, words)
            patches, code = (
                [version for name, version in each.items() if not _is_under(name, unused)]
                for each in self._ns2
            )
            # Sorted by content, because ns-2 cannot see names and places of files.
            self._behaviours[known] = _digest([*self._made, *patches, *sorted(code)])
        return self._behaviours[known]
