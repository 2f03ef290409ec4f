"""The results of a finished tier, and its files that a published folder and an archive share.

Nothing in these identifies the machine that made them.
"""

from __future__ import annotations

import json
import posixpath
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

import polars as pl

from bdpbench import __version__
from bdpbench.app.keep.published import Published
from bdpbench.app.keep.sources import RESULT_SOURCES, documents_of
from bdpbench.app.planning import Prepared, is_finished
from bdpbench.app.stages import (
    definitions_of,
    measure_single,
    parse_runs,
    report_inputs,
    score_plan,
    with_groups,
    write_metrics,
)
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import is_installed, repository_root, resolved
from bdpbench.contracts.plan import Plan, PlannedRun, distinct, read_plan, study_folder
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
    RunCounts,
    Version,
    kept_runs_bytes,
)
from bdpbench.contracts.runs import METRICS_NAME, BuildFacts, RunRecord, ScriptRecord
from bdpbench.contracts.scorecard import (
    NUMBER_VERDICTS,
    SCORECARD_NAME,
    NumberVerdict,
    Scorecard,
    ScoredNumber,
    rows_of,
)
from bdpbench.errors import BdpbenchError
from bdpbench.pages.report import build_report
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
        runs_dir: folder of the runs.
        finished: ids of the runs that have results, in the order of the plan.
        missing: ids of the runs that have none.
        published: what is published of the other finished runs than ``simulated``.
        simulated: ids of the finished runs whose results are in ``runs_dir``.
    """

    plan: Plan
    metrics: pl.DataFrame
    scorecard: Scorecard
    runs_dir: Path
    finished: tuple[str, ...]
    missing: tuple[str, ...]
    simulated: frozenset[str]
    published: Published | None = None

    def inputs(self) -> ReportInputs:
        """What the report and the exports show."""
        of_simulated = of_runs(self.plan, self.simulated)
        made = report_inputs(of_simulated, self.metrics, self.scorecard, self.runs_dir)
        of_run = made.load_series
        if self.published is None or of_run is None:
            return replace(made, plan=self.plan)
        records = {each: self.published.records[each] for each in self._of_published()}
        series = self.published.series

        def load_series(run_id: str, bins: int) -> str:
            return series[run_id] if run_id in records else of_run(run_id, bins)

        return replace(
            made,
            plan=self.plan,
            load_series=load_series,
            run_info=dict(sorted({**made.run_info, **records}.items())),
        )

    def _of_published(self) -> list[str]:
        return [run_id for run_id in self.finished if run_id not in self.simulated]

    def measured_by(self) -> dict[str, Version]:
        """Run id → who measured its values: this bdpbench, or the one that published them first."""
        known = self.published.measured_by if self.published is not None else {}
        now = this_version()
        return {each: now if each in self.simulated else known[each] for each in self.finished}


def of_runs(plan: Plan, run_ids: Collection[str]) -> Plan:
    """A plan with some of its runs."""
    return {**plan, "runs": [run for run in plan["runs"] if run["run_id"] in run_ids]}


def collect(
    prepared: Prepared,
    *,
    allow_partial: bool,
    published: Published | None = None,
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
            because the study, a script or ns-2 has changed since; as ``Published.values`` and
            ``check_measured``.
    """
    runs_dir, plan, runs = prepared.paths.runs, prepared.plan, distinct(prepared.runs)
    here = frozenset(
        run["run_id"] for run in runs if simulated and is_finished(prepared.paths, run)
    )
    elsewhere = published.of(prepared.runs) - here if published else frozenset[str]()
    missing = [run for run in runs if run["run_id"] not in here | elsewhere]
    _check_complete(prepared, missing, published, allow_partial=allow_partial)
    parse_runs((prepared.paths.run(run_id) for run_id in sorted(here)), plan)
    metrics = measure_single(of_runs(plan, here), runs_dir)
    if published is not None and elsewhere:
        values = published.values(elsewhere, definitions_of(plan))
        metrics = _in_order(pl.concat([metrics, values]), plan)
        if not here:
            plan = {**plan, "ns2_build_id": published.provenance["ns2_build_id"]}
    metrics = with_groups(plan, metrics)
    scorecard = score_plan(plan, metrics)
    if published is not None and elsewhere:
        published.check_measured(scorecard, definitions_of(plan))
    lacking = tuple(run["run_id"] for run in missing)
    finished = tuple(run["run_id"] for run in runs if run["run_id"] in here | elsewhere)
    return Results(plan, metrics, scorecard, runs_dir, finished, lacking, here, published)


