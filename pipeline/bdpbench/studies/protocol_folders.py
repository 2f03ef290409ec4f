"""Protocols that are folders: ``protocol.yaml`` describes one, ``law.cc`` computes it.

In the place of ``law.cc`` there may be a congestion control module of Linux, ``tcp_*.c``.

A study names the folder, ``protocols: {Mine: {folder: ../mine}}``. Its sender is a subclass of
``Agent/TCP/Protocol`` or ``Agent/TCP/Linux/Module`` whose name contains a digest of the folder's
code, so that run ids cover it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from bdpbench.contracts.files import written_text
from bdpbench.contracts.paths import config_dir, expanded
from bdpbench.contracts.yaml_files import Label, Location, Strict, VariableName, YamlFile, suggest
from bdpbench.studies.behaviour import strip_cpp
from bdpbench.studies.equations import Equation
from bdpbench.studies.parts import ClassName, Protocol, Setting
from bdpbench.studies.study import Study

PROTOCOL_NAME = "protocol.yaml"
LAW_NAME = "law.cc"
KEPT_FOLDER = "protocols"
AGENT = "TCP/Protocol"
MODULE_AGENT = "TCP/Linux/Module"
_DIGITS = 12
FOLDER_HINT = "`./bdpbench new protocol NAME` makes a folder that runs"
_OWN_KEYS = ("agent", "linux", "linux_parameters")

Text = Annotated[str, Field(min_length=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Source(Strict):
    """A paper or RFC, as the page cites it."""

    text: Text
    url: str = Field("", pattern=r"^(https://\S+)?$")


class Parameter(Strict):
    """A parameter of the protocol; either a Tcl variable or a constant of its law.

    Attributes:
        symbol: as in the equations; text after "_" is a subscript.
        meaning: what it does.
        variable: Tcl variable of the agent; "" for a constant.
        unit: "1" for a ratio.
        default: default of the Tcl variable, or the constant.
        range: smallest and largest value that the agent accepts; absent if it accepts any.
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


class Response(Strict):
    """Mean window w in packets at a loss rate p: w = coefficient / p^exponent, from w_low on."""

    coefficient: float = Field(gt=0)
    exponent: float = Field(gt=0)
    source: Text
    smallest_pkts: float = Field(1.0, gt=0)


class ProtocolFile(Strict):
    """Content of ``protocol.yaml``.

    Attributes:
        key: begins the name of its class in ns-2.
        label, colour: in tables and plots, unless a study gives others.
        sink, settings: its receiver, and variables of ns-2's sender such as ``ecn_``.
        name: full name.
        summary: the idea in a few sentences.
        sources: sources of its page in the report.
        equations: see ``Equation``; ``notation`` explains symbols that are not parameters.
        parameters: see ``Parameter``; a study can set those with a variable.
        response: its response function, if that does not depend on the RTT.
        differs: how the code differs from its sources, and why.
    """

    key: str = Field(pattern=r"^[A-Z][A-Za-z0-9]*$", max_length=40)
    label: Label
    colour: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")
    sink: ClassName = "TCPSink/Sack1"
    settings: dict[VariableName, Setting] = Field(default_factory=dict)
    name: Text
    summary: Text
    sources: list[Source] = Field(default_factory=list)
    notation: str = ""
    equations: list[Equation] = Field(default_factory=list)
    parameters: list[Parameter] = Field(default_factory=list)
    response: Response | None = None
    differs: list[Text] = Field(default_factory=list)

    @property
    def variables(self) -> Mapping[str, Parameter]:
        """Parameters that a study can set, by their Tcl variables."""
        return {each.variable: each for each in self.parameters if each.variable}


@dataclass(frozen=True)
class ProtocolFolder:
    """A folder with ``protocol.yaml`` and C++ files, or with a module of Linux."""

    path: Path

    @cached_property
    def file(self) -> ProtocolFile:
        """Its description.

        Raises:
            BdpbenchError: naming file, line and key of what is wrong.
        """
        return YamlFile(self.path / PROTOCOL_NAME).validate(ProtocolFile)

    @cached_property
    def code(self) -> list[Path]:
        """Its C++ and C files and headers, sorted."""
        return sorted(each for each in self.path.iterdir() if each.suffix in (".cc", ".h", ".c"))

    @property
    def module(self) -> Path | None:
        """The C file of the module of Linux that it is; None for a law in C++."""
        return next((each for each in self.code if each.suffix == ".c"), None)

    @cached_property
    def agent(self) -> str:
        """Its class in ns-2 without ``Agent/``, with a digest of its code without comments."""
        digest = hashlib.sha256()
        for path in self.code:
            digest.update(f"{path.name}\0{strip_cpp(written_text(path))}\0".encode())
        agent = MODULE_AGENT if self.module else AGENT
        return f"{agent}/{self.file.key}{digest.hexdigest()[:_DIGITS]}"

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


