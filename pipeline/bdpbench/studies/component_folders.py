"""Folders anywhere that hold a protocol or a queue: a YAML file that describes it, and its code.

A study names the folder, ``protocols: {Mine: {folder: ../mine}}``. What ns-2 makes of it is a class
whose name contains a digest of the folder's code, so that run ids cover it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field, model_validator

from bdpbench.contracts.files import written_text
from bdpbench.contracts.paths import config_dir, expanded
from bdpbench.contracts.yaml_files import Label, Location, Strict, YamlFile
from bdpbench.studies.behaviour import strip_cpp
from bdpbench.studies.equations import Equation

_DIGITS = 12
_CODE = (".cc", ".h", ".c")

Text = Annotated[str, Field(min_length=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
FolderT = TypeVar("FolderT", bound="ComponentFolder")


class Source(Strict):
    """A paper or RFC, as the page cites it."""

    text: Text
    url: str = Field("", pattern=r"^(https://\S+)?$")


class Parameter(Strict):
    """A parameter; either a Tcl variable or a constant of the code.

    Attributes:
        symbol: as in the equations; text after "_" is a subscript.
        meaning: what it does.
        variable: Tcl variable of the agent or queue; "" for a constant.
        unit: "1" for a ratio.
        default: default of the Tcl variable, or the constant.
        range: smallest and largest value that is accepted; absent if any is.
    """

    symbol: Text
    meaning: Text
    variable: str = Field("", pattern=r"^([a-z][A-Za-z0-9_]*_)?$")
    unit: Text
    default: Finite
    range: list[Finite] | None = Field(None, min_length=2, max_length=2)

    @model_validator(mode="after")
    def _default_lies_in_range(self) -> Parameter:
        if self.problem(self.default):
            raise ValueError(f"the default {self.default:g} lies outside the range")
        return self

    def problem(self, value: float) -> str:
        """How a value leaves the range; "" if it does not."""
        if self.range is None or self.range[0] <= value <= self.range[1]:
            return ""
        least, most = self.range
        return f"{value:g} is outside its range of {least:g} to {most:g} {self.unit}".rstrip(" 1")


class ComponentFile(Strict):
    """What a folder says about its protocol or queue.

    Attributes:
        key: begins the name of its class in ns-2.
        label: in tables and plots, unless a study gives another.
        name: full name.
        summary: the idea in a few sentences.
        sources: sources of its page in the report.
        equations: see ``Equation``; ``notation`` explains symbols that are not parameters.
        parameters: see ``Parameter``; a study can set those with a variable.
        differs: how the code differs from its sources, and why.
    """

    key: str = Field(pattern=r"^[A-Z][A-Za-z0-9]*$", max_length=40)
    label: Label
    name: Text
    summary: Text
    sources: list[Source] = Field(default_factory=list)
    notation: str = ""
    equations: list[Equation] = Field(default_factory=list)
    parameters: list[Parameter] = Field(default_factory=list)
    differs: list[Text] = Field(default_factory=list)

    @property
    def variables(self) -> Mapping[str, Parameter]:
        """Parameters that a study can set, by their Tcl variables."""
        return {each.variable: each for each in self.parameters if each.variable}


@dataclass(frozen=True)
class ComponentFolder(ABC):
    """A folder with a YAML file and C++ files.

    Attributes:
        path: of the folder.
        kind: what it holds, in a word; folders that come along are in ``config/<kind>s``, and an
            archive keeps those of a study under such a name, too.
        yaml_name, code_name: the two files that it has at least.
        code_names: what can stand in the place of the second, in words.
        header, macro, page: of the C++ interface, the end of its main file, and its documentation.
    """

    path: Path
    kind: ClassVar[str]
    code_name: ClassVar[str]
    code_names: ClassVar[str]
    header: ClassVar[str]
    yaml_name: ClassVar[str]
    macro: ClassVar[str]
    page: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.yaml_name, cls.page = f"{cls.kind}.yaml", f"docs/{cls.kind}s.md"
        cls.macro = cls.header.removesuffix(".h").upper()

    @property
    @abstractmethod
    def file(self) -> ComponentFile:
        """Its description.

        Raises:
            BdpbenchError: naming file, line and key of what is wrong.
        """

    @property
    @abstractmethod
    def base(self) -> str:
        """The class of ns-2 that its class inherits from, e.g. ``Agent/TCP/Protocol``."""

    @property
    def fixed(self) -> Mapping[str, float]:
        """Variables of its class that a study does not set, and their values."""
        return {}

    @cached_property
    def code(self) -> list[Path]:
        """Its C++ and C files and headers, sorted."""
        return sorted(each for each in self.path.iterdir() if each.suffix in _CODE)

    @cached_property
    def name(self) -> str:
        """The last part of its class in ns-2: its key, and a digest of code without comments."""
        digest = hashlib.sha256()
        for path in self.code:
            digest.update(f"{path.name}\0{strip_cpp(written_text(path))}\0".encode())
        return f"{self.file.key}{digest.hexdigest()[:_DIGITS]}"

    @property
    def comes_along(self) -> bool:
        """Whether it is one of bdpbench's own."""
        return self.path.is_relative_to(config_dir() / f"{self.kind}s")

    @classmethod
    def mains(cls, path: Path) -> list[str]:
        """Files of a folder of which each is the main file of one."""
        return [cls.code_name] * (path / cls.code_name).is_file()

    @classmethod
    def hint(cls) -> str:
        """How to come by a folder."""
        return f"`./bdpbench new {cls.kind} NAME` makes a folder that runs"


