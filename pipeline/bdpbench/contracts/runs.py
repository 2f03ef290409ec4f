"""A run's folder: ``run.json`` says what was run, ``tables/manifest.json`` lists its tables."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from bdpbench.contracts.documents import json_of, reader
from bdpbench.contracts.judged import JudgedDocument
from bdpbench.contracts.plan import Identity as Identity
from bdpbench.contracts.plan import Output, Parameters
from bdpbench.errors import BdpbenchError

RUN_NAME = "run.json"
RUN_VERSION = 2
BUILD_VERSION = 1
OUTPUT_FOLDER = "out"
ERROR_NAME = "error.txt"
LOG_NAME = "ns.log"


class OutputFile(TypedDict):
    """One output file of ns-2."""

    sha256: str
    bytes: int


class BuildFacts(TypedDict, total=False):
    """``ns-bdpbench.json``: what a binary was built from, as ``ns2/build.sh`` writes it, and more.

    ``image_id``: of the Docker image that contains the binary.
    """

    schema_version: int
    build_id: str
    image_id: str
    variant: str
    binary_sha256: str
    binary_bytes: int
    patches: list[dict[str, str]]
    laws: list[dict[str, str]]
    agents: list[dict[str, str]]
    speed: list[dict[str, str]]
    compiler: str
    cxx_flags: str
    libraries: str
    tcl: str
    machine: str


class Ns2Record(TypedDict):
    """The ns-2 build that simulated a run.

    ``info`` is kept once for all runs of a build, beside them (``build_file``); earlier versions
    wrote it into each ``run.json``. ``image_id``: of the Docker image that contains the binary.
    """

    build_id: str
    backend: str
    image_id: NotRequired[str]
    binary_sha256: str | None
    info: NotRequired[BuildFacts]


class ScriptRecord(TypedDict):
    """The script of a run, for a reader to find; ``files``: every sourced Tcl file → SHA-256."""

    path: str
    files: dict[str, str]


class RunFacts(TypedDict):
    """What is known of a finished run.

    Times are in s; ``cpu_s`` and ``max_rss_kib`` (KiB) are null where a container engine hides
    them. ``outputs``: name under the run's folder → checksum and size.
    """

    run_id: str
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


class RunRecord(RunFacts):
    """Content of ``run.json``, written last: a run without it counts as not run."""

    schema_version: int
    label: str


_read_run = reader(RunRecord, "a finished run", RUN_VERSION, RUN_NAME)
_read_build = cache(reader(BuildFacts, "the description of a build", BUILD_VERSION))


def build_file(run_dir: Path, ns2: Ns2Record) -> Path:
    """Where the description of the build that simulated a run is kept."""
    return run_dir.parent.parent / f"build-{ns2['binary_sha256'] or ns2['build_id']}.json"


def read_build(path: Path) -> BuildFacts | None:
    """The description of a build; None if it is missing or damaged."""
    with suppress(BdpbenchError):
        return _read_build(path)
    return None


def read_run(run_dir: Path) -> RunRecord | None:
    """``run.json`` of a finished run, and what is known of its build.

    It is None if the file is missing or damaged: the run counts as not run.

    Raises:
        BdpbenchError: when the file is of another version of bdpbench, which may know more of it.
    """
    if not (run_dir / RUN_NAME).is_file():
        return None
    try:
        record = _read_run(run_dir)
        if "info" not in record["ns2"] and (info := read_build(build_file(run_dir, record["ns2"]))):
            record["ns2"]["info"] = info
        return record
    except BdpbenchError:
        if _is_of_another_version(run_dir / RUN_NAME):
            raise
        return None


def _is_of_another_version(path: Path) -> bool:
    with suppress(BdpbenchError):
        data = json_of(path, "")
        version = data.get("schema_version") if isinstance(data, dict) else None
        return isinstance(version, int) and version != RUN_VERSION
    return False


def read_runs(run_dirs: Iterable[Path]) -> dict[str, RunRecord]:
    """Run id → record of those runs that are finished, in the given order.

    Raises:
        BdpbenchError: as ``read_run``.
    """
    records = ((run_dir.name, read_run(run_dir)) for run_dir in run_dirs)
    return {run_id: record for run_id, record in records if record is not None}


# ---------------------------------------------------------------- tables

METRICS_NAME = "metrics.parquet"
METRICS_CSV_NAME = "metrics.csv"
TABLES_FOLDER = "tables"
MANIFEST_NAME = "manifest.json"
MANIFEST_VERSION = 1

REDUCED_TABLES = ("flows", "links", "link_flows", "flow_series", "link_series", "losses")
"""What a packet trace is reduced to; the table of a run is called ``packet_<name>``."""

TABLE_KEYS: Mapping[str, Literal["flow", "link"] | None] = types.MappingProxyType(
    {
        "cwnd": "flow",
        "ssthresh": "flow",
        "sequence": "flow",
        "acknowledged": "flow",
        "throughput": "flow",
        "queue": "link",
        "utilization": "link",
        "red": "link",
        "recorded": "flow",
        "transfers": None,
        "facts": None,
        "packets": None,
        **{f"packet_{name}": None for name in REDUCED_TABLES},
    }
)
"""Every table that a run can have → the column of a row's flow or link; None: not a series."""


def reduced_file(stream: str, name: str) -> str:
    """File, under ``out/``, of a table that a streamed trace is reduced to."""
    return f"{stream}.{name}.parquet"


class TableFacts(TypedDict):
    """One parquet file of a run; ``schema`` is that of its columns, e.g. ``cwnd/1``."""

    rows: int
    sha256: str
    schema: str


class TableManifest(TypedDict):
    """``tables/manifest.json``, written last: tables without it do not count."""

    schema_version: int
    run_json_sha256: str
    outputs: list[Output]
    tables: dict[str, TableFacts]


read_manifest = reader(
    TableManifest,
    "the manifest of a run's tables",
    MANIFEST_VERSION,
    f"{TABLES_FOLDER}/{MANIFEST_NAME}",
)
"""The tables that a run has, by its folder."""


class Definition(JudgedDocument):
    """One definition of a metric, in words, and how its values are judged.

    ``id`` is metric and version, e.g. ``utilization/1``; ``title`` a short name for charts and
    tables, "" if there is none; ``subject`` is "flow", "link" or "run"; ``level`` "run", or "group"
    for a metric of several runs; ``unit`` "1" for a ratio, "%" for per cent.
    """

    id: str
    metric: str
    title: str
    subject: str
    level: str
    unit: str
    text: str
    source: str
