"""The request of a `bdpbench analyze` command line, checked before any trace is read."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from bdpbench.app.analyze.files import SUFFIXES
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import PACKET_DEFINITIONS, Window


@dataclass(frozen=True)
class AnalysisRequest:
    """What to measure in which trace, checked.

    Attributes:
        traces: files, or "-" for standard input: parts of one trace, or traces to compare.
        labels: labels of the traces to compare; empty for the parts of one.
        output: file to write, or None.
        window: time to measure.
        flows, links, nodes, metrics: selected ones; empty for all.
        bin_s: width of the bins of the series, s; None to choose it.
        capacities: (from_node, to_node) → Mbit/s.
        lenient: skip unrecognised lines.
    """

    traces: Sequence[str]
    labels: Sequence[str] = ()
    output: Path | None = None
    window: Window = field(default_factory=Window)
    flows: Sequence[str] = ()
    links: Sequence[str] = ()
    nodes: Sequence[int] = ()
    metrics: Sequence[str] = ()
    bin_s: float | None = None
    capacities: dict[tuple[int, int], float] = field(default_factory=dict)
    lenient: bool = False


def request_of(
    traces: Sequence[str],
    *,
    labels: Sequence[str] = (),
    parts: bool = False,
    output: Path | None = None,
    window: str | None = None,
    flows: Sequence[str] = (),
    links: Sequence[str] = (),
    nodes: Sequence[int] = (),
    metrics: Sequence[str] = (),
    bin_s: float | None = None,
    capacities: Sequence[str] = (),
    lenient: bool = False,
) -> AnalysisRequest:
    """Check the options of a command line before any trace is read.

    The options are those of the command; ``parts`` says that the files are parts of one trace.

    Raises:
        BdpbenchError: naming the option, for an invalid suffix, window, metric, bin, link or
            capacity, and for several files without --parts or --label.
    """
    _check_several(traces, labels, parts=parts)
    _check_output(output)
    for metric in metrics:
        _check_metric(metric)
    if bin_s is not None and not (bin_s >= 1e-3 and math.isfinite(bin_s)):
        raise BdpbenchError(f"{bin_s:g} is not a width: expected 0.001 s or more", where="--bin")
    return AnalysisRequest(
        traces,
        labels,
        output,
        _window_of(window),
        flows,
        [f"link:{'-'.join(map(str, _link_of(each, '--link')))}" for each in links],
        nodes,
        metrics,
        bin_s,
        dict(_capacity_of(each) for each in capacities),
        lenient,
    )


def _check_several(traces: Sequence[str], labels: Sequence[str], *, parts: bool) -> None:
    """Refuse several files that are neither labelled nor declared as parts, and wrong labels."""
    if parts and labels:
        raise BdpbenchError(
            "parts of one trace have no labels",
            where="--label",
            hint="give --parts to join the files, or --label for each to compare them",
        )
    if len(traces) > 1 and not parts and not labels:
        raise BdpbenchError(
            f"{len(traces)} files may be parts of one trace, or traces to compare",
            where="TRACE...",
            hint="give --parts to join them in this order, or --label NAME for each to compare",
        )
    if labels and len(labels) != len(traces):
        raise BdpbenchError(
            f"{len(labels)} labels for {len(traces)} traces: expected one for each",
            where="--label",
        )
    _check_labels(traces, labels)


def _check_labels(traces: Sequence[str], labels: Sequence[str]) -> None:
    if len(labels) == 1:
        raise BdpbenchError("a single trace cannot be compared", where="--label")
    for index, label in enumerate(labels):
        if not label.strip() or not label.isprintable():
            raise BdpbenchError(f"{label!r} is not a label", where="--label")
        if label in labels[:index]:
            raise BdpbenchError(f"two traces have the label {label!r}", where="--label")
    if labels and traces.count("-") > 1:
        raise BdpbenchError("standard input can be read only once", where="TRACE...")


def _check_output(output: Path | None) -> None:
    if output is None:
        return
    if output.suffix.lower() not in SUFFIXES:
        raise BdpbenchError(
            f"the suffix of {output.name!r} names no known format",
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
            f"{text!r} is not a window: expected START:END in seconds, START below END",
            where="--window",
            hint="50:500 measures from 50 s to just before 500 s, and 50: from 50 s to the end",
        ) from None
    return window


def _link_of(text: str, where: str) -> tuple[int, int]:
    found = re.fullmatch(r"(?:link:)?(-?\d{1,9})-(-?\d{1,9})", text)
    if found is None:
        raise BdpbenchError(f"{text!r} is not a link: expected two nodes, as in 0-1", where=where)
    return int(found[1]), int(found[2])


def _capacity_of(text: str) -> tuple[tuple[int, int], float]:
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
    return _link_of(link, "--capacity"), mbps
