"""The results of `bdpbench analyze` for a packet trace, for output as text or files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import polars as pl

from bdpbench.metrics.packets import PacketSums
from bdpbench.trace import LineAccount


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


class LeftOut(TypedDict):
    """A skipped line, and the reason."""

    source: str
    line: int
    text: str
    reason: str


class AccountDocument(TypedDict):
    """The account of a trace's lines in files: counts, and the first skipped lines."""

    lines: int
    parsed: int
    forms: dict[str, int]
    skipped: int
    first_skipped: list[LeftOut]
    cut: list[str]
    backwards: int
    complete: bool


def account_of(account: LineAccount) -> AccountDocument:
    """The account of a trace's lines, for files: counts, and the first skipped lines."""
    return {
        "lines": account.lines,
        "parsed": account.parsed,
        "forms": dict(account.forms),
        "skipped": account.skipped,
        "first_skipped": [
            {"source": each.source, "line": each.line, "text": each.text, "reason": each.reason}
            for each in account.first_skipped
        ],
        "cut": list(account.cut),
        "backwards": account.backwards,
        "complete": account.complete,
    }
