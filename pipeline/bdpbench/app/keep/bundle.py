"""The files of a finished tier that a published folder and an archive share."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from bdpbench.app.keep.checkout import this_version
from bdpbench.app.keep.collecting import Results
from bdpbench.app.keep.portable import Portable
from bdpbench.app.keep.readme import readme_of
from bdpbench.app.stages import report_inputs, write_metrics
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import study_folder
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
    kept_runs_bytes,
)
from bdpbench.contracts.runs import METRICS_NAME, BuildFacts, RunRecord
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.pages.page import build_report
from bdpbench.pages.taken_over import count_taken_over, taken_over_sentence

# What a study's results depend on in addition to the scripts and ns-2, which a run id covers.
_CONFIGURATION = ("*.yaml", "*.csv", "*.py")


class Bundle:
    """A tier in the form to keep: nothing in it identifies the machine that made it.

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
        made = results.made or report_inputs(
            results.plan, results.metrics, results.scorecard, results.runs_dir
        )
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
        beside = f"{REPORT_FOLDER}/"
        return {
            **{name: content for name, content in made.items() if name.startswith(beside)},
            REPORT_NAME: made[REPORT_NAME],
            METRICS_NAME: made[METRICS_NAME],
            SCORECARD_NAME: json_bytes(self.results.scorecard),
            KEPT_RUNS_NAME: kept_runs_bytes(self.runs()),
            PROVENANCE_NAME: json_bytes(self.provenance()),
            SUMMARY_NAME: readme_of(
                self.results,
                taken_over_sentence(self._records()),
                has_folder=any(name.startswith(beside) for name in made),
            ).encode(),
        }

    def runs(self) -> list[KeptRun]:
        """Every finished run, without the facts of its build."""
        places: dict[str, list[Place]] = {}
        for run in self.plan["runs"]:
            place: Place = {"scenario": run["scenario"], "label": run["label"]}
            places.setdefault(run["run_id"], []).append(place)
        return [_kept(each, places[run_id]) for run_id, each in self.records.items()]

    def provenance(self) -> Provenance:
        """Content of ``provenance.json``: versions, builds, configuration and times."""
        lock = repository_root() / "pipeline" / "requirements.lock"
        found = [path for pattern in _CONFIGURATION for path in self.folder.glob(pattern)]
        told: Provenance = {
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
        if self.results.measured_by is not None:
            told["measured_by"] = self.results.measured_by
        if self.results.added:
            told["added"] = list(self.results.added)
        return told

    def _records(self) -> list[RunRecord]:
        return list(self.records.values())

    def _counts(self) -> RunCounts:
        started, ended = self.times()
        counts: RunCounts = {
            "finished": len(self.results.finished),
            "missing": len(self.results.missing),
            "first_started": started,
            "last_ended": ended,
        }
        taken_over = count_taken_over(self._records())
        if taken_over["sample"]:
            counts["taken_over"] = taken_over
        return counts

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


def _kept(record: RunRecord, places: list[Place]) -> KeptRun:
    """A run without its own label (which is one of its places) and the facts of its build."""
    kept: KeptRun = {
        "run_id": record["run_id"],
        "places": places,
        "identity": record["identity"],
        "parameters": record["parameters"],
        "units": record["units"],
        "script": record["script"],
        "argv": record["argv"],
        "ns2": {
            "build_id": record["ns2"]["build_id"],
            "backend": record["ns2"]["backend"],
            "binary_sha256": record["ns2"]["binary_sha256"],
        },
        "started": record["started"],
        "wall_s": record["wall_s"],
        "cpu_s": record["cpu_s"],
        "max_rss_kib": record["max_rss_kib"],
        "exit_status": record["exit_status"],
        "outputs": record["outputs"],
        "ns2_report": record["ns2_report"],
    }
    if "taken_over" in record:
        kept["taken_over"] = record["taken_over"]
    return kept


def json_bytes(content: Mapping[str, object]) -> bytes:
    """JSON as bdpbench writes its files."""
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()
