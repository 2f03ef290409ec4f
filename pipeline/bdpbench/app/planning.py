"""Study, tier and selection → the plan on disk that every later stage reads, and its batches."""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.costs import run_cpu_s
from bdpbench.app.stages import study_texts, values_path
from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.files import known_sha256_of, make_folders, remembered, sources_of
from bdpbench.contracts.paths import (
    config_dir,
    package_dir,
    repository_root,
    results_dir,
    run_folder,
    runs_folder,
    tcl_dir,
)
from bdpbench.contracts.plan import (
    BATCHES_FOLDER,
    JOBS_NAME,
    JOBS_VERSION,
    Declared,
    Job,
    Jobs,
    Plan,
    PlannedRun,
    batch_path,
    distinct,
    read_plan,
    study_folder,
    write_plan_document,
)
from bdpbench.contracts.runs import read_run
from bdpbench.contracts.yaml_files import Location, YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import current_build_id, find_build, unknown_to_ns2
from bdpbench.simulation.hand_tests import check_tests
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.atlas import ATLAS_NAME
from bdpbench.studies.config import load_config
from bdpbench.studies.cost import LEAST_S, MEASURE_S, batch_memory_mb, make_batches
from bdpbench.studies.folders import ComponentFolder, folder_of_the_name
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import (
    STUDY_NAME,
    declared_by,
    find_study,
    folders_of,
    load_study,
)
from bdpbench.studies.plan import Selection, make_plan, tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.study import Study

if TYPE_CHECKING:
    from bdpbench.metrics import Definition
    from bdpbench.pages.inputs import StudyTexts

# Time requested from a cluster beyond the expected one: the start, and a factor of three.
_RUNTIME_MIN = 10
_RUNTIME_FACTOR = 3


@dataclass(frozen=True)
class Paths:
    """Files of one tier of a study under the results folder."""

    results: Path
    study: str
    tier: str

    @property
    def runs(self) -> Path:
        """Folder of all runs, shared by the studies."""
        return runs_folder(self.results)

    def run(self, run_id: str) -> Path:
        """Folder of a run."""
        return run_folder(self.runs, run_id)

    @property
    def folder(self) -> Path:
        """Folder of the tier's plan, tables of numbers and report."""
        return self.results / self.study / self.tier

    @property
    def plan(self) -> Path:
        """``plan.json``."""
        return self.folder / "plan.json"

    @property
    def batches(self) -> Path:
        """Folder of the batches of a call."""
        return self.folder / BATCHES_FOLDER

    @property
    def report(self) -> Path:
        """``report.html``."""
        return self.folder / "report.html"


@contextmanager
def exclusive(results: Path, waiting: Callable[[str], None]) -> Iterator[bool]:
    """Lock the results folder, waiting while another call uses it; yields whether it had to wait.

    The kernel frees the lock when its holder ends, however it ends. ``waiting`` is called with a
    sentence about the wait.
    """
    make_folders(results)
    with (results / ".lock").open("w", encoding="utf-8") as stream:
        had_to_wait = False
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            had_to_wait = True
            waiting(f"another bdpbench is using {results}; waiting for it to end")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield had_to_wait


@dataclass(frozen=True)
class Prepared:
    """The plan of a tier, where its files are, and its runs that still have to be simulated.

    Attributes:
        missing: each of them once, also where scenarios share one.
    """

    paths: Paths
    plan: Plan
    missing: list[PlannedRun]

    @property
    def runs(self) -> list[PlannedRun]:
        """All runs of the plan."""
        return self.plan["runs"]


@dataclass(frozen=True)
class Wanted:
    """What to plan; None selects what ``config.yaml`` says.

    Attributes:
        study: key of a study, or its folder.
        tier: quick, paper or full.
        selection: the runs that have to be simulated.
        results: folder of runs and reports.
        build_id: id of the build of ns-2.
    """

    study: str | None = None
    tier: str | None = None
    selection: Selection = field(default_factory=Selection)
    results: Path | None = None
    build_id: str | None = None

    def paths(self) -> Paths:
        """Where the plan, its runs and its report are."""
        config = load_config()
        results = self.results or results_dir(config.results)
        name = find_study(self.study or config.study).name
        return Paths(results, name, self.tier or config.tier)


