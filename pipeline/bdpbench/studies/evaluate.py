"""``evaluate.yaml`` of a study: which scenarios take a newcomer, in whose place, and what to show.

A newcomer's runs are those of the replaced protocol, with nothing but the protocol changed: the
same script, path, times and random numbers, and those defaults that belong to all agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from bdpbench.contracts.evaluation import Choice, CriterionFile, FigureFile, PartFile
from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.plan import Parameters, PlannedRun, Scalar
from bdpbench.contracts.yaml_files import (
    Key,
    Location,
    ParameterName,
    Strict,
    VariableName,
    YamlFile,
)
from bdpbench.errors import BdpbenchError
from bdpbench.studies.config import TierName
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import STUDY_NAME, read_study, studies_dir, study_keys
from bdpbench.studies.parts import Protocol
from bdpbench.studies.plan import parameter_grid
from bdpbench.studies.runs import expand_points
from bdpbench.studies.study import NETWORK_SCRIPT, Duration, ParameterGrid, Study

EVALUATE_NAME = "evaluate.yaml"
OWN_FOLDER = "evaluation"
"""Folder in ``config/`` of the study that evaluations bring themselves."""


class Chosen(Strict):
    """Runs of a scenario that are part of a choice."""

    only: ParameterGrid = Field(
        default_factory=dict, description="Those with one of these values; all if absent"
    )
    duration_s: Duration | None = Field(
        None,
        description="Simulated time of the newcomer's runs, s, where a shorter one shows the same; "
        "that of the tier if absent",
    )


class Place(Strict):
    """How a scenario takes a newcomer."""

    takes: list[Annotated[list[ParameterName], Field(min_length=1)]] = Field(
        min_length=1,
        description="Parameters that get the newcomer, together; a list for each way to place it",
    )
    in_place_of: Key = Field(description="Protocol that these parameters have in the study's runs")
    protocol: ParameterName | None = Field(
        None,
        description="Parameter whose protocol a value is about; the first of takes if absent",
    )
    beside: ParameterName | None = Field(
        None, description="Parameter with the other protocol of a pair"
    )
    quick: list[Chosen] = Field(
        default_factory=list, description="Runs of the quick choice; none if absent"
    )
    full: list[Chosen] = Field(
        default_factory=lambda: [Chosen()], description="Runs of the full choice; all if absent"
    )
    vary: dict[ParameterName, list[Scalar]] = Field(
        default_factory=dict,
        description="Small changes: values of a parameter with which the full choice simulates "
        "each of the newcomer's runs once more, so that no value hangs on a single run",
    )

    @property
    def about(self) -> str:
        """The parameter whose protocol a value is about."""
        return self.protocol or self.takes[0][0]

    def chosen(self, choice: Choice) -> Sequence[Chosen]:
        """Runs of a choice."""
        return self.quick if choice == "quick" else self.full


class EvaluateFile(Strict):
    """Content of ``evaluate.yaml``."""

    schema_version: Literal[1]
    tier: TierName = Field("paper", description="Published tier whose runs take the newcomer")
    only_named: bool = Field(
        False, description="Whether the study takes part only where --study names it"
    )
    record: list[VariableName] = Field(
        default_factory=list, description="Variables that the newcomer's senders record"
    )
    scenarios: dict[Key, Place] = Field(min_length=1)
    parts: dict[Key, PartFile] = Field(min_length=1)
    figures: dict[Key, FigureFile] = Field(default_factory=dict)
    criteria: dict[Key, CriterionFile] = Field(default_factory=dict)
    against: list[Annotated[list[Key], Field(min_length=2, max_length=2)]] = Field(
        default_factory=list,
        description="Pictures: pairs of figures or criteria, x and y",
    )


@dataclass(frozen=True)
class Mirror:
    """A study that takes newcomers."""

    study: Study
    file: EvaluateFile
    source: YamlFile

    @property
    def key(self) -> str:
        """The study's key."""
        return self.study.key

    @cached_property
    def identities(self) -> Identities:
        """Identities of its runs, shared by all calls."""
        return Identities()

    def own_runs(self, scenario: str, choice: Choice) -> list[PlannedRun]:
        """The study's own runs of a scenario beside which a choice puts the newcomer's.

        Raises:
            BdpbenchError: as ``expand_points``, and when the choice has no run.
        """
        points = (given for _, given in self._points(scenario, choice))
        return self._expanded(self.study, scenario, points)

    def runs_of(
        self, key: str, protocol: Protocol, scenario: str, choice: Choice
    ) -> tuple[list[PlannedRun], list[PlannedRun]]:
        """The runs of a scenario with a newcomer in its places, and those with small changes.

        Args:
            key: the newcomer's key, which no protocol of the study has.
            protocol: how its agents are made.
            scenario: key of the scenario.
            choice: quick or full.

        Raises:
            BdpbenchError: as ``expand_points``, e.g. when the scenario's script cannot have such
                senders.
        """
        # A study's own script writes tables whose columns are those of its own protocols.
        is_network = self.study.scenarios[scenario].script == NETWORK_SCRIPT
        is_known = any(protocol.record == each.record for each in self.study.protocols.values())
        own = protocol.record if is_network or is_known else []
        record = list(dict.fromkeys([*own, *self.file.record]))
        newcomer = protocol.model_copy(update={"record": record})
        study = with_protocols(self.study, {key: newcomer})
        place = self.file.scenarios[scenario]
        plain: list[PlannedRun] = []
        varied: list[PlannedRun] = []
        # A way to place it by itself: beside the replaced protocol, one that equals it gives a run
        # that another way gives as well.
        for takes in place.takes:
            given = [
                {
                    **point,
                    **dict.fromkeys(takes, key),
                    "duration_s": chosen.duration_s or float(point["duration_s"]),
                }
                for chosen, point in self._points(scenario, choice)
                if all(point.get(name) == place.in_place_of for name in takes)
            ]
            plain += self._expanded(study, scenario, given)
            if choice == "full":
                changes = [
                    {**point, name: study.vocabulary[name].plain(value)}
                    for name, values in place.vary.items()
                    for point in given
                    for value in values
                ]
                varied += self._expanded(study, scenario, changes)
        known = {run["run_id"] for run in plain}
        return plain, [run for run in varied if run["run_id"] not in known]

    def _expanded(
        self, study: Study, scenario: str, given: Iterable[Parameters]
    ) -> list[PlannedRun]:
        return expand_points(study, ((scenario, each) for each in given), self.identities)

    def _points(self, scenario: str, choice: Choice) -> list[tuple[Chosen, Parameters]]:
        grid = list(parameter_grid(self.study, scenario, self.file.tier))
        found: dict[str, tuple[Chosen, Parameters]] = {}
        for index, chosen in enumerate(self.file.scenarios[scenario].chosen(choice)):
            wanted = chosen.only.items()
            kept = [p for p in grid if all(p.get(name) in values for name, values in wanted)]
            if not kept:
                raise self.source.error(
                    ("scenarios", scenario, choice, index), "no run of the tier has these values"
                )
            found |= {repr(sorted(point.items())): (chosen, point) for point in kept}
        return list(found.values())


