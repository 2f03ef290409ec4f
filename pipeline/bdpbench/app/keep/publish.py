"""`bdpbench publish`: report, metrics and scorecard of a finished tier, small enough to keep.

Published values outlive the runs in which they were measured. They suffice when a bound changes, or
a report shows more: a verdict follows from the values, and charts from the series in the report.
Kept values are not measured again, so they must have been measured by the present definitions.
Scenarios that were never published as a whole can be added from their runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import polars as pl

from bdpbench.app.keep.bundle import Bundle, Results, collect, this_version
from bdpbench.app.keep.proof import prove as prove_bytes
from bdpbench.app.planning import Prepared, Wanted, is_finished, prepare, wanted_as_run
from bdpbench.app.stages import (
    definitions_of,
    measure_plan,
    parse_runs,
    read_metrics,
    report_inputs,
    score_plan,
    shown_texts,
)
from bdpbench.app.totals import totals_sentence
from bdpbench.archive.results import KeptResults
from bdpbench.contracts.files import write_bytes_atomically
from bdpbench.contracts.kept import LIST_NAME, seal
from bdpbench.contracts.paths import checkout_root, config_dir
from bdpbench.contracts.plan import Plan, read_plan, result_name, study_folder, with_engine
from bdpbench.contracts.reports import (
    KEPT_RUNS_NAME,
    PROVENANCE_NAME,
    REPORT_FOLDER,
    REPORT_NAME,
    Addition,
    KeptRun,
    Provenance,
)
from bdpbench.contracts.runs import METRICS_NAME, RUN_VERSION, BuildFacts, RunRecord
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.groups import over_repetitions
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.shards import drop_others, series_of_report
from bdpbench.studies.config import load_config
from bdpbench.studies.load import find_study, load_study
from bdpbench.studies.plan import Selection, groups_of

_SHOWN = 3


def publish_study(
    study: str | None,
    tier: str | None,
    *,
    allow_partial: bool,
    output: Path | None,
    engine: str | None = None,
    beside: bool = False,
    from_kept: bool = False,
    add: bool = False,
    prove: int | None = None,
) -> None:
    """Write report, metrics, scorecard, runs, provenance and ``README.md`` of a tier.

    The files are those that ``archive`` puts at the top of an archive, byte for byte. Everything is
    computed again from the tables of the runs with the present metrics, published numbers and
    templates. Equal runs give equal bytes.

    Args:
        study: key or folder; None selects that of ``config.yaml``.
        tier: None selects that of ``config.yaml``.
        allow_partial: publish even if runs are missing; with ``add``, leave out scenarios that are
            not finished.
        output: folder of all published studies; None selects that of the checkout.
        engine: that of `run`, if it was given one; the folder is then ``STUDY-ns3``.
        beside: keep what is published of another tier; the folder is then ``STUDY-TIER``.
        from_kept: use the values and series that are already published instead of the runs.
        add: with ``from_kept``, also add scenarios that were never published as a whole, from their
            runs.
        prove: with ``from_kept``, runs of each kind to simulate again when ids have changed.

    Raises:
        BdpbenchError: when runs of the tier are missing, because they were never simulated or
            because the study, a script or ns-2 has changed since; when another tier is published
            there; for a study outside the configuration without ``output``, because a checkout
            contains only its own studies; and as ``collect_kept`` does.
    """
    _check_options(study, output, from_kept=from_kept, add=add, prove=prove)
    published = output or checkout_root() / "reports" / "published"
    if from_kept:
        key = study or load_config().study
        name = with_engine(find_study(key).name, engine)
        if beside:
            name += f"-{tier or load_config().tier}"
        folder = published / name
        results = collect_kept(key, folder, add=add, prove=prove, allow_partial=allow_partial)
        check_kept(results, tier, allow_partial=allow_partial)
    else:
        wanted = wanted_as_run(study, tier, engine)
        prepared = prepare(wanted)
        folder = published / result_name(prepared.plan)
        if beside:
            folder = folder.with_name(f"{folder.name}-{prepared.plan['tier']}")
        else:
            _check_tier(folder, prepared.plan["tier"])
        results = collect(prepared, allow_partial=allow_partial)
    _write(folder, Bundle(results).kept_files())
    print(totals_sentence(results.scorecard))


def _check_options(
    study: str | None, output: Path | None, *, from_kept: bool, add: bool, prove: int | None
) -> None:
    if study is not None and output is None and not find_study(study).is_relative_to(config_dir()):
        raise BdpbenchError(
            "a study outside the checkout is not published into the checkout",
            where=study,
            hint="give another folder with -o FOLDER",
        )
    for option, is_given in (("--add", add), ("--prove", prove is not None)):
        if is_given and not from_kept:
            raise BdpbenchError(
                "what is published is never read without --from-kept",
                where=option,
                hint="give both, or neither to publish from the runs alone",
            )


def _check_tier(folder: Path, tier: str) -> None:
    """Refuse to replace what is published of another tier."""
    provenance = KeptResults(folder).provenance if folder.is_dir() else None
    if provenance is not None and provenance["tier"] != tier:
        raise BdpbenchError(
            f"has the {provenance['tier']} tier, which the {tier} tier would replace",
            where=str(folder),
            hint=f"--beside publishes it in {folder.name}-{tier}; remove the folder to replace it",
        )


def check_kept(results: Results, tier: str | None, *, allow_partial: bool) -> None:
    """Refuse a tier that is not the published one, and runs that were never published."""
    found = results.plan["tier"]
    if tier not in (None, found):
        said = f"what is published is the {found} tier"
        raise BdpbenchError(said, where=f"--tier {tier}", hint="leave it out")
    if results.missing and not allow_partial:
        planned = len(results.finished) + len(results.missing)
        raise BdpbenchError(
            f"{len(results.missing)} of {planned} runs of the tier were never published",
            where=results.plan["study"],
            hint="--add takes those of new scenarios from the results of this machine;"
            " --allow-partial continues without them, and the report says so",
        )


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files, print their sizes, and remove those of an older report."""
    (folder / LIST_NAME).unlink(missing_ok=True)
    for name, content in files.items():
        write_bytes_atomically(folder / name, content)
        if not name.startswith(f"{REPORT_FOLDER}/"):
            print(f"{folder / name}  {len(content) / 1e6:.2f} MB")
    beside = [name.removeprefix(f"{REPORT_FOLDER}/") for name in files if "/" in name]
    drop_others(folder / REPORT_FOLDER, beside)
    if beside:
        size = sum(len(files[f"{REPORT_FOLDER}/{name}"]) for name in beside)
        print(f"{folder / REPORT_FOLDER}: {len(beside)} files, {size / 1e6:.2f} MB")
    seal(folder / LIST_NAME, [folder / name for name in files], "published")