def prepare(wanted: Wanted, *, runs_code: bool = True) -> Prepared:
    """Plan a tier; nothing is written.

    The plan has the selected runs and all finished runs of the tier, so that a report made with a
    selection still shows all results. It also has the unfinished runs of the same scenarios and
    protocols, without which the mean of a part would pass for the mean of a sweep.

    Without ``runs_code`` no code is executed that does not come along: metrics of such a study, and
    the numbers and statements that are made of them, are not checked.

    Raises:
        BdpbenchError: for an invalid study, whether in its runs or in its expectations; for an
            unknown name, or a selection without runs.
    """
    paths = wanted.paths()
    name, tier = wanted.study or paths.study, paths.tier
    study = load_study(name)
    _check_is_its_own(paths, study)
    identities = Identities()
    selection = wanted.selection.in_study(study)
    tier_runs = expand_tier(study, tier, identities)
    if runs_code or not has_foreign_metrics(study.folder):
        _check_evaluation(study, identities, {tier: tier_runs})
    build_id = wanted.build_id or current_build_id()
    for folder in folders_of(study):
        make_folder(folder, runs_code=runs_code)
    check_declared(study, build_id)
    selected = [run for run in tier_runs if selection.wants(run)]
    if not selected:
        names = [*selection.scenarios, *selection.protocols]
        raise BdpbenchError(
            f"no run of tier {tier} of {study.key} has all of: {', '.join(names)}",
            where="selection",
            hint=f"`./bdpbench list {name} --tier {tier} --runs` lists the runs",
        )
    finished = {run["run_id"] for run in distinct(tier_runs) if is_finished(paths, run)}
    begun = {_group_of(run) for run in tier_runs if run["run_id"] in finished}
    begun |= {_group_of(run) for run in selected}
    runs = [run for run in tier_runs if _group_of(run) in begun]
    plan = make_plan(study, tier, build_id, runs, evaluation_checksum(study.folder))
    missing = distinct(run for run in selected if run["run_id"] not in finished)
    return Prepared(paths, plan, missing)


def _group_of(run: PlannedRun) -> tuple[str, ...]:
    return (run["scenario"], *sorted(run["protocols"]))


def _check_is_its_own(paths: Paths, study: Study) -> None:
    """Refuse to replace the results of another study that has the same name and is still there."""
    if study.folder.is_relative_to(config_dir()) or not paths.plan.is_file():
        return  # find_study lets no other study have such a name
    try:
        other = study_folder(read_plan(paths.plan))
    except BdpbenchError:
        return  # of another version, or damaged: it is made again
    if other.resolve() != study.folder and (other / STUDY_NAME).is_file():
        raise BdpbenchError(
            f"has the results of {other}, which those of {study.folder} would replace",
            where=str(paths.folder),
            hint="give one study another name, or name another folder with BDPBENCH_RESULTS",
        )


def make_folder(folder: ComponentFolder, *, runs_code: bool = True) -> None:
    """Compile a protocol or a queue that is a folder, and check it by its ``test.cc``.

    Without ``runs_code`` it is compiled, and its tests are not.

    Raises:
        BdpbenchError: when it does not compile, or does not do what its tests say.
    """
    if not folder.comes_along:
        when = "is executed by ns-2" if runs_code else "is compiled now, and executed later"
        said = f"{when}: a {folder.kind} is a program that can do anything you can do"
        print(f"{folder.path}: {said}", file=sys.stderr, flush=True)
    compile_folder(folder)
    if runs_code:
        check_tests(folder)


def has_foreign_metrics(folder: Path) -> bool:
    """Whether a study does not come along and has metrics of its own, of which the user is told."""
    from bdpbench.metrics.measure import STUDY_METRICS_NAME

    path = folder / STUDY_METRICS_NAME
    if folder.is_relative_to(config_dir()) or not path.is_file():
        return False
    said = "is not executed now: numbers and statements were not checked"
    print(f"{path}: {said}", file=sys.stderr, flush=True)
    return True


