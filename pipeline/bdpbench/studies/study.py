"""A study as in ``study.yaml``.

The models, with those of ``parts`` and ``vocabulary``, are the only definition of that file: they
validate it and generate ``workflow/schemas/study.schema.json``, and editors show their
descriptions.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, RootModel, WithJsonSchema, field_validator, model_validator

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import (
    MOST_NAME,
    Key,
    Label,
    Location,
    ParameterName,
    Strict,
    Title,
    VariableName,
    YamlFile,
)
from bdpbench.errors import BdpbenchError
from bdpbench.studies.config import TierName
from bdpbench.studies.folders import QueueFolder
from bdpbench.studies.parts import (
    Background,
    Bottleneck,
    Change,
    Flow,
    Number,
    Output,
    Protocol,
    QueueName,
    Variable,
)
from bdpbench.studies.queues import QUEUE_KINDS, QueueKind
from bdpbench.studies.vocabulary import COMMON, REPETITION, ParameterDeclaration
from bdpbench.units import LEAST_DURATION_S, MOST_TIME_S

TIERS: tuple[TierName, ...] = ("quick", "paper", "full")
NETWORK_SCRIPT = "network.tcl"
"""The script of scenarios that name none."""
DURATION_ARGUMENT = "duration_s"

Duration = Annotated[float, Field(ge=LEAST_DURATION_S, le=MOST_TIME_S, allow_inf_nan=False)]
OtclClass = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9_/]*$", max_length=MOST_NAME)]

ScriptName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.tcl$")]

ClassDefaults = dict[OtclClass, dict[VariableName, Variable]]
"""ns-2 class → variable → number, or the parameter whose value it gets."""


class QueueDeclaration(Strict):
    """A queue of a bottleneck: its kind, and settings that differ from the kind's defaults."""

    kind: Annotated[str, WithJsonSchema({"type": "string", "enum": list(QUEUE_KINDS)})] = Field(
        "", description="Kind of queue, unless it is a folder"
    )
    folder: str = Field(
        "", description="Folder of a queue of one's own, from that of the study, instead of a kind"
    )
    label: Label = Field("", description="Name in tables and plots; its key if absent")
    settings: dict[ParameterName, Number] = Field(
        default_factory=dict, description="Parameter of its kind or folder → value"
    )

    @model_validator(mode="after")
    def _is_something(self) -> QueueDeclaration:
        if not self.kind and not self.folder:
            raise ValueError(
                "expected the kind of queue, kind: RED, or its folder, folder: ../myqueue"
            )
        return self


ParameterValues = dict[ParameterName, Scalar]
"""Parameter → value, all of them declared."""

ParameterGrid = dict[ParameterName, list[Scalar]]
"""Parameter → values, all of them declared."""


class Topology(Strict):
    """Senders, a bottleneck between two routers or a chain of them, receivers."""

    description: str = Field(
        "", description="What it is; reports show it after the description of each scenario"
    )
    parameters: ParameterValues = Field(description="Rates, delays and buffer that its runs share")
    bottlenecks: list[Bottleneck] = Field(
        default_factory=list,
        max_length=100,
        description="Those of a chain, in order; if absent, there is one, of the parameters",
    )


class TierEntry(Strict):
    """Which runs of a scenario a tier has, and for how long they are simulated."""

    duration_s: Duration = Field(description="Simulated time, s")
    only: ParameterGrid = Field(
        default_factory=dict,
        description="Keeps the runs whose parameter has one of these values; keeps all if absent",
    )


class Scenario(Strict):
    """One experiment: a script, its parameters, and what is swept."""

    title: Title
    description: str = ""
    section: Label = Field("", description="Section of the paper, e.g. 4.1.3.1")
    figures: list[Label] = Field(
        default_factory=list, description="Those of the paper: numbers, or words such as Table 1"
    )
    script: ScriptName = Field(
        NETWORK_SCRIPT, description="Script under tcl/ of the study's folder or of bdpbench"
    )
    network: ScriptName | None = Field(
        None, description="Script that sources network.tcl and takes more than it, in its place"
    )
    topology: Key
    arguments: list[ParameterName] = Field(
        default_factory=list,
        description="Parameters that the script takes, each as -name value, but for duration_s",
    )
    parameters: ParameterValues = Field(
        default_factory=dict, description="Parameter → value, in addition to those of the topology"
    )
    defaults: ClassDefaults = Field(
        default_factory=dict,
        description="Defaults of ns-2's classes, in addition to those of the study",
    )
    sweep: ParameterGrid = Field(
        default_factory=dict, description="Parameter → values; several make a grid"
    )
    cases: list[ParameterValues] = Field(
        default_factory=list, description="Parameters that change together, combined with the sweep"
    )
    flows: list[Flow] = Field(default_factory=list, description="Flows that the script makes")
    background: list[Background] = Field(default_factory=list, description="Background traffic")
    changes: list[Change] = Field(
        default_factory=list, description="Changes of the bottlenecks during a run"
    )
    outputs: Key | None = Field(None, description="Name of a set under output_sets")
    summary: list[str] = Field(
        default_factory=list,
        description="Metrics that the report plots, beside those with published numbers",
    )
    tradeoffs: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        default_factory=list,
        description="Pairs of metrics that the report draws against each other, x and y",
    )
    question: str = Field("", description="What the report begins with, beside its answers")
    answers: list[str] = Field(
        default_factory=list, max_length=2, description="Metrics that answer the question"
    )
    time_series: bool = Field(True, description="Whether reports show its runs over time")
    tiers: dict[TierName, list[TierEntry]] = Field(description="Tier → the runs that it holds")

    @model_validator(mode="after")
    def _answers_a_question(self) -> Scenario:
        if bool(self.question) != bool(self.answers):
            raise ValueError("question and answers, the metrics that answer it, belong together")
        return self

    @field_validator("tradeoffs")
    @classmethod
    def _different(cls, pairs: list[list[str]]) -> list[list[str]]:
        for index, pair in enumerate(pairs):
            if len(set(pair)) == 1:
                raise ValueError(f"{pair[0]} cannot be drawn against itself")
            if pair in pairs[:index]:
                raise ValueError(f"{pair[1]} against {pair[0]} is given twice")
        return pairs

    def swept_values(self, entry: TierEntry) -> list[list[Scalar]]:
        """Values of each swept parameter in a tier, without those that no run has."""
        in_cases = {name for case in self.cases for name in case}
        return [
            [each for each in values if each in entry.only[name]]
            if name in entry.only and name not in in_cases
            else values
            for name, values in self.sweep.items()
        ]


