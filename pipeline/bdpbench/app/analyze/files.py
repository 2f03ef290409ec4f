"""The results of `bdpbench analyze`, and as files: a table, or a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.contracts.files import write_atomically, write_bytes_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.metrics.packets import PACKET_DEFINITIONS, PacketSums
from bdpbench.metrics.series import cumulative_shares
from bdpbench.trace import LineAccount

if TYPE_CHECKING:
    from bdpbench.pages.analysis import Trace

SUFFIXES = (".html", ".csv", ".parquet")
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
        labelled = list(zip(self.labels, self.analyses, strict=True))
        spans = [(label, each.sums.start_s, each.sums.end_s) for label, each in labelled]
        values = [each.metrics.with_columns(label=pl.lit(label)) for label, each in labelled]
        measured, order = pl.concat(values), list(PACKET_DEFINITIONS)
        first = pl.col("value").first().over(KEY)
        # The difference of a value from itself is meaningless.
        change = pl.when(pl.col("label") != self.labels[0]).then(pl.col("value") - first)
        return (
            measured.select(*KEY, "unit", "definition", label=pl.lit(list(self.labels)))
            .unique(KEY, keep="first", maintain_order=True)
            .sort(pl.col("metric").replace_strict(order, range(len(order))), maintain_order=True)
            .explode("label")
            .join(
                pl.DataFrame(spans, schema=["label", "start_s", "end_s"], orient="row"),
                on="label",
                maintain_order="left",
            )
            .join(
                measured.select(*KEY, "label", "value"),
                on=(*KEY, "label"),
                how="left",
                maintain_order="left",
            )
            .with_columns(
                difference=change,
                difference_pct=pl.when(first != 0).then(100 * change / first.abs()),
            )
            .select(
                *(*KEY, "label", "value", "unit", "difference", "difference_pct"),
                *("start_s", "end_s", "definition"),
            )
        )


def write_analyses(analyses: Sequence[Analysis], labels: Sequence[str], path: Path) -> None:
    """Write measured packet traces, atomically, in the format that the suffix names.

    ``.csv`` and ``.parquet`` contain the metrics, a row for each metric and subject and, with
    labels, each trace; ``.html`` is a page that opens offline.

    Raises:
        BdpbenchError: when the file cannot be written.
    """
    rows = Comparison(labels, analyses).rows if labels else analyses[0].metrics
    with writing(path):
        if path.suffix.lower() == ".csv":
            write_bytes_atomically(path, rows.write_csv().encode())
        elif path.suffix.lower() == ".parquet":
            write_atomically(path, rows.write_parquet)
        else:
            _write_page(analyses, labels, rows, path)


def _write_page(
    analyses: Sequence[Analysis], labels: Sequence[str], rows: pl.DataFrame, path: Path
) -> None:
    from bdpbench.pages.analysis import build_page

    used = {metric for each in analyses for metric in each.metrics["metric"]}
    definitions = [
        each.as_document() for metric, each in PACKET_DEFINITIONS.items() if metric in used
    ]
    traces = [_trace(each, label) for each, label in zip(analyses, labels or [""], strict=True)]
    build_page(traces, rows, definitions, cumulative_shares, path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Errors of the system when a file is written name it."""
    try:
        yield
    except OSError as error:
        raise BdpbenchError(f"cannot be written: {error.strerror}", where=str(path)) from None


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
        account=analysis.account,
        label=label,
    )
