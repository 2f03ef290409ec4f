"""A tier with its results: measured, judged, and in the files that are kept of it.

``Results.kept_files`` makes them all: for ``results/STUDY/TIER``, a published folder and an
archive alike. Nothing in them identifies the machine that made them.
"""

from __future__ import annotations

import functools
import io
import json
import posixpath
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

import polars as pl

from bdpbench import __version__
from bdpbench.app.keep.results import KeptResults
from bdpbench.app.keep.sources import RESULT_SOURCES, documents_of
from bdpbench.app.planning import Prepared
from bdpbench.app.stages import (
    PlanData,
    definitions_of,
    elsewhere_of,
    parse_runs,
    score_plan,
    study_texts,
    with_groups,
)
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.files import sha256_of, write_bytes_atomically
from bdpbench.contracts.kept import LIST_NAME, seal
from bdpbench.contracts.paths import is_installed, repository_root, resolved, run_place
from bdpbench.contracts.plan import Plan, PlannedRun, distinct, study_folder, write_plan_document
from bdpbench.contracts.reports import (
    KEPT_RUNS_NAME,
    KEPT_VERSION,
    PROVENANCE_NAME,
    REPORT_FOLDER,
    REPORT_NAME,
    SUMMARY_NAME,
    KeptRun,
    Place,
    Provenance,
    Version,
    kept_runs_bytes,
    report_made_of,
)
from bdpbench.contracts.runs import (
    METRICS_CSV_NAME,
    METRICS_NAME,
    OUTPUT_FOLDER,
    BuildFacts,
    RunRecord,
)
from bdpbench.contracts.scorecard import SCORECARD_NAME, Scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study
from bdpbench.studies.ns3_program import builds_of
from bdpbench.units import several

if TYPE_CHECKING:
    from bdpbench.pages.inputs import ReportInputs

# Published reports are results themselves.
_NOT_SOURCES = ":(exclude)reports/published"
_SHOWN_MISSING = 3


