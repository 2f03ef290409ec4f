"""The results of `bdpbench analyze` as files: a table, everything as JSON, or a page."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from bdpbench import __version__
from bdpbench.app.analyze.analysis import Analysis, account_of
from bdpbench.app.analyze.json_text import json_text
from bdpbench.contracts.documents import csv_of_frame
from bdpbench.contracts.files import write_atomically, write_bytes_atomically, write_text_atomically
from bdpbench.contracts.runs import Definition
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import PACKET_DEFINITIONS
from bdpbench.metrics.series import cumulative_shares

ANALYSIS_VERSION = 1


def write_analysis(analysis: Analysis, path: Path) -> None:
    """Write a measured packet trace, atomically, in the format that the suffix names.

    ``.csv`` and ``.parquet`` contain the metrics, a row for each metric and subject; ``.json`` all
    tables, definitions and the account of the lines; ``.html`` is a page that opens offline.

    Raises:
        BdpbenchError: when the file cannot be written.
    """
    try:
        _WRITERS[path.suffix.lower()](analysis, path)
    except OSError as error:
        raise unwritable(path, error) from None


def write_samples(summary: pl.DataFrame, path: Path) -> None:
    """Write the summary of a trace of samples: as a table, or as JSON.

    Raises:
        BdpbenchError: for ``.html``, and when the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix == ".html":
        raise BdpbenchError(
            "a page needs a packet trace; this trace contains samples",
            where=str(path),
            hint="give -o a name that ends in .csv, .parquet or .json",
        )
    try:
        if suffix == ".json":
            content = {"schema_version": ANALYSIS_VERSION, "samples": summary}
            write_text_atomically(path, json_text(content) + "\n")
        else:
            write_table(summary, path)
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: Path, error: OSError) -> BdpbenchError:
    """The error to raise about a file that cannot be written."""
    return BdpbenchError(f"cannot be written: {error.strerror}", where=str(path))


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as CSV or parquet, atomically, as the suffix says."""
    if path.suffix.lower() == ".csv":
        write_bytes_atomically(path, csv_of_frame(frame))
    else:
        write_atomically(path, frame.write_parquet)


def _write_metrics(analysis: Analysis, path: Path) -> None:
    write_table(analysis.metrics, path)


def _write_json(analysis: Analysis, path: Path) -> None:
    write_text_atomically(path, json_text(content_of(analysis)) + "\n")


def content_of(analysis: Analysis) -> dict[str, object]:
    """Everything that is known about a trace, for ``json_text``."""
    sums = analysis.sums
    return {
        "schema_version": ANALYSIS_VERSION,
        "bdpbench": __version__,
        "trace": analysis.name,
        "format": analysis.trace_format,
        "start_s": sums.start_s,
        "end_s": sums.end_s,
        "last_s": sums.last_s,
        "bin_s": sums.bin_s,
        "account": account_of(analysis.account),
        "metrics": analysis.metrics,
        **sums.all_tables(),
        "definitions": definitions_of(analysis.metrics),
    }


def definitions_of(metrics: pl.DataFrame) -> list[Definition]:
    """The definitions of the metrics that have rows."""
    used = set(metrics["metric"])
    return [each.as_document() for metric, each in PACKET_DEFINITIONS.items() if metric in used]


def _write_page(analysis: Analysis, path: Path) -> None:
    from bdpbench.pages.analysis import TracePage, build_trace_page

    sums = analysis.sums
    build_trace_page(
        TracePage(
            name=analysis.name,
            trace_format=analysis.trace_format,
            start_s=sums.start_s,
            end_s=sums.end_s,
            last_s=sums.last_s,
            bin_s=sums.bin_s,
            whole=analysis.whole,
            metrics=analysis.metrics,
            tables=sums.all_tables(),
            definitions=definitions_of(analysis.metrics),
            account=account_of(analysis.account),
            shares=cumulative_shares,
        ),
        path,
    )


_WRITERS: Mapping[str, Callable[[Analysis, Path], None]] = types.MappingProxyType(
    {
        ".html": _write_page,
        ".csv": _write_metrics,
        ".parquet": _write_metrics,
        ".json": _write_json,
    }
)
SUFFIXES = tuple(_WRITERS)
"""Suffixes of files that can be written."""
