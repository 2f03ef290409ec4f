"""Traces of samples in `bdpbench analyze`: cwnd and other variables, queues, two columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench import __version__
from bdpbench.app.analyze.files import ANALYSIS_VERSION, account_of, json_text, writing
from bdpbench.app.analyze.text import account_lines, samples_lines, what_was_sampled
from bdpbench.contracts.files import write_atomically, write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.metrics.packets import Window
from bdpbench.metrics.samples import SampleMeter, long_samples
from bdpbench.trace import Trace


@dataclass(frozen=True)
class _Columns:
    """Columns of the owner, of the name, and of the values of a table's samples."""

    subject: Sequence[str]
    name: str | None
    values: Sequence[str]


_COLUMNS: Mapping[str, _Columns] = {
    "variables": _Columns(
        ("src_node", "src_port", "dst_node", "dst_port", "owner"), "name", ("value",)
    ),
    "queues": _Columns(("from_node", "to_node"), None, ("pkts", "bytes")),
    "series": _Columns((), "name", ("value",)),
}
SAMPLED = tuple(_COLUMNS)
"""Tables of traces that contain samples."""


@dataclass(frozen=True)
class SampledTrace:
    """A trace of samples that has been measured.

    Attributes:
        trace: the trace.
        meter: the sums of its samples.
        name: name of its source.
        label: what its subjects are called after, beside other traces; "" for a single one.
        window: the samples that count.
    """

    trace: Trace
    meter: SampleMeter
    name: str
    label: str
    window: Window

    @property
    def rows(self) -> pl.LazyFrame:
        """subject, name, time_s, value of all samples in the window."""
        samples = _samples(self.trace.frame, self.trace.table, self.window)
        return samples.with_columns(self._subject())

    @property
    def summary(self) -> pl.DataFrame:
        """The meter's summary."""
        return self.meter.summary.with_columns(self._subject())

    @property
    def points(self) -> pl.DataFrame:
        """The meter's points to draw."""
        return self.meter.points.with_columns(self._subject())

    @property
    def falls(self) -> pl.DataFrame:
        """The meter's falls of windows."""
        return self.meter.falls.with_columns(self._subject())

    def _subject(self) -> pl.Expr:
        if not self.label:
            return pl.col("subject")
        labelled = pl.format("{}: {}", pl.lit(self.label), "subject")
        return labelled.str.strip_suffix(": ").alias("subject")


def measured(trace: Trace, window: Window) -> SampleMeter:
    """The sums of the samples of a trace, which is read to its end."""
    columns, meter = _COLUMNS[trace.table], SampleMeter()
    wanted = [*columns.subject, *([columns.name] if columns.name else []), *columns.values]
    for batch in trace.batches(["time_s", *wanted]):
        meter.add(_samples(batch.lazy(), trace.table, window).collect())
    return meter


def _samples(rows: pl.LazyFrame, table: str, window: Window) -> pl.LazyFrame:
    columns = _COLUMNS[table]
    in_window = rows.filter(window.holds())
    return long_samples(in_window, columns.subject, columns.name, columns.values)


def analyze_samples(traces: Sequence[SampledTrace], output: Path | None) -> Iterator[str]:
    """What to print of measured traces of samples; writes the output file if requested.

    Raises:
        BdpbenchError: when the file cannot be written, or would take a second reading of a pipe.
    """
    summary = pl.concat([each.summary for each in traces])
    if output is not None:
        _write(traces, summary, output)
    for each in traces:
        label = f"{each.label}: " if each.label else ""
        yield f"{label}{each.name}: {each.trace.account.forms_told} trace"
    yield ""
    yield from what_was_sampled(summary)
    yield ""
    yield from samples_lines(summary)
    for each in traces:
        label = f"{each.label}: " if each.label else ""
        for line in account_lines(each.trace.account, each.trace.table):
            yield f"{label}{line}"
    if output is not None:
        yield f"{output}  {output.stat().st_size / 1e6:.2f} MB"


def _write(traces: Sequence[SampledTrace], summary: pl.DataFrame, path: Path) -> None:
    """Write all samples as a table, the summary and the drawn points as JSON, or a page."""
    suffix = path.suffix.lower()
    points = pl.concat([each.points for each in traces])
    with writing(path):
        if suffix == ".html":
            _write_page(traces, summary, points, path)
        elif suffix == ".json":
            accounts = {each.label or each.name: account_of(each.trace.account) for each in traces}
            content = {
                "schema_version": ANALYSIS_VERSION,
                "bdpbench": __version__,
                "accounts": accounts,
                "samples": summary,
                "points": points,
            }
            write_text_atomically(path, json_text(content) + "\n")
        else:
            _write_samples(traces, path)


def _write_samples(traces: Sequence[SampledTrace], path: Path) -> None:
    for each in traces:
        if not each.trace.is_rereadable:
            raise BdpbenchError(
                "the samples of a pipe cannot be read a second time to write them",
                where=each.name,
                hint="give the file itself, or -o a name that ends in .html or .json",
            )
    rows = pl.concat([each.rows for each in traces])
    sink = rows.sink_csv if path.suffix.lower() == ".csv" else rows.sink_parquet
    write_atomically(path, lambda scratch: sink(scratch))


def _write_page(
    traces: Sequence[SampledTrace], summary: pl.DataFrame, points: pl.DataFrame, path: Path
) -> None:
    from bdpbench.pages.samples import SamplesPage, build_samples_page

    page = SamplesPage(
        names=[each.name for each in traces],
        labels=[each.label for each in traces if each.label],
        accounts=[account_of(each.trace.account) for each in traces],
        answers=list(what_was_sampled(summary)),
        summary=summary,
        points=points,
        falls=pl.concat([each.falls for each in traces]),
    )
    build_samples_page(page, path)