# ---------------------------------------------------------------- from what is published


def collect_kept(
    study: str,
    folder: Path,
    *,
    add: bool = False,
    prove: int | None = None,
    allow_partial: bool = False,
) -> Results:
    """A published tier with present verdicts, texts and charts.

    Args:
        study: key or folder.
        folder: folder written by `publish`.
        add: also add scenarios that were never published as a whole, from the runs in the results
            folder.
        prove: number of runs of each kind to simulate again, to show that runs with new ids have
            the published bytes; None refuses them.
        allow_partial: leave out scenarios to add that are not finished, and name them.

    Raises:
        BdpbenchError: when a file is missing or damaged, when a run is planned differently from the
            published one, when the definition of a metric has changed since it was measured, or
            when there is nothing to add or it has not been simulated.
    """
    files, published, provenance = _published(folder)
    prepared = prepare(_wanted(study, provenance, add=add))
    kept = _as_planned(published, prepared, folder, prove)
    ids = {old["run_id"]: run["run_id"] for old, run in zip(published, kept, strict=True)}
    plan: Plan = {**prepared.plan, "ns2_build_id": provenance["ns2_build_id"]}
    new = _new_scenarios(prepared, kept, folder, allow_partial) if add else None
    metrics = _still_defined(_read_metrics(folder / METRICS_NAME, ids), plan)
    if new is not None:
        measured = measure_plan(new, prepared.paths.runs)
        metrics = metrics.filter(~pl.col("scenario").is_in(measured["scenario"].unique().to_list()))
        metrics = _in_order(pl.concat([metrics, measured.select(metrics.columns)]), plan)
    scorecard = score_plan(plan, metrics)
    _check_definitions(plan, metrics, scorecard, files)
    records = {run["run_id"]: _record(run, provenance["builds"]) for run in kept}
    made = _kept_inputs(plan, metrics, scorecard, records, folder / REPORT_NAME, ids)
    added = tuple(provenance.get("added", ()))
    if new is not None:
        made = _join(made, report_inputs(new, measured, scorecard, prepared.paths.runs))
        scenarios = list(dict.fromkeys(run["scenario"] for run in new["runs"]))
        added = (
            *_without(added, scenarios),
            Addition(scenarios=scenarios, measured_by=this_version()),
        )
    planned = list(dict.fromkeys(run["run_id"] for run in prepared.runs))
    return Results(
        plan=plan,
        metrics=metrics,
        scorecard=scorecard,
        runs_dir=prepared.paths.runs,
        finished=tuple(each for each in planned if each in made.run_info),
        missing=tuple(each for each in planned if each not in made.run_info),
        made=made,
        measured_by=provenance.get("measured_by", provenance["bdpbench"]),
        added=added,
    )


