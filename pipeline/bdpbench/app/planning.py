"""Study, tier and selection → the plan on disk that every later stage reads."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.stages import study_texts
from bdpbench.contracts.files import known_sha256_of, sha256_of
from bdpbench.contracts.paths import repository_root, run_folder, runs_folder
from bdpbench.contracts.plan import BATCHES_FOLDER, Plan, PlannedRun, write_plan_document
from bdpbench.contracts.runs import RUN_NAME
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import find_build
from bdpbench.simulation.declared import unknown_to_ns2
from bdpbench.studies.declared import declared_by
from bdpbench.studies.load import load_study
from bdpbench.studies.plan import make_plan
from bdpbench.studies.runs import Identities, Selection, expand_tier, tiers_of
from bdpbench.studies.specs import write_specs
from bdpbench.studies.study import Study, known_or_suggest

if TYPE_CHECKING:
    from bdpbench.pages.inputs import StudyTexts

# Rooms whose code affects values, verdicts and pages.
_EVALUATING_ROOMS = ("contracts", "studies", "trace", "metrics", "score", "pages")


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


@dataclass(frozen=True)
class Prepared:
    """A plan: its study, its runs, and those that still have to be simulated."""

    study: Study
    paths: Paths
    plan: Plan
    runs: list[PlannedRun]
    missing: list[PlannedRun]


def prepare(
    name_or_path: str,
    tier: str,
    selection: Selection,
    build_id: str,
    results: Path,
    *,
    scripts: Path | None = None,
    write: bool = True,
) -> Prepared:
    """Make the plan of a tier, and write ``plan.json`` and the specs of its runs if requested.

    The plan has the selected runs and all finished runs of the tier, so that a report made with a
    selection still shows all results. It also has the unfinished runs of the same scenarios and
    protocols, without which the mean of a part would pass for the mean of a sweep.
    ``name_or_path`` is the key of a study or its folder; ``scripts`` is a folder of scripts that
    replace the study's own.

    Raises:
        BdpbenchError: for an invalid study, whether in its runs or in its expectations; for an
            unknown name, or a selection without runs.
    """
    study = load_study(name_or_path, scripts)
    selection = selection.in_study(study)
    paths = Paths(results, study.key, tier)
    identities = Identities()
    tier_runs = expand_tier(study, tier, identities)
    # Scripts that replace the study's own change its runs, but not its expectations.
    known = {tier: tier_runs} if scripts is None else {}
    _check_evaluation(load_study(name_or_path), identities, known)
    _check_declared(study, build_id)
    selected = [run for run in tier_runs if selection.wants(run)]
    if not selected:
        names = [*selection.scenarios, *selection.protocols]
        raise BdpbenchError(
            f"no run of tier {tier} of {study.key} has all of: {', '.join(names)}",
            where="selection",
            hint=f"`./bdpbench list {name_or_path} --tier {tier} --runs` lists the runs",
        )
    begun = {_group(run) for run in tier_runs if is_finished(paths, run)}
    begun |= {_group(run) for run in selected}
    runs = [run for run in tier_runs if _group(run) in begun]
    plan = make_plan(study, tier, build_id, runs, _evaluation_checksum(study.folder))
    missing = [run for run in selected if not is_finished(paths, run)]
    prepared = Prepared(study, paths, plan, runs, missing)
    if write:
        write_plan(prepared)
    return prepared


def _group(run: PlannedRun) -> tuple[str, ...]:
    """Scenario and protocols of a run: what a selection selects by."""
    return (run["scenario"], *sorted(run["protocols"]))


def write_plan(prepared: Prepared) -> None:
    """Write ``plan.json`` and the specs of its runs; identical files are left alone."""
    paths, plan = prepared.paths, prepared.plan
    write_specs(prepared.runs, plan["ns2_build_id"], paths.runs)
    write_plan_document(paths.plan, plan)


def _check_evaluation(
    study: Study, identities: Identities, known: Mapping[str, list[PlannedRun]]
) -> None:
    """Check metrics, numbers, claims and pages now, rather than after the simulation.

    Numbers and claims may refer to runs of any tier, so all tiers are checked, with the study's own
    scripts; ``known`` has those that are already expanded.
    """
    # Metrics and pages take a second to import, which `list` does not need.
    from bdpbench.metrics import definitions_for
    from bdpbench.score import check_expectations

    definitions = definitions_for(study.folder)
    _check_summaries(study, definitions)
    texts = study_texts(study)
    runs = {
        tier: known[tier] if tier in known else expand_tier(study, tier, identities)
        for tier in tiers_of(study)
    }
    check_expectations(study.folder, study, runs, definitions)
    _check_shown(study, texts, runs, definitions)


def _check_shown(
    study: Study,
    texts: StudyTexts,
    runs: Mapping[str, list[PlannedRun]],
    definitions: Mapping[str, object],
) -> None:
    """Refuse a chart or a matrix of a metric that no run of its scenario has."""
    from bdpbench.pages.matrices import MATRICES_NAME
    from bdpbench.score import what_lacks

    by_scenario: dict[str, list[PlannedRun]] = {}
    for run in itertools.chain.from_iterable(runs.values()):
        by_scenario.setdefault(run["scenario"], []).append(run)

    def why(metric: str, scenario: str) -> str:
        lacks = what_lacks(definitions[metric], by_scenario.get(scenario, []))
        return f"no run of {scenario} has {metric}: there is no {', '.join(lacks)}" if lacks else ""

    for key, scenario in study.scenarios.items():
        for index, metric in enumerate(scenario.summary):
            if wrong := why(metric, key):
                raise study.error(("scenarios", key, "summary", index), wrong)
    for index, matrix in enumerate(texts.matrices):
        points = [] if matrix.points is None else [("points", "metric", matrix.points.metric)]
        for *place, metric in (("metric", matrix.metric), *points):
            if wrong := why(metric, matrix.scenario):
                source = YamlFile(study.folder / MATRICES_NAME)
                raise source.error(("matrices", index, *place), wrong)


def _check_declared(study: Study, build_id: str) -> None:
    """Refuse a class or variable that ns-2 does not have, if ns-2 is already built.

    If it is not, as before the first run, the scripts refuse it before they simulate anything.
    """
    build = find_build(build_id)
    for declared, why in unknown_to_ns2(build, declared_by(study)) if build else ():
        hint = "ns-default.tcl of ns-2 lists the variables of its classes"
        raise study.error(declared.location, why, hint=hint)


def _check_summaries(study: Study, metrics: Collection[str]) -> None:
    for key, scenario in study.scenarios.items():
        for index, metric in enumerate(scenario.summary):
            unknown = known_or_suggest(metric, metrics, "metric")
            if unknown:
                location = ("scenarios", key, "summary", index)
                raise study.error(location, unknown[0], hint=unknown[1])


def _evaluation_checksum(folder: Path) -> str:
    """SHA-256 over everything that turns runs into a report: code, templates, the study's files.

    As a part of the plan it makes the stages after the simulation run again when a metric, a
    published number or a template has changed; simulations do not depend on it. Which values are
    measured again depends on the digests stored with them. ``reports/published/`` contains results
    and is not included.
    """
    root, package = repository_root(), Path(__file__).parents[1]
    rooms = (package / room for room in _EVALUATING_ROOMS)
    published = root / "reports" / "published"
    kinds = (".py", ".yaml", ".csv", ".md", ".html", ".css", ".js")
    digest = hashlib.sha256(sha256_of(Path(__file__).with_name("stages.py")).encode())
    for each in (*rooms, root / "reports", folder):
        for path in sorted(found for found in each.rglob("*") if found.suffix in kinds):
            if published in path.parents:
                continue
            digest.update(f"{path.relative_to(each)}\0{known_sha256_of(path)}\n".encode())
    return digest.hexdigest()


def is_finished(paths: Paths, run: PlannedRun) -> bool:
    """Whether the run has its ``run.json``; without it the run counts as not run."""
    return (paths.run(run["run_id"]) / RUN_NAME).is_file()
