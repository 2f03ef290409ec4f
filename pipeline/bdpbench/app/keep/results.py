"""Kept results, read when they are asked for: an archive, or the folder of a tier.

Values, series and records of runs outlive the runs, and suffice for verdicts, texts and charts.
Values are not measured again, so they must have been measured by today's definitions.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

import polars as pl

from bdpbench.app.keep.archive import verify_archive
from bdpbench.contracts.documents import reader
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.reports import (
    KEPT_RUNS_NAME,
    KEPT_VERSION,
    PROVENANCE_NAME,
    REPORT_NAME,
    KeptRun,
    Provenance,
    Version,
    check_reported,
    read_kept_runs,
)
from bdpbench.contracts.runs import METRICS_NAME, RUN_VERSION, RunRecord
from bdpbench.contracts.scorecard import SCORECARD_NAME, SCORECARD_VERSION, Scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import METRICS_SCHEMA, Definition, GroupMetric
from bdpbench.pages.shards import series_of_report

_Document = TypeVar("_Document")


class KeptResults:
    """An archive, a folder that `publish` has written, or ``results/STUDY/TIER``.

    Attributes:
        path: the archive, or the folder with the files; a folder of one tier may be given as well
            as the tier itself.

    Raises:
        BdpbenchError: when an archive is not intact, or a folder has several tiers. Each property
            raises it for a file that is missing, damaged or of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = _tier_folder(path) if path.is_dir() else path
        self._files = self.path if path.is_dir() else zipfile.Path(_whole(path))

    @cached_property
    def scorecard(self) -> Scorecard:
        """The verdicts."""
        return self._document(SCORECARD_NAME, SCORECARD_VERSION, Scorecard, "a scorecard")

    @cached_property
    def provenance(self) -> Provenance:
        """Versions, builds and configuration."""
        what = "where published runs come from"
        return self._document(PROVENANCE_NAME, KEPT_VERSION, Provenance, what)

    @cached_property
    def runs(self) -> list[KeptRun]:
        """The finished runs."""
        return read_kept_runs(self._file(KEPT_RUNS_NAME).read_bytes(), self.path / KEPT_RUNS_NAME)

    @cached_property
    def metrics(self) -> pl.DataFrame:
        """All metrics, as in ``metrics.parquet``."""
        try:
            metrics = pl.read_parquet(io.BytesIO(self._file(METRICS_NAME).read_bytes()))
            return metrics.select(pl.col(name).cast(k) for name, k in METRICS_SCHEMA.items())
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            said = f"is not a table of metrics ({error})"
            raise BdpbenchError(said, where=str(self.path / METRICS_NAME)) from None

    def _document(self, name: str, version: int, kind: type[_Document], what: str) -> _Document:
        """A JSON file of the supported version."""
        return reader(kind, what, version)(self._file(name))

    def _file(self, name: str) -> Path:
        file = cast("Path", self._files / name)  # in a zip, it reads as one
        if self._files is self.path:
            check_reported(file)
        if not file.is_file():
            hint = "name an archive, a folder that `publish` has written, or results/STUDY/TIER"
            raise BdpbenchError(f"has no {name}", where=str(self.path), hint=hint)
        return file

    # ------------------------------------------------------------- in place of the runs themselves

    def of(self, planned: Sequence[PlannedRun]) -> frozenset[str]:
        """The ids of those planned runs that are kept in each of their scenarios."""
        known = {(place["scenario"], run["run_id"]) for run in self.runs for place in run["places"]}
        lacking = {
            run["run_id"] for run in planned if (run["scenario"], run["run_id"]) not in known
        }
        return frozenset(run["run_id"] for run in planned) - lacking

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
        """Run id → the series of its charts, as JSON."""
        report = self.path / REPORT_NAME
        found = series_of_report(report)
        if lacking := [run["run_id"] for run in self.runs if run["run_id"] not in found]:
            said = f"has no series of {len(lacking)} of its runs ({', '.join(lacking[:3])})"
            raise BdpbenchError(said, where=str(report))
        return found

    @property
    def measured_by(self) -> dict[str, Version]:
        """Run id → the bdpbench that measured its values."""
        by = self.provenance["bdpbench"]
        return {run["run_id"]: run.get("measured_by", by) for run in self.runs}

    def values(self, run_ids: Collection[str], today: Mapping[str, Definition]) -> pl.DataFrame:
        """The values of single runs; metrics that are not defined any more are named.

        Args:
            run_ids: ids of the runs.
            today: metric → definition.

        Returns:
            Rows with the columns ``METRICS_SCHEMA``.

        Raises:
            BdpbenchError: when a metric is defined differently today.
        """
        if gone := sorted(set(self.metrics["metric"]) - set(today)):
            print(f"left out, since they are not defined any more: {', '.join(gone)}")
        single = [name for name, each in today.items() if each.level == "run"]
        found = self.metrics.filter(pl.col("metric").is_in(single))
        rows = found.select("metric", "definition").unique(maintain_order=True).rows()
        if other := sorted({name for name, each in rows if today[name].id != each}):
            raise self._measured_otherwise("metrics that are defined differently today", other)
        return found.filter(pl.col("run_id").is_in(list(run_ids)))

    def check_measured(self, scorecard: Scorecard, today: Mapping[str, Definition]) -> None:
        """Refuse a number of a metric that the kept runs were not measured by.

        Raises:
            BdpbenchError: naming the metrics.
        """
        known = {*self.metrics["metric"]}
        known |= {each["metric"] for each in self.scorecard["numbers"]}
        lacking = set()
        for metric in {each["metric"] for each in scorecard["numbers"]} - known:
            definition = today[metric]
            if not isinstance(definition, GroupMetric) or set(definition.metrics) - known:
                lacking.add(metric)
        if lacking:
            raise self._measured_otherwise("metrics that were not measured", sorted(lacking))

    def _measured_otherwise(self, said: str, metrics: Sequence[str]) -> BdpbenchError:
        hint = "`./bdpbench run` simulates the runs, and `publish` then measures them again"
        where = str(self.path / METRICS_NAME)
        return BdpbenchError(f"{said}: {', '.join(metrics)}", where=where, hint=hint)


def _whole(archive: Path) -> Path:
    """The archive, if nothing is wrong with it."""
    if problems := verify_archive(archive):
        hint = "`./bdpbench verify` names everything that is wrong"
        raise BdpbenchError(f"is not whole: {problems[0]}", where=str(archive), hint=hint)
    return archive


def _tier_folder(path: Path) -> Path:
    """The folder itself, or the only tier in it."""
    if (path / SCORECARD_NAME).is_file():
        return path
    tiers = sorted(each.parent for each in path.glob(f"*/{SCORECARD_NAME}"))
    if len(tiers) > 1:
        raise BdpbenchError("holds several results", where=str(path), hint=f"name one: {tiers[0]}")
    return tiers[0] if tiers else path
