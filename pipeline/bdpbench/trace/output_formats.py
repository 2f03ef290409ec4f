"""The columns of ns-2's output files, and the tables that the files become."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from bdpbench.contracts.runs import REDUCED_TABLES, TABLE_KEYS
from bdpbench.errors import BdpbenchError

BIC_DELAY_FIELDS = ("delay_min", "delay_avg", "delay_max", "low_utilization_indication")
"""What the monitor of BIC writes after cwnd on each line; accepted, but not kept."""

TRACE_EVENTS = ("+", "-", "r", "d", "h", "e")
"""Events of a wired trace: enqueue, dequeue, receive, drop, hop, error-model drop."""

TRANSFER_KINDS = ("flow", "object", "page")
"""What was transferred: the bytes of a finite flow, a web object, or all objects of a page."""


@dataclass(frozen=True)
class OutputFormat:
    """One kind of output file and the table that it becomes.

    Attributes:
        table: name of the table.
        version: version of the table's schema; it changes whenever the name, type or meaning of a
            column does.
        fields: the blank-separated fields of a line, in order, with the types of their columns.
        optional_fields: further fields that a file may have on all of its lines; not kept.
        counts: whether the numeric fields are counts and rates, which are never negative.
        signed: exceptions, which may be negative.
        rises: fields that never decrease from one line to the next.
        span: the fields of a beginning and of an end, which must not be earlier.
        words: text fields → their allowed words.
        may_be_empty: whether an empty file means that nothing happened.
        streamed: whether files are too large to be held in memory.
        reduced: whether files are already tables, made from a streamed packet trace.
    """

    table: str
    version: int
    fields: Mapping[str, pl.DataType]
    optional_fields: tuple[str, ...] = ()
    counts: bool = True
    signed: tuple[str, ...] = ()
    rises: tuple[str, ...] = ("time_s",)
    span: tuple[str, str] | None = None
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    may_be_empty: bool = False
    streamed: bool = False
    reduced: bool = False

    @property
    def key(self) -> Literal["flow", "link"] | None:
        """The column that distinguishes the table's files; None if the lines themselves do."""
        return TABLE_KEYS[self.table]

    @property
    def schema_id(self) -> str:
        """The value of ``bdpbench_schema`` in the table's file, e.g. ``cwnd/1``."""
        return f"{self.table}/{self.version}"

    @property
    def columns(self) -> list[str]:
        """Columns of the table in order: the time, the key, then the rest of the fields."""
        names = list(self.fields)
        return [names[0], self.key, *names[1:]] if self.key else names

    @property
    def field_counts(self) -> tuple[int, ...]:
        """Numbers of fields that a line may have."""
        plain = len(self.fields)
        return (plain, plain + len(self.optional_fields)) if self.optional_fields else (plain,)


_FLOAT, _INT, _LONG, _TEXT = pl.Float64(), pl.Int32(), pl.Int64(), pl.String()
_BY_TIME = {"time_s": _FLOAT}
_SPAN = ("start_s", "end_s")
_ENDED = dict.fromkeys(_SPAN, _FLOAT)
_WIRED = {
    "event": _TEXT,
    "time_s": _FLOAT,
    "from_node": _INT,
    "to_node": _INT,
    "type": _TEXT,
    "size_bytes": _INT,
    "flags": _TEXT,
    "flow": _INT,
    "src": _TEXT,
    "dst": _TEXT,
    **dict.fromkeys(("seq", "uid"), _LONG),
}

_FORMATS = (
    OutputFormat("cwnd", 1, {**_BY_TIME, "cwnd_pkts": _FLOAT}, optional_fields=BIC_DELAY_FIELDS),
    OutputFormat("ssthresh", 1, {**_BY_TIME, "ssthresh_pkts": _FLOAT}),
    OutputFormat("sequence", 1, {**_BY_TIME, "seq": _LONG}, rises=("time_s", "seq"), counts=False),
    OutputFormat(
        "acknowledged", 1, {**_BY_TIME, "ack": _LONG}, rises=("time_s", "ack"), counts=False
    ),
    OutputFormat("throughput", 1, {**_BY_TIME, "mbps": _FLOAT}),
    OutputFormat(
        "queue", 1, {**_BY_TIME, "pkts": _LONG, "drops": _LONG}, rises=("time_s", "drops")
    ),
    OutputFormat("utilization", 1, {**_BY_TIME, "mbps": _FLOAT}),
    OutputFormat("red", 1, {**_BY_TIME, "average_pkts": _FLOAT, "max_p": _FLOAT}),
    OutputFormat("recorded", 1, {**_BY_TIME, "name": _TEXT, "value": _FLOAT}),
    OutputFormat(
        *("transfers", 1, {"kind": _TEXT, "subject": _TEXT, **_ENDED, "bytes": _LONG}),
        rises=("end_s",),
        span=_SPAN,
        words={"kind": TRANSFER_KINDS},
        may_be_empty=True,
    ),
    OutputFormat(
        "pages",
        1,
        {"subject": _TEXT, "page": _LONG, **_ENDED, "objects": _LONG, "bytes": _LONG},
        rises=("end_s",),
        span=_SPAN,
        may_be_empty=True,
    ),
    OutputFormat(
        *("facts", 1, {"subject": _TEXT, "name": _TEXT, "value": _FLOAT, "unit": _TEXT}), rises=()
    ),
    # Agents without sequence numbers print -1.
    OutputFormat("packets", 1, _WIRED, counts=False, words={"event": TRACE_EVENTS}, streamed=True),
    *(OutputFormat(f"packet_{name}", 1, {}, reduced=True) for name in REDUCED_TABLES),
)

OUTPUT_FORMATS: Mapping[str, OutputFormat] = types.MappingProxyType(
    {each.table: each for each in _FORMATS}
)
"""Table → the format of its files."""


def output_format_of(table: str, *, where: str) -> OutputFormat:
    """The format of a table's files.

    Raises:
        BdpbenchError: for a table that bdpbench does not know.
    """
    if table not in OUTPUT_FORMATS:
        known = ", ".join(OUTPUT_FORMATS)
        raise BdpbenchError(f"unknown table {table!r}", where=where, hint=f"known tables: {known}")
    return OUTPUT_FORMATS[table]
