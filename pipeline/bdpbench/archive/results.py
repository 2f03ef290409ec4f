"""Results in the form to keep: the files of an archive or of a folder, read when asked for."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import polars as pl

from bdpbench.archive.container import verify_archive
from bdpbench.contracts.documents import shaped
from bdpbench.contracts.plan import PLAN_NAME, PLAN_VERSION, Plan
from bdpbench.contracts.reports import (
    KEPT_RUNS_NAME,
    KEPT_VERSION,
    PROVENANCE_NAME,
    KeptRun,
    Provenance,
    check_reported,
    read_kept_runs,
)
from bdpbench.contracts.runs import METRICS_NAME
from bdpbench.contracts.scorecard import SCORECARD_NAME, SCORECARD_VERSION, Scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.later import Schema

_COLUMNS = Schema({"run_id scenario metric subject unit definition": "String", "value": "Float64"})
_NAME_ONE = "name an archive, a folder of reports/published/, or results/STUDY/TIER"

_Document = TypeVar("_Document")


class KeptResults:
    """An archive, a folder of ``reports/published/``, or ``results/STUDY/TIER``.

    Attributes:
        path: the archive, or the folder with the files; a folder of one tier may be given as well
            as the tier itself.

    Raises:
        BdpbenchError: when an archive is not intact, or a folder has several tiers. Each property
            raises it for a file that is damaged or of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = _tier_folder(path) if path.is_dir() else path
        self._files = self.path if path.is_dir() else zipfile.Path(_whole(path))

    @cached_property
    def scorecard(self) -> Scorecard:
        """The verdicts; without them a folder is not a result."""
        found = self._document(SCORECARD_NAME, SCORECARD_VERSION, Scorecard, "a scorecard")
        if found is None:
            said = f"is not a result: it has no {SCORECARD_NAME}"
            raise BdpbenchError(said, where=str(self.path), hint=_NAME_ONE)
        return found

    @cached_property
    def plan(self) -> Plan | None:
        """The plan; None if there is none, as in published folders."""
        return self._document(PLAN_NAME, PLAN_VERSION, Plan, "a plan of `bdpbench plan`")

    @cached_property
    def provenance(self) -> Provenance | None:
        """Versions, builds and configuration; None for results that were not published."""
        what = "where published runs come from"
        return self._document(PROVENANCE_NAME, KEPT_VERSION, Provenance, what)

    @cached_property
    def runs(self) -> list[KeptRun] | None:
        """The finished runs; None for results that were not published."""
        content = self._bytes(KEPT_RUNS_NAME)
        return None if content is None else read_kept_runs(content, self.path / KEPT_RUNS_NAME)

    @cached_property
    def published_runs(self) -> list[KeptRun]:
        """The finished runs, which have to be there."""
        if self.runs is None:
            hint = "name an archive or a folder of reports/published/"
            raise BdpbenchError(f"has no {KEPT_RUNS_NAME}", where=str(self.path), hint=hint)
        return self.runs

    @cached_property
    def metrics(self) -> pl.DataFrame:
        """All metrics, as in ``metrics.parquet``."""
        content = self._bytes(METRICS_NAME)
        if content is None:
            said = f"has no {METRICS_NAME}"
            raise BdpbenchError(said, where=str(self.path), hint=_NAME_ONE)
        try:
            metrics = pl.read_parquet(io.BytesIO(content))
            return metrics.with_columns(pl.col(name).cast(kind) for name, kind in _COLUMNS.items())
        except pl.exceptions.PolarsError as error:
            said = f"is not a table of metrics ({error})"
            raise BdpbenchError(said, where=f"{self.path}: {METRICS_NAME}") from None

    def _document(
        self, name: str, version: int, kind: type[_Document], what: str
    ) -> _Document | None:
        """A JSON file of the supported version; None if there is no such file."""
        content, path = self._bytes(name), self.path / name
        if content is None:
            return None
        try:
            found = json.loads(content)
        except ValueError as error:
            raise BdpbenchError(f"is not valid JSON ({error})", where=str(path)) from None
        if isinstance(found, dict) and found.get("schema_version") != version:
            said = "is of a version that this bdpbench does not read"
            raise BdpbenchError(said, where=str(path))
        return shaped(found, kind, path, what)

    def _bytes(self, name: str) -> bytes | None:
        file = self._files / name
        if isinstance(file, Path):
            check_reported(file)
        return file.read_bytes() if file.is_file() else None


def _whole(archive: Path) -> Path:
    """The archive, if nothing is wrong with it."""
    problems = verify_archive(archive).problems
    if problems:
        raise BdpbenchError(
            f"is not whole: {problems[0]}",
            where=str(archive),
            hint="`./bdpbench verify` names everything that is wrong",
        )
    return archive


def _tier_folder(path: Path) -> Path:
    """The folder itself, or the only tier in it."""
    if (path / SCORECARD_NAME).is_file():
        return path
    tiers = sorted(each.parent for each in path.glob(f"*/{SCORECARD_NAME}"))
    if len(tiers) > 1:
        raise BdpbenchError("holds several results", where=str(path), hint=f"name one: {tiers[0]}")
    return tiers[0] if tiers else path