@dataclass(frozen=True)
class Results:
    """A tier of a study with everything that was measured and judged.

    Attributes:
        plan: as in ``plan.json``.
        metrics: as in ``metrics.parquet``.
        scorecard: as in ``scorecard.json``.
        data: the data of those runs that are in the results folder.
        finished: ids of the runs that have results, in the order of the plan.
        missing: ids of the runs that have none.
        published: what is published of the other finished runs.
    """

    plan: Plan
    metrics: pl.DataFrame
    scorecard: Scorecard
    data: PlanData
    finished: tuple[str, ...]
    missing: tuple[str, ...]
    published: KeptResults | None = None

    @cached_property
    def records(self) -> dict[str, RunRecord]:
        """Run id → content of ``run.json`` with relative paths, in the order of the plan."""
        others = self.published.records if self.published else {}
        known = {**others, **self.data.records}
        return {each: self._portable(known[each]) for each in self.finished}

    def _portable(self, record: RunRecord) -> RunRecord:
        """A run's record without the folders of its scripts; their checksums are kept.

        All else that it reveals about the machine is its kind (``Linux x86_64``), the compiler, and
        the cost of the run.
        """
        script, folder = record["script"], study_folder(self.plan)
        files = {portable(name, folder): each for name, each in script["files"].items()}
        return {**record, "script": {"path": portable(script["path"], folder), "files": files}}

    def inputs(self) -> ReportInputs:
        """What the report and the exports show."""
        from bdpbench.metrics.groups import over_repetitions
        from bdpbench.pages.inputs import ReportInputs

        here, runs = self.data.records, {run["run_id"]: run for run in self.plan["runs"]}
        data_of = functools.lru_cache(maxsize=1)(lambda run_id: self.data.of(runs[run_id]))

        def load_series(run_id: str, bins: int) -> str:
            if run_id in here or self.published is None:
                return data_of(run_id).series(bins)
            return self.published.series[run_id]

        folder = study_folder(self.plan)
        study = load_study(folder)
        elsewhere = elsewhere_of(study.protocols, study.key)
        scripts = {run["script"]: portable(f"tcl/{run['script']}", folder) for run in runs.values()}
        planned: list[PlannedRun] = [
            {**run, "script": posixpath.relpath(scripts[run["script"]], "tcl")}
            for run in self.plan["runs"]
        ]
        return ReportInputs(
            plan={**self.plan, "runs": planned},
            metrics=self.metrics,
            scorecard=self.scorecard,
            definitions=[each.as_document() for each in definitions_of(self.plan).values()],
            load_series=load_series,
            places={
                each: run_place(each)
                for each in here
                if (self.data.runs_dir / run_place(each) / OUTPUT_FOLDER).is_dir()
            },
            run_info=dict(sorted(self.records.items())),
            study=replace(study_texts(study), elsewhere=elsewhere),
            repetitions=over_repetitions(self.metrics, self.plan["runs"]),
        )

    def kept_files(self, *, with_files: bool = False) -> dict[str, bytes]:
        """Name → bytes of everything that is kept of the tier.

        Files beside a report come first, so that the report is complete as soon as it exists.
        ``with_files``: the report links the output files of the runs.
        """
        from bdpbench.pages.report import build_report

        with tempfile.TemporaryDirectory() as scratch:
            folder, metrics = Path(scratch), io.BytesIO()
            build_report(self.inputs(), folder / REPORT_NAME, with_files=with_files)
            paths = sorted(folder.rglob("*.*"), key=lambda each: (each.parent == folder, each))
            report = {each.relative_to(folder).as_posix(): each.read_bytes() for each in paths}
        self.metrics.write_parquet(metrics)
        return {
            **report,
            METRICS_NAME: metrics.getvalue(),
            SCORECARD_NAME: json_bytes(self.scorecard),
            KEPT_RUNS_NAME: kept_runs_bytes(self._runs()),
            PROVENANCE_NAME: json_bytes(self._provenance()),
            SUMMARY_NAME: "\n\n".join(self._readme()).encode() + b"\n",
        }

    @cached_property
    def _version(self) -> Version:
        return this_version()

    @cached_property
    def _measured_by(self) -> dict[str, Version]:
        """Run id → who measured its values: this bdpbench, or the one that published them first."""
        known = self.published.measured_by if self.published else {}
        return {**known, **dict.fromkeys(self.data.records, self._version)}

    def _runs(self) -> Iterator[KeptRun]:
        """Every finished run, without its own label (a place) and the facts of its build."""
        places: dict[str, list[Place]] = {}
        for run in self.plan["runs"]:
            place: Place = {"scenario": run["scenario"], "label": run["label"]}
            if "alike" in run:
                place["alike"] = run["alike"]
            places.setdefault(run["run_id"], []).append(place)
        by = self._measured_by
        for key, record in self.records.items():
            ns2 = {name: each for name, each in record["ns2"].items() if name != "info"}
            found = {**record, "places": places[key], "ns2": ns2, "measured_by": by[key]}
            yield cast("KeptRun", {each: found[each] for each in KeptRun.__annotations__})

    def _provenance(self) -> Provenance:
        """Content of ``provenance.json``: versions, builds, configuration and times."""
        lock = repository_root() / "pipeline" / "requirements.lock"
        # What a study's results depend on in addition to scripts and ns-2, which a run id covers.
        documents = documents_of(study_folder(self.plan))
        found = sorted(path for path in documents if path.suffix != ".md")
        builds: dict[str, BuildFacts] = {}
        for record in self.records.values():
            facts = record["ns2"].get("info") or BuildFacts()
            builds.setdefault(facts.get("binary_sha256") or record["ns2"]["build_id"], facts)
        first, last = self.times()
        return {
            "schema_version": KEPT_VERSION,
            "study": self.plan["study"],
            "title": self.plan["title"],
            "tier": self.plan["tier"],
            "bdpbench": self._version,
            "ns2_build_id": self.plan["ns2_build_id"],
            "builds": [builds[key] for key in sorted(builds)],
            "configuration": {path.name: sha256_of(path) for path in [*found, lock]},
            "runs": {
                "finished": len(self.finished),
                "missing": len(self.missing),
                "first_started": first,
                "last_ended": last,
            },
        }

    def times(self) -> tuple[str, str]:
        """When the first simulation began and the last one ended, ISO 8601."""
        started = [datetime.fromisoformat(each["started"]) for each in self.records.values()]
        took_s = [timedelta(seconds=round(each["wall_s"])) for each in self.records.values()]
        last = max(each + took for each, took in zip(started, took_s, strict=True))
        return min(started).isoformat(), last.isoformat()

    def _readme(self) -> Iterator[str]:
        """A short README in Markdown: totals, the files, and how the results came about."""
        plan = self.plan
        yield f"# {plan['study']}, {plan['tier']} tier"
        yield f"{plan['title']}. {totals_sentence(self.scorecard)}"
        yield (
            f"`{REPORT_NAME}` is the report, which opens offline (with `{REPORT_FOLDER}/` beside it"
            f" if there is one). `./bdpbench metrics FOLDER` prints `{METRICS_NAME}` as CSV, and "
            f"with `--runs` `{KEPT_RUNS_NAME}` as JSON."
        )
        if self.missing:
            planned = len(self.finished) + len(self.missing)
            yield f"**{len(self.finished)} of {planned} runs of the tier have been simulated.**"
        measured_by = [self._measured_by[each] for each in self.finished]
        by = Counter((each["version"], each["commit"]) for each in measured_by)
        if any(each != self._version for each in measured_by):
            told = (
                f"by bdpbench {version} (commit `{commit[:12]}`, {several(count, 'run')})"
                for (version, commit), count in sorted(by.items())
            )
            yield f"Values were measured {', '.join(told)}; verdicts, texts and charts are new."


