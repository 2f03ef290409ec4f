"""Tables of runs and metrics as files: their names, and what a manifest says of them."""

from __future__ import annotations

from typing import TypedDict

from bdpbench.contracts.plan import Output

METRICS_NAME = "metrics.parquet"
METRICS_CSV_NAME = "metrics.csv"
TABLES_FOLDER = "tables"
MANIFEST_NAME = "manifest.json"
MANIFEST_VERSION = 1


class TableFacts(TypedDict):
    """One parquet file of a run; ``schema`` is that of its columns, e.g. ``cwnd/1``."""

    rows: int
    sha256: str
    schema: str


class TableManifest(TypedDict):
    """``tables/manifest.json``, written last: tables without it are not there."""

    schema_version: int
    run_json_sha256: str
    outputs: list[Output]
    tables: dict[str, TableFacts]


class Definition(TypedDict):
    """One reading of a metric, in words; ``id`` is metric and version, e.g. ``utilization/1``."""

    id: str
    metric: str
    unit: str
    text: str
    source: str
