"""`bdpbench analyze`: checks what is asked for, measures a trace, prints and writes the results."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from bdpbench.app.analyze.files import (
    KEY,
    SUFFIXES,
    Analysis,
    Comparison,
    write_analyses,
)
from bdpbench.app.analyze.samples import SAMPLED, SampledTrace, analyze_samples, measured
from bdpbench.app.analyze.text import (
    account_lines,
    comparison_lines,
    lines_told,
    metric_lines,
    totals_lines,
)
from bdpbench.errors import BdpbenchError, visible
from bdpbench.later import pl
from bdpbench.metrics.packets import (
    COLUMNS,
    PACKET_DEFINITIONS,
    PacketMeter,
    PacketSums,
    Window,
    measure_packets,
)
from bdpbench.trace import Trace, open_trace
from bdpbench.units import several


@dataclass
class AnalysisRequest:
    """The options of a command line: what to measure in which trace.

    Attributes:
        traces: files to measure, or to compare; "-" for standard input.
        labels: labels of the traces to compare; by default made of their names.
        output: file to write, or None.
        window: what to measure of it; the whole trace by default.
        flows, links, nodes, metrics: selected ones, links by their subjects; empty for all.
        bin_s: width of the bins of the series, s; None to choose it.
        capacities: nodes of a link, and its capacity in Mbit/s.
        lenient: skip unrecognised lines.
        kind: the lines to measure, of those that a trace has: packets, variables, queues or series;
            None for packets, if it has any.
        as_json: print metrics as JSON, one object per line.

    Raises:
        BdpbenchError: naming the option, for an invalid suffix, bin or label.
    """

    traces: Sequence[str]
    labels: Sequence[str] = ()
    output: Path | None = None
    window: Window = Window()  # noqa: RUF009 - it is frozen
    flows: Sequence[str] = ()
    links: Sequence[str] = ()
    nodes: Sequence[int] = ()
    metrics: Sequence[str] = ()
    bin_s: float | None = None
    capacities: Sequence[tuple[tuple[int, int], float]] = ()
    lenient: bool = False
    kind: str | None = None
    as_json: bool = False

    def __post_init__(self) -> None:
        self._check_files()
        if len(self.traces) > 1 and not self.labels:
            self.labels = _labels_of(self.traces)
        self._check_labels()
        if self.bin_s is not None and not (self.bin_s >= 1e-3 and math.isfinite(self.bin_s)):
            said = f"{self.bin_s:g} is not a width: expected 0.001 s or more"
            raise BdpbenchError(said, where="--bin")

    def _check_files(self) -> None:
        """Refuse a folder, standard input twice, and an output file of no known format."""
        for each in self.traces:
            if Path(each).is_dir():
                hint = f"name the files in it: {Path(each) / '*.tr'}"
                raise BdpbenchError("is a folder", where=each, hint=hint)
        if self.traces.count("-") > 1:
            raise BdpbenchError("standard input can be read only once", where="TRACE...")
        if self.output is None:
            return
        if self.output.suffix.lower() not in SUFFIXES:
            raise BdpbenchError(
                f"the suffix of {self.output.name!r} names no known format",
                where="--output",
                hint=f"expected one of {', '.join(SUFFIXES)}",
            )
        folder = self.output.absolute().parent
        if not folder.is_dir():
            raise BdpbenchError("no such folder", where=f"--output: {folder}")

    def _check_labels(self) -> None:
        wrong = ""
        if len(self.labels) == 1 == len(self.traces):
            wrong = "a single trace cannot be compared"
        elif self.labels and len(self.labels) != len(self.traces):
            counts = several(len(self.labels), "label"), several(len(self.traces), "trace")
            wrong = f"{' for '.join(counts)}: expected one for each"
        for label in self.labels if not wrong else ():
            if not label.strip() or not label.isprintable():
                wrong = f"{label!r} is not a label"
            elif self.labels.count(label) > 1:
                wrong = f"two traces have the label {label!r}"
        if wrong:
            raise BdpbenchError(wrong, where="--label")


def _labels_of(files: Sequence[str]) -> list[str]:
    """The names of files without suffixes or, if these do not tell them apart, what is given."""
    again = next((each for place, each in enumerate(files) if each in files[:place]), None)
    if again is not None:
        hint = "--label NAME for each tells them apart"
        raise BdpbenchError("the file is given twice", where=again, hint=hint)
    given = ["standard input" if each == "-" else visible(each) for each in files]
    short = [Path(each).name.partition(".")[0] for each in given]
    return short if len(set(short)) == len(short) and all(map(str.strip, short)) else given


# ---------------------------------------------------------------- values of options


def metric_of(text: str) -> str:
    """A metric of packet traces; a BdpbenchError suggests one for another name."""
    if text not in PACKET_DEFINITIONS:
        close = get_close_matches(text, PACKET_DEFINITIONS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise BdpbenchError(
            f"unknown metric {text!r}",
            where="--metric",
            hint=f"{hint}`./bdpbench analyze --list-metrics` shows all",
        )
    return text


def window_of(text: str) -> Window:
    """A window, given as START:END in s, of which either may be missing, or a BdpbenchError."""
    start, colon, end = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return Window(float(start) if start else -math.inf, float(end) if end else math.inf)
    except (ValueError, BdpbenchError):
        raise BdpbenchError(
            f"{text!r} is not a window: expected START:END in seconds, START below END",
            where="--window",
            hint="50:500 measures from 50 s to just before 500 s, and 50: from 50 s to the end",
        ) from None


def link_of(text: str) -> str:
    """The subject of a link, given by its nodes, such as 0-1, or a BdpbenchError."""
    return "link:{}-{}".format(*_nodes_of(text, "--link"))


def _nodes_of(text: str, where: str) -> tuple[int, int]:
    found = re.fullmatch(r"(?:link:)?(-?\d{1,9})-(-?\d{1,9})", text)
    if found is None:
        raise BdpbenchError(f"{text!r} is not a link: expected two nodes, as in 0-1", where=where)
    return int(found[1]), int(found[2])


def capacity_of(text: str) -> tuple[tuple[int, int], float]:
    """Nodes and capacity (Mbit/s) of a link, given as 0-1=10, or a BdpbenchError."""
    link, _, number = text.partition("=")
    try:
        mbps = float(number)
    except ValueError:
        mbps = math.nan
    if not (mbps > 0 and math.isfinite(mbps)):
        raise BdpbenchError(
            f"{text!r} is not a capacity: expected a link and Mbit/s, as in 0-1=10",
            where="--capacity",
        )
    return _nodes_of(link, "--capacity"), mbps


# ---------------------------------------------------------------- what is printed and written


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
            window, or nothing of the kind that is asked for; for a flow, link or node that the
            trace does not have.
    """
    yield from map(visible, _analyze(request))
    if request.output is not None and not request.as_json:
        size_mb = request.output.stat().st_size / 1e6
        yield visible(f"{request.output}  {size_mb:.2f} MB")


