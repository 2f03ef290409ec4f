"""Protocols and queues that are folders anywhere: a YAML file that describes one, and its code.

A study names the folder, ``protocols: {Myprotocol: {folder: ../myprotocol}}``. What ns-2 makes of
it is a class whose name contains a digest of the folder's code, so that run ids cover it.
``protocol.yaml`` describes a protocol, and ``law.cc`` computes it, or in its place a congestion
control module of Linux, ``tcp_*.c``; ``queue.yaml`` describes a queue, and ``discipline.cc`` is
what it does.
"""

from __future__ import annotations

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import config_dir, expanded, kernel_dir, package_dir
from bdpbench.contracts.plan import AGENT, MODULE_AGENT, QUEUE
from bdpbench.contracts.yaml_files import (
    Label,
    Location,
    Strict,
    Text,
    VariableName,
    YamlFile,
    suggest,
)
from bdpbench.studies.parts import ClassName, Protocol, Setting
from bdpbench.studies.queues import QueueKind, QueueParameter
from bdpbench.units import MOST_VARIABLE

# ---------------------------------------------------------------- equations

_PARTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2}


class Equation(Strict):
    """One rule of the congestion window, or of a queue; browsers show ``latex`` if it is given."""

    when: Text
    text: Text
    latex: str = ""
    source: Text
    note: str = ""

    @field_validator("latex")
    @classmethod
    def _is_latex(cls, value: str) -> str:
        if value:
            mathml_of(value)
        return value

    @property
    def markup(self) -> str:
        """MathML to insert into the page; "" if there is only the text."""
        return mathml_of(self.latex) if self.latex else ""


@cache
def mathml_of(latex: str) -> str:
    """MathML of an equation in LaTeX.

    Raises:
        ValueError: naming what is not LaTeX, or not known here.
    """
    from latex2mathml.converter import convert  # takes 0.1 s

    try:
        mathml = convert(latex)
    except Exception as error:  # it has a dozen classes without a common one
        raise ValueError(f"is not LaTeX ({type(error).__name__})") from None
    return checked_mathml(mathml.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "", 1))


def checked_mathml(source: str) -> str:
    """One ``<math>`` element that may be placed in a page.

    Raises:
        ValueError: when it is not well-formed, or has a command or a brace that LaTeX did not know.
    """
    from xml.etree import ElementTree

    try:
        # Entities cannot be declared inside an element.
        root = ElementTree.fromstring(source)  # noqa: S314
    except ElementTree.ParseError as error:
        raise ValueError(f"is not well-formed MathML ({error})") from None
    if root.tag != "math":
        raise ValueError(f"expected one <math> element, not <{root.tag}>")
    for element in root.iter():
        if len(element) != _PARTS.get(element.tag, len(element)):
            raise ValueError(f"<{element.tag}> has {len(element)} parts: a brace may be missing")
        if "href" in element.attrib:
            raise ValueError("has a link, which an equation cannot have")
        if element.tag == "mi" and (element.text or "").startswith(("\\", "}", "$")):
            raise ValueError(f"{element.text!r} is not known, or has no partner")
    return ElementTree.tostring(root, encoding="unicode")


# ---------------------------------------------------------------- folders

TEST_NAME = "test.cc"
"""Values by hand of what is in a folder, if it has any (``simulation/hand_tests.py``)."""

_DIGITS = 12
_CODE = re.compile(r"\.(c|cc|cpp|cxx|def|h|hh|hpp|hxx|inc|inl|ipp|tcc)")

Finite = Annotated[float, Field(allow_inf_nan=False)]
FolderT = TypeVar("FolderT", bound="ComponentFolder")


class Source(Strict):
    """A paper or RFC, as the page cites it."""

    text: Text
    url: str = Field("", pattern=r"^(https://\S+)?$")


