"""Tables of runs and metrics as files: their names, and what a manifest records about them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypedDict

from bdpbench.contracts.files import read_json
from bdpbench.contracts.plan import Output
from bdpbench.contracts.shapes import shaped

METRICS_NAME = "metrics.parquet"
METRICS_CSV_NAME = "metrics.csv"
TABLES_FOLDER = "tables"
MANIFEST_NAME = "manifest.json"
MANIFEST_VERSION = 1


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
        "pages": None,
        "facts": None,
        "packets": None,
        "packet_flows": None,
        "packet_links": None,
        "packet_link_flows": None,
        "packet_flow_series": None,
        "packet_link_series": None,
        "packet_losses": None,
    }
)
"""Every table that a run can have → the column of a row's flow or link; None: not a series."""


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


def read_manifest(run_dir: Path) -> TableManifest:
    """The tables that a run has.

    Raises:
        BdpbenchError: when the run was not parsed, or was parsed by another version.
    """
    path = run_dir / TABLES_FOLDER / MANIFEST_NAME
    what = "the manifest that `bdpbench parse` writes"
    data = read_json(path, what=what, schema_version=MANIFEST_VERSION)
    return shaped(data, TableManifest, path, what)


class Definition(TypedDict):
    """One definition of a metric, in words.

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