def _analyze(request: AnalysisRequest) -> Iterator[str]:
    labelled = zip(request.traces, request.labels or [""], strict=True)
    read = [_read(source, label, request) for source, label in labelled]
    packets = [each for each in read if isinstance(each, _Packets)]
    samples = [each for each in read if isinstance(each, SampledTrace)]
    if packets and samples:
        raise BdpbenchError(
            f"the trace has no packets, and {packets[0].name} has some",
            where=samples[0].name,
            hint=f"it has {lines_told(samples[0].trace.account)}; --kind names what to compare",
        )
    if samples:
        _refuse_options_of_packets(request)
        yield from analyze_samples(samples, request.kind, request.output, as_json=request.as_json)
        return
    analyses = _measured(packets, request)
    if request.output is not None:
        write_analyses(analyses, request.labels, request.output)
    comparison = Comparison(request.labels, analyses)
    if request.as_json:
        table = comparison.rows if request.labels else analyses[0].metrics
        yield from table.write_ndjson().splitlines()
        return
    if request.labels:
        yield from comparison_lines(comparison, all_rows=bool(request.metrics))
        for label, analysis in zip(comparison.labels, comparison.analyses, strict=True):
            yield from (f"{label}: {line}" for line in account_lines(analysis.account, "packets"))
        return
    (analysis,) = analyses
    rows = analysis.metrics.select(*KEY, "value", "unit").iter_rows()
    yield from metric_lines(rows) if request.metrics else totals_lines(analysis)
    yield from account_lines(analysis.account, "packets")


# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class _Packets:
    """A packet trace that has been read, and the sums of its packets."""

    name: str
    trace: Trace
    meter: PacketMeter


def _read(source: str, label: str, request: AnalysisRequest) -> SampledTrace | _Packets:
    """Read a trace to its end: as samples if its beginning has some, and if no packets follow."""
    trace = open_trace(source, lenient=request.lenient, kind=request.kind)
    name = "standard input" if source == "-" else visible(source)
    if trace.table in SAMPLED:
        samples = measured(trace, request.window)
        if request.kind or "packets" not in trace.account.tables:
            return SampledTrace(trace, samples, name, label, request.window)
        if not trace.is_rereadable:
            raise BdpbenchError(
                f"the lines are of several kinds: {lines_told(trace.account)}",
                where=name,
                hint="a pipe can be read only once: give --kind packets, or the file itself",
            )
    trace = trace if trace.table == "packets" else trace.of("packets")
    meter = PacketMeter(request.window, request.bin_s, dict(request.capacities))
    trace.sum_into(meter, COLUMNS)
    return _Packets(name, trace, meter)


