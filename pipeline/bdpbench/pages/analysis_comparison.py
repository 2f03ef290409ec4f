"""The page of several packet traces side by side: existing measurements in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bdpbench import __version__
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.runs import Definition
from bdpbench.pages.analysis import (
    MOST_ROWS,
    SHARES,
    embedded,
    label_of,
    metric_name,
    unit_shown,
    values_by_subject,
)
from bdpbench.pages.analysis_charts import KINDS, Shares, chart_of, grid_of, lines_of
from bdpbench.pages.templates import page_environment
from bdpbench.pages.text import format_number
from bdpbench.units import slug

_GROUPS = (
    ("Whole traces", "trace"),
    ("Flows", "flow"),
    ("Receivers of a group or of all", "receiver"),
    ("Links", "link"),
    ("Nodes", "node"),
    ("Drops", "drops"),
)


@dataclass(frozen=True)
class ComparedTrace:
    """One of the traces.

    Attributes:
        label: its name on the page.
        name: name of its source.
        trace_format: forms of its lines.
        start_s, end_s: its window, s.
        metrics: metric, subject, value, unit: a row for each metric and subject.
        tables: series of flows, links, drops and nodes: subject, time_s (f64, s) and values.
        account: account of its lines: lines, skipped, backwards.
    """

    label: str
    name: str
    trace_format: str
    start_s: float
    end_s: float
    metrics: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    account: Mapping[str, object]


@dataclass(frozen=True)
class ComparisonPage:
    """What the page shows.

    Attributes:
        rows: a row for each metric, subject and label, in the order of the traces: value, unit,
            difference and difference_pct (%) from the first trace.
        traces: the traces; the others are compared with the first.
        bin_s: width of the bins of all series, s.
        definitions: definitions of every metric shown.
        shares: returns the distribution of samples.
    """

    rows: pl.DataFrame
    traces: Sequence[ComparedTrace]
    bin_s: float
    definitions: Sequence[Definition]
    shares: Shares


@dataclass(frozen=True)
class ComparedTable:
    """One table: caption, rows of (subject, metric, unit, cells), and how many are ``hidden``."""

    caption: str
    rows: Sequence[tuple[str, str, str, Sequence[str]]]
    hidden: int


def build_comparison(page: ComparisonPage, out: Path) -> None:
    """Write the page of several traces: one HTML file that opens offline.

    It computes no number. Equal inputs give equal bytes.

    Args:
        page: what to show.
        out: file to write, atomically.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    tables = {kind.table: _together(page, kind.table) for kind in KINDS}
    metrics = pl.concat([_labelled(each.metrics, each.label) for each in page.traces])
    lines = lines_of(tables, values_by_subject(metrics), _label, page.shares)
    start_s = min(each.start_s for each in page.traces)
    end_s = max(each.end_s for each in page.traces)
    bins = grid_of(tables).height
    charts = [
        chart
        for kind in KINDS
        if (chart := chart_of(kind, lines, start_s, end_s, page.bin_s, bins)) is not None
    ]
    labels = [each.label for each in page.traces]
    content = {
        "page": page,
        "version": __version__,
        "html_name": slug(" ".join(labels))[:60] or "traces",
        "labels": labels,
        "charts": charts,
        "tables": _tables(page),
        "definitions": page.definitions,
        "definition_ids": {each["metric"]: each["id"] for each in page.definitions},
        "metric_name": metric_name,
        "number": format_number,
        **embedded(charts, lines),
    }
    template = page_environment().get_template("analysis_comparison.html")
    write_text_atomically(out, template.render(content))


def _labelled(rows: pl.DataFrame, label: str) -> pl.DataFrame:
    """Rows whose subjects include the trace: flow:1 of the trace old is flow:old: 1."""
    kind = pl.col("subject").str.extract("^([^:]*)")
    rest = pl.col("subject").str.replace("^[^:]*:?", "")
    return rows.with_columns(subject=kind + pl.lit(f":{label}: ") + rest)


def _label(subject: str) -> str:
    """A labelled subject for readers: old: flow 1."""
    kind, label, name = subject.split(":", 2)
    return f"{label}: {label_of(f'{kind}:{name.strip()}')}"


def _together(page: ComparisonPage, table: str) -> pl.DataFrame:
    return pl.concat([_labelled(each.tables[table], each.label) for each in page.traces])


def _tables(page: ComparisonPage) -> list[ComparedTable]:
    kind = pl.col("subject").str.extract("^([^:]*)")
    found = []
    for caption, wanted in _GROUPS:
        own = page.rows.filter(kind == wanted)
        parts = own.partition_by("subject", "metric", maintain_order=True)
        if parts:
            rows = [_row(each) for each in parts[:MOST_ROWS]]
            found.append(ComparedTable(caption, rows, max(0, len(parts) - MOST_ROWS)))
    return found


def _row(rows: pl.DataFrame) -> tuple[str, str, str, Sequence[str]]:
    """Subject, metric, unit; then the values, and for all but the first trace difference and %."""
    metric = rows["metric"][0]
    factor = 100.0 if metric in SHARES else 1.0
    cells = [_shown(value, factor) for value in rows["value"]]
    for change, share in rows.select("difference", "difference_pct").tail(-1).iter_rows():
        cells += [_shown(change, factor), _shown(share, 1.0)]
    unit = "%" if metric in SHARES else unit_shown(rows["unit"][0])
    return label_of(rows["subject"][0]).strip(), metric, unit, cells


def _shown(value: float | None, factor: float) -> str:
    return format_number(None if value is None else factor * value)
