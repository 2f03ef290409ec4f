"""``open_trace``: any trace of ns-2 as frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.trace.batches import LineAccount, Reading, Sink, Skipped, read_batches, sum_text
from bdpbench.trace.schema import TABLES
from bdpbench.trace.sources import STANDARD_INPUT, Source
from bdpbench.trace.text_lines import TABLE_OF_FORM, fault_of, is_heading, is_nam_line, parse_text

_LOOKED_AT = 200


class Trace:
    """A trace whose format is known, and which can be read.

    Files can be read any number of times, each time from the beginning; pipes and standard input
    only once.

    Attributes:
        format: forms of its first lines, the most frequent first: e.g. "wired", or "wired, old
            wireless" for a wired-cum-wireless trace.
        table: the table that its rows belong to: packets, variables, queues, events, series.
        account: the account of the last reading; empty before the first.
    """

    def __init__(self, sources: Sequence[Source], reading: Reading, trace_format: str) -> None:
        self.format = trace_format
        self.table = reading.table
        self.account = LineAccount()
        self._sources = sources
        self._reading = reading

    @property
    def is_rereadable(self) -> bool:
        """Whether it can be read any number of times: pipes and standard input cannot."""
        return all(source.is_regular for source in self._sources)

    def of(self, table: str) -> Trace:
        """The same trace, of which rows of another table are wanted."""
        reading = replace(self._reading, table=table, columns=tuple(TABLES[table]))
        return Trace(self._sources, reading, self.format)

    def batches(
        self, columns: Sequence[str] | None = None, predicate: pl.Expr | None = None
    ) -> Iterator[pl.DataFrame]:
        """The rows in the order of the trace, in batches of some ten thousand.

        Memory does not grow with the trace. ``account`` is updated on the way and complete at the
        end.

        Args:
            columns: the columns that are needed (see ``schema``), all by default; fewer columns are
                faster.
            predicate: a row-wise condition on these columns that selects rows; all rows by default.

        Raises:
            BdpbenchError: as for ``open_trace``, naming the place of the fault.
        """
        names = list(TABLES[self.table]) if columns is None else list(columns)
        unknown = [name for name in names if name not in TABLES[self.table]]
        if unknown:
            raise BdpbenchError(f"table {self.table} has no column {unknown[0]!r}")
        self.account = LineAccount()
        reading = replace(self._reading, columns=names)
        frames = read_batches(self._sources, reading, self.account)
        if predicate is None:
            return frames
        wanted = (frame.filter(predicate) for frame in frames)
        return (frame for frame in wanted if not frame.is_empty())

    def sum_into(self, sink: Sink, columns: Sequence[str]) -> None:
        """Sum the packets of the trace, in order; up to the sink's end, if it is not lenient.

        Args:
            sink: what sums them, such as ``PacketMeter``.
            columns: columns of the rows that it needs.

        Raises:
            BdpbenchError: as for ``batches``, and as the sink.
        """
        self.account = LineAccount()
        reading = replace(self._reading, columns=list(columns))
        sum_text(self._sources, reading, self.account, sink)

    @property
    def frame(self) -> pl.LazyFrame:
        """All rows as a LazyFrame; ``collect(engine="streaming")`` does not hold them in memory.

        Only the columns that a query needs are parsed. ``collect`` raises errors in the trace.
        """
        from polars.io.plugins import register_io_source

        return register_io_source(self._scan, schema=dict(TABLES[self.table]))

    def _scan(
        self,
        columns: list[str] | None,
        predicate: pl.Expr | None,
        row_limit: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        """The source of ``frame``: batches with these columns, filtered, of ``row_limit`` rows."""
        left = row_limit
        for batch in self.batches(columns):
            rows = batch if left is None else batch.head(left)
            yield rows if predicate is None else rows.filter(predicate)
            left = None if left is None else left - rows.height
            if left == 0:
                return


def open_trace(
    sources: str | Path | Sequence[str | Path],
    *,
    lenient: bool = False,
    kind: str | None = None,
) -> Trace:
    """Open a trace and determine its format; nothing more is read yet.

    The format is determined from the content: lines of any form that ns-2 writes, even mixed in one
    file. Files may be plain, or compressed by gzip, xz, zstd or bzip2. Several sources are parts of
    one trace, in this order; traces of several runs are opened one by one.

    Args:
        sources: a file, a named pipe, or "-" for standard input; or several.
        lenient: skip unrecognised lines, and a last line that was cut off, and keep lines whose
            time runs backwards; the account counts both; otherwise they are errors.
        kind: the table whose rows are wanted, if a trace has lines of several tables.

    Raises:
        BdpbenchError: with source, line number and reason, for a source that cannot be read, is
            empty or damaged, or whose first line after comments and titles (in lenient mode: all of
            whose first lines) is not one of ns-2's; for a nam trace, which contains drawing
            instructions rather than events; for an unknown ``kind``.
    """
    names = [sources] if isinstance(sources, (str, Path)) else list(sources)
    if not names:
        raise BdpbenchError("no trace was given: expected a file, or - for standard input")
    if kind is not None and kind not in TABLES:
        known = ", ".join(TABLES)
        raise BdpbenchError(f"unknown kind of rows {kind!r}", hint=f"known kinds: {known}")
    opened = [Source(str(name)) for name in names]
    forms = _forms_of_head(opened[0], lenient)
    present = {TABLE_OF_FORM[form] for form in forms}
    table = kind or next(each for each in TABLES if each in present)
    reading = Reading(table, tuple(TABLES[table]), lenient)
    return Trace(opened, reading, ", ".join(forms))


def _forms_of_head(source: Source, lenient: bool) -> list[str]:
    """Forms of the source's first lines, the most frequent first."""
    head = source.head()
    if not head:
        what = "it" if source.path == STANDARD_INPUT else "the file"
        raise BdpbenchError(f"{what} is empty: expected a trace of ns-2", where=source.name)
    for place, magic, message, hint in _NO_TRACES:
        if head.startswith(magic, place):
            hint = hint.format(path=source.path)
            raise BdpbenchError(message, where=source.name, hint=hint)
    lines = head.split(b"\n")
    if len(lines) > 1:
        lines = lines[:-1]
    first = min(_lines_of_headings(lines), len(lines) - 1)
    looked_at = lines[first : first + _LOOKED_AT]
    parsed = parse_text(looked_at, range(first, first + len(looked_at)), ())
    if parsed.bad and (not parsed.forms or (parsed.bad[0][0] == first and not lenient)):
        number, text = parsed.bad[0]
        _refuse(source.name, number + 1, text, other_lines=not lenient and bool(parsed.forms))
    return sorted(parsed.forms, key=lambda form: -parsed.forms[form])


