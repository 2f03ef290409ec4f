"""A published tier, judged and rendered again from its published files, without its runs.

Published values outlive the runs in which they were measured. They suffice when a bound changes, or
a report shows more: a verdict follows from the values, and charts from the series in the report.
Kept values are not measured again, so they must have been measured by the present definitions.
Scenarios that were never published can be added from their runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.keep.adding import Added, measure_added
from bdpbench.app.keep.checkout import this_version
from bdpbench.app.keep.collecting import Results
from bdpbench.app.keep.proof import prove as prove_bytes
from bdpbench.app.planning import prepare
from bdpbench.app.stages import definitions_of, read_metrics, score_plan, study_texts
from bdpbench.contracts.documents import read_document
from bdpbench.contracts.paths import results_dir
from bdpbench.contracts.plan import Plan, study_folder
from bdpbench.contracts.reports import (
    KEPT_RUNS_NAME,
    KEPT_VERSION,
    PROVENANCE_NAME,
    REPORT_NAME,
    Addition,
    KeptRun,
    Provenance,
    read_kept_runs,
)
from bdpbench.contracts.runs import METRICS_NAME, RUN_VERSION, BuildFacts, RunRecord
from bdpbench.contracts.scorecard import SCORECARD_NAME, Scorecard, read_scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.repetitions import over_repetitions
from bdpbench.pages.embedded_series import series_of_report
from bdpbench.pages.inputs import ReportInputs
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.config import load_config
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import Selection

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 3


def collect_kept(
    study: str, folder: Path, *, add: bool = False, prove: int | None = None
) -> Results:
    """A published tier with present verdicts, texts and charts.

    Args:
        study: key or folder.
        folder: folder written by `publish`.
        add: also add scenarios that were never published, from the runs in the results folder.
        prove: number of runs of each kind to simulate again, to show that runs with new ids have
            the published bytes; None refuses them.

    Raises:
        BdpbenchError: when a file is missing or damaged, when a run is planned differently from the
            published one, when the definition of a metric has changed since it was measured, or
            when there is nothing to add or it has not been simulated.
    """
    path = folder / KEPT_RUNS_NAME
    if not path.is_file():
        raise BdpbenchError("is not what `publish` writes: it has no runs", where=str(path))
    kept = read_kept_runs(path.read_bytes(), path)
    provenance = _read_provenance(folder)
    tier, results = provenance["tier"], results_dir(load_config().results)
    prepared = prepare(study, tier, Selection(), current_build_id(), results, write=False)
    planned = list(dict.fromkeys(run["run_id"] for run in prepared.runs))
    published = [run["run_id"] for run in kept]
    if prove is None:
        _check_ids(set(planned), set(published), folder)
    elif not set(published) <= set(planned):
        kept = prove_bytes(kept, prepared, prove, print)
    ids = dict(zip(published, (run["run_id"] for run in kept), strict=True))
    records = {run["run_id"]: _record(run, provenance["builds"]) for run in kept}
    plan: Plan = {**prepared.plan, "ns2_build_id": provenance["ns2_build_id"]}
    added = measure_added(prepared, kept, str(folder)) if add else None
    known = _still_defined(_read_metrics(folder / METRICS_NAME, ids), plan)
    metrics = _with_added(known, added, plan)
    scorecard = score_plan(plan, metrics)
    _check_definitions(plan, metrics, scorecard, folder)
    made = _inputs(plan, metrics, scorecard, records, folder / REPORT_NAME, ids)
    if added:
        made = _join(made, added.inputs(scorecard))
        records |= made.run_info
    return Results(
        plan=plan,
        metrics=metrics,
        scorecard=scorecard,
        runs_dir=prepared.paths.runs,
        finished=tuple(each for each in planned if each in records),
        missing=tuple(each for each in planned if each not in records),
        made=made,
        measured_by=provenance.get("measured_by", provenance["bdpbench"]),
        added=_additions(provenance, added),
    )


def _with_added(kept: pl.DataFrame, added: Added | None, plan: Plan) -> pl.DataFrame:
    """The published metrics and those of added scenarios, in the order of the plan."""
    if added is None:
        return kept
    import polars as pl

    order = list(dict.fromkeys(run["scenario"] for run in plan["runs"]))
    both = pl.concat([kept, added.metrics.select(kept.columns)])
    return both.sort(pl.col("scenario").cast(pl.Enum(order)), maintain_order=True)


def _join(kept: ReportInputs, added: ReportInputs) -> ReportInputs:
    """One report of kept runs and added ones; a run that is both is shown as it was kept."""
    of_kept, of_added = kept.load_series, added.load_series
    if of_kept is None or of_added is None:
        raise ValueError("a report without series cannot be joined")

    def load_series(run_id: str, bins: int) -> str:
        return (of_kept if run_id in kept.run_info else of_added)(run_id, bins)

    return replace(
        kept,
        run_info=dict(sorted({**added.run_info, **kept.run_info}.items())),
        load_series=load_series,
    )


def _additions(provenance: Provenance, added: Added | None) -> tuple[Addition, ...]:
    """Scenarios that were added, now or earlier, and the bdpbench that measured them."""
    earlier = tuple(provenance.get("added", ()))
    if added is None:
        return earlier
    now: Addition = {"scenarios": list(added.scenarios), "measured_by": this_version()}
    return (*earlier, now)


def _read_metrics(path: Path, ids: Mapping[str, str]) -> pl.DataFrame:
    """The published metrics with the ids of today; all of them belong to published runs."""
    import polars as pl

    metrics = read_metrics(path)
    unknown = set(metrics["run_id"]) - set(ids)
    if unknown:
        said = f"has metrics of {unknown.pop()}, which {KEPT_RUNS_NAME} does not list"
        raise BdpbenchError(said, where=str(path))
    return metrics.with_columns(pl.col("run_id").replace_strict(ids))


def _read_provenance(folder: Path) -> Provenance:
    path, what = folder / PROVENANCE_NAME, "where published runs come from"
    return read_document(path, Provenance, what=what, schema_version=KEPT_VERSION)


def _record(kept: KeptRun, builds: list[BuildFacts]) -> RunRecord:
    """A run as in its ``run.json``, with the facts of its build."""
    binary = kept["ns2"]["binary_sha256"]
    facts = next((each for each in builds if each.get("binary_sha256") == binary), None)
    record: RunRecord = {
        "schema_version": RUN_VERSION,
        "run_id": kept["run_id"],
        "identity": kept["identity"],
        "label": kept["places"][0]["label"],
        "parameters": kept["parameters"],
        "units": kept["units"],
        "script": kept["script"],
        "argv": kept["argv"],
        "ns2": {**kept["ns2"], "info": facts} if facts else kept["ns2"],
        "started": kept["started"],
        "wall_s": kept["wall_s"],
        "cpu_s": kept["cpu_s"],
        "max_rss_kib": kept["max_rss_kib"],
        "exit_status": kept["exit_status"],
        "outputs": kept["outputs"],
        "ns2_report": kept["ns2_report"],
    }
    if "taken_over" in kept:
        record["taken_over"] = kept["taken_over"]
    return record


def _check_ids(planned: set[str], kept: set[str], folder: Path) -> None:
    if kept <= planned:
        return
    shown = ", ".join(sorted(kept - planned)[:_SHOWN])
    raise BdpbenchError(
        f"{len(kept - planned)} of {len(kept)} runs are planned differently now ({shown})",
        where=str(folder / KEPT_RUNS_NAME),
        hint="--prove 1 simulates a sample of them, and keeps what is published if the bytes are"
        " still the same",
    )


def _still_defined(metrics: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The values of metrics that bdpbench or the study still defines; the others are named."""
    import polars as pl

    gone = sorted(set(metrics["metric"]) - set(definitions_of(plan)))
    if gone:
        print(f"left out, since they are not defined any more: {', '.join(gone)}")
    return metrics.filter(~pl.col("metric").is_in(gone))


