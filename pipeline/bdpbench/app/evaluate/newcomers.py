"""The protocols that a user names for an evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.paths import config_dir, expanded, relative
from bdpbench.contracts.yaml_files import meant, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.studies.folders import ProtocolFolder, folder_in
from bdpbench.studies.load import load_study, study_keys
from bdpbench.studies.parts import Protocol
from bdpbench.studies.study import Study

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_MAKE_IT = ("agent", "sink", "linux", "linux_parameters", "settings")
_HINT = (
    "name a folder with protocol.yaml and law.cc or tcp_*.c, one of config/protocols, or "
    "STUDY:PROTOCOL; NAME=… gives it another name"
)


@dataclass(frozen=True)
class Newcomer:
    """A protocol to evaluate.

    Attributes:
        key: its name in the evaluation.
        source: what it is: a folder, from the checkout, or ``STUDY:PROTOCOL``.
        protocol: how a study's senders are made of it.
        folder: its folder, if it is one.
        renamed: whether the user gave it its name, under which it stands beside itself.
    """

    key: str
    source: str
    protocol: Protocol
    folder: ProtocolFolder | None = None
    renamed: bool = False

    def is_itself(self, protocol: Protocol) -> bool:
        """Whether a study's protocol is this one, i.e. has the same senders and receivers."""
        return not self.renamed and all(
            getattr(protocol, name) == getattr(self.protocol, name) for name in _MAKE_IT
        )


def find_newcomers(words: Sequence[str]) -> list[Newcomer]:
    """The protocols that the words of a command line name, each ``[NAME=]WHAT``.

    Raises:
        BdpbenchError: for a word that names no protocol, or several, and for two protocols that
            would have the same name.
    """
    found: dict[str, Newcomer] = {}
    for word in words:
        each = _find(word)
        other = found.setdefault(each.key.casefold(), each)
        if other is not each:
            raise BdpbenchError(
                f"{other.source} and {each.source} would both be {each.key}",
                where=word,
                hint=f"give one another name: Other={word}",
            )
    return list(found.values())


def _find(word: str) -> Newcomer:
    name, given, what = word.partition("=")
    if not given or (expanded(Path(word)) / ProtocolFolder.yaml_name).is_file():
        name, given, what = "", "", word
    if given and not _NAME.fullmatch(name):
        raise BdpbenchError(
            f"{name!r} cannot be the name of a protocol: use letters, digits and _, a letter first",
            where=word,
        )
    if not what:
        raise BdpbenchError("names no protocol", where=word or '""', hint=_HINT)
    newcomer = _named(what)
    if not name:
        return newcomer
    protocol = newcomer.protocol.model_copy(update={"label": name})
    return Newcomer(name, newcomer.source, protocol, newcomer.folder, renamed=True)


def _named(what: str) -> Newcomer:
    for path in (expanded(Path(what)), config_dir() / "protocols" / what):
        if path.is_dir():
            return _of_folder(path)
    study, colon, key = what.partition(":")
    if colon and study in study_keys():
        return _of_study(load_study(study), key, what)
    known = list(_known())
    exact = [each for each in known if each.endswith(f":{what}")]
    if len(exact) == 1:
        return _named(exact[0])
    if exact:
        said = f"{len(exact)} studies have a protocol {what}"
        raise BdpbenchError(said, where=what, hint=f"name one: {', '.join(exact)}")
    keys = {each.partition(":")[2] for each in known}
    folders = [
        path.parent.name for path in config_dir().glob(f"protocols/*/{ProtocolFolder.yaml_name}")
    ]
    close = suggest(what, [*keys, *folders, *known])
    hint = close if close.startswith("did") else _HINT
    raise BdpbenchError("is no protocol, and no folder", where=what, hint=hint)


def _known() -> Iterator[str]:
    """``STUDY:PROTOCOL`` of each protocol of the configured studies."""
    for key in study_keys():
        yield from (f"{key}:{name}" for name in load_study(key).protocols)


def _of_folder(path: Path) -> Newcomer:
    folder = folder_in(ProtocolFolder, path.resolve())
    if isinstance(folder, str):
        raise BdpbenchError(folder, hint=ProtocolFolder.hint())
    return Newcomer(folder.file.key, relative(folder.path), folder.protocol, folder)


def _of_study(study: Study, word: str, what: str) -> Newcomer:
    key = meant(word, study.protocols)
    if key is None:
        said = f"study {study.key} has no protocol {word!r}"
        raise BdpbenchError(said, where=what, hint=suggest(word, study.protocols))
    protocol = study.protocols[key]
    folder = ProtocolFolder(Path(protocol.folder)) if protocol.folder else None
    return Newcomer(key, f"{study.key}:{key}", protocol, folder)
