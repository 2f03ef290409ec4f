"""Study, tier and selection → the plan on disk that every later stage reads."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bdpbench.contracts.files import read_json, sha256_of, write_json_atomically
from bdpbench.contracts.paths import repository_root, study_dir
from bdpbench.contracts.plan import Plan
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study
from bdpbench.studies.plan import make_plan, write_specs
from bdpbench.studies.runs import Run, Selection, expand_tier

# Rooms whose code has a say in values, verdicts and pages.
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
        return self.results / "runs"

    @property
    def folder(self) -> Path:
        """Folder of the tier's plan, tables of numbers and report."""
        return self.results / self.study / self.tier

    @property
    def plan(self) -> Path:
        """``plan.json``."""
        return self.folder / "plan.json"

    @property
    def report(self) -> Path:
        """``report.html``."""
        return self.folder / "report.html"


@dataclass(frozen=True)
class Prepared:
    """A plan on disk: the runs it holds, and those of them that are still to be simulated."""

    paths: Paths
    plan: Plan
    runs: list[Run]
    missing: list[Run]


def prepare(
    study_key: str,
    tier: str,
    selection: Selection,
    build_id: str,
    results: Path,
    *,
    scripts: Path | None = None,
    write: bool = True,
) -> Prepared:
    """Make the plan of a tier, and write ``plan.json`` and the specs of its runs if asked to.

    The plan holds the selected runs, and the finished runs of the tier that were not selected:
    a report made after a selection still shows all that is known. ``scripts`` is a folder of
    scripts that take the place of the study's own.

    Raises:
        BdpbenchError: for a study that is wrong, an unknown name, or a selection without runs.
    """
    study = load_study(study_key, scripts)
    selection.check(study)
    paths = Paths(results, study.key, tier)
    tier_runs = expand_tier(study, tier, build_id)
    selected = [run for run in tier_runs if selection.wants(run)]
    if not selected:
        names = [*selection.scenarios, *selection.protocols]
        raise BdpbenchError(
            f"no run of tier {tier} of {study.key} has all of: {', '.join(names)}",
            where="selection",
            hint=f"`./bdpbench list {study.key} --tier {tier} --runs` shows what there is",
        )
    wanted = {run.run_id for run in selected}
    runs = [run for run in tier_runs if run.run_id in wanted or is_finished(paths, run)]
    plan = make_plan(study, tier, build_id, runs)
    plan["evaluation_sha256"] = _evaluation_checksum(study.key)
    if write:
        write_specs(runs, build_id, paths.runs)
        if not _same_plan(paths.plan, plan):
            write_json_atomically(paths.plan, plan)
    return Prepared(
        paths, cast("Plan", plan), runs, [run for run in selected if not is_finished(paths, run)]
    )


def _evaluation_checksum(study_key: str) -> str:
    """SHA-256 over what turns runs into a report: code, templates, and the study's own files.

    As a part of the plan it makes the stages after the simulation run again when a metric, a
    published number or a template has changed; simulations do not depend on it. Which values are
    measured again is told by the digests that are kept with them. What lies in
    ``reports/published/`` is a result, and no part of it.
    """
    root, package = repository_root(), Path(__file__).parents[2]
    rooms = (package / room for room in _EVALUATING_ROOMS)
    folders = (*rooms, root / "reports", study_dir(study_key))
    published = root / "reports" / "published"
    names = ("*.py", "*.yaml", "*.csv", "*.md", "*.html", "*.css", "*.js")
    digest = hashlib.sha256(sha256_of(Path(__file__).with_name("stages.py")).encode())
    for folder in folders:
        for path in sorted(each for name in names for each in folder.rglob(name)):
            if published in path.parents:
                continue
            digest.update(f"{path.relative_to(folder)}\0{sha256_of(path)}\n".encode())
    return digest.hexdigest()


def is_finished(paths: Paths, run: Run) -> bool:
    """Whether the run has its ``run.json``; without it the run did not happen."""
    return (paths.runs / run.run_id / "run.json").is_file()


def _same_plan(path: Path, plan: dict[str, Any]) -> bool:
    """An equal plan is left alone, so that its time stamp does not make later stages run again."""
    try:
        old = read_json(path, what="a plan", schema_version=plan["schema_version"])
    except BdpbenchError:
        return False
    return json.dumps(old) == json.dumps(plan)  # the order of scenarios counts as well