def _check_definitions(
    plan: Plan, metrics: pl.DataFrame, scorecard: Scorecard, folder: Path
) -> None:
    """Check that all values have the present definitions, and that no new metric is needed."""
    today = {name: each.as_document()["id"] for name, each in definitions_of(plan).items()}
    kept = metrics.select("metric", "definition").unique(maintain_order=True).rows()
    other = sorted({metric for metric, definition in kept if today.get(metric) != definition})
    before = read_scorecard(folder / SCORECARD_NAME)
    known = {metric for metric, _ in kept} | {each["metric"] for each in before["numbers"]}
    lacking = sorted({each["metric"] for each in scorecard["numbers"]} - known)
    for names, said in ((other, "are defined differently today"), (lacking, "were not measured")):
        if names:
            raise BdpbenchError(
                f"metrics that {said}: {', '.join(names)}",
                where=str(folder / METRICS_NAME),
                hint="publish from the runs: values have to be measured again",
            )


def _inputs(
    plan: Plan,
    metrics: pl.DataFrame,
    scorecard: Scorecard,
    records: Mapping[str, RunRecord],
    report: Path,
    ids: Mapping[str, str],
) -> ReportInputs:
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
        study=study_texts(load_study(study_folder(plan))),
        repetitions=over_repetitions(metrics, plan["runs"]),
    )
