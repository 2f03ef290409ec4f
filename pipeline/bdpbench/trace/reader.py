"""ns-2's text files as polars frames, with every line accounted for.

The files are read as whole lines and split here rather than by a CSV reader, which raises an error
for a double blank, hides surplus columns if it tolerates trailing blanks, and turns a truncated
line into nulls.
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


# ---------------------------------------------------------------- reading

_LINE = "_line"
_LINE_TEXT = "_text"
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
        pages: subject (str, whose), page (i64, its number), start_s, end_s (f64, s), objects,
        bytes (i64); a row for each finished web page.
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
    if names:
        fields = {**OUTPUT_FORMATS["cwnd"].fields, **dict.fromkeys(names, pl.Float64())}
        wide = _read_lines(path, OutputFormat("cwnd", 0, fields, signed=tuple(names)))
        long = wide.unpivot(names, index="time_s", variable_name="name", value_name="value")
        rows = long.sort("time_s", maintain_order=True) if table == "recorded" else wide
    else:
        rows = _read_lines(path, form)
    return rows.with_columns(key).select(form.columns)


def _read_lines(path: Path, form: OutputFormat) -> pl.LazyFrame:
    """The fields of a file, with each line checked.

    Raises:
        BdpbenchError: for the first line that does not match the format.
    """
    field_count = _checked_field_count(path, form)
    before = (pl.col(name).shift(1).alias(f"_before_{name}") for name in form.rises)
    faulty = pl.any_horizontal(pl.col("_surplus"), *(fault for fault, *_ in _faults(form)))
    parsed = _parse(path, form, field_count).with_columns(before).with_columns(_faulty=faulty)
    try:
        found = parsed if form.streamed else parsed.collect().lazy()
        first = found.filter("_faulty").head(1).collect()
    except pl.exceptions.ComputeError:  # it names no line
        raise _undecodable(path) from None
    if not first.is_empty():
        finding = _diagnose(form, field_count, first)
        raise _line_error(path, first[_LINE].item(), first[_LINE_TEXT].item(), finding)
    return found.select(list(form.fields))


def _undecodable(path: Path) -> BdpbenchError:
    """The error about the first line that is not text."""
    with path.open(**_LINES) as stream:
        number, line = next(
            each for each in enumerate(stream, 1) if "\N{REPLACEMENT CHARACTER}" in each[1]
        )
    return _line_error(path, number, line, "the line is not text")


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
    dtypes = {"flow": pl.Int32(), "link": pl.String()}
    return [pl.lit(value, dtype=dtypes[name]).alias(name) for name, value in given.items()]


def _checked_field_count(path: Path, form: OutputFormat) -> int:
    """Number of fields of the first line, which all must have; also checks the ends of the file.

    An invalid number of fields in the first line is reported later, by the check of the lines.
    """
    expected = _fields_text(form, len(form.fields))
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
        said = f"the file is empty: expected lines of {expected}"
        raise BdpbenchError(said, where=str(path), hint=_DAMAGED)
    if not is_whole:
        with path.open(**_LINES) as lines:
            number, text = deque(enumerate(lines, 1), maxlen=1).pop()
        said = f"the last line was cut off: expected {expected} and the end of the line"
        raise _line_error(path, number, text, said)
    count = len(first.split())
    return count if count in form.field_counts else len(form.fields)


def _parse(path: Path, form: OutputFormat, field_count: int) -> pl.LazyFrame:
    """Columns of the format, null if a field is invalid, with the line's number and text.

    ``_surplus`` is the text after field_count fields; ``_optional`` counts the optional fields that
    are numbers.
    """
    fields = list(form.fields) + list(form.optional_fields)[: field_count - len(form.fields)]
    names = [f"_field_{index}" for index in range(len(fields))]
    single_blanks = pl.col(_LINE_TEXT).str.replace_all(r"\s+", " ").str.strip_chars(" ")
    split = single_blanks.str.splitn(" ", field_count + 1).struct.rename_fields(
        [*names, "_surplus"]
    )
    columns = [
        pl.col(name).cast(dtype, strict=False).alias(field)
        for name, (field, dtype) in zip(names, form.fields.items(), strict=False)
    ]
    optional = [
        pl.col(name).cast(pl.Float64, strict=False).is_not_null()
        for name in names[len(form.fields) :]
    ]
    return (
        pl.scan_lines(path, name=_LINE_TEXT, row_index_name=_LINE, row_index_offset=1, glob=False)
        .select(_LINE, _LINE_TEXT, split.alias("_split"))
        .unnest("_split")
        .select(
            _LINE,
            _LINE_TEXT,
            *columns,
            _optional=pl.all_horizontal(pl.lit(True), *optional),
            _surplus=pl.col("_surplus").is_not_null(),
        )
    )


def _faults(form: OutputFormat) -> Iterator[tuple[pl.Expr, str, str]]:
    """What may be wrong with a line: when it is, with which field, and in what words."""
    for name, dtype in form.fields.items():
        value = pl.col(name)
        kind = "a number" if dtype.is_float() else "a whole number"
        yield value.is_null(), name, f"{name}: expected {kind}, got {{word!r}}"
        if dtype.is_float():
            yield ~value.is_finite(), name, f"{name}: expected a finite number, got {{word!r}}"
        if form.counts and dtype.is_numeric() and name not in form.signed:
            yield value < 0, name, f"{name}: expected a number of at least 0, got {{word!r}}"
        if name in form.words:
            words = " ".join(form.words[name])
            unknown = ~value.is_in(form.words[name])
            yield unknown, name, f"{name}: expected one of {words}, got {{word!r}}"
        if name in form.rises:
            before = f"_before_{name}"
            text = f"{name} runs backwards: {{{name}:g}} after {{{before}:g}}"
            yield value < pl.col(before), name, text
    last = list(form.fields)[-1]
    yield ~pl.col("_optional"), last, f"expected numbers in the fields after {last}"
    if form.span is not None:
        start, end = form.span
        text = f"{end} is before {start}: {{{end}:g}} and {{{start}:g}}"
        yield pl.col(end) < pl.col(start), end, text


def _diagnose(form: OutputFormat, field_count: int, line: pl.DataFrame) -> str:
    """What is wrong with a line that has a fault, and what was expected."""
    row = line.row(0, named=True)
    words = str(row[_LINE_TEXT]).split()
    if len(words) != field_count:
        return f"expected {_fields_text(form, field_count)}, got {len(words)}"
    by_field = dict(zip(form.fields, words, strict=False))
    faults = (each for each in _faults(form) if line.select(each[0]).item())
    _, name, text = next(faults)
    return text.format(word=by_field[name], **row)


def _fields_text(form: OutputFormat, field_count: int) -> str:
    names = [*form.fields, *form.optional_fields][:field_count]
    return f"{len(names)} fields ({', '.join(names)})"


def _line_error(path: Path, number: int, text: str, finding: str) -> BdpbenchError:
    shown = text.rstrip("\n")
    shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."
    return BdpbenchError(
        f"{finding}; the line reads {shown!r}", where=f"{path}:{number}", hint=_DAMAGED
    )


# ---- report.txt: what a script counted, among remarks for readers ----

_FACTS_SCHEMA = {"subject": pl.String, "name": pl.String, "value": pl.Float64, "unit": pl.String}

_FACT = re.compile(
    r"\s*(?P<subject>flow\.\d+|link\.[^\s.]+|run)\.(?P<name>\S+)"
    r"\s+(?P<value>\S+)(?:\s+(?P<unit>\S+))?\s*"
)


def read_facts(path: Path) -> pl.DataFrame:
    """Read the lines ``key value unit`` of a report; all others are remarks.

    A key is ``flow.<index>.<name>``, ``link.<name of the link>.<name>`` or ``run.<name>``, and the
    value a number.

    Args:
        path: path of the report.

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
    return pl.DataFrame(rows, schema=_FACTS_SCHEMA, orient="row")