def protocol_folder(path: Path) -> ProtocolFolder | str:
    """The protocol in a folder, or what the folder lacks to be one."""
    modules = sorted(each.name for each in path.glob("*.c"))
    laws = [LAW_NAME] * (path / LAW_NAME).is_file() + modules
    missing = [
        *([] if (path / PROTOCOL_NAME).is_file() else [PROTOCOL_NAME]),
        *([] if laws else [f"{LAW_NAME} or tcp_*.c"]),
    ]
    if missing:
        return f"{path} has no {' and no '.join(missing)}"
    if len(laws) > 1:
        return f"{path} has {' and '.join(laws)}: expected one of them"
    return ProtocolFolder(path)


def fill_protocols(source: YamlFile) -> None:
    """Give each protocol of a ``study.yaml`` that names a folder what its folder says.

    Raises:
        BdpbenchError: naming file and line, when a folder is not one of a protocol, or when a study
            sets what the folder decides, or a parameter outside its range.
    """
    protocols = source.data.get("protocols") if isinstance(source.data, dict) else None
    if not isinstance(protocols, dict):
        return
    agents: dict[str, ProtocolFolder] = {}
    for key, given in protocols.items():
        if isinstance(given, dict) and isinstance(given.get("folder"), str):
            protocols[key] = filled = _filled(source, ("protocols", key), given)
            folder = ProtocolFolder(Path(filled["folder"]))
            alike = agents.setdefault(folder.agent, folder)
            if alike.file.variables != folder.file.variables:
                said = f"{folder.path} has key and code of {alike.path}, and other parameters"
                hint = "give one of them another key"
                raise source.error(("protocols", key, "folder"), said, hint=hint)


def _filled(source: YamlFile, place: Location, given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        path = (source.path.parent / expanded(Path(given["folder"]))).resolve()
    except (OSError, RuntimeError):  # RuntimeError before Python 3.13
        said = "is a link that leads back to itself"
        raise source.error((*place, "folder"), said) from None
    folder = protocol_folder(path)
    if isinstance(folder, str):
        # An archive keeps protocols in the study's folder, under the keys that it gives them.
        kept = protocol_folder(source.path.parent.resolve() / KEPT_FOLDER / str(place[-1]))
        folder = folder if isinstance(kept, str) else kept
    if isinstance(folder, str):
        raise source.error((*place, "folder"), folder, hint=FOLDER_HINT)
    for name in _OWN_KEYS:
        if name in given:
            hint = "write settings: {beta_: ...} for beta of a module" if folder.module else ""
            raise source.error((*place, name), "the protocol's folder decides this", hint=hint)
    own, wanted = folder.protocol.model_dump(exclude_unset=True), given.get("settings", {})
    if isinstance(wanted, dict):
        _check_settings(source, (*place, "settings"), wanted, folder)
        wanted = {**own["settings"], **wanted}
    decided = {"folder": own["folder"], "agent": own["agent"], "settings": wanted}
    return {**own, **given, **decided}


def _check_settings(
    source: YamlFile, place: Location, wanted: Mapping[str, Any], folder: ProtocolFolder
) -> None:
    variables = folder.file.variables
    for name, value in wanted.items():
        if name == "windowOption_":
            raise source.error((*place, name), "would have no effect: the folder is the law")
        parameter = variables.get(name)
        if parameter is not None and isinstance(value, int | float):
            if parameter.problem(value):
                raise source.error((*place, name), parameter.problem(value))
            if folder.module and not float(value).is_integer():
                raise source.error((*place, name), f"expected a whole number (got {value:g})")
        if parameter is None and f"{name}_" in variables:
            raise source.error((*place, name), "unknown variable", hint=suggest(name, variables))


def folders_of(study: Study) -> list[ProtocolFolder]:
    """The protocols of a study that are folders, each folder once."""
    paths = dict.fromkeys(each.folder for each in study.protocols.values() if each.folder)
    return [ProtocolFolder(Path(path)) for path in paths]


def folder_of_the_name(wanted: str) -> Path | None:
    """The folder that comes along for a protocol of such a name, as in "TCP/BBR" or "bbr3"."""
    known = sorted(config_dir().glob(f"protocols/*/{PROTOCOL_NAME}"))
    return next((each.parent for each in known if each.parent.name in wanted.lower()), None)
