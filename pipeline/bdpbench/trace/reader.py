"""ns-2's text files as polars frames, with every line accounted for.

The files are read as whole lines and split into words here rather than by a CSV reader, which
raises an error for a double blank, hides surplus columns if it tolerates trailing blanks, and turns
a truncated line into nulls.
"""

from __future__ import annotations

import math
import re
import types
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from bdpbench.contracts.files import utf8_text
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
        fields: the blank-separated fields of a line, in order, with the types of their columns;
            none of files that are tables already, made from a streamed packet trace.
        optional_fields: further fields that a file may have on all of its lines; not kept.
        counts: whether the numeric fields are counts and rates, which are never negative.
        signed: exceptions, which may be negative.
        rises: fields that never decrease from one line to the next.
        span: the fields of a beginning and of an end, which must not be earlier.
        words: text fields → their allowed words.
        may_be_empty: whether an empty file means that nothing happened.
        streamed: whether files are too large to be held in memory.
        version: version of the table's schema; it changes whenever the name, type or meaning of a
            column does.
    """

    table: str
    fields: Mapping[str, pl.DataType]
    optional_fields: tuple[str, ...] = ()
    counts: bool = True
    signed: tuple[str, ...] = ()
    rises: tuple[str, ...] = ("time_s",)
    span: tuple[str, str] | None = None
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    may_be_empty: bool = False
    streamed: bool = False
    version: int = 1

    @property
    def key(self) -> Literal["flow", "link"] | None:
        """The column that distinguishes the table's files; None if the lines themselves do."""
        return TABLE_KEYS[self.table]

    @property
    def reduced(self) -> bool:
        """Whether files are already tables."""
        return not self.fields

    @property
    def schema_id(self) -> str:
        """The value of ``bdpbench_schema`` in the table's file, e.g. ``cwnd/1``."""
        return f"{self.table}/{self.version}"

    @property
    def columns(self) -> list[str]:
        """Columns of the table in order: the time, the key, then the rest of the fields."""
        names = list(self.fields)
        return [names[0], self.key, *names[1:]] if self.key else names


_FLOAT, _INT, _LONG, _TEXT = pl.Float64(), pl.Int32(), pl.Int64(), pl.String()
_BY_TIME = {"time_s": _FLOAT}
_SPAN = ("start_s", "end_s")
_FACTS = {"subject": _TEXT, "name": _TEXT, "value": _FLOAT, "unit": _TEXT}
_WIRED = {
    "event": _TEXT,
    "time_s": _FLOAT,
    "from_node": _INT,
    "to_node": _INT,
    "type": _TEXT,
    "size_bytes": _INT,
    "flags": _TEXT,
    "flow": _INT,
    **dict.fromkeys(("src", "dst"), _TEXT),
    **dict.fromkeys(("seq", "uid"), _LONG),
}
_TRANSFER = {"kind": _TEXT, "subject": _TEXT, **dict.fromkeys(_SPAN, _FLOAT), "bytes": _LONG}

