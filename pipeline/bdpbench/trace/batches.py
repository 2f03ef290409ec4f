"""Chunks of text → batches of rows, or sums of them; every line accounted for."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.trace.schema import TABLES
from bdpbench.trace.sources import Chunk, Source
from bdpbench.trace.text_lines import TABLE_OF_FORM, fault_of, is_heading, parse_text, parse_wired

_KEPT_LINES = 20
_SHOWN_CHARACTERS = 80
_ROUNDING = 1e-12
"""Rounding of sums of half units, s, far below the smallest of them; packets.c."""


@dataclass(frozen=True)
class Skipped:
    """A line that was left out: its place, its text, and the reason."""

    source: str
    line: int
    text: str
    reason: str

    def error(self, *, lenient: bool = False) -> BdpbenchError:
        """The same as an error, if lines may not be skipped or nothing could be read."""
        shown = (
            self.text
            if len(self.text) <= _SHOWN_CHARACTERS
            else self.text[:_SHOWN_CHARACTERS] + "..."
        )
        return BdpbenchError(
            f"{self.reason}; the line reads {shown!r}",
            where=f"{self.source}:{self.line}",
            hint="" if lenient else "--lenient skips such lines and counts them",
        )


@dataclass
class LineAccount:
    """The account of one reading of a trace; final once ``complete`` is true.

    Attributes:
        lines: lines read; parsed + skipped + headings.
        parsed: lines that became rows of any table.
        forms: name of a form → its number of lines; their sum is ``parsed``.
        headings: comments, titles and blank lines before the first line of a trace.
        skipped: lines left out, always 0 unless the trace was read leniently.
        first_skipped: the first of them.
        cut: sources whose last line was cut off; those lines count as skipped.
        backwards: lines whose time is earlier than that of the line before.
        first_s, last_s: time of the first and of the last parsed line, s.
        complete: whether the reading came to the end of the last source.
    """

    lines: int = 0
    parsed: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    headings: int = 0
    skipped: int = 0
    first_skipped: list[Skipped] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    backwards: int = 0
    first_s: float | None = None
    last_s: float | None = None
    complete: bool = False

    @property
    def tables(self) -> dict[str, int]:
        """Table → number of its lines, in the order of ``TABLES``."""
        counts = Counter[str]()
        for form, lines in self.forms.items():
            counts[TABLE_OF_FORM[form]] += lines
        return {table: counts[table] for table in TABLES if counts[table]}

    @property
    def forms_told(self) -> str:
        """The forms of the lines, the most frequent first."""
        return ", ".join(form for form, _ in self.forms.most_common())


class Sink(Protocol):
    """What sums packets, from text as far as it reads that, else from rows.

    Attributes:
        forms: names of the forms of lines that it reads.
        told: the lines that ``add_text`` has read: lines, forms (how many of each), and what
            ``Times`` has of them.
        is_done: whether further lines change nothing.
    """

    forms: Sequence[str]
    is_done: bool

    @property
    def told(self) -> Any:
        """What was read last."""

    def add_text(self, buffer: bytearray, start: int, length: int) -> int:
        """Sum lines up to one that it does not read; returns that place."""

    def left(self, buffer: bytearray, start: int, length: int) -> int:
        """The place up to which lines, the first of which it does not read, are left to rows."""

    def add_rows(self, batch: pl.DataFrame) -> None:
        """Sum rows."""

    def settle(self) -> None:
        """Called after all lines of a chunk."""


@dataclass(frozen=True)
class Times:
    """Times of the first and the last line of a batch, and where time runs backwards in it.

    Attributes:
        first_s, last_s: the times, s, known to first_unit_s and last_unit_s, half a unit of their
            last digits.
        first_line: which line is the first that has a time, counted from 0.
        backwards: how often time runs backwards.
        backwards_line, backwards_s, after_s: where first, and the times of that line and of the
            line before, s.
    """

    first_s: float
    first_unit_s: float
    last_s: float
    last_unit_s: float
    first_line: int = 0
    backwards: int = 0
    backwards_line: int = 0
    backwards_s: float = 0.0
    after_s: float = 0.0


_MAX_THREADS = 4
_READ_AHEAD = 1  # chunks per thread, so that no thread waits while the reader does
_CUT = "the last line was cut off: the file ends without a newline"


@dataclass
class _Batch:
    """Parsed lines; their numbers count from 0 at the first."""

    source: str
    lines: int
    rows: pl.DataFrame | None
    forms: dict[str, int] = field(default_factory=dict)
    bad: list[tuple[int, str]] = field(default_factory=list)
    times: Times | None = None
    curve: str | None = None
    cut: str | None = None


@dataclass(frozen=True)
class Reading:
    """How a trace is to be read.

    Attributes:
        table: the table whose rows are wanted; rows of other tables are counted and dropped.
        columns: its wanted columns, in order.
        lenient: whether unrecognised lines are skipped and times may run backwards.
    """

    table: str
    columns: Sequence[str]
    lenient: bool


def read_batches(
    sources: Sequence[Source], reading: Reading, account: LineAccount
) -> Iterator[pl.DataFrame]:
    """The rows of the sources, one after the other, in batches; updates the account on the way.

    Raises:
        BdpbenchError: for a source that cannot be read or is empty and, unless the reading is
            lenient, for the first line that is unrecognised or cut off, or whose time runs
            backwards: with source and line number.
    """
    accountant = _Accountant(account, reading.lenient)
    for source in sources:
        accountant.begin()
        curve = ""
        for batch in _parsed_in_order(source.chunks(), reading, account):
            accountant.add(batch)
            if batch.rows is not None and not batch.rows.is_empty():
                yield _named(batch.rows, curve)
            curve = curve if batch.curve is None else batch.curve
        accountant.end(source.name)
    account.complete = True


def sum_text(sources: Sequence[Source], reading: Reading, account: LineAccount, sink: Sink) -> None:
    """Sum the packets of the sources; unless the reading is lenient, up to the sink's end.

    Raises:
        BdpbenchError: as ``read_batches``, and as the sink.
    """
    accountant = _Accountant(account, reading.lenient)
    for source in sources:
        accountant.begin()
        for chunk in source.chunks():
            for batch in _summed(chunk, reading, account, sink):
                accountant.add(batch)
            sink.settle()
            if sink.is_done and not reading.lenient:
                return
        accountant.end(source.name)
    account.complete = True


def _named(rows: pl.DataFrame, curve: str) -> pl.DataFrame:
    """Samples of which the first, up to the next title in their chunk, are of an earlier curve."""
    if rows.schema.get("name") != pl.String:
        return rows
    return rows.with_columns(pl.col("name").fill_null(curve).replace("", None))


def _parsed_in_order(
    chunks: Iterable[Chunk], reading: Reading, account: LineAccount
) -> Iterator[_Batch]:
    threads = min(_MAX_THREADS, len(os.sched_getaffinity(0)))
    pending: deque[Future[_Batch]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for chunk in chunks:
            pending.append(pool.submit(_parse_chunk, chunk, reading, tuple(account.forms)))
            if len(pending) > _READ_AHEAD * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _parse_chunk(chunk: Chunk, reading: Reading, hint: Sequence[str]) -> _Batch:
    length, cut = _whole(chunk, hint)
    return _with_cut(_parsed(chunk, 0, length, reading, hint), cut)


def _whole(chunk: Chunk, hint: Sequence[str]) -> tuple[int, str | None]:
    """Length of the lines of a chunk, and a last line that was cut off."""
    if chunk.cut:
        whole = chunk.buffer.rfind(b"\n", 0, chunk.length - 1) + 1
        last = bytes(chunk.buffer[whole : chunk.length - 1])
        if not parse_text([last], [0], hint).forms:
            return whole, last.decode("utf-8", "replace")
    return chunk.length, None


def _with_cut(batch: _Batch, cut: str | None) -> _Batch:
    return replace(batch, cut=cut, lines=batch.lines + (cut is not None))


def _parsed(chunk: Chunk, start: int, end: int, reading: Reading, hint: Sequence[str]) -> _Batch:
    """The lines of a part of a chunk."""
    text = bytes(memoryview(chunk.buffer)[start:end])
    lines = text.count(b"\n")
    parsed = parse_wired(text) or parse_text(text.split(b"\n")[:-1], range(lines), hint)
    frame = parsed.frames.get(reading.table)
    rows = None if frame is None else frame.select(reading.columns)
    times = _times_of(parsed.times)
    return _Batch(chunk.source, lines, rows, parsed.forms, parsed.bad, times, parsed.curve)


def _summed(chunk: Chunk, reading: Reading, account: LineAccount, sink: Sink) -> Iterator[_Batch]:
    """Parts of a chunk whose rows have been summed."""
    start, (length, cut) = 0, _whole(chunk, tuple(account.forms))
    while start < length:
        start = sink.add_text(chunk.buffer, start, length)
        yield _told(chunk.source, sink)
        if start < length:
            end = sink.left(chunk.buffer, start, length)
            batch = _parsed(chunk, start, end, reading, tuple(account.forms))
            if batch.rows is not None:
                sink.add_rows(batch.rows)
            yield batch
            start = end
    if cut is not None:
        yield _with_cut(_Batch(chunk.source, 0, None), cut)


def _told(source: str, sink: Sink) -> _Batch:
    told = sink.told
    forms = {form: lines for form, lines in zip(sink.forms, told.forms, strict=True) if lines}
    names = [each.name for each in fields(Times) if each.name != "first_line"]
    times = Times(**{name: getattr(told, name) for name in names}) if told.lines else None
    return _Batch(source, told.lines, None, forms, times=times)


class _Accountant:
    """Adds batches to an account, in order, and raises if the reading is strict."""

    def __init__(self, account: LineAccount, lenient: bool) -> None:
        self._account = account
        self._lenient = lenient
        self._line, self._headings = 1, 0
        self._last: Times | None = None

    def begin(self) -> None:
        """Begin a source."""
        self._line, self._headings = 1, 0

    def end(self, name: str) -> None:
        """End a source."""
        if self._line == 1:
            raise BdpbenchError("the file is empty: expected a trace of ns-2", where=name)

    def add(self, batch: _Batch) -> None:
        """Add the next batch of the source; the first fault in it, in order of lines, is raised."""
        account, left = self._account, _KEPT_LINES - len(self._account.first_skipped)
        self._add_headings(batch)
        skipped = [
            Skipped(batch.source, self._line + index, text, fault_of(text))
            for index, text in batch.bad[:left]
        ]
        if batch.cut is not None:
            last = self._line + batch.lines - 1
            skipped = [*skipped, Skipped(batch.source, last, batch.cut, _CUT)][:left]
            account.cut.append(batch.source)
        faults = [(each.line, each.error()) for each in skipped] + self._add_times(batch)
        if faults and not self._lenient:
            raise min(faults, key=lambda fault: fault[0])[1]
        account.skipped += len(batch.bad) + (batch.cut is not None)
        account.first_skipped += skipped
        account.lines += batch.lines
        account.parsed += sum(batch.forms.values())
        account.forms.update(batch.forms)
        self._line += batch.lines

    def _add_headings(self, batch: _Batch) -> None:
        """Take those unrecognised lines out that stand before the first line of a trace."""
        while batch.bad and self._line + batch.bad[0][0] == self._headings + 1:
            if not is_heading(batch.bad[0][1]):
                break
            del batch.bad[0]
            self._headings += 1
            self._account.headings += 1

    def _add_times(self, batch: _Batch) -> list[tuple[int, BdpbenchError]]:
        """Note the times of a batch; returns where they run backwards."""
        times, last, found = batch.times, self._last, []
        if times is None:
            return []
        if last is not None:
            same = times.first_unit_s == last.last_unit_s
            slack = 0.0 if same else times.first_unit_s + last.last_unit_s + _ROUNDING
            if times.first_s < last.last_s - slack:
                found.append((1, times.first_line, times.first_s, last.last_s))
        if times.backwards:
            where = (times.backwards_line, times.backwards_s, times.after_s)
            found.append((times.backwards, *where))
        if self._account.first_s is None:
            self._account.first_s = times.first_s
        self._account.last_s = times.last_s
        self._account.backwards += sum(count for count, *_ in found)
        self._last = times
        return [
            (
                self._line + index,
                BdpbenchError(
                    f"time runs backwards: {time_s:.15g} s after {after_s:.15g} s",
                    where=f"{batch.source}:{self._line + index}",
                    hint="give the traces of several runs one by one, parts of one trace in their "
                    "order; --lenient keeps such lines and counts them",
                ),
            )
            for _, index, time_s, after_s in found
        ]


def _times_of(times: pl.DataFrame) -> Times | None:
    """The first and last of some times, and the places where time runs backwards."""
    if times.is_empty():
        return None
    unit, before = pl.col("half_unit_s"), pl.col("half_unit_s").shift(1)
    slack = pl.when(unit == before).then(0.0).otherwise(unit + before + _ROUNDING)
    backwards = times.with_columns(after_s=pl.col("time_s").shift(1)).filter(
        pl.col("time_s") < pl.col("after_s") - slack
    )
    first_line, first_s, first_unit_s = times.row(0)
    _, last_s, last_unit_s = times.row(-1)
    line, time_s, _, after_s = (0, 0.0, 0, 0.0) if backwards.is_empty() else backwards.row(0)
    ends = (first_s, first_unit_s, last_s, last_unit_s)
    return Times(*ends, first_line, backwards.height, line, time_s, after_s)