def folder_in(kind: type[FolderT], path: Path) -> FolderT | str:
    """The protocol or queue in a folder, or what the folder lacks to be one."""
    mains = kind.mains(path)
    missing = [
        *([] if (path / kind.yaml_name).is_file() else [kind.yaml_name]),
        *([] if mains else [kind.code_names]),
    ]
    if missing:
        return f"{path} has no {' and no '.join(missing)}"
    if len(mains) > 1:
        return f"{path} has {' and '.join(mains)}: expected one of them"
    return kind(path)


def named_folders(source: YamlFile, kind: type[FolderT]) -> Iterator[tuple[str, FolderT]]:
    """The entries of a ``study.yaml`` that name a folder: key and folder.

    Raises:
        BdpbenchError: naming file and line, when a folder is not one of this kind, or when two
            have the same class and other parameters.
    """
    section = f"{kind.kind}s"
    found = source.data.get(section) if isinstance(source.data, dict) else None
    entries: dict[str, Any] = found if isinstance(found, dict) else {}
    alike: dict[str, FolderT] = {}
    for key, given in list(entries.items()):
        if not isinstance(given, dict) or not isinstance(given.get("folder"), str):
            continue
        place: Location = (section, key)
        folder = _named(source, place, given["folder"], kind)
        yield key, folder
        other = alike.setdefault(folder.name, folder)
        if other.file.variables != folder.file.variables or other.fixed != folder.fixed:
            said = f"{folder.path} has key and code of {other.path}, and other parameters"
            raise source.error((*place, "folder"), said, hint="give one of them another key")


def _named(source: YamlFile, place: Location, given: str, kind: type[FolderT]) -> FolderT:
    try:
        path = (source.path.parent / expanded(Path(given))).resolve()
    except (OSError, RuntimeError):  # RuntimeError before Python 3.13
        said = "is a link that leads back to itself"
        raise source.error((*place, "folder"), said) from None
    folder = folder_in(kind, path)
    if isinstance(folder, str):
        # An archive keeps folders in that of the study, under the keys that it gives them.
        kept = folder_in(kind, source.path.parent.resolve() / f"{kind.kind}s" / str(place[-1]))
        folder = folder if isinstance(kept, str) else kept
    if isinstance(folder, str):
        raise source.error((*place, "folder"), folder, hint=kind.hint())
    return folder