def published_study(folder: Path) -> str:
    """Key of the study of a folder that `publish` wrote."""
    return _published(folder)[2]["study"]


def _wanted(study: str, provenance: Provenance, *, add: bool) -> Wanted:
    """What was published; with ``add``, also what was run since then with the same engine."""
    wanted = Wanted(study, provenance["tier"], engine=provenance.get("engine"))
    if wanted.engine is None:
        return wanted
    groups = [tuple(each) for each in provenance.get("groups", ())]
    stored = wanted.paths().plan
    if add and stored.is_file():
        groups += groups_of(read_plan(stored))
    return replace(wanted, selection=Selection(groups=tuple(dict.fromkeys(groups))))


def _published(folder: Path) -> tuple[KeptResults, list[KeptRun], Provenance]:
    """The files of a published folder, its runs, and where they come from."""
    files = KeptResults(folder) if folder.is_dir() else None
    if files is None or files.runs is None or files.provenance is None:
        said = f"is not what `publish` writes: it has no {KEPT_RUNS_NAME} or no {PROVENANCE_NAME}"
        raise BdpbenchError(said, where=str(folder))
    return files, files.runs, files.provenance


def _as_planned(
    kept: list[KeptRun], prepared: Prepared, folder: Path, prove: int | None
) -> list[KeptRun]:
    """The published runs with the ids that are planned now, which a sample may have to prove."""
    published = {run["run_id"] for run in kept}
    other = published - {run["run_id"] for run in prepared.runs}
    if other and prove is None:
        shown = ", ".join(sorted(other)[:_SHOWN])
        raise BdpbenchError(
            f"{len(other)} of {len(published)} runs are planned differently now ({shown})",
            where=str(folder / KEPT_RUNS_NAME),
            hint="--prove 1 simulates a sample of them, and keeps what is published if the bytes"
            " are still the same",
        )
    return kept if prove is None or not other else prove_bytes(kept, prepared, prove, print)


def _new_scenarios(
    prepared: Prepared, kept: Sequence[KeptRun], folder: Path, allow_partial: bool
) -> Plan:
    """The plan of the scenarios that are not published as a whole; their runs are parsed.

    A scenario is added whole or not at all: metrics that take several runs together would
    otherwise be made of some that are kept and some that are not.

    Raises:
        BdpbenchError: when no scenario has a new run, or when runs of such a one are not finished.
    """
    known = {(place["scenario"], run["run_id"]) for run in kept for place in run["places"]}
    new = {
        run["scenario"] for run in prepared.runs if (run["scenario"], run["run_id"]) not in known
    }
    runs = [run for run in prepared.runs if run["scenario"] in new]
    missing = [run for run in runs if not is_finished(prepared.paths, run)]
    unfinished = dict.fromkeys(run["scenario"] for run in missing)
    if unfinished and allow_partial and new > unfinished.keys():
        print("left out, since not all of their runs are finished: " + ", ".join(unfinished))
        runs = [run for run in runs if run["scenario"] not in unfinished]
        missing = []
    if not runs:
        raise BdpbenchError(
            "there is nothing to add: the published report has every scenario of its tier",
            where=str(folder),
            hint="leave --add out",
        )
    if missing:
        scenarios = ", ".join(dict.fromkeys(run["scenario"] for run in runs))
        raise BdpbenchError(
            f"{len(missing)} of {len(runs)} runs of the scenarios to add ({scenarios}) have no"
            " results",
            where=str(prepared.paths.folder),
            hint=f"`./bdpbench run {prepared.plan['study']} --tier {prepared.plan['tier']}"
            f" --scenario {missing[0]['scenario']}` simulates those of one scenario;"
            " --allow-partial adds only those that are finished",
        )
    parse_runs(prepared.paths.run(each) for each in dict.fromkeys(run["run_id"] for run in runs))
    return {**prepared.plan, "runs": runs}