def _check_evaluation(
    study: Study, identities: Identities, known: Mapping[str, list[PlannedRun]]
) -> None:
    """Check metrics, numbers, claims and pages now, rather than after the simulation.

    Numbers and claims may refer to runs of any tier, so all tiers are checked, with the study's own
    scripts; ``known`` has those that are already expanded. What passed is not checked again until a
    file changes.
    """

    def check() -> str:
        # Metrics and pages take longer to import than all else that a call without runs does.
        from bdpbench.metrics import definitions_for
        from bdpbench.score import check_expectations

        definitions = definitions_for(study.folder)
        texts = study_texts(study)
        runs = {
            tier: known[tier] if tier in known else expand_tier(study, tier, identities)
            for tier in tiers_of(study)
        }
        _check_shown(study, texts, itertools.chain.from_iterable(runs.values()), definitions)
        check_expectations(study.folder, study, runs, definitions)
        return "checked"

    folders = (study.folder, *(each.path for each in folders_of(study)), config_dir(), tcl_dir())
    remembered(("check", study.key), sources_of(*folders), check)


def _check_shown(
    study: Study,
    texts: StudyTexts,
    runs: Iterable[PlannedRun],
    definitions: Mapping[str, Definition],
) -> None:
    """Refuse a chart or a matrix of a metric that no run of its scenario has."""
    from bdpbench.pages.texts import MATRICES_NAME
    from bdpbench.score import what_lacks

    by_scenario: dict[str, list[PlannedRun]] = {}
    for run in runs:
        by_scenario.setdefault(run["scenario"], []).append(run)

    def lacking(metric: str, scenario: str) -> str:
        lacks = what_lacks(definitions[metric], by_scenario.get(scenario, []))
        return f"no run of {scenario} has {metric}: there is no {', '.join(lacks)}" if lacks else ""

    for key, scenario in study.scenarios.items():
        pairs = enumerate(scenario.tradeoffs)
        shown: list[tuple[Location, str]] = [
            *((("summary", index), metric) for index, metric in enumerate(scenario.summary)),
            *((("answers", index), metric) for index, metric in enumerate(scenario.answers)),
            *((("tradeoffs", i, j), metric) for i, pair in pairs for j, metric in enumerate(pair)),
        ]
        for below, metric in shown:
            location: Location = ("scenarios", key, *below)
            study.require(location, metric, definitions, "metric")
            if wrong := lacking(metric, key):
                raise study.error(location, wrong)
    for index, matrix in enumerate(texts.matrices):
        if wrong := lacking(matrix.metric, matrix.scenario):
            source = YamlFile(study.folder / MATRICES_NAME)
            raise source.error(("matrices", index, "metric"), wrong)


def check_declared(study: Study, build_id: str) -> None:
    """Refuse a class or variable that ns-2 does not have, if ns-2 is already built.

    If it is not, as before the first run, the scripts refuse it before they simulate anything.
    """
    build = find_build(build_id)
    for declared, why in unknown_to_ns2(build, declared_by(study)) if build else ():
        raise study.error(declared.location, why, hint=_hint_for(declared, study))


def _hint_for(declared: Declared, study: Study) -> str:
    asked = declared.name if declared.kind == "linux" else declared.ns2_class
    found = folder_of_the_name(asked) if declared.kind in ("linux", "agent") else None
    if found is not None:
        beside = study.folder.is_relative_to(config_dir())
        place = os.path.relpath(found, study.folder) if beside else found
        return f"`{{folder: {place}}}` instead of agent and sink: {found.name} is a folder here"
    if declared.kind in ("linux", "agent"):
        return "docs/elsewhere.md says what is not there, and how to bring results from elsewhere"
    return "ns-default.tcl of ns-2 lists the variables of its classes"


