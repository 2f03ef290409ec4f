"""The protocols that a user names for an evaluation, and the studies with them in place."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from bdpbench.app.beginning import linux_folder
from bdpbench.app.keep.results import KeptResults
from bdpbench.app.planning import Paths, Prepared, evaluation_checksum, is_finished
from bdpbench.app.stages import PlanData, parse_runs, with_groups
from bdpbench.contracts.evaluation import Choice
from bdpbench.contracts.files import read_text
from bdpbench.contracts.paths import config_dir, expanded, published_folder, relative
from bdpbench.contracts.plan import Plan, PlannedRun, distinct
from bdpbench.contracts.runs import ERROR_NAME, METRICS_NAME
from bdpbench.contracts.yaml_files import Key, Label, Strict, YamlFile, meant, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import METRICS_SCHEMA, Definition, definitions_for
from bdpbench.studies.evaluate import Mirror, with_protocols
from bdpbench.studies.folders import ProtocolFolder, folder_in
from bdpbench.studies.load import load_study, studies_dir, study_keys
from bdpbench.studies.named import named_folder
from bdpbench.studies.parts import Protocol
from bdpbench.studies.plan import make_plan
from bdpbench.studies.study import Study

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_MAKE_IT = ("agent", "sink", "linux", "linux_parameters", "settings")
LEAGUE = "league"
"""The word that means ``config/league.yaml``."""

_LINUX = "linux:"
_HINT = (
    "name a folder with protocol.yaml and law.cc or tcp_*.c, one of config/protocols, "
    "STUDY:PROTOCOL, or linux:MODULE; NAME=… gives it another name"
)


class League(Strict):
    """A file of protocols that are evaluated together, such as ``config/league.yaml``."""

    schema_version: Literal[1]
    studies: list[Key] = Field(
        default_factory=list, description="Only these studies, if --study names none"
    )
    protocols: list[Label] = Field(
        min_length=1, description="Words of `bdpbench evaluate`, each [NAME=]WHAT"
    )


def find_league(word: str) -> tuple[str, League] | None:
    """The file that a word means: a file of YAML, or one of ``config/`` by its name; and its name.

    Raises:
        BdpbenchError: naming line and key of what is wrong in it.
    """
    path = expanded(Path(word))
    if path.suffix != ".yaml" or not path.is_file():
        path = config_dir() / f"{word}.yaml"
        if word != LEAGUE or not path.is_file():
            return None
    source = YamlFile(path)
    league = source.validate(League)
    for index, each in enumerate(league.protocols):
        try:
            _find(each)
        except BdpbenchError as error:
            raise source.error(("protocols", index), str(error)) from None
    return path.stem, league


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
    if what.startswith(_LINUX):
        made = linux_folder(what.removeprefix(_LINUX))
        return replace(_of_folder(made), source=f"{what} of {made.parents[1].name}")
    folder = named_folder(what, [config_dir() / "protocols"], ProtocolFolder.is_begun)
    if folder is not None:
        return _of_folder(folder)
    study, colon, key = what.partition(":")
    if colon and study in study_keys():
        return _of_study(load_study(studies_dir() / study), key, what)
    known = list(_known())
    exact = [each for each in known if each.endswith(f":{what}")]
    if len(exact) == 1:
        return _named(exact[0])
    if exact:
        said = f"{len(exact)} studies have a protocol {what}"
        raise BdpbenchError(said, where=what, hint=f"name one: {', '.join(exact)}")
    if expanded(Path(what)).is_dir():
        return _of_folder(expanded(Path(what)))
    keys = {each.partition(":")[2] for each in known}
    folders = [
        path.parent.name for path in config_dir().glob(f"protocols/*/{ProtocolFolder.yaml_name}")
    ]
    close = suggest(what, [*keys, *folders, *known])
    hint = close if close.startswith("did") else _HINT
    raise BdpbenchError("is neither a protocol nor a folder", where=what, hint=hint)


def _known() -> Iterator[str]:
    """``STUDY:PROTOCOL`` of each protocol of the configured studies."""
    for key in study_keys():
        yield from (f"{key}:{name}" for name in load_study(studies_dir() / key).protocols)


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


# -------------------------------------------------------------------------- studies with newcomers


_Key = tuple[str, str]
"""Run id and scenario: a run's place in a study."""


@dataclass(frozen=True)
class Shown:
    """A run of a study with newcomers.

    Attributes:
        run: the run.
        newcomer: the evaluated protocol that takes part; "" for a run of the study's own.
        varied: whether it has a small change of what the study has.
    """

    run: PlannedRun
    newcomer: str = ""
    varied: bool = False