def _without(added: Sequence[Addition], scenarios: Sequence[str]) -> Iterator[Addition]:
    """Earlier additions without the scenarios that are added anew."""
    for each in added:
        left = [scenario for scenario in each["scenarios"] if scenario not in scenarios]
        if left:
            yield {**each, "scenarios": left}


def _read_metrics(path: Path, ids: Mapping[str, str]) -> pl.DataFrame:
    """The published metrics with the ids of today; all of them belong to published runs."""
    metrics = read_metrics(path)
    unknown = set(metrics["run_id"]) - set(ids)
    if unknown:
        said = f"has metrics of {unknown.pop()}, which {KEPT_RUNS_NAME} does not list"
        raise BdpbenchError(said, where=str(path))
    return metrics.with_columns(pl.col("run_id").replace_strict(ids))


def _still_defined(metrics: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The values of metrics that bdpbench or the study still defines; the others are named."""
    gone = sorted(set(metrics["metric"]) - set(definitions_of(plan)))
    if gone:
        print(f"left out, since they are not defined any more: {', '.join(gone)}")
    return metrics.filter(~pl.col("metric").is_in(gone))


def _in_order(metrics: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    order = pl.Enum(list(dict.fromkeys(run["scenario"] for run in plan["runs"])))
    return metrics.sort(pl.col("scenario").cast(order), maintain_order=True)


def _check_definitions(
    plan: Plan, metrics: pl.DataFrame, scorecard: Scorecard, files: KeptResults
) -> None:
    """Check that all values have the present definitions, and that no new metric is needed."""
    today = {name: each.as_document()["id"] for name, each in definitions_of(plan).items()}
    kept = metrics.select("metric", "definition").unique(maintain_order=True).rows()
    other = sorted({metric for metric, definition in kept if today.get(metric) != definition})
    known = {metric for metric, _ in kept}
    known |= {each["metric"] for each in files.scorecard["numbers"]}
    lacking = sorted({each["metric"] for each in scorecard["numbers"]} - known)
    for names, said in ((other, "are defined differently today"), (lacking, "were not measured")):
        if names:
            raise BdpbenchError(
                f"metrics that {said}: {', '.join(names)}",
                where=str(files.path / METRICS_NAME),
                hint="publish from the runs: values have to be measured again",
            )


def _record(kept: KeptRun, builds: Sequence[BuildFacts]) -> RunRecord:
    """A run as in its ``run.json``, with the facts of its build."""
    binary = kept["ns2"]["binary_sha256"]
    facts = next((each for each in builds if each.get("binary_sha256") == binary), None)
    ns2 = {**kept["ns2"], "info": facts} if facts else kept["ns2"]
    record = {
        **kept,
        "schema_version": RUN_VERSION,
        "label": kept["places"][0]["label"],
        "ns2": ns2,
    }
    del record["places"]
    return cast("RunRecord", record)


def _kept_inputs(
    plan: Plan,
    metrics: pl.DataFrame,
    scorecard: Scorecard,
    records: Mapping[str, RunRecord],
    report: Path,
    ids: Mapping[str, str],
) -> ReportInputs:
    """What a report of the published runs shows, with the series of the published one."""
    series = {ids.get(run_id, run_id): each for run_id, each in series_of_report(report).items()}
    lacking = sorted(set(records) - set(series))
    if lacking:
        shown = ", ".join(lacking[:_SHOWN])
        raise BdpbenchError(
            f"has no series of {len(lacking)} of its runs ({shown})", where=str(report)
        )
    return ReportInputs(
        plan=plan,
        metrics=metrics,
        scorecard=scorecard,
        definitions=[each.as_document() for each in definitions_of(plan).values()],
        load_table=lambda *_: None,
        load_series=lambda run_id, _: series[run_id],
        run_info=dict(sorted(records.items())),
        study=shown_texts(load_study(study_folder(plan))),
        repetitions=over_repetitions(metrics, plan["runs"]),
    )


def _join(kept: ReportInputs, added: ReportInputs) -> ReportInputs:
    """One report of kept runs and added ones; a run that is both is shown as it was kept."""
    of_kept, of_added = kept.load_series, added.load_series
    if of_kept is None or of_added is None:
        raise ValueError("a report without series cannot be joined")

    def load_series(run_id: str, bins: int) -> str:
        return (of_kept if run_id in kept.run_info else of_added)(run_id, bins)

    run_info = dict(sorted({**added.run_info, **kept.run_info}.items()))
    return replace(kept, run_info=run_info, load_series=load_series)
