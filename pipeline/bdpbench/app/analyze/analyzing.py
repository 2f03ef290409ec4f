"""`bdpbench analyze`: a trace read, measured, told in the terminal, and written to a file."""

from __future__ import annotations

import math
import re
import textwrap
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import polars as pl

from bdpbench.app.analyze.analysis import Analysis
from bdpbench.app.analyze.files import SUFFIXES, write_analysis, write_samples
from bdpbench.app.analyze.text import (
    account_lines,
    metric_lines,
    samples_lines,
    totals_lines,
)
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import (
    COLUMNS,
    PACKET_DEFINITIONS,
    PacketMeter,
    PacketSums,
    Window,
    measure_packets,
)
from bdpbench.metrics.samples import sum_samples
from bdpbench.trace import LineAccount, Trace, open_trace

_READ_AHEAD = 16  # batches, of 4 MB of text each: as much as the meter takes at a time

# Table of a trace → what tells whose values they are, what names them, and the values.
_SAMPLED: dict[str, tuple[Sequence[str], str | None, Sequence[str]]] = {
    "variables": (("src_node", "src_port", "dst_node", "dst_port", "owner"), "name", ("value",)),
    "queues": (("from_node", "to_node"), None, ("pkts", "bytes")),
    "series": ((), None, ("value",)),
}


@dataclass(frozen=True)
class AnalysisRequest:
    """What is to be measured of which trace, checked.

    Attributes:
        traces: files, or "-" for standard input: parts of one trace.
        output: file to write, or None.
        window: time to measure.
        flows, links, metrics: what is wanted of each; empty for all.
        bin_s: width of the bins of the series, s; None to choose it.
        capacities: (from_node, to_node) → Mbit/s.
        lenient: skip lines that are none.
    """

    traces: Sequence[str]
    output: Path | None = None
    window: Window = field(default_factory=Window)
    flows: Sequence[str] = ()
    links: Sequence[str] = ()
    metrics: Sequence[str] = ()
    bin_s: float | None = None
    capacities: dict[tuple[int, int], float] = field(default_factory=dict)
    lenient: bool = False


def request_of(
    traces: Sequence[str],
    *,
    output: Path | None = None,
    window: str | None = None,
    flows: Sequence[str] = (),
    links: Sequence[str] = (),
    metrics: Sequence[str] = (),
    bin_s: float | None = None,
    capacities: Sequence[str] = (),
    lenient: bool = False,
) -> AnalysisRequest:
    """Check the words of a command line, before any trace is read.

    Raises:
        BdpbenchError: naming the option, for a suffix, window, metric, bin, link or capacity that
            is none.
    """
    _check_output(output)
    for metric in metrics:
        _check_metric(metric)
    if bin_s is not None and not (bin_s >= 1e-3 and math.isfinite(bin_s)):
        raise BdpbenchError(f"{bin_s:g} is no width: expected 0.001 s or more", where="--bin")
    return AnalysisRequest(
        traces,
        output,
        _window_of(window),
        flows,
        [f"link:{'-'.join(map(str, _link_of(each, '--link')))}" for each in links],
        metrics,
        bin_s,
        dict(_capacity_of(each) for each in capacities),
        lenient,
    )


def _check_output(output: Path | None) -> None:
    if output is None:
        return
    if output.suffix.lower() not in SUFFIXES:
        raise BdpbenchError(
            f"cannot tell the format of {output.name!r} by its suffix",
            where="--output",
            hint=f"expected one of {', '.join(SUFFIXES)}",
        )
    if not output.absolute().parent.is_dir():
        raise BdpbenchError("no such folder", where=f"--output: {output.absolute().parent}")