class Parameter(Strict):
    """A Tcl variable or, without one, a constant of the code; its unit is 1 for a ratio."""

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
    """What a folder says about its protocol or queue; ``key`` begins its class in ns-2."""

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
        kind: what it holds, in a word; folders that come along are in ``config/<kind>s``, and an
            archive keeps those of a study under such a name, too.
        code_names: what can stand in the place of ``code_name``, in words.
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
        """Its description; an error names file, line and key of what is wrong."""

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
        """All files that its class covers, sorted: C++ and C, also in subfolders, but for tests."""
        found = {each for each in self.path.rglob("*") if _CODE.fullmatch(each.suffix)}
        found.discard(self.path / TEST_NAME)
        names = ((f"/{each.relative_to(self.path).as_posix()}", each) for each in found)
        return sorted(each for name, each in names if "/." not in name)

    @property
    def sources(self) -> list[Path]:
        """The C++ files that are compiled; what they include may be in subfolders."""
        return [each for each in self.code if each.suffix == ".cc" and each.parent == self.path]

    @cached_property
    def name(self) -> str:
        """The last part of its class in ns-2: its key, and a digest of its code."""
        digest = hashlib.sha256()
        for path in self.code:
            content = hashlib.sha256(utf8_text(path).encode()).hexdigest()
            digest.update(f"{content}  {path.relative_to(self.path).as_posix()}\n".encode())
        for path in self.compiled_with:
            digest.update(path.read_bytes())
        return f"{self.file.key}{digest.hexdigest()[:_DIGITS]}"

    @property
    def files(self) -> list[Path]:
        """All files that are read of it: its description, its values by hand, and its code."""
        named = (self.path / name for name in (self.yaml_name, TEST_NAME))
        return [*(each for each in named if each.is_file()), *self.code]

    @property
    def module(self) -> Path | None:
        """The module of Linux that it is; None for code in C++."""
        return None

    @property
    def compiled_with(self) -> Sequence[Path]:
        """Files of bdpbench that are compiled into its library, and that its class covers, too."""
        return ()

    @property
    def comes_along(self) -> bool:
        """Whether it is one of bdpbench's own."""
        return self.path.is_relative_to(config_dir() / f"{self.kind}s")

    @classmethod
    def mains(cls, path: Path) -> list[str]:
        """Files of a folder of which each is the main file of one."""
        return [cls.code_name] * (path / cls.code_name).is_file()

    @classmethod
    def is_begun(cls, path: Path) -> bool:
        """Whether a folder has the YAML file or the code of one."""
        return (path / cls.yaml_name).is_file() or bool(cls.mains(path))

    @classmethod
    def hint(cls) -> str:
        """How to come by a folder."""
        return f"`./bdpbench new {cls.kind} NAME` makes a folder that runs"


def folder_in(kind: type[FolderT], path: Path) -> FolderT | str:
    """The protocol or queue in a folder, or what the folder lacks to be one."""
    mains = kind.mains(path)
    has = {kind.yaml_name: (path / kind.yaml_name).is_file(), kind.code_names: mains}
    if missing := [name for name, there in has.items() if not there]:
        return f"{path} has no {' and no '.join(missing)}"
    if len(mains) > 1:
        return f"{path} has {' and '.join(mains)}: expected one of them"
    if (path / "test.yaml").exists():
        return f"{path} has test.yaml: values by hand are C++ now, in {TEST_NAME} ({kind.page})"
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
        place: Location = (section, key, "folder")
        folder = _named(source, place, given["folder"], kind)
        yield key, folder
        other = alike.setdefault(folder.name, folder)
        if other.file.variables != folder.file.variables or other.fixed != folder.fixed:
            said = f"{folder.path} has key and code of {other.path}, and other parameters"
            raise source.error(place, said, hint="give one of them another key")


def _named(source: YamlFile, place: Location, given: str, kind: type[FolderT]) -> FolderT:
    path = os.path.realpath(source.path.parent / expanded(Path(given)))
    folder = folder_in(kind, Path(path))
    if isinstance(folder, str):
        # An archive keeps folders in that of the study, under the keys that it gives them.
        kept = folder_in(kind, source.path.parent.resolve() / f"{kind.kind}s" / str(place[1]))
        if isinstance(kept, str):
            raise source.error(place, folder, hint=kind.hint())
        return kept
    return folder


# ---------------------------------------------------------------- protocols