@dataclass
class Mirrored:
    """A study with the newcomers of an evaluation.

    Attributes:
        mirror: the study and what it says about newcomers.
        choice: quick or full.
        newcomers: those whose code compiles.
        paths: where plan and runs are.
        build_id: id of the build of ns-2.
        shown: the newcomers' runs, and the study's own beside which they stand.
        refused: newcomers, each with a scenario that cannot have it, and why.
    """

    mirror: Mirror
    choice: Choice
    newcomers: Sequence[Newcomer]
    paths: Paths
    build_id: str
    shown: list[Shown] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        scenarios = self.mirror.file.scenarios
        for each, scenario in itertools.product(self.newcomers, scenarios):
            key = self.key_of(each.key)
            try:
                plain, varied = self.mirror.runs_of(key, each.protocol, scenario, self.choice)
            except BdpbenchError as error:
                self.refused.append((each.key, f"{scenario}: {error}"))
            else:
                self.shown += [Shown(run, each.key) for run in plain]
                self.shown += [Shown(run, each.key, varied=True) for run in varied]
        for scenario in scenarios:
            self.shown += map(Shown, self.mirror.own_runs(scenario, self.choice))

    @property
    def own(self) -> list[PlannedRun]:
        """The study's own runs."""
        return [each.run for each in self.shown if not each.newcomer]

    def key_of(self, newcomer: str) -> str:
        """A newcomer's key in the study's runs, which none of its protocols has."""
        return newcomer if newcomer not in self.mirror.study.protocols else f"{newcomer}_evaluated"

    @cached_property
    def plan(self) -> Plan:
        """The runs of all newcomers, each once for each scenario; nothing of it is written yet."""
        study = self.mirror.study
        keys = {self.key_of(each.key): each.protocol for each in self.newcomers}
        runs: dict[_Key, PlannedRun] = {}
        for each in self.shown:
            if each.newcomer:
                runs.setdefault(_key(each.run), each.run)
        named, checksum = with_protocols(study, keys), evaluation_checksum(study.folder)
        return make_plan(named, self.mirror.file.tier, self.build_id, [*runs.values()], checksum)

    @cached_property
    def definitions(self) -> Mapping[str, Definition]:
        """Metrics of the study's runs."""
        return definitions_for(self.mirror.study.folder)

    @cached_property
    def published(self) -> pl.DataFrame:
        """The published values that have today's definitions; empty if nothing is published."""
        folder = published_folder(self.mirror.key)
        if not (folder / METRICS_NAME).is_file():
            return pl.DataFrame(schema=METRICS_SCHEMA)
        today = [each.id for each in self.definitions.values()]
        return KeptResults(folder).metrics.filter(pl.col("definition").is_in(today))

    @cached_property
    def _published_runs(self) -> frozenset[_Key]:
        return frozenset(self.published.select("run_id", "scenario").unique().iter_rows())

    def is_published(self, run: PlannedRun) -> bool:
        """Whether a run's values are published."""
        return _key(run) in self._published_runs

    @cached_property
    def to_simulate(self) -> list[PlannedRun]:
        """The runs of newcomers that are not published, finished or not."""
        return [run for run in self.plan["runs"] if not self.is_published(run)]

    def prepared(self) -> Prepared:
        """What has to be simulated, as a plan of its own."""
        plan: Plan = {**self.plan, "runs": self.to_simulate}
        runs = distinct(self.to_simulate)
        return Prepared(self.paths, plan, [run for run in runs if not is_finished(self.paths, run)])

    @cached_property
    def measured(self) -> tuple[pl.DataFrame, dict[str, str]]:
        """Values of the newcomers' simulated runs, each run by itself; run id → why it has none."""
        frames, failed = [pl.DataFrame(schema=METRICS_SCHEMA)], {}
        places: dict[str, list[PlannedRun]] = {}
        for run in self.to_simulate:
            places.setdefault(run["run_id"], []).append(run)
        for run_id, runs in places.items():
            plan: Plan = {**self.plan, "runs": runs}
            run_dir = self.paths.run(run_id)
            if not is_finished(self.paths, runs[0]):
                path = run_dir / ERROR_NAME
                failed[run_id] = read_text(path).strip() if path.is_file() else "was not simulated"
                continue
            try:
                parse_runs([run_dir], plan)
                frames.append(PlanData(plan, self.paths.runs).metrics())
            except BdpbenchError as error:
                failed[run_id] = str(error)
        return pl.concat(frames), failed

    def values(self, newcomer: str) -> pl.DataFrame:
        """Values of a newcomer's runs, simulated or published, and those of several together."""
        own = [each for each in self.shown if each.newcomer == newcomer]
        runs, varied = ([e.run for e in own if e.varied == of] for of in (False, True))
        single = [name for name, each in self.definitions.items() if each.level == "run"]
        known = pl.concat([self.measured[0], self.published.filter(pl.col("metric").is_in(single))])
        plan: Plan = {**self.plan, "runs": runs}
        return pl.concat([with_groups(plan, _of(known, runs)), _of(known, varied)])

    def own_values(self) -> pl.DataFrame:
        """The published values of the study's own runs."""
        return _of(self.published, self.own)


def _of(metrics: pl.DataFrame, runs: Sequence[PlannedRun]) -> pl.DataFrame:
    schema = {"run_id": pl.String, "scenario": pl.String}
    wanted = pl.DataFrame(list(dict.fromkeys(map(_key, runs))), schema=schema, orient="row")
    return metrics.join(wanted, on=["run_id", "scenario"], how="semi")


def _key(run: PlannedRun) -> _Key:
    return run["run_id"], run["scenario"]