def _check_metric(metric: str) -> None:
    if metric not in PACKET_DEFINITIONS:
        close = get_close_matches(metric, PACKET_DEFINITIONS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise BdpbenchError(
            f"unknown metric {metric!r}",
            where="--metric",
            hint=f"{hint}`./bdpbench analyze --list-metrics` shows all",
        )


def _window_of(text: str | None) -> Window:
    if text is None:
        return Window()
    start, colon, end = text.partition(":")
    try:
        if not colon:
            raise ValueError
        window = Window(float(start) if start else -math.inf, float(end) if end else math.inf)
    except (ValueError, BdpbenchError):
        raise BdpbenchError(
            f"{text!r} is no window: expected START:END in seconds, START below END",
            where="--window",
            hint="50:500 measures from 50 s on, until before 500 s; 50: until the end",
        ) from None
    return window


def _link_of(text: str, where: str) -> tuple[int, int]:
    found = re.fullmatch(r"(?:link:)?(-?\d{1,9})-(-?\d{1,9})", text)
    if found is None:
        raise BdpbenchError(f"{text!r} is no link: expected two nodes, as in 0-1", where=where)
    return int(found[1]), int(found[2])


def _capacity_of(text: str) -> tuple[tuple[int, int], float]:
    link, _, number = text.partition("=")
    try:
        mbps = float(number)
    except ValueError:
        mbps = math.nan
    if not (mbps > 0 and math.isfinite(mbps)):
        raise BdpbenchError(
            f"{text!r} is no capacity: expected a link and Mbit/s, as in 0-1=10",
            where="--capacity",
        )
    return _link_of(link, "--capacity"), mbps


def definition_lines() -> Iterator[str]:
    """Every metric with its unit, definition and source, for a terminal."""
    for metric, definition in PACKET_DEFINITIONS.items():
        unit = "" if definition.unit == "1" else f" ({definition.unit})"
        yield f"{metric}{unit}, of a {definition.subject}".replace("of a run", "of the trace")
        text = f"{definition.text} Source: {definition.source}."
        yield from textwrap.wrap(text, 96, initial_indent="    ", subsequent_indent="    ")


def analyze(request: AnalysisRequest) -> Iterator[str]:
    """Measure a trace, write the output if one is asked for, and tell what came out.

    Raises:
        BdpbenchError: for a trace that cannot be read, is none, or holds nothing in the window;
            for a flow or link that it does not have.
    """
    trace = open_trace(list(request.traces), lenient=request.lenient)
    name = ", ".join("standard input" if each == "-" else each for each in request.traces)
    if trace.table in _SAMPLED:
        yield from _analyze_samples(trace, request, name)
        return
    if trace.table != "packets":
        raise BdpbenchError(f"a trace of {trace.table} has nothing to measure", where=name)
    analysis = _analyze_packets(trace, request, name)
    if request.output is not None:
        write_analysis(analysis, request.output)
    if request.metrics:
        yield from metric_lines(analysis.metrics)
    else:
        yield from totals_lines(analysis)
    yield from account_lines(analysis.account)
    if request.output is not None:
        yield f"{request.output}  {request.output.stat().st_size / 1e6:.2f} MB"


def _analyze_packets(trace: Trace, request: AnalysisRequest, name: str) -> Analysis:
    sums = _sums_of(trace, request, name)
    flows = _chosen_flows(sums, request.flows)
    _check_capacities(sums, request.capacities)
    links = _chosen(sums.links["subject"].to_list(), request.links, "--link")
    if request.flows and not request.links:
        links = []
    if request.links and not request.flows:
        flows = []
    metrics = measure_packets(sums, flows, links)
    if request.metrics:
        metrics = metrics.filter(pl.col("metric").is_in(list(request.metrics)))
    return Analysis(
        name,
        trace.format,
        sums,
        metrics,
        trace.account,
        whole=not request.window.is_bounded,
    )


def _check_capacities(sums: PacketSums, capacities: Collection[tuple[int, int]]) -> None:
    known = sums.links["subject"].to_list()
    wanted = [f"link:{start}-{end}" for start, end in capacities]
    _check_known(wanted, known, "--capacity", "link")


def _sums_of(trace: Trace, request: AnalysisRequest, name: str) -> PacketSums:
    meter = PacketMeter(request.window, bin_s=request.bin_s, capacities=request.capacities)
    _feed(meter, trace.batches(COLUMNS))
    try:
        return meter.result()
    except BdpbenchError as error:
        raise _located(error, trace.account, name) from None


def _located(error: BdpbenchError, account: LineAccount, name: str) -> BdpbenchError:
    """An error of the measurement, with the trace that it is about, and how long that lasts."""
    lasts = (
        f"it lasts from {account.first_s:g} s to {account.last_s:g} s"
        if account.first_s is not None and account.last_s is not None
        else ""
    )
    return BdpbenchError(error.message, where=name, hint=error.hint or lasts)


def _feed(meter: PacketMeter, batches: Iterator[pl.DataFrame]) -> None:
    """Give a meter all batches, which are read while it works on those before."""
    updates: deque[Future[None]] = deque()
    with ThreadPoolExecutor(1) as worker:
        for batch in batches:
            updates.append(worker.submit(meter.update, batch))
            if len(updates) > _READ_AHEAD:
                updates.popleft().result()
            if meter.is_done:
                break
        for update in updates:
            update.result()


def _chosen_flows(sums: PacketSums, wanted: Sequence[str]) -> Collection[str] | None:
    rows = sums.flows.filter(pl.col("kind") == "data").select("subject", "flow").iter_rows()
    by_name: dict[str, list[str]] = {}
    for subject, flow in rows:
        for name in (subject, subject.removeprefix("flow:"), str(flow)):
            by_name.setdefault(name, []).append(subject)
    _check_known(wanted, by_name, "--flow", "flow")
    return {subject for name in wanted for subject in by_name[name]} if wanted else None


def _chosen(known: Sequence[str], wanted: Sequence[str], where: str) -> Collection[str] | None:
    _check_known(wanted, known, where, "link")
    return set(wanted) if wanted else None


def _check_known(wanted: Sequence[str], known: Collection[str], where: str, what: str) -> None:
    for name in wanted:
        if name not in known:
            shown = [each for each in known if each.startswith(f"{what}:")]
            more = " ..." if len(shown) > 10 else ""
            raise BdpbenchError(
                f"the trace has no {what} {name.removeprefix('link:')!r}",
                where=where,
                hint=f"it has {', '.join(shown[:10]) or 'none'}{more}",
            )


def _analyze_samples(trace: Trace, request: AnalysisRequest, name: str) -> Iterator[str]:
    subject, named, values = _SAMPLED[trace.table]
    columns = ["time_s", *subject, *([named] if named else []), *values]
    window = request.window.holds()
    batches = (batch.filter(window) for batch in trace.batches(columns))
    summary = sum_samples(batches, subject, named, values)
    if request.output is not None:
        write_samples(summary, request.output)
    yield from samples_lines(summary, name, trace.format)
    yield from account_lines(trace.account)