_OWN_KEYS = ("agent", "linux", "linux_parameters")


class Response(Strict):
    """Mean window w in packets at a loss rate p: w = coefficient / p^exponent, from w_low on."""

    coefficient: float = Field(gt=0)
    exponent: float = Field(gt=0)
    source: Text
    smallest_pkts: float = Field(1.0, gt=0)


class ProtocolFile(ComponentFile):
    """Content of ``protocol.yaml``; ``response`` is absent where it depends on the RTT.

    ``sender: tcp-linux`` has a module of Linux 2.6.22 run in ns-2's TCP/Linux, with its faults.
    """

    sender: Literal["", "tcp-linux"] = ""
    colour: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")
    sink: ClassName = "TCPSink/Sack1"
    settings: dict[VariableName, Setting] = Field(default_factory=dict)
    response: Response | None = None


@dataclass(frozen=True)
class ProtocolFolder(ComponentFolder):
    """A folder with ``protocol.yaml`` and C++ files, or with a module of Linux."""

    kind, code_name, code_names = "protocol", "law.cc", "law.cc or tcp_*.c"
    header = "congestion_control.h"

    @cached_property
    def file(self) -> ProtocolFile:
        """Its description."""
        return YamlFile(self.path / self.yaml_name).validate(ProtocolFile)

    @classmethod
    def mains(cls, path: Path) -> list[str]:
        """``law.cc`` and modules of Linux."""
        return [*super().mains(path), *sorted(each.name for each in path.glob("*.c"))]

    @property
    def module(self) -> Path | None:
        """The C file of the module of Linux that it is; None for a law in C++."""
        found = (each for each in self.code if each.suffix == ".c" and each.parent == self.path)
        return next(found, None)

    @property
    def is_of_tcp_linux(self) -> bool:
        """Whether it is a module that runs in TCP/Linux."""
        return bool(self.module) and self.file.sender == "tcp-linux"

    @property
    def compiled_with(self) -> Sequence[Path]:
        """What plays the kernel for a module of Linux, and what writes the code around it."""
        if not self.module or self.is_of_tcp_linux:
            return ()
        kernel = sorted(each for each in kernel_dir().iterdir() if _CODE.fullmatch(each.suffix))
        return [*kernel, package_dir() / "simulation" / "linux_modules.py"]

    @property
    def base(self) -> str:
        """The class of its sender's parent."""
        return f"Agent/{MODULE_AGENT if self.is_of_tcp_linux else AGENT}"

    @property
    def agent(self) -> str:
        """Its class in ns-2 without ``Agent/``."""
        return f"{self.base}/{self.name}".removeprefix("Agent/")

    @property
    def protocol(self) -> Protocol:
        """How a study's senders are made of it, with the defaults of its parameters."""
        defaults = {name: each.default for name, each in self.file.variables.items()}
        return Protocol(
            label=self.file.label,
            colour=self.file.colour,
            folder=str(self.path),
            agent=self.agent,
            sink=self.file.sink,
            settings={**self.file.settings, **defaults},
        )


def fill_protocols(source: YamlFile) -> None:
    """Give each protocol of a ``study.yaml`` that names a folder what its folder says.

    Raises:
        BdpbenchError: naming file and line, when a folder is not one of a protocol, or when a study
            sets what the folder decides, or a parameter outside its range.
    """
    for key, folder in named_folders(source, ProtocolFolder):
        entries = source.data["protocols"]
        entries[key] = _filled(source, ("protocols", key), entries[key], folder)


def _filled(
    source: YamlFile, place: Location, given: Mapping[str, Any], folder: ProtocolFolder
) -> dict[str, Any]:
    for name in _OWN_KEYS:
        if name in given:
            hint = "write settings: {beta_: ...} for beta of a module" if folder.module else ""
            raise source.error((*place, name), "the protocol's folder decides this", hint=hint)
    own, wanted = folder.protocol.model_dump(exclude_unset=True), given.get("settings", {})
    if isinstance(wanted, dict):
        for name, value in wanted.items():
            if problem := _problem(name, value, folder):
                hint = suggest(name, folder.file.variables) if problem.startswith("unknown") else ""
                raise source.error((*place, "settings", name), problem, hint=hint)
        wanted = {**own["settings"], **wanted}
    decided = {"folder": own["folder"], "agent": own["agent"], "settings": wanted}
    return {**own, **given, **decided}


