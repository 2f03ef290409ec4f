"""``reports/protocols/<key>.yaml``: the description of a protocol, written from its papers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.pages.assets import assets_dir
from bdpbench.pages.mathml import checked_mathml
from bdpbench.studies.study import Protocol

# windowOption_ of an agent whose settings do not set it.
STANDARD_TCP = 1

Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Source(_Strict):
    """A paper or RFC, as the page cites it."""

    text: Text
    url: str = Field("", pattern=r"^(https://\S+)?$")


class Equation(_Strict):
    """One rule of the congestion window.

    Attributes:
        when: the event that it reacts to, e.g. "per ACK, above the low window".
        mathml: the equation for a browser.
        text: the same for a reader without MathML.
        source: where it is printed.
        note: any further remark.
    """

    when: Text
    mathml: Text
    text: Text
    source: Text
    note: str = ""

    @field_validator("mathml")
    @classmethod
    def _is_mathml(cls, value: str) -> str:
        checked_mathml(value)
        return value

    @property
    def markup(self) -> Markup:
        """The equation as inserted into the page."""
        return checked_mathml(self.mathml)


class Parameter(_Strict):
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
    default: float
    range: list[float] | None = Field(None, min_length=2, max_length=2)

    @model_validator(mode="after")
    def _default_lies_in_range(self) -> Parameter:
        if self.range is not None and not self.range[0] <= self.default <= self.range[1]:
            raise ValueError(f"the default {self.default:g} lies outside the range")
        return self


class Response(_Strict):
    """Mean window w in packets at a loss rate p: w = coefficient / p^exponent, from w_low on."""

    coefficient: float = Field(gt=0)
    exponent: float = Field(gt=0)
    source: Text
    smallest_pkts: float = Field(1.0, gt=0)


class ProtocolData(_Strict):
    """One file of ``reports/protocols/``.

    Attributes:
        name: full name.
        agents: ns-2 agent classes, without "Agent/", that implement this protocol with ``option``.
        option: their windowOption_; absent for agents that do not read it.
        summary: the idea in a few sentences.
        sources: sources of the page.
        equations: see ``Equation``; ``notation`` explains symbols that are not parameters.
        parameters: see ``Parameter``.
        response: its response function, if that does not depend on the RTT.
        differs: how the implementation differs from the paper, and why.
    """

    name: Text
    agents: list[Text] = Field(min_length=1)
    option: int | None = None
    summary: Text
    sources: list[Source] = Field(min_length=1)
    notation: Text
    equations: list[Equation] = Field(min_length=1)
    parameters: list[Parameter]
    response: Response | None = None
    differs: list[Text] = Field(default_factory=list)

    def describes(self, protocol: Protocol) -> bool:
        """Whether a protocol of a study is this one, according to its agent and windowOption_."""
        if protocol.agent not in self.agents or protocol.linux:
            return False
        option = protocol.settings.get("windowOption_", STANDARD_TCP)
        return self.option is None or option == self.option


def read_protocols(folder: Path | None = None) -> list[ProtocolData]:
    """All files of ``reports/protocols/``, sorted by name.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    folder = folder or assets_dir() / "protocols"
    return [_read(path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.yaml"))]


@cache
def _read(path: Path, mtime_ns: int) -> ProtocolData:
    """A file with the modification time ``mtime_ns``."""
    return YamlFile(path).validate(ProtocolData)


def data_of(protocol: Protocol, known: Sequence[ProtocolData]) -> ProtocolData | None:
    """The description of a study's protocol; None if there is none."""
    return next((each for each in known if each.describes(protocol)), None)