def _in_order(metrics: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Values of runs in the order of the plan."""
    places = [(run["run_id"], run["scenario"]) for run in plan["runs"]]
    order = pl.DataFrame(
        [(*place, number) for number, place in enumerate(places)],
        schema={"run_id": pl.String, "scenario": pl.String, "place": pl.UInt32},
        orient="row",
    ).unique(["run_id", "scenario"], keep="first")
    placed = metrics.join(order, on=["run_id", "scenario"], how="inner", maintain_order="left")
    return placed.sort("place", maintain_order=True).drop("place")


def _check_complete(
    prepared: Prepared,
    missing: Sequence[PlannedRun],
    published: Published | None,
    *,
    allow_partial: bool,
) -> None:
    planned = distinct(prepared.runs)
    if not missing or (allow_partial and len(missing) < len(planned)):
        return
    labels = [f"{run['scenario']}: {run['label']}" for run in missing[:_SHOWN_MISSING]]
    shown = "; ".join(labels) + ("; …" if len(missing) > _SHOWN_MISSING else "")
    hint = f"`./bdpbench {run_words(prepared.plan)}` simulates them"
    if len(missing) < len(planned):
        hint += "; --allow-partial continues without them, and the result says so"
    raise BdpbenchError(
        f"{len(missing)} of {len(planned)} runs have no results ({shown})"
        f"{_staleness(prepared, missing, published)}",
        where=str(prepared.paths.folder),
        hint=hint,
    )


def _staleness(
    prepared: Prepared, missing: Sequence[PlannedRun], published: Published | None
) -> str:
    """Why runs that once existed may be missing; "" if unknown."""
    if published and (others := published.other_ids(prepared.runs)):
        are = "is" if len(others) == 1 else "are"
        return f"; {several(len(others), 'published run')} {are} planned differently now"
    try:
        old = read_plan(prepared.paths.plan)
    except BdpbenchError:
        return ""
    if old["ns2_build_id"] != prepared.plan["ns2_build_id"]:
        return (
            f"; the last run was with ns-2 build {old['ns2_build_id']}, and its sources now make "
            f"{prepared.plan['ns2_build_id']}"
        )
    known = {run["run_id"] for run in old["runs"]}
    changed = sum(run["run_id"] not in known for run in missing)
    return f"; {changed} of them are new or have changed since the last run" if changed else ""


# ---------------------------------------------------------------- the bdpbench at work


def this_version() -> Version:
    """The bdpbench that is at work."""
    return {"version": __version__, "commit": commit_of(repository_root())}


def origin(ns2_build_id: str, runs: Sequence[PlannedRun] = ()) -> str:
    """The origin of runs' numbers, in a sentence: builds of simulators, version and commit."""
    commit = commit_of(repository_root()) or "unknown"
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
    commit = _git(root, "rev-parse", "--verify", "HEAD")
    top = _git(root, "rev-parse", "--show-toplevel")
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
    found: object = json.loads(text or "{}").get("vcs_info", {}).get("commit_id", "")
    return str(found)


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


# ----------------------------------------------------------------------------- in the form to keep


_BESIDE_REPORT = f"{REPORT_FOLDER}/"
_OUTSIDE_FOLDER = "scripts"


def study_place(key: str) -> str:
    """Path of a study in a checkout, and under ``source/`` of an archive."""
    return f"config/studies/{key}"


class Portable:
    """Paths for an archive, all below the root of a checkout: the study is put where others are.

    Of any other path outside the checkout only the last part is kept.

    Args:
        study: key of the study.
        folder: folder of its files, which may be outside the checkout.
    """

    def __init__(self, study: str, folder: Path) -> None:
        self._places = ((folder, study_place(study)), (repository_root(), ""))

    def path(self, path: str) -> str:
        """A path from the checkout that leads nowhere else on this machine."""
        found = resolved(path)
        for folder, place in self._places:
            if found.is_relative_to(folder):
                return (PurePosixPath(place) / found.relative_to(folder)).as_posix()
        return f"{_OUTSIDE_FOLDER}/{found.name}"

    def script(self, script: ScriptRecord) -> ScriptRecord:
        """The record of a script without the folders of its files; their checksums are kept."""
        files = {self.path(name): sha256 for name, sha256 in script["files"].items()}
        return {"path": self.path(script["path"]), "files": files}

    def record(self, record: RunRecord) -> RunRecord:
        """A run's record without the folders of its scripts.

        All else that it reveals about the machine is its kind (``Linux x86_64``), the compiler, and
        the cost of the run.
        """
        return {**record, "script": self.script(record["script"])}

    def plan(self, plan: Plan) -> Plan:
        """A plan with study, protocols, queues and scripts without their folders."""
        runs = [self._run(run) for run in plan["runs"]]
        portable: Plan = {**plan, "folder": self.path(plan["folder"]), "runs": runs}
        portable["protocols"] = {
            key: {**each, "folder": self._kept("protocols", key, each["folder"])}
            if "folder" in each
            else each
            for key, each in plan["protocols"].items()
        }
        if "queue_folders" in plan:
            portable["queue_folders"] = {
                key: self._kept("queues", key, each) for key, each in plan["queue_folders"].items()
            }
        return portable

    def _kept(self, kinds: str, key: str, folder: str) -> str:
        """Where an archive keeps the folder of a protocol or queue."""
        found = self.path(folder)
        outside = found.startswith(f"{_OUTSIDE_FOLDER}/")
        return f"{self._places[0][1]}/{kinds}/{key}" if outside else found

    def _run(self, run: PlannedRun) -> PlannedRun:
        script = posixpath.relpath(self.path(f"tcl/{run['script']}"), "tcl")
        return {**run, "script": script}


class Bundle:
    """A tier in the form to keep.

    Attributes:
        results: results of the tier.
        folder: folder of the study on this machine.
        plan: content of ``plan.json`` with relative paths.
        records: run id → content of ``run.json`` with relative paths, in the order of the plan.
        inputs: what the report and the exports show.
    """

    def __init__(self, results: Results) -> None:
        self.results = results
        self.folder = study_folder(results.plan)
        portable = Portable(results.plan["study"], self.folder)
        self.plan = portable.plan(results.plan)
        made = results.inputs()
        self.records = {each: portable.record(made.run_info[each]) for each in results.finished}
        self.inputs = replace(made, plan=self.plan, run_info=self.records)

    def kept_files(self) -> dict[str, bytes]:
        """Name → bytes of the report, the metrics, the scorecard and their provenance.

        Files beside a report come first, so that the report is complete as soon as it exists.
        """
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            build_report(self.inputs, folder / REPORT_NAME, with_files=False)
            write_metrics(self.results.metrics, folder / METRICS_NAME)
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            made = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
        beside = {name: each for name, each in made.items() if name.startswith(_BESIDE_REPORT)}
        return {
            **beside,
            REPORT_NAME: made[REPORT_NAME],
            METRICS_NAME: made[METRICS_NAME],
            SCORECARD_NAME: json_bytes(self.results.scorecard),
            KEPT_RUNS_NAME: kept_runs_bytes(self.runs()),
            PROVENANCE_NAME: json_bytes(self.provenance()),
            SUMMARY_NAME: self.readme(has_folder=bool(beside)).encode(),
        }

    def runs(self) -> list[KeptRun]:
        """Every finished run, without the facts of its build."""
        places: dict[str, list[Place]] = {}
        for run in self.plan["runs"]:
            place: Place = {"scenario": run["scenario"], "label": run["label"]}
            if "alike" in run:
                place["alike"] = run["alike"]
            places.setdefault(run["run_id"], []).append(place)
        by = self.results.measured_by()
        return [_kept(each, places[key], by[key]) for key, each in self.records.items()]

    def provenance(self) -> Provenance:
        """Content of ``provenance.json``: versions, builds, configuration and times."""
        lock = repository_root() / "pipeline" / "requirements.lock"
        # What a study's results depend on in addition to scripts and ns-2, which a run id covers.
        found = [path for path in documents_of(self.folder) if path.suffix != ".md"]
        provenance: Provenance = {
            "schema_version": KEPT_VERSION,
            "study": self.plan["study"],
            "title": self.plan["title"],
            "tier": self.plan["tier"],
            "bdpbench": this_version(),
            "ns2_build_id": self.plan["ns2_build_id"],
            "builds": self.builds(),
            "configuration": {path.name: sha256_of(path) for path in [*sorted(found), lock]},
            "runs": self._counts(),
        }
        return provenance

    def _counts(self) -> RunCounts:
        started, ended = self.times()
        return {
            "finished": len(self.results.finished),
            "missing": len(self.results.missing),
            "first_started": started,
            "last_ended": ended,
        }

    def builds(self) -> list[BuildFacts]:
        """Facts of every ns-2 binary that simulated one of the runs, each once."""
        found: dict[str, BuildFacts] = {}
        for record in self.records.values():
            facts = record["ns2"].get("info") or BuildFacts()
            key = facts.get("binary_sha256") or record["ns2"]["build_id"]
            found.setdefault(key, facts)
        return [found[key] for key in sorted(found)]

    def times(self) -> tuple[str, str]:
        """When the first simulation began and the last one ended, ISO 8601."""
        spans = []
        for record in self.records.values():
            started = datetime.fromisoformat(record["started"])
            spans.append((started, started + timedelta(seconds=round(record["wall_s"]))))
        first, last = min(each[0] for each in spans), max(each[1] for each in spans)
        return first.isoformat(), last.isoformat()

    def readme(self, *, has_folder: bool) -> str:
        """README in Markdown: totals, verdicts by protocol, and what was not reproduced.

        Args:
            has_folder: whether the report has files beside it.
        """
        plan, scorecard = self.plan, self.results.scorecard
        opens = (
            f"which opens offline with `{_BESIDE_REPORT}` beside it (save both)"
            if has_folder
            else "one file that opens offline (save it, then open it)"
        )
        parts = [
            f"# {plan['study']}, {plan['tier']} tier",
            f"{plan['title']}. {totals_sentence(scorecard)}",
            f"- `{REPORT_NAME}`: the report, {opens}\n"
            f"- `{METRICS_NAME}`: every metric of every run"
            " (`./bdpbench metrics FOLDER` prints it as CSV)\n"
            f"- `{SCORECARD_NAME}`: every number and statement with its verdict\n"
            f"- `{KEPT_RUNS_NAME}`: parameters, checksums and times of every run"
            " (`--runs` prints it as JSON)\n"
            f"- `{PROVENANCE_NAME}`: versions of bdpbench, ns-2 and the configuration",
            *self._notes(),
            _by_protocol(plan, scorecard),
            *_misses(scorecard),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _notes(self) -> Iterator[str]:
        """What a reader has to know of how the results came about; some may be ""."""
        results = self.results
        if results.missing:
            planned = len(results.finished) + len(results.missing)
            yield (
                f"**A part of the tier: {len(results.finished)} of {planned} runs have been"
                " simulated.** Numbers and statements that need any of the others are not run."
            )
        by = Counter((each["version"], each["commit"]) for each in results.measured_by().values())
        if set(by) != {tuple(this_version().values())}:
            told = (
                f"by bdpbench {version} (commit `{commit[:12]}`, {several(count, 'run')})"
                for (version, commit), count in sorted(by.items())
            )
            yield f"Values were measured {', '.join(told)}; verdicts, texts and charts are new."


def _by_protocol(plan: Plan, scorecard: Scorecard) -> str:
    """A table of the verdicts on the numbers of each protocol; "" without any."""
    counts: dict[str, Counter[NumberVerdict]] = {}
    for number in (row for each in scorecard["numbers"] for row in rows_of(each)):
        selected = number["select"]
        for key in {value for name, value in selected.items() if name.startswith("protocol")}:
            counts.setdefault(key, Counter())[number["verdict"]] += 1
    rows = [
        [protocol["label"], *(str(counts[key][each]) for each in NUMBER_VERDICTS)]
        for key, protocol in plan["protocols"].items()
        if key in counts
    ]
    titles = ["numbers of", *(each.replace("_", " ") for each in NUMBER_VERDICTS)]
    ruler = "|---|" + "---:|" * len(NUMBER_VERDICTS)
    head, *lines = (f"| {' | '.join(cells)} |" for cells in [titles, *rows])
    return "\n".join([head, ruler, *lines]) if rows else ""


def _misses(scorecard: Scorecard) -> Iterator[str]:
    """Numbers that were not reproduced and statements that fail, each with its distance."""
    numbers = [
        f"- `{number['id']}`, {number['where']}: published {number['published']:g}, measured "
        f"{_measured(number)}. {_why(number)}"
        for number in scorecard["numbers"]
        if number["verdict"] == "not_reproduced"
    ]
    claims = [
        f"- `{claim['id']}`, {claim['where']}: {claim['statement']} {claim['known_miss']}".rstrip()
        for claim in scorecard["claims"]
        if claim["verdict"] == "fails"
    ]
    by_chance = [
        f"- `{each['id']}`, {each['where']}"
        for each in (*scorecard["numbers"], *scorecard["claims"])
        if each["verdict"] == "undecided"
    ]
    kinds = (
        ("Not reproduced:", numbers),
        ("Fail:", claims),
        ("Undecided by chance, since equally good runs give different verdicts:", by_chance),
    )
    for title, lines in kinds:
        if lines:
            yield title
            yield "\n".join(lines)


def _why(number: ScoredNumber) -> str:
    return number["reason"] if number.get("parts") else number["known_miss"] or number["reason"]


def _measured(number: ScoredNumber) -> str:
    return "no value" if number["measured"] is None else f"{number['measured']:.4g}"


def _kept(record: RunRecord, places: list[Place], measured_by: Version) -> KeptRun:
    """A run without its own label (which is one of its places) and the facts of its build."""
    ns2 = {name: each for name, each in record["ns2"].items() if name != "info"}
    found = {**record, "places": places, "ns2": ns2, "measured_by": measured_by}
    return cast("KeptRun", {key: found[key] for key in KeptRun.__annotations__ if key in found})


def json_bytes(content: Mapping[str, object]) -> bytes:
    """JSON as bdpbench writes its files."""
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()
