"""Several traces side by side: their metrics, and the differences from the first trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from bdpbench import __version__
from bdpbench.app.analyze.analysis import Analysis, account_of
from bdpbench.app.analyze.files import (
    ANALYSIS_VERSION,
    content_of,
    definitions_of,
    unwritable,
    write_table,
)
from bdpbench.app.analyze.json_text import json_text
from bdpbench.app.analyze.text import COMPARED, aligned, number, span_of
from bdpbench.contracts.files import write_text_atomically
from bdpbench.metrics.packets import PACKET_DEFINITIONS
from bdpbench.metrics.series import cumulative_shares

_MOST_ROWS = 60
_KEY = ("metric", "subject")


@dataclass(frozen=True)
class Comparison:
    """Measured traces to compare: a label and an analysis each."""

    labels: Sequence[str]
    analyses: Sequence[Analysis]

    @cached_property
    def rows(self) -> pl.DataFrame:
        """One row for each metric, subject and trace, in the order of the definitions.

        Returns:
            metric, subject, label (str), value (f64, null: unknown, or the trace has no such
                subject), unit, difference (f64, from the first trace, null for itself),
            difference_pct (f64, % of the first trace's value, null if that is 0), start_s,
            end_s (f64, s, window of the trace), definition.
        """
        subjects = _ordered(self.analyses)
        parts = [
            subjects.join(each.metrics, on=_KEY, how="left", maintain_order="left").with_columns(
                label=pl.lit(label),
                start_s=pl.lit(each.sums.start_s),
                end_s=pl.lit(each.sums.end_s),
            )
            for label, each in zip(self.labels, self.analyses, strict=True)
        ]
        first = parts[0].select(*_KEY, first="value")
        rank = pl.col("label").replace_strict(list(self.labels), range(len(self.labels)))
        # The difference of a value from itself is meaningless.
        change = pl.when(rank > 0).then(pl.col("value") - pl.col("first"))
        share = pl.when(pl.col("first") != 0).then(100 * change / pl.col("first").abs())
        return (
            pl.concat(parts)
            .join(first, on=_KEY, how="left", maintain_order="left")
            .with_columns(difference=change, difference_pct=share, rank=rank)
            .sort("row", "rank")
            .select(
                *(*_KEY, "label", "value", "unit_of", "difference", "difference_pct"),
                *("start_s", "end_s", "definition_of"),
            )
            .rename({"unit_of": "unit", "definition_of": "definition"})
        )


def _ordered(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """metric, subject, unit_of, definition_of of all traces, each once, with its position (row)."""
    columns = (*_KEY, "unit", "definition")
    rows = pl.concat([each.metrics.select(columns) for each in analyses])
    order = list(PACKET_DEFINITIONS)
    return (
        rows.unique(_KEY, keep="first", maintain_order=True)
        .with_columns(place=pl.col("metric").replace_strict(order, range(len(order))))
        .sort("place", maintain_order=True)
        .with_row_index("row")
        .select("row", *_KEY, unit_of="unit", definition_of="definition")
    )


def comparison_lines(comparison: Comparison, *, all_rows: bool) -> Iterator[str]:
    """The traces, and a table of their metrics: all, or those of the summary."""
    for label, each in zip(comparison.labels, comparison.analyses, strict=True):
        yield f"{label}: {each.name}, {each.trace_format} trace, {each.account.lines:,} lines"
        yield f"  {span_of(each)}"
    yield ""
    rows = comparison.rows
    if not all_rows:
        of_trace = pl.col("subject") == "trace"
        rows = rows.filter(pl.col("metric").is_in(COMPARED) | of_trace).sort(
            ~of_trace, maintain_order=True
        )
        rows = rows.filter(pl.col("value").is_not_null().any().over(_KEY))
    by_row = rows.partition_by(_KEY, maintain_order=True)
    shown = by_row if all_rows else by_row[:_MOST_ROWS]
    first = comparison.labels[0]
    changes = [text for label in comparison.labels[1:] for text in (f"{label} - {first}", "%")]
    head = ("metric", "of", "unit", *comparison.labels, *changes)
    table = [head, *(_cells(each) for each in shown)]
    yield from aligned(table, left={0, 1, 2})
    if len(by_row) > len(shown):
        yield f"and {len(by_row) - len(shown):,} more rows (-o FILE writes all)"


def _cells(rows: pl.DataFrame) -> tuple[str, ...]:
    """Metric, subject, unit, the values, and for all but the first trace difference and %."""
    values = [number(each) for each in rows["value"]]
    changes = [
        text
        for change, share in rows.select("difference", "difference_pct").tail(-1).iter_rows()
        # What is shown as 0 may be the noise of rounding, of which no share can be taken.
        for text in (number(change), "-" if values[0] == "0" else number(share))
    ]
    unit = rows["unit"][0]
    return rows["metric"][0], rows["subject"][0], "" if unit == "1" else unit, *values, *changes


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write a comparison, atomically, in the format that the suffix names.

    ``.csv`` and ``.parquet`` contain a row for each metric, subject and trace; ``.json`` these rows
    and everything about each trace; ``.html`` is a page that opens offline.

    Raises:
        BdpbenchError: when the file cannot be written.
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".html":
            _write_page(comparison, path)
        elif suffix == ".json":
            write_text_atomically(path, json_text(_content(comparison)) + "\n")
        else:
            write_table(comparison.rows, path)
    except OSError as error:
        raise unwritable(path, error) from None


def _content(comparison: Comparison) -> dict[str, object]:
    return {
        "schema_version": ANALYSIS_VERSION,
        "bdpbench": __version__,
        "labels": list(comparison.labels),
        "comparison": comparison.rows,
        "traces": [content_of(each) for each in comparison.analyses],
    }


def _write_page(comparison: Comparison, path: Path) -> None:
    from bdpbench.pages.analysis_comparison import ComparedTrace, ComparisonPage, build_comparison

    metrics = pl.concat([each.metrics for each in comparison.analyses])
    build_comparison(
        ComparisonPage(
            rows=comparison.rows,
            traces=[
                ComparedTrace(
                    label,
                    each.name,
                    each.trace_format,
                    each.sums.start_s,
                    each.sums.end_s,
                    each.metrics,
                    each.sums.all_tables(),
                    account_of(each.account),
                )
                for label, each in zip(comparison.labels, comparison.analyses, strict=True)
            ],
            bin_s=comparison.analyses[0].sums.bin_s,
            definitions=definitions_of(metrics),
            shares=cumulative_shares,
        ),
        path,
    )
