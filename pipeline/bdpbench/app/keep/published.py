"""What is published of a tier's runs: their values, the series of their charts and their records.

All of it outlives the runs, and suffices for verdicts, texts and charts: a verdict follows from
the values. Values are not measured again, so they must have been measured by today's definitions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import polars as pl

from bdpbench.archive.results import KeptResults
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.reports import (
    KEPT_RUNS_NAME,
    PROVENANCE_NAME,
    REPORT_NAME,
    KeptRun,
    Provenance,
    Version,
)
from bdpbench.contracts.runs import METRICS_NAME, RUN_VERSION, RunRecord
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import METRICS_SCHEMA, Definition, GroupMetric
from bdpbench.pages.shards import series_of_report

_HINT = "`./bdpbench run` simulates the runs, and `publish` then measures them again"


@dataclass(frozen=True)
class Published:
    """The runs of a published folder.

    Attributes:
        files: the folder.
        runs: its runs.
        provenance: where they come from.
    """

    files: KeptResults
    runs: Sequence[KeptRun]
    provenance: Provenance

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of its runs."""
        return frozenset(run["run_id"] for run in self.runs)

    def of(self, planned: Sequence[PlannedRun]) -> frozenset[str]:
        """The ids of those planned runs that are published in each of their scenarios."""
        known = {(place["scenario"], run["run_id"]) for run in self.runs for place in run["places"]}
        lacking = {
            run["run_id"] for run in planned if (run["scenario"], run["run_id"]) not in known
        }
        return frozenset(run["run_id"] for run in planned) - lacking

    def other_ids(self, planned: Sequence[PlannedRun]) -> set[str]:
        """The published ids that no planned run has."""
        return {*self.ids} - {run["run_id"] for run in planned}

    @cached_property
    def records(self) -> dict[str, RunRecord]:
        """Run id → the run as in its ``run.json``."""
        builds = {each.get("binary_sha256"): each for each in self.provenance["builds"]}
        found: dict[str, RunRecord] = {}
        for run in self.runs:
            facts = builds.get(run["ns2"]["binary_sha256"])
            ns2 = {**run["ns2"], "info": facts} if facts else run["ns2"]
            label = run["places"][0]["label"]
            record = {**run, "schema_version": RUN_VERSION, "label": label, "ns2": ns2}
            del record["places"]
            record.pop("measured_by", None)
            found[run["run_id"]] = cast("RunRecord", record)
        return found

    @cached_property
    def series(self) -> dict[str, str]:
        """Run id → the series of its charts, as JSON.

        Raises:
            BdpbenchError: when the report lacks the series of one of the runs, or is damaged.
        """
        report = self.files.path / REPORT_NAME
        found = series_of_report(report)
        if lacking := [run["run_id"] for run in self.runs if run["run_id"] not in found]:
            said = f"has no series of {len(lacking)} of its runs ({', '.join(lacking[:3])})"
            raise BdpbenchError(said, where=str(report))
        return found

    def values(self, run_ids: Collection[str], today: Mapping[str, Definition]) -> pl.DataFrame:
        """The published values of single runs; metrics that are not defined any more are named.

        Args:
            run_ids: ids of the runs.
            today: metric → definition.

        Returns:
            Rows with the columns ``METRICS_SCHEMA``.

        Raises:
            BdpbenchError: when a metric is defined differently today.
        """
        found = self.files.metrics.select(
            pl.col(name).cast(k) for name, k in METRICS_SCHEMA.items()
        )
        unknown = set(found["run_id"]) - self.ids
        if unknown:
            said = f"has metrics of {unknown.pop()}, which {KEPT_RUNS_NAME} does not list"
            raise BdpbenchError(said, where=str(self.files.path / METRICS_NAME))
        if gone := sorted(set(found["metric"]) - set(today)):
            print(f"left out, since they are not defined any more: {', '.join(gone)}")
        single = [name for name, each in today.items() if each.level == "run"]
        found = found.filter(pl.col("metric").is_in(single))
        rows = found.select("metric", "definition").unique(maintain_order=True).rows()
        if other := sorted({name for name, each in rows if today[name].id != each}):
            raise BdpbenchError(
                f"metrics that are defined differently today: {', '.join(other)}",
                where=str(self.files.path / METRICS_NAME),
                hint=_HINT,
            )
        return found.filter(pl.col("run_id").is_in(list(run_ids)))

    def check_measured(self, scorecard: Scorecard, today: Mapping[str, Definition]) -> None:
        """Refuse a number of a metric that the published runs were not measured by.

        Raises:
            BdpbenchError: naming the metrics.
        """
        known = {*self.files.metrics["metric"]}
        known |= {each["metric"] for each in self.files.scorecard["numbers"]}
        needed = {each["metric"] for each in scorecard["numbers"]} - known
        if lacking := sorted(name for name in needed if not _made_of(today[name], known)):
            said = f"metrics that were not measured: {', '.join(lacking)}"
            raise BdpbenchError(said, where=str(self.files.path / METRICS_NAME), hint=_HINT)

    @property
    def measured_by(self) -> dict[str, Version]:
        """Run id → the bdpbench that measured its values."""
        by = self.provenance["bdpbench"]
        return {run["run_id"]: run.get("measured_by", by) for run in self.runs}


def _made_of(definition: Definition, known: Set[str]) -> bool:
    """Whether a metric of several runs can be made of values that are known."""
    return isinstance(definition, GroupMetric) and known >= set(definition.metrics)


def find_published(folder: Path) -> Published | None:
    """What `publish` has written into a folder; None if there is nothing of it.

    Raises:
        BdpbenchError: when a file of it is damaged.
    """
    files = KeptResults(folder) if folder.is_dir() else None
    if files is None or files.runs is None or files.provenance is None:
        return None
    return Published(files, files.runs, files.provenance)


def read_published(folder: Path) -> Published:
    """The same of a folder that has to be one.

    Raises:
        BdpbenchError: when it is not, or is damaged.
    """
    found = find_published(folder)
    if found is None:
        said = f"is not what `publish` writes: it has no {KEPT_RUNS_NAME} or no {PROVENANCE_NAME}"
        raise BdpbenchError(said, where=str(folder))
    return found
