"""Files that `publish` and `archive` store beside the report of a tier."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from bdpbench.contracts.plan import Parameters
from bdpbench.contracts.runs import (
    BuildFacts,
    Identity,
    Ns2Record,
    OutputFile,
    ScriptRecord,
    TakenOver,
)
from bdpbench.contracts.shapes import shaped
from bdpbench.errors import BdpbenchError

REPORT_NAME = "report.html"
REPORT_FOLDER = "report-data"
"""The folder beside the report of very many runs."""

SUMMARY_NAME = "README.md"
KEPT_RUNS_NAME = "runs.parquet"
PROVENANCE_NAME = "provenance.json"
KEPT_VERSION = 3


class Place(TypedDict):
    """Where a run stands in a study: scenarios may share a run."""

    scenario: str
    label: str


class KeptRun(TypedDict):
    """A finished run without the facts of its build."""

    run_id: str
    places: list[Place]
    identity: Identity
    parameters: Parameters
    units: dict[str, str]
    script: ScriptRecord
    argv: list[str]
    ns2: Ns2Record
    started: str
    wall_s: float
    cpu_s: float | None
    max_rss_kib: int | None
    exit_status: int
    outputs: dict[str, OutputFile]
    ns2_report: str
    taken_over: NotRequired[TakenOver]


class Version(TypedDict):
    """Version and commit of bdpbench; the commit is "" if git cannot tell."""

    version: str
    commit: str


class Addition(TypedDict):
    """Scenarios that were added to what had been published, and the bdpbench that measured them."""

    scenarios: list[str]
    measured_by: Version


class TakenOverCounts(TypedDict):
    """Runs simulated under an older id, by which builds, and which of them were simulated again.

    ``runs`` counts those that were not simulated again; ``sample`` has the ids of those that were,
    and gave equal bytes; ``ns2_build_ids`` are the builds that simulated the runs under their older
    ids.
    """

    runs: int
    sample: list[str]
    ns2_build_ids: list[str]


class RunCounts(TypedDict):
    """Numbers of runs of a tier; when the first simulation began and the last ended (ISO 8601)."""

    finished: int
    missing: int
    first_started: str
    last_ended: str
    taken_over: NotRequired[TakenOverCounts]


class Provenance(TypedDict):
    """Content of ``provenance.json``; ``configuration``: file → SHA-256.

    ``bdpbench`` judged the values and made the report; ``measured_by`` measured them, if that was a
    different one, except for the scenarios in ``added``.
    """

    schema_version: int
    study: str
    title: str
    tier: str
    bdpbench: Version
    measured_by: NotRequired[Version]
    added: NotRequired[list[Addition]]
    ns2_build_id: str
    builds: list[BuildFacts]
    configuration: dict[str, str]
    runs: RunCounts


# ---------------------------------------------------------------- runs.parquet


def kept_runs_bytes(runs: Sequence[KeptRun]) -> bytes:
    """Content of ``runs.parquet``: a row for each run, with a column of JSON for each field.

    Thousands of runs have most of their arguments and lines in common, so that a column of them
    takes a hundredth of its length.
    """
    import polars as pl

    columns = {
        name: [json.dumps(run[name], allow_nan=False) if name in run else None for run in runs]  # type: ignore[literal-required]
        for name in KeptRun.__annotations__
    }
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
            {name: json.loads(text) for name, text in row.items() if text is not None}
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
