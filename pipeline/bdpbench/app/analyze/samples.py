"""Traces of samples in `bdpbench analyze`: cwnd and other variables, queues, two columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bdpbench.app.analyze.files import writing
from bdpbench.app.analyze.text import account_lines, lines_told, samples_lines, what_was_sampled
from bdpbench.contracts.files import write_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.metrics.packets import Window
from bdpbench.metrics.samples import SampleMeter, long_samples
from bdpbench.trace import Trace

Frame = TypeVar("Frame", "pl.DataFrame", "pl.LazyFrame")


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
    def head(self) -> str:
        """What its lines begin with beside other traces."""
        return f"{self.label}: " if self.label else ""

    def labelled(self, frame: Frame) -> Frame:
        """A frame with the label before its subjects."""
        said = pl.format("{}{}", pl.lit(self.head), "subject").str.strip_suffix(": ")
        return frame.with_columns(said.alias("subject")) if self.label else frame


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


def analyze_samples(
    traces: Sequence[SampledTrace], kind: str | None, output: Path | None, *, as_json: bool
) -> Iterator[str]:
    """What to print of measured traces of samples; writes the output file if requested.

    Raises:
        BdpbenchError: when a trace has no sample of the kind, or none in the window, and when the
            file cannot be written, or would take a second reading of a pipe.
    """
    for each in traces:
        account = each.trace.account
        if kind and kind not in account.tables:
            said = f"the trace has no line of {kind}"
            raise BdpbenchError(said, where=each.name, hint=f"it has {lines_told(account)}")
        if each.meter.summary.is_empty():
            hint = f"it lasts from {account.first_s} s to {account.last_s} s"
            raise BdpbenchError("no sample is in the window", where=each.name, hint=hint)
    summary = pl.concat([each.labelled(each.meter.summary) for each in traces])
    answers = list(what_was_sampled(summary))
    if output is not None:
        with writing(output):
            if output.suffix.lower() == ".html":
                _write_page(traces, summary, answers, output)
            else:
                _write_samples(traces, output)
    if as_json:
        yield from summary.write_ndjson().splitlines()
        return
    for each in traces:
        yield f"{each.head}{each.name}: {each.trace.account.forms_told} trace"
    yield from ("", *answers, "", *samples_lines(summary))
    for each in traces:
        for line in account_lines(each.trace.account, each.trace.table):
            yield f"{each.head}{line}"


def _write_samples(traces: Sequence[SampledTrace], path: Path) -> None:
    for each in traces:
        if not each.trace.is_rereadable:
            raise BdpbenchError(
                "the samples of a pipe cannot be read a second time to write them",
                where=each.name,
                hint="give the file itself, or -o a name that ends in .html",
            )
    rows = pl.concat(
        [
            each.labelled(_samples(each.trace.frame, each.trace.table, each.window))
            for each in traces
        ]
    )
    sink = rows.sink_csv if path.suffix.lower() == ".csv" else rows.sink_parquet
    write_atomically(path, lambda scratch: sink(scratch))


def _write_page(
    traces: Sequence[SampledTrace], summary: pl.DataFrame, answers: Sequence[str], path: Path
) -> None:
    from bdpbench.pages.analysis import build_samples_page

    build_samples_page(
        names=[each.name for each in traces],
        labels=[each.label for each in traces if each.label],
        accounts=[each.trace.account for each in traces],
        answers=answers,
        summary=summary,
        points=pl.concat([each.labelled(each.meter.points) for each in traces]),
        out=path,
    )
