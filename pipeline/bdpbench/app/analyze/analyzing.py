"""`bdpbench analyze`: reads and measures a trace, prints the results, and writes them to a file."""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import polars as pl

from bdpbench.app.analyze.analysis import Analysis
from bdpbench.app.analyze.comparison import Comparison, comparison_lines, write_comparison
from bdpbench.app.analyze.files import write_analysis, write_samples
from bdpbench.app.analyze.request import AnalysisRequest
from bdpbench.app.analyze.text import (
    account_lines,
    metric_lines,
    samples_lines,
    totals_lines,
)
from bdpbench.errors import BdpbenchError, visible
from bdpbench.metrics.packets import (
    COLUMNS,
    PACKET_DEFINITIONS,
    PacketMeter,
    PacketSums,
    measure_packets,
)
from bdpbench.metrics.samples import sum_samples
from bdpbench.trace import LineAccount, Trace, open_trace

_READ_AHEAD = 2  # batches; the meter itself collects as many as it reduces at once

# Table of a trace → columns of the owner, of the name, and of the values.
_SAMPLED: dict[str, tuple[Sequence[str], str | None, Sequence[str]]] = {
    "variables": (("src_node", "src_port", "dst_node", "dst_port", "owner"), "name", ("value",)),
    "queues": (("from_node", "to_node"), None, ("pkts", "bytes")),
    "series": ((), None, ("value",)),
}


def definition_lines() -> Iterator[str]:
    """Every metric with its unit, definition and source, for a terminal."""
    for metric, definition in PACKET_DEFINITIONS.items():
        unit = "" if definition.unit == "1" else f" ({definition.unit})"
        yield f"{metric}{unit}, of a {definition.subject}".replace("of a run", "of the trace")
        text = f"{definition.text} Source: {definition.source}."
        yield from textwrap.wrap(text, 96, initial_indent="    ", subsequent_indent="    ")


def analyze(request: AnalysisRequest) -> Iterator[str]:
    """Measure one or several traces, print the results, and write the output file if requested.

    Raises:
        BdpbenchError: for a file that cannot be read, is not a trace, or contains nothing in the
            window; for a flow, link or node that the trace does not have.
    """
    yield from map(visible, _compare(request) if request.labels else _analyze_one(request))


def _analyze_one(request: AnalysisRequest) -> Iterator[str]:
    trace = open_trace(list(request.traces), lenient=request.lenient)
    name = ", ".join("standard input" if each == "-" else each for each in request.traces)
    if trace.table in _SAMPLED:
        yield from _analyze_samples(trace, request, name)
        return
    if trace.table != "packets":
        raise BdpbenchError(f"a trace of {trace.table} contains nothing to measure", where=name)
    analysis = _analyze_packets(trace, request, name)
    if request.output is not None:
        write_analysis(analysis, request.output)
    if request.metrics:
        yield from metric_lines(analysis.metrics)
    else:
        yield from totals_lines(analysis)
    yield from account_lines(analysis.account)
    yield from _written_lines(request)


def _written_lines(request: AnalysisRequest) -> Iterator[str]:
    if request.output is not None:
        yield f"{request.output}  {request.output.stat().st_size / 1e6:.2f} MB"


def _compare(request: AnalysisRequest) -> Iterator[str]:
    analyses = _analyze_several(request)
    comparison = Comparison(request.labels, analyses)
    if request.output is not None:
        write_comparison(comparison, request.output)
    yield from comparison_lines(comparison, all_rows=bool(request.metrics))
    for label, analysis in zip(request.labels, analyses, strict=True):
        for line in account_lines(analysis.account):
            yield f"{label}: {line}"
    yield from _written_lines(request)


def _analyze_several(request: AnalysisRequest) -> list[Analysis]:
    """Analyses of the traces, with bins of equal width."""
    opened = [open_trace(each, lenient=request.lenient) for each in request.traces]
    for trace, path in zip(opened, request.traces, strict=True):
        if trace.table != "packets":
            raise BdpbenchError(
                f"a trace of {trace.table} has nothing to compare: expected a packet trace",
                where=path,
            )
    meters = [_fed_meter(trace, request) for trace in opened]
    bin_s = max(each.readable_width_s for each in meters)
    sums = [
        _result(meter, trace, path, bin_s)
        for meter, trace, path in zip(meters, opened, request.traces, strict=True)
    ]
    _check_of_any(sums, request)
    return [
        _analysis(trace, each, request, path)
        for trace, each, path in zip(opened, sums, request.traces, strict=True)
    ]