_FORMATS = (
    OutputFormat("cwnd", {**_BY_TIME, "cwnd_pkts": _FLOAT}, optional_fields=BIC_DELAY_FIELDS),
    OutputFormat("ssthresh", {**_BY_TIME, "ssthresh_pkts": _FLOAT}),
    # Agents without sequence numbers print -1.
    OutputFormat("sequence", {**_BY_TIME, "seq": _LONG}, counts=False, rises=("time_s", "seq")),
    OutputFormat("acknowledged", {**_BY_TIME, "ack": _LONG}, counts=False, rises=("time_s", "ack")),
    OutputFormat("throughput", {**_BY_TIME, "mbps": _FLOAT}),
    OutputFormat("queue", {**_BY_TIME, "pkts": _LONG, "drops": _LONG}, rises=("time_s", "drops")),
    OutputFormat("utilization", {**_BY_TIME, "mbps": _FLOAT}),
    OutputFormat("red", {**_BY_TIME, "average_pkts": _FLOAT, "max_p": _FLOAT}),
    OutputFormat("recorded", {**_BY_TIME, "name": _TEXT, "value": _FLOAT}),
    OutputFormat(
        *("transfers", _TRANSFER),
        rises=("end_s",),
        span=_SPAN,
        words={"kind": TRANSFER_KINDS},
        may_be_empty=True,
    ),
    OutputFormat("facts", _FACTS, rises=()),
    OutputFormat("packets", _WIRED, counts=False, words={"event": TRACE_EVENTS}, streamed=True),
    *(OutputFormat(f"packet_{name}", {}) for name in REDUCED_TABLES),
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


# ---------------------------------------------------------------- reading

_LINE, _LINE_TEXT, _WORDS = "_line", "_text", "_words"
_SHOWN = 80
_LINES: dict[str, Any] = {"encoding": "utf-8", "errors": "replace", "newline": "\n"}
_DAMAGED = "the file is damaged, or another program wrote it: simulate the run again"


def read_output(
    path: Path,
    table: str,
    *,
    flow: int | None = None,
    link: str | None = None,
    names: Sequence[str] = (),
) -> pl.LazyFrame:
    """Read one output file of ns-2 as rows of ``table``, in the order of the file.

    Fields are separated by any number of blanks or tabs, which may also begin or end a line. Files
    of ``cwnd`` may have BIC's four further columns, which are checked and dropped. The whole file
    is checked before this function returns, so that collecting the frame does not fail.

    Args:
        path: the file.
        table: one of ``OUTPUT_FORMATS``.
        flow: flow id, for a file of a flow's table, such as cwnd.
        link: name of the link, for a file of a link's table, such as queue.
        names: variables that follow cwnd in a cwnd file, in order.

    Returns:
        cwnd: time_s (f64, s), flow (i32), cwnd_pkts (f64, packets of the flow's size).
        recorded: from the same file, time_s (f64, s), flow (i32), name (str), value (f64); a row
            for each sample and variable of ``names``.
        throughput: time_s (f64, s, end of the interval), flow (i32), mbps (f64, Mbit/s).
        queue: time_s (f64, s), link (str), pkts (i64, packets now), drops (i64, packets so far).
        utilization: time_s (f64, s, end of the interval), link (str), mbps (f64, Mbit/s).
        red: time_s (f64, s), link (str), average_pkts (f64, packets, RED's average queue),
        max_p (f64).
        transfers: kind (str, of ``TRANSFER_KINDS``), subject (str, who), start_s, end_s (f64, s),
        bytes (i64); a row for each finished transfer.
        facts: subject, name (str), value (f64), unit (str), as in ``read_facts``.
        packets: event (str), time_s (f64, s), from_node, to_node (i32), type (str),
        size_bytes (i32), flags (str), flow (i32), src, dst (str), seq, uid (i64): the twelve
        columns of ns-2's wired trace; lazy, for files larger than memory.

    Raises:
        BdpbenchError: with file, line, its text and what was expected, for an empty file, a
            truncated last line, a wrong number of fields, a field that is not a (finite) number of
            its type, a negative count or rate, a time or drop counter that runs backwards, an
            unknown trace event; for a missing file; and for a table, flow and link that do not
            match, or a table whose files are not text.
    """
    form = output_format_of(table, where=str(path))
    if form.reduced:
        raise BdpbenchError(f"files of table {table} are parquet, not text", where=str(path))
    key = _key_columns(path, form, flow=flow, link=link)
    if table == "facts":
        return read_facts(path).lazy()
    if form.may_be_empty and path.is_file() and path.stat().st_size == 0:
        return pl.LazyFrame(schema=dict(form.fields)).with_columns(key).select(form.columns)
    if table == "recorded" and not names:
        raise BdpbenchError("table recorded has no names of variables", where=str(path))
    if not names:
        rows = _read_lines(path, form)
    else:
        fields = {**OUTPUT_FORMATS["cwnd"].fields, **dict.fromkeys(names, _FLOAT)}
        rows = _read_lines(path, OutputFormat("cwnd", fields, signed=tuple(names)))
        if table == "recorded":
            rows = rows.unpivot(names, index="time_s", variable_name="name")
            rows = rows.sort("time_s", maintain_order=True)
    return rows.with_columns(key).select(form.columns)


def _key_columns(
    path: Path, form: OutputFormat, *, flow: int | None, link: str | None
) -> list[pl.Expr]:
    given = {name: value for name, value in (("flow", flow), ("link", link)) if value is not None}
    if list(given) != ([form.key] if form.key else []):
        expected = f"a {form.key}" if form.key else "neither flow nor link"
        got = ", ".join(f"{name} {value}" for name, value in given.items()) or "neither"
        raise BdpbenchError(
            f"a file of table {form.table} takes {expected}, got {got}", where=str(path)
        )
    dtypes = {"flow": _INT, "link": _TEXT}
    return [pl.lit(value, dtype=dtypes[name]).alias(name) for name, value in given.items()]


def _read_lines(path: Path, form: OutputFormat) -> pl.LazyFrame:
    """The fields of a file, with each line checked.

    Raises:
        BdpbenchError: for the first line that does not match the format.
    """
    fields = _fields_of(path, form)
    words = pl.col(_LINE_TEXT).str.extract_all(r"\S+").alias(_WORDS)
    columns = (
        pl.col(_WORDS).list.get(place, null_on_oob=True).cast(dtype, strict=False).alias(name)
        for place, (name, dtype) in enumerate(fields.items())
    )
    before = (pl.col(name).shift(1).alias(f"_before_{name}") for name in form.rises)
    faulty = pl.any_horizontal(fault for fault, *_ in _faults(form, fields))
    rows = (
        pl.scan_lines(path, name=_LINE_TEXT, row_index_name=_LINE, row_index_offset=1, glob=False)
        .with_columns(words)
        .with_columns(columns)
        .with_columns(before)
        .with_columns(_faulty=faulty)
    )
    try:
        if not form.streamed:
            rows = rows.drop(_WORDS).collect().lazy()
        first = rows.filter("_faulty").head(1).collect().with_columns(words)
    except pl.exceptions.ComputeError:  # it names no line
        with path.open(**_LINES) as lines:
            bad = next(
                each for each in enumerate(lines, 1) if "\N{REPLACEMENT CHARACTER}" in each[1]
            )
        raise _line_error(path, *bad, "the line is not text") from None
    for row in first.iter_rows(named=True):
        faults = (each for each in _faults(form, fields) if first.select(each[0]).item())
        _, place, text = next(faults)
        word = row[_WORDS][place] if place < len(row[_WORDS]) else ""
        said = text.format(word=word, count=len(row[_WORDS]), **row)
        raise _line_error(path, row[_LINE], row[_LINE_TEXT], said)
    return rows.select(list(form.fields))


def _fields_of(path: Path, form: OutputFormat) -> dict[str, pl.DataType]:
    """The fields that the lines of a file should have, by its first; also checks its ends."""
    try:
        with path.open("rb") as stream:
            first = stream.readline()
            if first:
                stream.seek(-1, 2)
            is_whole = stream.read(1) == b"\n"
    except OSError as error:
        said = f"{error.strerror}: expected an output of ns-2 for table {form.table}"
        raise BdpbenchError(said, where=str(path)) from None
    if not first:
        said = f"the file is empty: expected lines of {_fields_text(form.fields)}"
        raise BdpbenchError(said, where=str(path), hint=_DAMAGED)
    if not is_whole:
        with path.open(**_LINES) as lines:
            last = deque(enumerate(lines, 1), maxlen=1).pop()
        expected = f"expected {_fields_text(form.fields)} and the end of the line"
        raise _line_error(path, *last, f"the last line was cut off: {expected}")
    all_fields = {**form.fields, **dict.fromkeys(form.optional_fields, _FLOAT)}
    return all_fields if len(first.split()) == len(all_fields) else dict(form.fields)


def _faults(
    form: OutputFormat, fields: Mapping[str, pl.DataType]
) -> Iterator[tuple[pl.Expr, int, str]]:
    """What may be wrong with a line: when it is, in which field, and in what words."""
    yield (
        pl.col(_WORDS).list.len() != len(fields),
        0,
        f"expected {_fields_text(fields)}, got {{count}}",
    )
    for place, (name, dtype) in enumerate(fields.items()):
        value = pl.col(name)
        if name in form.optional_fields:
            last = list(form.fields)[-1]
            yield value.is_null(), place, f"expected numbers in the fields after {last}"
            continue
        kind = "a number" if dtype.is_float() else "a whole number"
        yield value.is_null(), place, f"{name}: expected {kind}, got {{word!r}}"
        if dtype.is_float():
            yield ~value.is_finite(), place, f"{name}: expected a finite number, got {{word!r}}"
        if form.counts and dtype.is_numeric() and name not in form.signed:
            yield value < 0, place, f"{name}: expected a number of at least 0, got {{word!r}}"
        if name in form.words:
            known = " ".join(form.words[name])
            unknown = ~value.is_in(form.words[name])
            yield unknown, place, f"{name}: expected one of {known}, got {{word!r}}"
        if name in form.rises:
            before = f"_before_{name}"
            text = f"{name} runs backwards: {{{name}:g}} after {{{before}:g}}"
            yield value < pl.col(before), place, text
    if form.span is not None:
        start, end = form.span
        text = f"{end} is before {start}: {{{end}:g}} and {{{start}:g}}"
        yield pl.col(end) < pl.col(start), 0, text


def _fields_text(fields: Mapping[str, pl.DataType]) -> str:
    return f"{len(fields)} fields ({', '.join(fields)})"


def _line_error(path: Path, number: int, text: str, finding: str) -> BdpbenchError:
    shown = text.rstrip("\n")
    shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."
    return BdpbenchError(
        f"{finding}; the line reads {shown!r}", where=f"{path}:{number}", hint=_DAMAGED
    )


# ---- report.txt: what a script counted, among remarks for readers ----

_FACT = re.compile(
    r"\s*(?P<subject>flow\.\d+|link\.[^\s.]+|run)\.(?P<name>\S+)"
    r"\s+(?P<value>\S+)(?:\s+(?P<unit>\S+))?\s*"
)


def read_facts(path: Path) -> pl.DataFrame:
    """Read the lines ``key value unit`` of a report; all others are remarks.

    A key is ``flow.<index>.<name>``, ``link.<name of the link>.<name>`` or ``run.<name>``, and the
    value a number.

    Returns:
        subject (str: "flow:0", "link:bottleneck", "run"), name (str), value (f64, in the unit),
        unit (str, "" if there is none), in the order of the report.

    Raises:
        BdpbenchError: for a missing file, a file that is not text, a fact that occurs twice, or a
            number that is not finite.
    """
    try:
        lines = utf8_text(path).splitlines()
    except OSError as error:
        said = f"{error.strerror}: expected a script's report"
        raise BdpbenchError(said, where=str(path)) from None
    facts: dict[tuple[str, str], tuple[float, str]] = {}
    for number, line in enumerate(lines, start=1):
        found = _FACT.fullmatch(line)
        try:
            value = float(found["value"]) if found else None
        except ValueError:
            value = None
        if found is None or value is None:
            continue
        subject, name, where = found["subject"].replace(".", ":"), found["name"], f"{path}:{number}"
        if (subject, name) in facts:
            raise BdpbenchError(f"the fact {name} of {subject} stands here again", where=where)
        if not math.isfinite(value):
            raise BdpbenchError(f"{name} of {subject}: expected a finite number", where=where)
        facts[subject, name] = (value, found["unit"] or "")
    rows = [(*key, *fact) for key, fact in facts.items()]
    return pl.DataFrame(rows, schema=_FACTS, orient="row")
