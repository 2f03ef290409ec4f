"""Protocols that are folders: ``protocol.yaml`` describes one, ``law.cc`` computes it.

In the place of ``law.cc`` there may be a congestion control module of Linux, ``tcp_*.c``. Its
sender is a subclass of ``Agent/TCP/Protocol`` or ``Agent/TCP/Linux/Module``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.plan import AGENT, MODULE_AGENT
from bdpbench.contracts.yaml_files import Location, Strict, VariableName, YamlFile, suggest
from bdpbench.studies.component_folders import ComponentFile, ComponentFolder, Text, named_folders
from bdpbench.studies.parts import ClassName, Protocol, Setting

_OWN_KEYS = ("agent", "linux", "linux_parameters")


class Response(Strict):
    """Mean window w in packets at a loss rate p: w = coefficient / p^exponent, from w_low on."""

    coefficient: float = Field(gt=0)
    exponent: float = Field(gt=0)
    source: Text
    smallest_pkts: float = Field(1.0, gt=0)


class ProtocolFile(ComponentFile):
    """Content of ``protocol.yaml``.

    Attributes:
        colour: in plots, unless a study gives another.
        sink, settings: its receiver, and variables of ns-2's sender such as ``ecn_``.
        response: its response function, if that does not depend on the RTT.
    """

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
        return next((each for each in self.code if each.suffix == ".c"), None)

    @property
    def base(self) -> str:
        """The class of its sender's parent."""
        return f"Agent/{MODULE_AGENT if self.module else AGENT}"

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


def folder_of_the_name(wanted: str) -> Path | None:
    """The folder that comes along for a protocol of such a name, as in "TCP/BBR" or "bbr3"."""
    known = sorted(config_dir().glob(f"protocols/*/{ProtocolFolder.yaml_name}"))
    return next((each.parent for each in known if each.parent.name in wanted.lower()), None)
