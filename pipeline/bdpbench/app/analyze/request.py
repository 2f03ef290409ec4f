"""The request of a `bdpbench analyze` command line, checked before any trace is read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from bdpbench.app.analyze.files import SUFFIXES
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import PACKET_DEFINITIONS, Window


@dataclass
class AnalysisRequest:
    """The options of a command line: what to measure in which trace.

    Attributes:
        traces: files, or "-" for standard input: parts of one trace, or traces to compare.
        labels: labels of the traces to compare.
        parts: whether the files are parts of one trace, in this order.
        output: file to write, or None.
        window: START:END, s; None for the whole trace.
        flows, links, nodes, metrics: selected ones; empty for all.
        bin_s: width of the bins of the series, s; None to choose it.
        capacities: LINK=MBPS.
        lenient: skip unrecognised lines.
        span: the window.
        link_subjects: subjects of the selected links.
        capacity_mbps: (from_node, to_node) → Mbit/s.

    Raises:
        BdpbenchError: naming the option, for an invalid suffix, window, metric, bin, link or
            capacity, and for several files without --parts or --label.
    """

    traces: Sequence[str]
    labels: Sequence[str] = ()
    parts: bool = False
    output: Path | None = None
    window: str | None = None
    flows: Sequence[str] = ()
    links: Sequence[str] = ()
    nodes: Sequence[int] = ()
    metrics: Sequence[str] = ()
    bin_s: float | None = None
    capacities: Sequence[str] = ()
    lenient: bool = False
    span: Window = field(init=False)
    link_subjects: Sequence[str] = field(init=False)
    capacity_mbps: Mapping[tuple[int, int], float] = field(init=False)

    def __post_init__(self) -> None:
        self._check_files()
        self._check_labels()
        for metric in self.metrics:
            _check_metric(metric)
        if self.bin_s is not None and not (self.bin_s >= 1e-3 and math.isfinite(self.bin_s)):
            said = f"{self.bin_s:g} is not a width: expected 0.001 s or more"
            raise BdpbenchError(said, where="--bin")
        self.span = _window_of(self.window)
        ends = [_link_of(each, "--link") for each in self.links]
        self.link_subjects = [f"link:{start}-{end}" for start, end in ends]
        self.capacity_mbps = dict(_capacity_of(each) for each in self.capacities)

    def _check_files(self) -> None:
        """Refuse several files that are neither labelled nor parts, and an unfit output file."""
        if len(self.traces) > 1 and not self.parts and not self.labels:
            raise BdpbenchError(
                f"{len(self.traces)} files may be parts of one trace, or traces to compare",
                where="TRACE...",
                hint="give --parts to join them in this order, or --label NAME for each to compare",
            )
        if self.labels and self.traces.count("-") > 1:
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
        wrong, hint = "", ""
        if self.labels and self.parts:
            wrong = "parts of one trace have no labels"
            hint = "give --parts to join the files, or --label for each to compare them"
        elif self.labels and len(self.labels) != len(self.traces):
            counts = f"{len(self.labels)} labels for {len(self.traces)} traces"
            wrong = f"{counts}: expected one for each"
        elif len(self.labels) == 1:
            wrong = "a single trace cannot be compared"
        for index, label in enumerate(self.labels if not wrong else ()):
            if not label.strip() or not label.isprintable():
                wrong = f"{label!r} is not a label"
            elif label in self.labels[:index]:
                wrong = f"two traces have the label {label!r}"
        if wrong:
            raise BdpbenchError(wrong, where="--label", hint=hint)


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
    start, colon, end = (":" if text is None else text).partition(":")
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