def evaluation_checksum(folder: Path) -> str:
    """SHA-256 over everything that turns runs into a report: code, templates, the study's files.

    As a part of the plan it makes the stages after the simulation run again when a metric, a
    published number or a template has changed; simulations do not depend on it. Which values are
    measured again depends on the digests stored with them. ``reports/published/`` contains results
    and is not included.
    """
    reports, digest = repository_root() / "reports", hashlib.sha256()
    kinds = (".py", ".yaml", ".csv", ".md", ".html", ".css", ".js")
    for each in (package_dir(), reports, folder, config_dir() / ATLAS_NAME):
        for path in sorted(each.rglob("*")) if each.is_dir() else [each]:
            is_published = path.is_relative_to(reports / "published")
            if path.suffix in kinds and path.is_file() and not is_published:
                digest.update(f"{path.relative_to(each)}\0{known_sha256_of(path)}\n".encode())
    return digest.hexdigest()


def is_finished(paths: Paths, run: PlannedRun) -> bool:
    """Whether the run has a ``run.json`` that can be read; without it the run counts as not run.

    Raises:
        BdpbenchError: as ``read_run``.
    """
    return read_run(paths.run(run["run_id"])) is not None


def write_batches(
    prepared: Prepared, cores: int, backend: str, *, keep_going: bool = False
) -> Jobs:
    """Make batches of the missing work, and write them in place of those of the last call.

    Finished runs without values are included if they are many, in order to be measured in parallel;
    a few are left to the report.

    Args:
        prepared: the plan, and what is missing.
        cores: number of batches that run at once.
        backend: where ns-2 runs, docker or native.
        keep_going: whether to continue with other runs if one fails.
    """
    paths = prepared.paths
    costs_s = {run["run_id"]: run_cpu_s(run) for run in prepared.missing}
    unmeasured = dict.fromkeys(_unmeasured(prepared), MEASURE_S)
    if costs_s or sum(unmeasured.values()) > LEAST_S:
        costs_s |= unmeasured
    shutil.rmtree(paths.batches, ignore_errors=True)
    places: dict[str, list[PlannedRun]] = {}
    for run in prepared.runs:
        if run["run_id"] in costs_s:
            places.setdefault(run["run_id"], []).append(run)
    jobs = {}
    for number, run_ids in enumerate(make_batches(costs_s, cores)):
        path = batch_path(paths.batches, number)
        batch: Plan = {**prepared.plan, "runs": [run for each in run_ids for run in places[each]]}
        write_plan_document(path, batch)
        jobs[path.stem] = _job(batch, sum(costs_s[each] for each in run_ids))
    found: Jobs = {
        "schema_version": JOBS_VERSION,
        "study": paths.study,
        "folder": prepared.plan["folder"],
        "tier": paths.tier,
        "ns2_build_id": prepared.plan["ns2_build_id"],
        "planned": len(distinct(prepared.runs)),
        "backend": backend,
        "keep_going": keep_going,
        "jobs": jobs,
    }
    write_json_atomically(paths.batches / JOBS_NAME, found)
    return found


def plan_batches(wanted: Wanted, cores: int | None, backend: str) -> Path:
    """Write a plan, and batches for users who run them themselves; returns its path.

    Raises:
        BdpbenchError: as for ``prepare``.
    """
    with exclusive(wanted.paths().results, lambda text: print(text, file=sys.stderr)):
        prepared = prepare(wanted)
        write_plan_document(prepared.paths.plan, prepared.plan)
        write_batches(prepared, cores or len(os.sched_getaffinity(0)), backend)
    return prepared.paths.plan


def _unmeasured(prepared: Prepared) -> Iterator[str]:
    """Finished runs that have no values for one of their places in the plan."""
    paths, study = prepared.paths, prepared.plan["study"]
    for run in prepared.runs:
        values = values_path(paths.run(run["run_id"]), study, run["scenario"])
        if not values.is_file() and is_finished(paths, run):
            yield run["run_id"]


def _job(batch: Plan, cpu_s: float) -> Job:
    return {
        "runs": len({run["run_id"] for run in batch["runs"]}),
        "cpu_s": round(cpu_s, 1),
        "runtime_min": _RUNTIME_MIN + math.ceil(_RUNTIME_FACTOR * cpu_s / 60),
        "mem_mb": max(map(batch_memory_mb, batch["runs"])),
    }