def _problem(name: str, value: object, folder: ProtocolFolder) -> str:
    """What is wrong with a setting of a protocol; "" if nothing is."""
    variables = folder.file.variables
    if name == "windowOption_":
        return "would have no effect: the folder is the law"
    if name not in variables:
        return "unknown variable" if f"{name}_" in variables else ""
    if not isinstance(value, int | float):
        return ""  # the model of a study refuses it
    if folder.module and not float(value).is_integer():
        return f"expected a whole number (got {value:g})"
    return variables[name].problem(value)


def folder_of_the_name(wanted: str) -> Path | None:
    """The folder that comes along for a protocol of such a name, as in "TCP/BBR" or "bbr3"."""
    known = sorted(config_dir().glob(f"protocols/*/{ProtocolFolder.yaml_name}"))
    return next((each.parent for each in known if each.parent.name in wanted.lower()), None)


# ---------------------------------------------------------------- queues

# Variables that ns-2's class, its recorder and this module have already.
_TAKEN = frozenset(
    {
        *("limit_", "blocked_", "unblock_on_resume_", "util_weight_", "util_check_intv_"),
        *("util_records_", "debug_", "discipline_", "setbit_", "markpkts_", "random_"),
        *("ave_", "cur_max_p_", "queue_in_bytes_", "mean_pktsize_"),
    }
)


class QueueFile(ComponentFile):
    """Content of ``queue.yaml``: whether it marks packets where ECN is on, and draws numbers."""

    marks: bool = False
    random: bool = False

    @field_validator("parameters")
    @classmethod
    def _variables_are_its_own(cls, parameters: list[Parameter]) -> list[Parameter]:
        for each in parameters:
            if each.variable in _TAKEN:
                raise ValueError(f"{each.variable} is a variable of every queue: choose another")
        return parameters


@dataclass(frozen=True)
class QueueFolder(ComponentFolder):
    """A folder with ``queue.yaml`` and C++ files."""

    kind, code_name, code_names = "queue", "discipline.cc", "discipline.cc"
    header = "queue_discipline.h"

    @cached_property
    def file(self) -> QueueFile:
        """Its description."""
        return YamlFile(self.path / self.yaml_name).validate(QueueFile)

    @property
    def base(self) -> str:
        """The class of its queue's parent."""
        return f"Queue/{QUEUE}"

    @property
    def fixed(self) -> Mapping[str, float]:
        """What tells ns-2 whether it may mark packets and use random numbers."""
        marks = {"setbit_": 0.0} if self.file.marks else {}
        return {**marks, **({"random_": 1.0} if self.file.random else {})}

    @property
    def queue(self) -> QueueKind:
        """The kind of queue that it is."""
        return QueueKind(
            ns2_class=f"{QUEUE}/{self.name}",
            text=self.file.summary,
            parameters={name: _parameter(name, each) for name, each in self.file.variables.items()},
            fixed={"random_": 1.0} if self.file.random else {},
            ecn="setbit_" if self.file.marks else "",
        )


def _parameter(name: str, said: Parameter) -> QueueParameter:
    least, most = said.range or (-MOST_VARIABLE, MOST_VARIABLE)
    return QueueParameter(name, said.meaning, said.default, least, most)


def fill_queues(source: YamlFile) -> None:
    """Give each queue of a ``study.yaml`` that names a folder its path and its label.

    Raises:
        BdpbenchError: naming file and line, when a folder is not one of a queue, or when the study
            sets what it decides.
    """
    for key, folder in named_folders(source, QueueFolder):
        entries = source.data["queues"]
        if "kind" in entries[key]:
            raise source.error(("queues", key, "kind"), "the queue's folder decides this")
        entries[key] = {"label": folder.file.label, **entries[key], "folder": str(folder.path)}