def collect(
    prepared: Prepared,
    *,
    allow_partial: bool,
    published: KeptResults | None = None,
    simulated: bool = True,
) -> Results:
    """Measure the runs of a tier, and judge them.

    Values are those of the tables in the results folder, measured by today's metrics, or, of a run
    that is not there, the published ones of its id. They are judged by today's expectations;
    nothing depends on earlier reports.

    Args:
        prepared: the plan of all runs of the tier.
        allow_partial: continue if runs are missing, as long as there is one.
        published: what is published of the tier.
        simulated: whether to look into the results folder.

    Raises:
        BdpbenchError: when runs of the tier are missing, because they were never simulated or
            because the study, a script or ns-2 has changed since; as ``KeptResults.values`` and
            ``check_measured``.
    """
    plan, runs_dir, runs = prepared.plan, prepared.paths.runs, distinct(prepared.runs)
    here = PlanData(plan, runs_dir).records.keys() if simulated else set[str]()
    elsewhere = published.of(prepared.runs) - here if published else frozenset[str]()
    missing = [run for run in runs if run["run_id"] not in here | elsewhere]
    if missing and not (allow_partial and len(missing) < len(runs)):
        raise _incomplete(prepared, missing)
    parse_runs((prepared.paths.run(run_id) for run_id in sorted(here)), plan)
    data = PlanData(_of_runs(plan, here), runs_dir)
    metrics = data.metrics()
    if published is not None and elsewhere:
        values = published.values(elsewhere, data.definitions)
        metrics = _in_order(pl.concat([metrics, values]), plan)
        if not here:
            plan = {**plan, "ns2_build_id": published.provenance["ns2_build_id"]}
    metrics = with_groups(plan, metrics)
    scorecard = score_plan(plan, metrics)
    if published is not None and elsewhere:
        published.check_measured(scorecard, data.definitions)
    lacking = tuple(run["run_id"] for run in missing)
    finished = tuple(run["run_id"] for run in runs if run["run_id"] in here | elsewhere)
    return Results(plan, metrics, scorecard, data, finished, lacking, published)


def _of_runs(plan: Plan, run_ids: Collection[str]) -> Plan:
    """A plan with some of its runs."""
    return {**plan, "runs": [run for run in plan["runs"] if run["run_id"] in run_ids]}