def _lines_of_headings(lines: Sequence[bytes]) -> int:
    """Number of comments, titles and blank lines at the beginning."""
    possible = list(takewhile(lambda line: is_heading(line.decode("utf-8", "replace")), lines))
    parsed = parse_text(possible, range(len(possible)), ())
    return sum(1 for place, (number, _) in enumerate(parsed.bad) if number == place)


_ARCHIVE, _FILES = "this is a {} archive of files, not a trace of ns-2", "give the files in it"
_PCAP = (b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d")
_CAPTURES = (*_PCAP, *(each[::-1] for each in _PCAP), b"\n\r\r\n")
_NO_TRACES = (
    (0, b"PK\x03\x04", _ARCHIVE.format("zip"), _FILES),
    (0, b"7z\xbc\xaf", _ARCHIVE.format("7z"), _FILES),
    (0, b"Rar!", _ARCHIVE.format("rar"), _FILES),
    (257, b"ustar", _ARCHIVE.format("tar"), _FILES),
    (
        0,
        b"\x1f\x8b",
        "this is a gzip file in a gzip file",
        "gzip -dc {path} | ./bdpbench analyze -",
    ),
    (
        *(0, _CAPTURES),
        "this is a packet capture (pcap), as tcpdump and ns-3 write it, not a trace of ns-2",
        "tshark and tcptrace measure captures",
    ),
    (
        0,
        (b"\xff\xfe", b"\xfe\xff"),
        "this is text in UTF-16, in which Windows PowerShell writes what it redirects",
        "iconv -f UTF-16 -t UTF-8 {path} | ./bdpbench analyze -",
    ),
)
"""What may contain a trace, but not as its text: the bytes at a place, message and hint."""


def _refuse(name: str, number: int, text: str, *, other_lines: bool) -> None:
    """Refuse a trace for a line; there may be other lines, which can be read without it."""
    if is_nam_line(text):
        raise BdpbenchError(
            "this is a nam trace: it tells the animator what to draw, not what happened",
            where=name,
            hint="give the trace that `$ns trace-all` writes, not that of `namtrace-all`",
        )
    raise Skipped(name, number, text, f"not a trace of ns-2: {fault_of(text)}").error(
        lenient=not other_lines
    )