class Citation(Strict):
    """The paper that the study reproduces."""

    authors: str
    title: str
    venue: str
    year: int
    url: str = ""
    doi: str = ""
    bibtex: str = ""


REPETITIONS_NAME = "repetitions.yaml"


class Repetitions(RootModel[dict[Key, list[ParameterValues]]]):
    """``repetitions.yaml``: what ``run --until-decided`` has added to the sweeps of a study.

    Scenario → swept parameters of the runs that are repeated, and the last substream of these.
    """


class Study(Strict):
    """``config/studies/<key>/study.yaml``."""

    schema_version: Literal[1]
    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=MOST_NAME)]
    title: Title
    description: str = ""
    citation: Citation | None = None
    parameters: dict[ParameterName, ParameterDeclaration] = Field(
        default_factory=dict,
        description="The study's own parameters, in addition to those that all studies have",
    )
    defaults: ClassDefaults = Field(
        default_factory=dict,
        description="Variables of ns-2's classes that every run gets, e.g. Agent/TCP → window_",
    )
    protocols: dict[Key, Protocol]
    queues: dict[QueueName, QueueDeclaration] = Field(
        default_factory=dict, description="Queues that the parameter queue can name"
    )
    topologies: dict[Key, Topology]
    output_sets: dict[Key, list[Output]] = Field(default_factory=dict)
    scenarios: dict[Key, Scenario]

    _source: YamlFile = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError("expected a mapping with the keys of a study")
        return data

    @property
    def source(self) -> YamlFile:
        """The file that the study was read from."""
        return self._source

    @property
    def folder(self) -> Path:
        """The study's own folder: study.yaml, published.csv, claims.yaml, NOTES.md, tcl/."""
        return self._source.path.parent

    @cached_property  # reading pydantic's private attributes takes ten times as long
    def vocabulary(self) -> dict[str, ParameterDeclaration]:
        """All parameters that may occur in the study's blocks of parameters."""
        return {**COMMON, **self.parameters}

    @cached_property
    def found_scripts(self) -> dict[str, tuple[str, Path]]:
        """Script → its name in plans and its path, of those that planning has looked for."""
        return {}

    @cached_property
    def queue_kinds(self) -> dict[str, QueueKind]:
        """What the parameter queue can name: bdpbench's kinds, and the queues of the study."""
        own = {
            key: QueueFolder(Path(each.folder)).queue if each.folder else QUEUE_KINDS[each.kind]
            for key, each in self.queues.items()
        }
        return {**QUEUE_KINDS, **own}

    @cached_property
    def repetitions(self) -> dict[str, list[dict[str, Scalar]]]:
        """Scenario → runs that have more repetitions than their sweep, and the last of them."""
        path = self.folder / REPETITIONS_NAME
        if not path.is_file():
            return {}
        source = YamlFile(path)
        found = source.validate(Repetitions).root
        for key, cells in found.items():
            source.require((key,), key, self.scenarios, "scenario")
            known = {name: [*values] for name, values in self.scenarios[key].sweep.items()}
            for case in self.scenarios[key].cases:
                for name, value in case.items():
                    known.setdefault(name, []).append(value)
            for index, cell in enumerate(cells):
                if not isinstance(cell.get(REPETITION), int):
                    raise source.error((key, index), f"{REPETITION} is no number of repetitions")
                for name, value in cell.items():
                    source.require((key, index, name), name, known, "swept parameter")
                    if name != REPETITION and value not in known[name]:
                        said = f"no run of {key} has this value (got {value!r})"
                        raise source.error((key, index, name), said)
        return found

    def read_from(self, source: YamlFile) -> Study:
        """Store in the study the file that it was read from, and return the study."""
        self._source = source
        return self

    def error(self, location: Location, message: str, *, hint: str = "") -> BdpbenchError:
        """The error to raise about the value at ``location`` of study.yaml."""
        return self._source.error(location, message, hint=hint)

    def require(
        self, location: Location, name: str, known: Collection[str], what: str, *, also: str = ""
    ) -> None:
        """Refuse an unknown name, as ``YamlFile.require``."""
        self._source.require(location, name, known, what, also=also)

    def defaults_of(self, scenario: Scenario) -> ClassDefaults:
        """Class defaults of the study, overridden by those of a scenario."""
        merged = {name: dict(variables) for name, variables in self.defaults.items()}
        for name, variables in scenario.defaults.items():
            merged[name] = {**merged.get(name, {}), **variables}
        return merged