def _refuse_options_of_packets(request: AnalysisRequest) -> None:
    given = {
        "--flow": request.flows,
        "--link": request.links,
        "--node": request.nodes,
        "--metric": request.metrics,
        "--capacity": request.capacities,
        "--bin": request.bin_s,
    }
    for option, value in given.items():
        if value:
            raise BdpbenchError(
                "chooses among packets, and the trace has none that are measured", where=option
            )


# ---------------------------------------------------------------- measuring packet traces


def _measured(packets: Sequence[_Packets], request: AnalysisRequest) -> list[Analysis]:
    """What is known of packet traces, with bins of equal width."""
    bin_s = max(each.meter.readable_width_s for each in packets)
    sums = []
    for each in packets:
        with _named(each):
            sums.append(each.meter.result(bin_s))
    _check_selected(sums, request)
    found = [
        Analysis(
            each.name,
            each.trace.account.forms_told,
            own,
            _selected_metrics(own, request),
            each.trace.account,
            whole=not request.window.is_bounded,
        )
        for each, own in zip(packets, sums, strict=True)
    ]
    _check_measured({metric for each in found for metric in each.metrics["metric"]}, request)
    return found


@contextmanager
def _named(packets: _Packets) -> Iterator[None]:
    """Errors of a meter get the name and the time span of its trace."""
    try:
        yield
    except BdpbenchError as error:
        account = packets.trace.account
        hint = error.hint
        if "packets" not in account.tables:
            hint = hint or f"it has {lines_told(account)}"
        elif account.first_s is not None:
            hint = hint or f"it lasts from {account.first_s:g} s to {account.last_s:g} s"
        raise BdpbenchError(error.message, where=packets.name, hint=hint) from None


def _selected_metrics(sums: PacketSums, request: AnalysisRequest) -> pl.DataFrame:
    """The metrics that are asked for; selecting items of one kind leaves out other kinds."""
    if request.flows or request.links or request.nodes:
        flows = _chosen_flows(_flow_names(_flows_of(sums)), request)
        metrics = measure_packets(sums, flows, set(request.links), set(request.nodes))
    else:
        metrics = measure_packets(sums)
    if not request.metrics:
        return metrics
    return metrics.filter(pl.col("metric").is_in(list(request.metrics)))


def _flows_of(sums: PacketSums) -> Iterator[tuple[str, int | None]]:
    """Subject and flow id of each data flow."""
    return sums.flows.filter(pl.col("kind") == "data").select("subject", "flow").iter_rows()


def _chosen_flows(names: Mapping[str, Sequence[str]], request: AnalysisRequest) -> set[str]:
    """Subjects of the flows that are asked for."""
    return {subject for each in request.flows for subject in names.get(each, ())}


def _flow_names(flows: Iterable[tuple[str, int | None]]) -> dict[str, list[str]]:
    """Name that a user may give to a flow → the subjects that match."""
    by_name: dict[str, list[str]] = {}
    for subject, flow in flows:
        for name in (subject, subject.removeprefix("flow:"), str(flow)):
            by_name.setdefault(name, []).append(subject)
    return by_name


def _check_selected(sums: Sequence[PacketSums], request: AnalysisRequest) -> None:
    """Refuse a flow, link, node or capacity that none of the traces has."""
    links = list(dict.fromkeys(name for each in sums for name in each.links["subject"]))
    nodes = sorted({node for each in sums for node in each.nodes["node"].drop_nulls()})
    flows = [name for each in sums for name in _flow_names(_flows_of(each))]
    capacities = [f"link:{start}-{end}" for (start, end), _ in request.capacities]
    _check_known(request.flows, flows, "--flow", "flow")
    _check_known(request.links, links, "--link", "link")
    wanted = [f"node:{each}" for each in request.nodes]
    _check_known(wanted, [f"node:{each}" for each in nodes], "--node", "node")
    _check_known(capacities, links, "--capacity", "link")


def _check_measured(present: Collection[str], request: AnalysisRequest) -> None:
    """Refuse a metric that none of the traces has, of what is chosen."""
    for metric in request.metrics:
        if metric not in present:
            hint = "--flow, --link and --node leave out what is not of one of them"
            raise BdpbenchError(
                f"{metric} has no value: it is of a {PACKET_DEFINITIONS[metric].subject}",
                where="--metric",
                hint=hint if request.flows or request.links or request.nodes else "",
            )


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
