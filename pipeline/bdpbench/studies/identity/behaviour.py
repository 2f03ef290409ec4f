"""How ns-2 behaves towards a run: source, flags, patches, and the laws of its senders and queues.

``ns2/components.yaml`` says which senders or queues a file of ``ns2/`` acts on. A file that it does
not name counts for every run, so that nothing can be forgotten.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypedDict

from pydantic import BaseModel, ConfigDict

from bdpbench.contracts.files import FolderState, cached, state_of
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity.cpp_text import changes_of, strip_cpp
from bdpbench.studies.identity.tcl_files import tcl_statements

MANIFEST_NAME = "components.yaml"
_FLAGS = re.compile(r'^(C_FLAGS|CXX_FLAGS|COMMON_FLAGS|LIBRARIES)="([^"$`\\]*)"$', re.MULTILINE)
_FLAG_NAMES = {"C_FLAGS", "CXX_FLAGS", "COMMON_FLAGS", "LIBRARIES"}
_SHA256 = re.compile(r"^sha256=([0-9a-f]{64})$", re.MULTILINE)


class _Stripped(TypedDict):
    """Names of files, with their changes and their contents."""

    patches: dict[str, list[list[str]]]
    code: dict[str, str]


@dataclass(frozen=True)
class AgentUse:
    """A sender of a run, as far as it decides which code of ns-2 runs.

    Attributes:
        agent: ns-2's class without ``Agent/``, e.g. ``TCP/Sack1``.
        window_option: its ``windowOption_``; None for ns-2's default.
        linux: congestion control of ``TCP/Linux``; None for every other agent.
    """

    agent: str
    window_option: int | None = None
    linux: str | None = None


class Components(BaseModel):
    """Content of ``ns2/components.yaml``: which files act on which senders and queues."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

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


def ns2_digest(uses: Collection[AgentUse] | None, queues: Collection[str] = ()) -> str:
    """SHA-256 over everything that decides how ns-2 treats these senders and queues.

    It covers the pristine source, the compiler flags, the patches in their order, and the laws and
    adapters, all without comments and blank lines. If ``uses`` is None, it covers everything that
    may matter. ``queues``: those of ``queues_named`` that the run may create.

    Raises:
        BdpbenchError: when a file of ``ns2/`` is missing or cannot be read.
    """
    folder = _folder()
    known = None if uses is None else frozenset(uses)
    return _digest(folder, known, frozenset(queues), state_of(folder))


def queues_named(argv: Iterable[str], files: Iterable[Path]) -> frozenset[str]:
    """Classes of queues with files of their own that a run's arguments or Tcl files name.

    A queue is created by its class name, so a run that names none of them has none.

    Raises:
        BdpbenchError: when a Tcl file or a file of ``ns2/`` is missing or cannot be read.
    """
    text = "\0".join([*argv, *(tcl_statements(path) for path in files)])
    return frozenset(each for each in queue_classes() if each in text)


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

    def strip() -> _Stripped:
        return {
            "patches": {name: _changes_in(text, name) for name, text in patches.items()},
            "code": {name: strip_cpp(text) for name, text in code.items()},
        }

    texts = [*patches, *patches.values(), "", *code, *code.values()]
    inputs = [each.encode(errors="surrogateescape") for each in texts]
    return cached("ns2-stripped", [*_strippers(), *inputs], strip)


def _strippers() -> list[bytes]:
    """The code that strips."""
    return [Path(__file__).with_name(name).read_bytes() for name in ("cpp_text.py", "tcl_text.py")]


@lru_cache(maxsize=128)
def _changes_in(text: str, name: str) -> list[list[str]]:
    return [[each.path, each.before, each.after] for each in changes_of(text, name)]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        raise BdpbenchError("no such file", where=str(path)) from None
