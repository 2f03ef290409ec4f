"""The files of a tier's report, of its published copy, and of a comparison of two results."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict

from bdpbench.contracts.documents import reader, shaped
from bdpbench.contracts.kept import LIST_NAME, difference, sealed
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Plan, Scalar, plan_sha256
from bdpbench.contracts.runs import (
    MANIFEST_NAME,
    OUTPUT_FOLDER,
    RUN_NAME,
    TABLES_FOLDER,
    BuildFacts,
    RunFacts,
)
from bdpbench.contracts.scorecard import SCORECARD_VERSION, Scorecard
from bdpbench.errors import BdpbenchError


def is_reported(folder: Path, plan: Plan, runs_dir: Path) -> bool:
    """Whether the report in a folder shows the runs of this plan as they are, undamaged."""
    listing = folder / LIST_NAME
    names = sealed(listing, report_made_of(plan, runs_dir))
    return bool(names) and not any(difference(listing, name) for name in names)


def check_reported(path: Path) -> None:
    """Refuse a file of a report that is not what was written; a folder without a list passes.

    Raises:
        BdpbenchError: naming the file.
    """
    listing = path.with_name(LIST_NAME)
    if path.is_file() and listing.exists() and (said := difference(listing, path.name)):
        hint = "`./bdpbench run` or `publish` makes it again"
        raise BdpbenchError(said, where=str(path), hint=hint)


def report_made_of(plan: Plan, runs_dir: Path) -> str:
    """What the list of a tier's files says: its plan, and its runs as they are."""
    return f"{plan_sha256(plan)} {_runs_sha256(plan, runs_dir)}"


def _runs_sha256(plan: Plan, runs_dir: Path) -> str:
    """A digest of the records and tables of all runs, and of whether their outputs are here."""
    digest = hashlib.sha256()
    for run_id in dict.fromkeys(run["run_id"] for run in plan["runs"]):
        run_dir = run_folder(runs_dir, run_id)
        manifest = run_dir / TABLES_FOLDER / MANIFEST_NAME
        known = [_bytes(path) for path in (run_dir / RUN_NAME, manifest)]
        is_linked = (run_dir / OUTPUT_FOLDER).is_dir()
        facts = [run_id, is_linked, *(hashlib.sha256(each).hexdigest() for each in known)]
        digest.update(f"{facts}\n".encode())
    return digest.hexdigest()


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


_read_scorecard = reader(Scorecard, "a scorecard", SCORECARD_VERSION)


def read_scorecard(path: Path) -> Scorecard:
    """Read ``scorecard.json``.

    Raises:
        BdpbenchError: when it is missing, damaged or of another version, or is not what was
            written into the folder of a tier.
    """
    check_reported(path)
    return _read_scorecard(path)


# ---------------------------------------------------------------- published

REPORT_NAME = "report.html"
REPORT_FOLDER = "report-data"
"""The folder beside the report of very many runs."""

SUMMARY_NAME = "README.md"
KEPT_RUNS_NAME = "runs.parquet"
PROVENANCE_NAME = "provenance.json"
KEPT_VERSION = 3


class Place(TypedDict):
    """Where a run stands in a study: scenarios may share a run.

    ``alike`` has further values of a parameter for which the run stands there, as in the plan.
    """

    scenario: str
    label: str
    alike: NotRequired[dict[str, list[Scalar]]]


class Version(TypedDict):
    """Version and commit of bdpbench; the commit is "" if git cannot tell."""

    version: str
    commit: str


class KeptRun(RunFacts):
    """A finished run without the facts of its build, and the bdpbench that measured it."""

    places: list[Place]
    measured_by: NotRequired[Version]


class RunCounts(TypedDict):
    """Numbers of runs of a tier; when the first simulation began and the last ended (ISO 8601)."""

    finished: int
    missing: int
    first_started: str
    last_ended: str


class Provenance(TypedDict):
    """Content of ``provenance.json``; ``configuration``: file → SHA-256.

    ``bdpbench`` judged the values and made the report; ``runs.parquet`` says who measured them.
    """

    schema_version: int
    study: str
    title: str
    tier: str
    bdpbench: Version
    ns2_build_id: str
    builds: list[BuildFacts]
    configuration: dict[str, str]
    runs: RunCounts


# ---------------------------------------------------------------- runs.parquet


def kept_runs_bytes(runs: Iterable[KeptRun]) -> bytes:
    """Content of ``runs.parquet``: a row for each run, its id and each other field as JSON.

    Thousands of runs have most of their arguments and lines in common, so that a column of them
    takes a hundredth of its length.
    """
    import polars as pl

    runs = list(runs)
    columns = {
        name: [json.dumps(run[name], allow_nan=False) if name in run else None for run in runs]  # type: ignore[literal-required]
        for name in KeptRun.__annotations__
    }
    columns["run_id"] = [run["run_id"] for run in runs]  # by which tables are joined
    schema = dict.fromkeys(columns, pl.String)
    frame = pl.DataFrame(
        {"schema_version": [KEPT_VERSION] * len(runs), **columns}, schema_overrides=schema
    )
    stream = io.BytesIO()
    frame.write_parquet(stream, compression="zstd", compression_level=19)
    return stream.getvalue()


def read_kept_runs(content: bytes, path: Path) -> list[KeptRun]:
    """The runs of ``runs.parquet``.

    Args:
        content: of the file.
        path: of the file, for messages.

    Raises:
        BdpbenchError: naming the file, and the run that is damaged.
    """
    import polars as pl

    what = "the runs of a published study"
    try:
        frame = pl.read_parquet(io.BytesIO(content))
        versions = set(frame["schema_version"])
        rows = frame.drop("schema_version").rows(named=True)
        runs = [
            {
                name: text if name == "run_id" else json.loads(text)
                for name, text in row.items()
                if text is not None
            }
            for row in rows
        ]
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise BdpbenchError(f"is not a table of {what} ({error})", where=str(path)) from None
    if versions != {KEPT_VERSION}:
        raise BdpbenchError("is of a version that this bdpbench does not read", where=str(path))
    return [
        shaped(run, KeptRun, Path(f"{path}: run {number}"), what)
        for number, run in enumerate(runs, start=1)
    ]


# ---------------------------------------------------------------- comparisons

Row: TypeAlias = dict[str, Any]
"""A row of a table of a comparison."""


class Comparison(TypedDict):
    """Two results side by side; ``compared`` and ``beyond`` are numbers of metrics of runs.

    Rows of ``moved`` are values that differ: ``first`` and ``second`` are null where the metric was
    never reached, ``change_pct`` is in percent of the first; ``number``, ``lower`` and ``upper``
    describe the published number, "" and null if there is none; ``beyond`` is the judgement, and
    ``why`` says by what. Rows of ``redefined`` are metrics whose unit or definition differs, those
    of ``only_first`` and ``only_second`` say how many values of a metric only one result has, and
    ``facts`` are versions, builds and checksums that differ.
    """

    first: str
    second: str
    compared: int
    beyond: int
    moved: list[Row]
    redefined: list[Row]
    only_first: list[Row]
    only_second: list[Row]
    facts: list[Row]
