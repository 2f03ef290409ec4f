"""What is kept of a finished tier: the files that a published folder and an archive share."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any, cast

from bdpbench import __version__
from bdpbench.app.keep.checkout import commit_of
from bdpbench.app.keep.collecting import Results
from bdpbench.app.run.stages import report_inputs, write_metrics
from bdpbench.app.say.summary import summary
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import repository_root, study_dir
from bdpbench.contracts.plan import Plan
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.contracts.tables import METRICS_NAME
from bdpbench.pages import build_report

REPORT_NAME = "report.html"
METRICS_CSV_NAME = "metrics.csv"
SUMMARY_NAME = "README.md"
RUNS_NAME = "runs.json"
PROVENANCE_NAME = "provenance.json"
KEPT_VERSION = 1

# What a study's results depend on beside the scripts and ns-2, which a run's id covers.
_STUDY_FILES = ("study.yaml", "published.csv", "claims.yaml", "regions.yaml")


class Bundle:
    """A tier as it is kept: nothing in it tells whose machine it was made on.

    Attributes:
        results: what the tier has come to.
        plan: content of ``plan.json`` with paths relative.
        run_info: run id → content of ``run.json``, paths relative, in the order of the plan.
        inputs: arguments of the report and the exports.
    """

    def __init__(self, results: Results) -> None:
        self.results = results
        self.plan = portable_plan(results.plan)
        self.inputs = report_inputs(self.plan, results.metrics, results.scorecard, results.runs_dir)
        infos = self.inputs["run_info"]
        self.run_info = {each: portable_run(infos[each]) for each in results.finished}
        self.inputs["run_info"] = self.run_info

    def kept_files(self) -> dict[str, bytes]:
        """Name → bytes of the report, the metrics, the scorecard and where they come from."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            build_report(**self.inputs, out=folder / REPORT_NAME, with_files=False)
            write_metrics(self.results.metrics, folder / METRICS_NAME)
            made = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        return {
            REPORT_NAME: made[REPORT_NAME],
            METRICS_CSV_NAME: made[METRICS_CSV_NAME],
            METRICS_NAME: made[METRICS_NAME],
            SCORECARD_NAME: json_bytes(self.results.scorecard),
            RUNS_NAME: json_bytes(self.runs()),
            PROVENANCE_NAME: json_bytes(self.provenance()),
            SUMMARY_NAME: summary(self.results).encode(),
        }

    def runs(self) -> dict[str, Any]:
        """Content of ``runs.json``: what each finished run was, without the facts of its build."""
        places: dict[str, list[dict[str, str]]] = {}
        for run in self.plan["runs"]:
            place = {"scenario": run["scenario"], "label": run["label"]}
            places.setdefault(run["run_id"], []).append(place)
        return {
            "schema_version": KEPT_VERSION,
            "runs": [
                {
                    "run_id": run_id,
                    "places": places[run_id],
                    **{key: value for key, value in info.items() if key not in _NOT_OF_A_RUN},
                    "ns2": {key: value for key, value in info["ns2"].items() if key != "info"},
                }
                for run_id, info in self.run_info.items()
            ],
        }

    def provenance(self) -> dict[str, Any]:
        """Content of ``provenance.json``: versions, builds, configuration and times."""
        started, ended = self.times()
        folder = study_dir(self.plan["study"])
        lock = repository_root() / "pipeline" / "requirements.lock"
        return {
            "schema_version": KEPT_VERSION,
            "study": self.plan["study"],
            "title": self.plan["title"],
            "tier": self.plan["tier"],
            "bdpbench": {"version": __version__, "commit": commit_of(repository_root())},
            "ns2_build_id": self.plan["ns2_build_id"],
            "builds": self.builds(),
            "configuration": {
                **{
                    name: sha256_of(folder / name)
                    for name in _STUDY_FILES
                    if (folder / name).is_file()
                },
                lock.name: sha256_of(lock),
            },
            "runs": {
                "finished": len(self.results.finished),
                "missing": len(self.results.missing),
                "first_started": started,
                "last_ended": ended,
            },
        }

    def builds(self) -> list[dict[str, Any]]:
        """Facts of every binary of ns-2 that made one of the runs, each once."""
        found: dict[str, dict[str, Any]] = {}
        for info in self.run_info.values():
            facts = info["ns2"].get("info") or {}
            found.setdefault(str(facts.get("binary_sha256") or info["ns2"]["build_id"]), facts)
        return [found[key] for key in sorted(found)]

    def times(self) -> tuple[str, str]:
        """When the first simulation began and the last one ended, ISO 8601."""
        spans = [
            (
                datetime.fromisoformat(info["started"]),
                datetime.fromisoformat(info["started"])
                + timedelta(seconds=round(info.get("wall_s") or 0)),
            )
            for info in self.run_info.values()
        ]
        return min(each[0] for each in spans).isoformat(), max(
            each[1] for each in spans
        ).isoformat()


_NOT_OF_A_RUN = ("schema_version", "run_id", "label", "ns2")


def json_bytes(content: Mapping[str, Any]) -> bytes:
    """JSON as bdpbench writes its files."""
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def portable_run(info: Mapping[str, Any]) -> dict[str, Any]:
    """A run's record in which a script from outside the checkout has lost its folder.

    Its checksum stays. Nothing else of a record tells of the machine but its kind (``Linux
    x86_64``), the compiler, and what the run cost.
    """
    script = {**info["script"], "path": _portable_path(str(info["script"]["path"]))}
    return {**info, "script": script}


def portable_plan(plan: Plan) -> Plan:
    """A plan whose runs name folders of scripts from outside the checkout without a path."""
    return cast("Plan", {**plan, "runs": list(_portable_runs(plan["runs"]))})


def _portable_runs(runs: Iterable[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    for run in runs:
        scripts = run.get("scripts")
        yield {**run, **({"scripts": _portable_path(scripts)} if scripts else {})}


def _portable_path(path: str) -> str:
    """A path relative to the checkout; one from outside keeps its last part only."""
    if not path.startswith("/"):
        return path
    root = str(repository_root())
    if path.startswith(f"{root}/"):
        return path.removeprefix(f"{root}/")
    return f"scripts/{PurePosixPath(path).name}"