def with_protocols(study: Study, protocols: Mapping[str, Protocol]) -> Study:
    """A study with further protocols, whose errors name the same file."""
    return study.model_copy(update={"protocols": {**study.protocols, **protocols}})


def mirrors() -> list[Mirror]:
    """The studies that take newcomers: the evaluations' own, others beside it, the configured ones.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong in one.
    """
    beside = [path.parent for path in config_dir().glob(f"*/{EVALUATE_NAME}")]
    beside.sort(key=lambda folder: (folder.name != OWN_FOLDER, folder.name))
    folders = [*beside, *(studies_dir() / key for key in study_keys())]
    return [load_mirror(each) for each in folders if (each / EVALUATE_NAME).is_file()]


def load_mirror(folder: Path) -> Mirror:
    """Read and check the study of a folder and its ``evaluate.yaml``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not (folder / STUDY_NAME).is_file():
        raise BdpbenchError(f"has no {STUDY_NAME}", where=str(folder))
    return read_mirror(read_study(folder.resolve() / STUDY_NAME), folder / EVALUATE_NAME)


def read_mirror(study: Study, path: Path) -> Mirror:
    """Read and check an ``evaluate.yaml`` of a study.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    source = YamlFile(path)
    mirror = Mirror(study, source.validate(EvaluateFile), source)
    for scenario in mirror.file.scenarios:
        _check_place(mirror, scenario)
    for key in mirror.file.parts:
        _check_part(mirror, key)
    for section, named in (("figures", mirror.file.figures), ("criteria", mirror.file.criteria)):
        for key, each in named.items():
            if each.part is not None and each.column is not None:
                at, parts = (section, key), mirror.file.parts
                source.require((*at, "part"), each.part, parts, "part")
                source.require((*at, "column"), each.column, parts[each.part].columns, "column")
    for index, pair in enumerate(mirror.file.against):
        for place, key in enumerate(pair):
            known = [*mirror.file.figures, *mirror.file.criteria]
            source.require(("against", index, place), key, known, "figure or criterion")
    return mirror


