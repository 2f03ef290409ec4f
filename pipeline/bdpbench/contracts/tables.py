"""Tables of runs and metrics as files: their names, and what a manifest records about them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Literal, TypedDict

from bdpbench.contracts.plan import Output

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
