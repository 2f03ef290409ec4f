"""Chunks of text → batches of rows: in order, by several threads, every line accounted for."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from bdpbench.compiled import LineSink, PackedRows
from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.trace import native
from bdpbench.trace.schema import TABLES
from bdpbench.trace.sources import CHUNK_BYTES, TOLD_BYTES, Chunk, Source
from bdpbench.trace.text_lines import (
    LINE,
    TABLE_OF_FORM,
    ParsedText,
    fault_of,
    is_heading,
    parse_text,
)

_KEPT_LINES = 20
_SHOWN_CHARACTERS = 80


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


@dataclass(frozen=True)
class RunsBackwards:
    """A line whose time is earlier than that of the line before, both in seconds."""

    source: str
    line: int
    time_s: float
    after_s: float

    def error(self) -> BdpbenchError:
        """The same as an error, if times must not run backwards."""
        return BdpbenchError(
            f"time runs backwards: {self.time_s:.15g} s after {self.after_s:.15g} s",
            where=f"{self.source}:{self.line}",
            hint="give the traces of several runs one by one, parts of one trace in their order; "
            "--lenient keeps such lines and counts them",
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
        first_backwards: the first of them.
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
    first_backwards: RunsBackwards | None = None
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

    def skip(self, skipped: Skipped) -> None:
        """Count a line that is left out."""
        self.skipped += 1
        if len(self.first_skipped) < _KEPT_LINES:
            self.first_skipped.append(skipped)


_MAX_THREADS = 4
_MANY = 10
_CHUNKS_AT_ONCE = 16  # of lines that are told
_READ_AHEAD = 1  # chunks per thread, so that no thread waits while the reader does
_CUT = "the last line was cut off: the file ends without a newline"


@dataclass
class _Batch:
    """A parsed chunk; line numbers count from 0 at its beginning."""

    source: str
    lines: int
    rows: pl.DataFrame | PackedRows | None
    forms: dict[str, int] = field(default_factory=dict)
    bad: list[tuple[int, str]] = field(default_factory=list)
    times: native.Times | None = None
    curve: str | None = None
    cut: str | None = None


@dataclass(frozen=True)
class Reading:
    """How a trace is to be read.

    Attributes:
        table: the table whose rows are wanted; rows of other tables are counted and dropped.
        columns: its wanted columns, in order.
        lenient: whether unrecognised lines are skipped and times may run backwards.
        is_packed: whether rows that C has parsed are left as it leaves them, where all lines are.
        parser: the parsers in C, or None to read all lines by their patterns.
        sink: what wired lines are told to, or None.
    """

    table: str
    columns: Sequence[str]
    lenient: bool
    parser: native.LineParser | None
    is_packed: bool = False
    sink: LineSink | None = None


def read_batches(
    sources: Sequence[Source], reading: Reading, account: LineAccount
) -> Iterator[pl.DataFrame | PackedRows | None]:
    """The rows of the sources, one after the other, in batches; updates the account on the way.

    As long as there is a sink that takes them, wired lines are told to it, and None stands for
    those of a chunk; batches between them have to be added before the next.

    Raises:
        BdpbenchError: for a source that cannot be read or is empty and, unless the reading is
            lenient, for the first line that is unrecognised or cut off, or whose time runs
            backwards: with source and line number.
    """
    accountant = _Accountant(account, reading.lenient)
    telling = reading.parser.tell(reading.sink) if reading.parser and reading.sink else None
    for source in sources:
        accountant.begin()
        source.chunk_bytes = CHUNK_BYTES
        chunks = source.chunks()
        if telling is not None and telling.is_open:
            source.chunk_bytes = TOLD_BYTES
            for batch in _told(chunks, telling, reading, account):
                accountant.add(batch)
                if not _is_empty(batch.rows):
                    yield batch.rows
            source.chunk_bytes = CHUNK_BYTES
        curve = ""
        for batch in _parsed_in_order(chunks, reading, account):
            accountant.add(batch)
            if not _is_empty(batch.rows):
                yield _named(batch.rows, curve)
            curve = curve if batch.curve is None else batch.curve
        accountant.end(source.name)
    account.complete = True


def _named(rows: pl.DataFrame | PackedRows | None, curve: str) -> pl.DataFrame | PackedRows | None:
    """Samples of which the first, up to the next title in their chunk, are of an earlier curve."""
    if not isinstance(rows, pl.DataFrame) or rows.schema.get("name") != pl.String:
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


def _told(
    chunks: Iterable[Chunk], telling: native.Telling, reading: Reading, account: LineAccount
) -> Iterator[_Batch]:
    """Batches without rows, of lines that are told, and of other lines among them."""
    name = ""
    for number, chunk in enumerate(chunks):
        name, start = chunk.source, 0
        while not chunk.cut and start < chunk.length:
            start = telling.tell(chunk.buffer, start, chunk.length)
            if start < chunk.length and not telling.may_go_on():
                break
        if start < chunk.length:
            yield from _lines_told(name, telling)
            left = chunk.length - start
            chunk.buffer[:left] = chunk.buffer[start : chunk.length]
            batch = _parse_chunk(replace(chunk, length=left), reading, tuple(account.forms))
            yield batch
            if start == 0 and batch.forms.get("wired", 0) < batch.lines / 2:
                telling.close()
        else:
            chunk.done()
            if number % _CHUNKS_AT_ONCE == 0:
                yield from _lines_told(name, telling)
        if not telling.is_open:
            return
    yield from _lines_told(name, telling)


def _lines_told(name: str, telling: native.Telling) -> Iterator[_Batch]:
    """The lines that were told since the last call."""
    lines, times = telling.told()
    if lines:
        yield _Batch(name, lines, None, {"wired": lines}, times=times)


class _Accountant:
    """Adds batches to an account, in order, and raises if the reading is strict."""

    def __init__(self, account: LineAccount, lenient: bool) -> None:
        self._account = account
        self._lenient = lenient
        self._line = 1
        self._at_head, self._headings = True, 0
        self._last: native.Moment | None = None

    def begin(self) -> None:
        """Begin a source."""
        self._line = 1
        self._at_head, self._headings = True, 0

    def end(self, name: str) -> None:
        """End a source."""
        if self._line == 1:
            raise BdpbenchError("the file is empty: expected a trace of ns-2", where=name)

    def add(self, batch: _Batch) -> None:
        """Add the next batch of the source; the first fault in it, in order of lines, is raised."""
        faults: list[tuple[int, BdpbenchError]] = []
        self._add_headings(batch)
        self._add_skipped(batch, faults)
        self._add_times(batch, faults)
        if faults and not self._lenient:
            raise min(faults, key=lambda fault: fault[0])[1]
        parsed = sum(batch.forms.values())
        self._account.lines += batch.lines
        self._account.parsed += parsed
        self._account.forms.update(batch.forms)
        self._line += batch.lines

    def _add_headings(self, batch: _Batch) -> None:
        """Take those unrecognised lines out that stand before the first line of a trace."""
        while self._at_head and batch.bad:
            index, text = batch.bad[0]
            if self._line + index != self._headings + 1 or not is_heading(text):
                break
            del batch.bad[0]
            self._headings += 1
            self._account.headings += 1
        self._at_head = self._at_head and not batch.forms and not batch.bad

    def _add_skipped(self, batch: _Batch, faults: list[tuple[int, BdpbenchError]]) -> None:
        skipped = [
            Skipped(batch.source, self._line + index, text, fault_of(text))
            for index, text in batch.bad
        ]
        if batch.cut is not None:
            last = self._line + batch.lines - 1
            skipped.append(Skipped(batch.source, last, batch.cut, _CUT))
            self._account.cut.append(batch.source)
        for each in skipped:
            self._account.skip(each)
            faults.append((each.line, each.error()))

    def _add_times(self, batch: _Batch, faults: list[tuple[int, BdpbenchError]]) -> None:
        if batch.times is None:
            return
        first, last, backwards = batch.times.first, batch.times.last, batch.times.backwards
        found = []
        if self._last is not None and first.is_before(self._last):
            found.append(native.Backwards(1, 0, first.time_s, self._last.time_s))
        found += [backwards] if backwards else []
        for each in found:
            line = self._line + each.line
            place = RunsBackwards(batch.source, line, each.time_s, each.after_s)
            self._account.backwards += each.count
            self._account.first_backwards = self._account.first_backwards or place
            faults.append((line, place.error()))
        if self._account.first_s is None:
            self._account.first_s = first.time_s
        self._account.last_s = last.time_s
        self._last = last


def _parse_chunk(chunk: Chunk, reading: Reading, hint: Sequence[str]) -> _Batch:
    length, cut = chunk.length, None
    if chunk.cut:
        whole = chunk.buffer.rfind(b"\n", 0, chunk.length - 1) + 1
        last = bytes(chunk.buffer[whole : chunk.length - 1])
        if not parse_text([last], [0], hint).forms:
            length, cut = whole, last.decode("utf-8", "replace")
    batch = _parse_lines(chunk, length, reading, hint)
    chunk.done()
    if cut is not None:
        batch.cut = cut
        batch.lines += 1
    return batch


def _parse_lines(chunk: Chunk, length: int, reading: Reading, hint: Sequence[str]) -> _Batch:
    if reading.parser is None:
        return _text_batch(chunk, length, reading, hint)
    wanted = {"time_s", *reading.columns} if reading.table == "packets" else {"time_s"}
    radio = reading.table == "packets" and reading.parser.reads_of_wireless(reading.columns)
    if radio and "wired" not in hint and not set(native.WIRELESS_FORMS).isdisjoint(hint):
        found = reading.parser.parse_wireless(chunk.buffer, length, wanted)
        if found.rows > _MANY * found.others:  # else some may be wired
            return _wireless_batch(chunk, found, reading, hint)
    wired = reading.parser.parse(chunk.buffer, length, wanted)
    if wired.rows == 0:
        found = reading.parser.parse_wireless(chunk.buffer, length, wanted) if radio else wired
        if not found.rows:
            return _text_batch(chunk, length, reading, hint)
        return _wireless_batch(chunk, found, reading, hint)
    if wired.others:
        return _mixed_batch(chunk, wired, reading, hint)
    return _whole_batch(chunk, wired, reading)


def _whole_batch(chunk: Chunk, found: native.Lines, reading: Reading) -> _Batch:
    """The parser has read all lines."""
    rows: pl.DataFrame | PackedRows | None = _packed(found, reading)
    if reading.table != "packets":
        rows = _empty(reading)
    elif rows is None:
        rows = _full(found.frame(), reading)
    return _Batch(chunk.source, found.rows, rows, dict(found.forms), times=found.times)


def _packed(found: native.Lines, reading: Reading) -> PackedRows | None:
    """The rows as they are, whose frame has all wanted columns; None if a frame is wanted."""
    if found.packed is None or not reading.is_packed:
        return None
    return replace(found.packed, frame=lambda: _full(found.frame(), reading))


def _text_batch(chunk: Chunk, length: int, reading: Reading, hint: Sequence[str]) -> _Batch:
    """All lines are read by their patterns."""
    lines = bytes(memoryview(chunk.buffer)[:length]).split(b"\n")[:-1]
    parsed = parse_text(lines, range(len(lines)), hint)
    frame = parsed.frames.get(reading.table)
    rows = _empty(reading) if frame is None else frame.select(reading.columns)
    times = _times_of(parsed.times)
    return _Batch(chunk.source, len(lines), rows, parsed.forms, parsed.bad, times, parsed.curve)


def _mixed_batch(
    chunk: Chunk, wired: native.Lines, reading: Reading, hint: Sequence[str]
) -> _Batch:
    """The lines that the parser left are read by their patterns and put back in their places."""
    parsed = _others(chunk, wired, hint)
    units = pl.lit(native.HALF_UNITS_S["wired"]).alias("half_unit_s")
    placed = _placed(wired).with_columns(units)
    times = placed.select(LINE, "time_s", "half_unit_s")
    if not parsed.times.is_empty():
        times = pl.concat([times, parsed.times]).sort(LINE)
    return _merged_batch(chunk, wired, placed, parsed, reading, _times_of(times))


def _wireless_batch(
    chunk: Chunk, found: native.Lines, reading: Reading, hint: Sequence[str]
) -> _Batch:
    """The same of wireless lines."""
    if not found.others:
        return _whole_batch(chunk, found, reading)
    assert reading.parser is not None  # noqa: S101 - it has found them
    parsed = _others(chunk, found, hint)
    times = reading.parser.times_among(found, parsed.times)
    packed = _packed(found, reading) if "packets" not in parsed.frames else None
    rows = _placed(found) if packed is None else packed
    return _merged_batch(chunk, found, rows, parsed, reading, times)


def _merged_batch(
    chunk: Chunk,
    found: native.Lines,
    rows: pl.DataFrame | PackedRows,
    parsed: ParsedText,
    reading: Reading,
    times: native.Times | None,
) -> _Batch:
    """What the parser has found, and the other lines among it."""
    if not isinstance(rows, PackedRows):
        rows = _merged(rows, parsed, reading)
    forms = Counter(parsed.forms) + Counter(found.forms)
    lines = found.rows + found.others
    return _Batch(chunk.source, lines, rows, dict(forms), parsed.bad, times, parsed.curve)


def _others(chunk: Chunk, found: native.Lines, hint: Sequence[str]) -> ParsedText:
    """What the lines left by a parser became."""
    buffer = chunk.buffer
    texts = [bytes(buffer[at : buffer.index(b"\n", at)]) for at in found.other_starts]
    return parse_text(texts, found.other_lines, hint)


def _placed(found: native.Lines) -> pl.DataFrame:
    """The rows of a parser, with LINE."""
    places = pl.int_range(found.rows + found.others, eager=True).alias(LINE)
    others = pl.Series(found.other_lines, dtype=pl.Int64).implode()
    return found.frame().with_columns(places.filter(~places.is_in(others)))


def _merged(placed: pl.DataFrame, parsed: ParsedText, reading: Reading) -> pl.DataFrame:
    others = parsed.frames.get(reading.table)
    if reading.table != "packets":
        return _empty(reading) if others is None else others.select(reading.columns)
    rows = placed.select(LINE).hstack(_full(placed, reading))
    if others is not None:
        rows = pl.concat([rows, others.select(rows.columns)]).sort(LINE)
    return rows.select(reading.columns)


def _times_of(times: pl.DataFrame) -> native.Times | None:
    """The first and last of some times, and the places where time runs backwards."""
    if times.is_empty():
        return None
    unit, before = pl.col("half_unit_s"), pl.col("half_unit_s").shift(1)
    slack = pl.when(unit == before).then(0.0).otherwise(unit + before + native.ROUNDING)
    backwards = times.with_columns(after_s=pl.col("time_s").shift(1)).filter(
        pl.col("time_s") < pl.col("after_s") - slack
    )
    place = None
    if not backwards.is_empty():
        line, time_s, _, after_s = backwards.row(0)
        place = native.Backwards(backwards.height, line, time_s, after_s)
    first, last = (native.Moment(*times.row(at)[1:]) for at in (0, -1))
    return native.Times(first, last, place)


def _full(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The wanted columns of wired rows, null where wired lines have none."""
    types = TABLES[reading.table]
    known = {series.name: series for series in frame.iter_columns()}
    return pl.DataFrame(
        [
            known[name] if name in known else native.nulls(name, types[name], frame.height)
            for name in reading.columns
        ]
    )


def _is_empty(rows: pl.DataFrame | PackedRows | None) -> bool:
    return rows is not None and not isinstance(rows, PackedRows) and rows.is_empty()


def _empty(reading: Reading) -> pl.DataFrame:
    types = TABLES[reading.table]
    return pl.DataFrame(schema={name: types[name] for name in reading.columns})