def _check_place(mirror: Mirror, key: str) -> None:
    study, place, at = mirror.study, mirror.file.scenarios[key], ("scenarios", key)
    require, error = mirror.source.require, mirror.source.error
    require(at, key, study.scenarios, "scenario")
    if mirror.file.tier not in study.scenarios[key].tiers:
        raise error(at, f"the scenario has no runs in tier {mirror.file.tier}")
    require((*at, "in_place_of"), place.in_place_of, study.protocols, "protocol")
    named = [name for name, each in study.vocabulary.items() if each.type == "protocol"]
    given = [(("takes", n), name) for n, takes in enumerate(place.takes) for name in takes]
    for below, name in (*given, (("protocol",), place.protocol), (("beside",), place.beside)):
        if name is not None:
            require((*at, *below), name, named, "parameter with a protocol")
    for name, values in place.vary.items():
        require((*at, "vary", name), name, study.vocabulary, "parameter")
        for index, value in enumerate(values):
            if wrong := study.vocabulary[name].problem(value):
                raise error((*at, "vary", name, index), f"{wrong} (got {value!r})")
    choices: tuple[Choice, ...] = ("quick", "full")
    for choice in choices:
        _check_choice(mirror, key, choice)


def _check_choice(mirror: Mirror, key: str, choice: Choice) -> None:
    place, at = mirror.file.scenarios[key], ("scenarios", key)
    for index, chosen in enumerate(place.chosen(choice)):
        _check_only(mirror, (*at, choice, index, "only"), chosen.only, key)
    points = [point for _, point in mirror._points(key, choice)]
    for index, takes in enumerate(place.takes):
        held = (p for p in points if all(p.get(name) == place.in_place_of for name in takes))
        if points and not any(held):
            said = f"no run of {choice} has {place.in_place_of} there"
            raise mirror.source.error((*at, "takes", index), said)


def _check_only(
    mirror: Mirror, at: Location, only: Mapping[str, Sequence[Scalar]], scenario: str
) -> None:
    """Refuse a value that no run of a scenario has, which would have no effect."""
    for name, values in only.items():
        mirror.source.require((*at, name), name, mirror.study.vocabulary, "parameter")
        grid = parameter_grid(mirror.study, scenario, mirror.file.tier)
        known = {point[name] for point in grid if name in point}
        for index, value in enumerate(values):
            if value not in known:
                said = f"no run of {scenario} in tier {mirror.file.tier} has this value"
                raise mirror.source.error((*at, name, index), f"{said} (got {value!r})")


def _check_part(mirror: Mirror, key: str) -> None:
    part, at, scenarios = mirror.file.parts[key], ("parts", key), mirror.file.scenarios
    require, known = mirror.source.require, mirror.study.vocabulary
    for field, name in (("rows", part.rows), ("x", part.x), ("panels", part.panels)):
        if name is not None:
            require((*at, field), name, known, "parameter")
    for name, column in part.columns.items():
        place = (*at, "columns", name)
        what = "scenario that takes newcomers"
        require((*place, "scenario"), column.scenario, scenarios, what)
        _check_only(mirror, (*place, "only"), column.only, column.scenario)
        for index, each in enumerate(column.mean_over):
            require((*place, "mean_over", index), each, known, "parameter")
        if part.kind == "matrix" and scenarios[column.scenario].beside is None:
            raise mirror.source.error((*place, "scenario"), "a matrix needs a scenario with beside")
