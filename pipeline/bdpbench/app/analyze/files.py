"""The results of `bdpbench analyze`, and as files: a table, everything as JSON, or a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench import __version__
from bdpbench.contracts.documents import csv_of_frame
from bdpbench.contracts.files import write_atomically, write_bytes_atomically, write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.metrics.packets import PACKET_DEFINITIONS, PacketSums
from bdpbench.metrics.series import cumulative_shares
from bdpbench.trace import LineAccount

if TYPE_CHECKING:
    from bdpbench.contracts.runs import Definition
    from bdpbench.pages.analysis import Trace

ANALYSIS_VERSION = 1
SUFFIXES = (".html", ".csv", ".parquet", ".json")
"""Suffixes of files that can be written."""

KEY = ("metric", "subject")


@dataclass(frozen=True)
class Analysis:
    """A measured packet trace.

    Attributes:
        name: name of its sources.
        trace_format: forms of its lines.
        sums: what flows and links did in the window.
        metrics: one row for each metric and subject, as ``measure_packets`` returns them.
        account: the account of its lines.
        whole: whether the window is the trace's own.
    """

    name: str
    trace_format: str
    sums: PacketSums
    metrics: pl.DataFrame
    account: LineAccount
    whole: bool


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
        subjects = _subjects_of(self.analyses)
        parts = [
            subjects.join(each.metrics, on=KEY, how="left", maintain_order="left").with_columns(
                label=pl.lit(label),
                start_s=pl.lit(each.sums.start_s),
                end_s=pl.lit(each.sums.end_s),
            )
            for label, each in zip(self.labels, self.analyses, strict=True)
        ]
        first = parts[0].select(*KEY, first="value")
        rank = pl.col("label").replace_strict(list(self.labels), range(len(self.labels)))
        # The difference of a value from itself is meaningless.
        change = pl.when(rank > 0).then(pl.col("value") - pl.col("first"))
        share = pl.when(pl.col("first") != 0).then(100 * change / pl.col("first").abs())
        return (
            pl.concat(parts)
            .join(first, on=KEY, how="left", maintain_order="left")
            .with_columns(difference=change, difference_pct=share, rank=rank)
            .sort("row", "rank")
            .select(
                *(*KEY, "label", "value", "unit_of", "difference", "difference_pct"),
                *("start_s", "end_s", "definition_of"),
            )
            .rename({"unit_of": "unit", "definition_of": "definition"})
        )


def _subjects_of(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """metric, subject, unit_of, definition_of of all traces, each once, with its position (row)."""
    rows = pl.concat([each.metrics.select(*KEY, "unit", "definition") for each in analyses])
    order = list(PACKET_DEFINITIONS)
    return (
        rows.unique(KEY, keep="first", maintain_order=True)
        .with_columns(place=pl.col("metric").replace_strict(order, range(len(order))))
        .sort("place", maintain_order=True)
        .with_row_index("row")
        .select("row", *KEY, unit_of="unit", definition_of="definition")
    )


def write_analysis(analysis: Analysis, path: Path) -> None:
    """Write a measured packet trace, atomically, in the format that the suffix names.

    ``.csv`` and ``.parquet`` contain the metrics, a row for each metric and subject; ``.json`` all
    tables, definitions and the account of the lines; ``.html`` is a page that opens offline.

    Raises:
        BdpbenchError: when the file cannot be written.
    """
    with writing(path):
        if path.suffix.lower() == ".html":
            _write_page(analysis, path)
        else:
            _write_data(path, analysis.metrics, _content_of(analysis))


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write a comparison, atomically, in the format that the suffix names.

    ``.csv`` and ``.parquet`` contain a row for each metric, subject and trace; ``.json`` these rows
    and everything about each trace; ``.html`` is a page that opens offline.

    Raises:
        BdpbenchError: when the file cannot be written.
    """
    with writing(path):
        if path.suffix.lower() == ".html":
            _write_comparison_page(comparison, path)
            return
        content = {
            "schema_version": ANALYSIS_VERSION,
            "bdpbench": __version__,
            "labels": list(comparison.labels),
            "comparison": comparison.rows,
            "traces": [_content_of(each) for each in comparison.analyses],
        }
        _write_data(path, comparison.rows, content)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Errors of the system when a file is written name it."""
    try:
        yield
    except OSError as error:
        raise BdpbenchError(f"cannot be written: {error.strerror}", where=str(path)) from None


def _write_data(path: Path, table: pl.DataFrame, content: Mapping[str, object]) -> None:
    """Write the table as CSV or parquet, or the content as JSON, as the suffix says."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_text_atomically(path, json_text(content) + "\n")
    elif suffix == ".csv":
        write_bytes_atomically(path, csv_of_frame(table))
    else:
        write_atomically(path, table.write_parquet)