def _analyze_packets(trace: Trace, request: AnalysisRequest, name: str) -> Analysis:
    meter = _fed_meter(trace, request)
    sums = _result(meter, trace, name, meter.readable_width_s)
    _check_of_any([sums], request)
    return _analysis(trace, sums, request, name)


def _check_of_any(sums: Sequence[PacketSums], request: AnalysisRequest) -> None:
    """Refuse a flow, link, node or capacity that none of the traces has."""
    links = list(dict.fromkeys(name for each in sums for name in each.links["subject"]))
    nodes = sorted({node for each in sums for node in each.nodes["node"].drop_nulls()})
    flows = [name for each in sums for name in _flow_names(each)]
    _check_known(request.flows, flows, "--flow", "flow")
    _check_known(request.links, links, "--link", "link")
    wanted_nodes = [f"node:{each}" for each in request.nodes]
    _check_known(wanted_nodes, [f"node:{each}" for each in nodes], "--node", "node")
    wanted = [f"link:{start}-{end}" for start, end in request.capacities]
    _check_known(wanted, links, "--capacity", "link")


def _analysis(trace: Trace, sums: PacketSums, request: AnalysisRequest, name: str) -> Analysis:
    """Measure what the request selects; selecting some items of one kind leaves out other kinds."""
    chosen = request.flows or request.links or request.nodes
    names = _flow_names(sums)
    flows = {subject for each in request.flows for subject in names.get(each, ())}
    metrics = measure_packets(
        sums,
        flows if chosen else None,
        set(request.links) if chosen else None,
        set(request.nodes) if chosen else None,
    )
    if request.metrics:
        metrics = metrics.filter(pl.col("metric").is_in(list(request.metrics)))
    return Analysis(
        visible(name),
        trace.format,
        sums,
        metrics,
        trace.account,
        whole=not request.window.is_bounded,
    )


def _fed_meter(trace: Trace, request: AnalysisRequest) -> PacketMeter:
    meter = PacketMeter(request.window, bin_s=request.bin_s, capacities=request.capacities)
    _feed(meter, trace.batches(COLUMNS))
    meter.finish()
    return meter


def _result(meter: PacketMeter, trace: Trace, name: str, bin_s: float) -> PacketSums:
    try:
        return meter.result(bin_s)
    except BdpbenchError as error:
        raise _located(error, trace.account, name) from None


def _located(error: BdpbenchError, account: LineAccount, name: str) -> BdpbenchError:
    """An error of the measurement, with the name and the time span of its trace."""
    lasts = (
        f"it lasts from {account.first_s:g} s to {account.last_s:g} s"
        if account.first_s is not None and account.last_s is not None
        else ""
    )
    return BdpbenchError(error.message, where=name, hint=error.hint or lasts)


def _feed(meter: PacketMeter, batches: Iterator[pl.DataFrame]) -> None:
    """Feed all batches to a meter, reading further ones while it works."""
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


def _flow_names(sums: PacketSums) -> dict[str, list[str]]:
    """Name that a user may give to a flow → the subjects that match."""
    rows = sums.flows.filter(pl.col("kind") == "data").select("subject", "flow").iter_rows()
    by_name: dict[str, list[str]] = {}
    for subject, flow in rows:
        for name in (subject, subject.removeprefix("flow:"), str(flow)):
            by_name.setdefault(name, []).append(subject)
    return by_name


def _check_known(wanted: Sequence[str], known: Collection[str], where: str, what: str) -> None:
    for name in wanted:
        if name not in known:
            shown = list(dict.fromkeys(each for each in known if each.startswith(f"{what}:")))
            more = " ..." if len(shown) > 10 else ""
            raise BdpbenchError(
                f"the trace has no {what} {name.removeprefix(f'{what}:')!r}",
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