def _in_order(metrics: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Values of runs in the order of the plan."""
    places = [(run["run_id"], run["scenario"]) for run in plan["runs"]]
    order = (
        pl.DataFrame(places, schema={"run_id": pl.String, "scenario": pl.String}, orient="row")
        .unique(maintain_order=True)
        .with_row_index("place")
    )
    placed = metrics.join(order, on=["run_id", "scenario"], how="inner", maintain_order="left")
    return placed.sort("place", maintain_order=True).drop("place")


def _incomplete(prepared: Prepared, missing: Sequence[PlannedRun]) -> BdpbenchError:
    """The error to raise about missing runs."""
    planned = len(distinct(prepared.runs))
    labels = [f"{run['scenario']}: {run['label']}" for run in missing[:_SHOWN_MISSING]]
    shown = "; ".join(labels) + ("; …" if len(missing) > _SHOWN_MISSING else "")
    hint = f"`./bdpbench {run_words(prepared.plan)}` simulates them"
    if len(missing) < planned:
        hint += "; --allow-partial continues without them, and the result says so"
    return BdpbenchError(
        f"{len(missing)} of {planned} runs have no results ({shown}): they were never simulated, "
        "or the study, a script or ns-2 has changed since",
        where=str(prepared.paths.folder),
        hint=hint,
    )


# ------------------------------------------------------------------------------------- as a folder


def write_tier(prepared: Prepared, results: Results) -> None:
    """Write the plan of a tier and its results into the folder of the tier."""
    paths, plan = prepared.paths, prepared.plan
    write_plan_document(paths.plan, plan)
    files = {
        **results.kept_files(with_files=True),
        METRICS_CSV_NAME: results.metrics.write_csv().encode(),
    }
    write_kept(paths.folder, files, report_made_of(plan, paths.runs), [paths.plan])


def write_kept(
    folder: Path, files: Mapping[str, bytes], made_of: str, others: Iterable[Path] = ()
) -> None:
    """Write files of a tier in place of earlier ones, and last the list that vouches for them."""
    from bdpbench.pages.shards import drop_others

    (folder / LIST_NAME).unlink(missing_ok=True)
    for name, content in files.items():
        write_bytes_atomically(folder / name, content)
    beside = [Path(name).name for name in files if name.startswith(f"{REPORT_FOLDER}/")]
    drop_others(folder / REPORT_FOLDER, beside)
    seal(folder / LIST_NAME, [*(folder / name for name in files), *others], made_of)


# ---------------------------------------------------------------------------- who made it, and how


def this_version() -> Version:
    """The bdpbench that is at work."""
    return {"version": __version__, "commit": commit_of(repository_root())}


def origin(ns2_build_id: str, runs: Sequence[PlannedRun] = ()) -> str:
    """The origin of runs' numbers, in a sentence: builds of simulators, version and commit."""
    commit = this_version()["commit"] or "unknown"
    builds = builds_of(runs, ns2_build_id).items()
    told = " and ".join(f"{name} build {build}" for name, build in builds)
    return f"{told}; bdpbench {__version__}, commit {commit}."


def run_words(plan: Plan) -> str:
    """The call of `run` that simulates the runs of a plan."""
    return f"run {plan['study']} --tier {plan['tier']}"


def commit_of(root: Path) -> str:
    """The commit that is checked out at ``root``, followed by + if sources differ from it.

    "" if git cannot tell: in a container, or in sources unpacked from an archive. If pip installed
    bdpbench from a repository, pip has recorded the commit (PEP 610).
    """
    if is_installed():
        return _installed_commit()
    commit, top = _git(root, "rev-parse", "HEAD"), _git(root, "rev-parse", "--show-toplevel")
    if not commit or not top or Path(top).resolve() != root.resolve():
        return ""
    changed = _git(root, "status", "--porcelain", "--", *RESULT_SOURCES, "config", _NOT_SOURCES)
    return commit + ("+" if changed else "")


def _installed_commit() -> str:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("bdpbench").read_text("direct_url.json")
    except PackageNotFoundError:  # unpacked, not installed
        text = None
    return str(json.loads(text or "{}").get("vcs_info", {}).get("commit_id", ""))


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def study_place(key: str) -> str:
    """Path of a study in a checkout, and under ``source/`` of an archive."""
    return f"config/studies/{key}"


def portable(path: str, study: Path) -> str:
    """A path from the root of a checkout in which the study is where others are.

    Of any other path outside the checkout only the last part is kept.

    Args:
        path: as documents name it.
        study: folder of the study, which may be outside the checkout.
    """
    found = resolved(path)
    for folder, place in ((study, study_place(study.name)), (repository_root(), "")):
        if found.is_relative_to(folder):
            return (PurePosixPath(place) / found.relative_to(folder)).as_posix()
    return f"scripts/{found.name}"


def json_bytes(content: Mapping[str, object]) -> bytes:
    """JSON as bdpbench writes its files."""
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()