def _content_of(analysis: Analysis) -> dict[str, object]:
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
        "definitions": _definitions_of(analysis.metrics),
    }


def account_of(account: LineAccount) -> dict[str, object]:
    """The account of a trace's lines: counts, and the first skipped lines."""
    return {
        "lines": account.lines,
        "parsed": account.parsed,
        "forms": dict(account.forms),
        "headings": account.headings,
        "skipped": account.skipped,
        "first_skipped": [asdict(each) for each in account.first_skipped],
        "cut": list(account.cut),
        "backwards": account.backwards,
        "complete": account.complete,
    }


def _definitions_of(metrics: pl.DataFrame) -> list[Definition]:
    """The definitions of the metrics that have rows."""
    used = set(metrics["metric"])
    return [each.as_document() for metric, each in PACKET_DEFINITIONS.items() if metric in used]


def _write_page(analysis: Analysis, path: Path) -> None:
    from bdpbench.pages.analysis import build_trace_page

    definitions = _definitions_of(analysis.metrics)
    build_trace_page(_trace(analysis), definitions, cumulative_shares, path)


def _write_comparison_page(comparison: Comparison, path: Path) -> None:
    from bdpbench.pages.analysis import build_comparison

    labelled = zip(comparison.analyses, comparison.labels, strict=True)
    traces = [_trace(analysis, label) for analysis, label in labelled]
    definitions = _definitions_of(pl.concat([each.metrics for each in comparison.analyses]))
    build_comparison(traces, comparison.rows, definitions, cumulative_shares, path)


def _trace(analysis: Analysis, label: str = "") -> Trace:
    """What a page shows of a trace; ``label`` is its name on a page of several."""
    from bdpbench.app.analyze.text import what_happened
    from bdpbench.pages.analysis import Trace

    sums = analysis.sums
    return Trace(
        name=analysis.name,
        trace_format=analysis.trace_format,
        start_s=sums.start_s,
        end_s=sums.end_s,
        last_s=sums.last_s,
        bin_s=sums.bin_s,
        whole=analysis.whole,
        answer=what_happened(analysis),
        metrics=analysis.metrics,
        tables=sums.all_tables(),
        account=account_of(analysis.account),
        label=label,
    )


# ---------------------------------------------------------------- JSON of frames

_INDENT = " "


def json_text(value: object, indent: str = "") -> str:
    """Indented JSON of mappings, lists, plain values, and frames as lists, one row per line.

    Rows do not become Python's objects, of which a long trace would have very many. Non-finite
    numbers in a frame become null, since JSON cannot represent them.

    Raises:
        ValueError: for a non-finite number outside a frame.

    >>> print(json_text({"name": "a", "rows": pl.DataFrame({"x": [1.5, float("nan")]})}))
    {
     "name": "a",
     "rows": [
      {"x":1.5},
      {"x":null}
     ]
    }
    """
    inner = indent + _INDENT
    if isinstance(value, pl.DataFrame):
        return _joined("[]", _rows(value), indent)
    if isinstance(value, Mapping):
        items = (f"{json.dumps(key)}: {json_text(item, inner)}" for key, item in value.items())
        return _joined("{}", items, indent)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _joined("[]", (json_text(item, inner) for item in value), indent)
    return json.dumps(value, allow_nan=False)


def _joined(brackets: str, items: Iterable[str], indent: str) -> str:
    first, last = brackets[0], brackets[1]
    inner = indent + _INDENT
    text = f",\n{inner}".join(items)
    return f"{first}\n{inner}{text}\n{indent}{last}" if text else brackets


def _rows(frame: pl.DataFrame) -> list[str]:
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    finite = [pl.when(pl.col(name).is_finite()).then(name).alias(name) for name in floats]
    # Line feeds in strings are escaped.
    return frame.with_columns(finite).write_ndjson().split("\n")[:-1]
