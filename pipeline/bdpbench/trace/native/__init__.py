"""The parsers of wired and wireless lines in C, whose columns are handed to polars.

Without a compiler, :func:`load` returns None and the lines are read by their patterns; a test
checks that both give the same frames.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bdpbench.compiled import ArrowArray, LineSink, PackedRows, chars, load_library, series_of
from bdpbench.later import pl
from bdpbench.trace.schema import EVENTS, LAYERS, PACKETS, event_type, layer_type
from bdpbench.trace.sources import PADDING
from bdpbench.trace.text_lines import LINE_FORMS

COLUMNS = tuple(PACKETS)[:18]
"""Columns that wired lines have, in the parser's order; the last four may be null."""

_EXTENDED = ("ack", "tcp_flags", "header_bytes", "sack_bytes")
_WORD_COLUMNS = {"type": "types", "flags": "flags"}
_MAX_WORDS, _MAX_WORD = 256, 16
_SOURCE = Path(__file__).with_name("wired_lines.c")

_WIRELESS_COLUMNS = (
    *("time_s", "event", "type", "bytes", "flow", "src_node", "src_port", "dst_node", "dst_port"),
    *("seq", "uid", "layer", "node", "reason", "next_hop", "hops", "energy_j", "form"),
)
WIRELESS_FORMS = ("old wireless", "new wireless", "node energy")
"""Forms of the lines that are parsed, by their numbers in the column ``form``."""

ROUNDING = 1e-12
"""Rounding of sums of half units, s, far below the smallest of them."""

HALF_UNITS_S = {form.name: form.half_unit_s for form in LINE_FORMS}
"""Name of a form → half a unit of the last digit of its times, s."""

_WIRELESS_UNITS = (ctypes.c_double * len(WIRELESS_FORMS))(
    *(HALF_UNITS_S[form] for form in WIRELESS_FORMS)
)

_NEVER_WIRELESS = frozenset(
    (
        *("from_node", "to_node", "tcp_flags", "header_bytes", "sack_bytes"),
        *("chunks", "stream", "stream_seq", "from_lat", "from_lon", "to_lat", "to_lon"),
    )
)


class _Words(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int32),
        ("text", (ctypes.c_char * _MAX_WORD) * _MAX_WORDS),
        ("length", ctypes.c_int32 * _MAX_WORDS),
        ("key", ctypes.c_uint64 * _MAX_WORDS),
        ("mask", ctypes.c_uint64 * _MAX_WORDS),
    )

    def words(self) -> list[str]:
        return [self.text[i][:].rstrip(b"\0").decode("ascii") for i in range(self.count)]

    def series(self) -> pl.Series:
        return pl.Series(self.words(), dtype=pl.String).cast(pl.Categorical())


class _WiredChunk(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "taken", "extended", "others")),
        ("other_line", ctypes.POINTER(ctypes.c_int64)),
        ("other_start", ctypes.POINTER(ctypes.c_int64)),
        *((name, ctypes.c_int64) for name in ("backwards", "backwards_line")),
        *((name, ctypes.c_double) for name in ("first_time", "last_time")),
        *((name, ctypes.c_double) for name in ("backwards_time", "backwards_after")),
        ("types", _Words),
        ("flags", _Words),
        ("columns", ArrowArray * len(COLUMNS)),
    )


class _WirelessChunk(ctypes.Structure):
    _fields_ = (
        ("rows", ctypes.c_int64),
        ("forms", ctypes.c_int64 * len(WIRELESS_FORMS)),
        ("others", ctypes.c_int64),
        ("other_line", ctypes.POINTER(ctypes.c_int64)),
        ("other_start", ctypes.POINTER(ctypes.c_int64)),
        *((name, ctypes.c_int64) for name in ("backwards", "backwards_line")),
        *((name, ctypes.c_double) for name in ("first_time", "last_time")),
        *((name, ctypes.c_double) for name in ("backwards_time", "backwards_after")),
        *((name, ctypes.c_double) for name in ("first_unit", "last_unit")),
        ("data", ctypes.c_void_p * len(_WIRELESS_COLUMNS)),
        ("has", ctypes.c_void_p),
        ("types", _Words),
        ("reasons", _Words),
        ("columns", ArrowArray * len(_WIRELESS_COLUMNS)),
    )


class _Timed(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("lines", "times", "units")),
    )


@dataclass(frozen=True)
class Backwards:
    """The first of ``count`` places in a chunk where time runs backwards; lines count from 0."""

    count: int
    line: int
    time_s: float
    after_s: float


@dataclass(frozen=True)
class Moment:
    """Time of a line, s, and half a unit of its last digit."""

    time_s: float
    half_unit_s: float

    def is_before(self, other: Moment) -> bool:
        """Whether this time is earlier than the other by more than rounding explains."""
        same = self.half_unit_s == other.half_unit_s
        slack = 0.0 if same else self.half_unit_s + other.half_unit_s + ROUNDING
        return self.time_s < other.time_s - slack


@dataclass(frozen=True)
class Times:
    """Times of the first and the last line of a chunk, and where time runs backwards in it."""

    first: Moment
    last: Moment
    backwards: Backwards | None


@dataclass(frozen=True)
class Lines:
    """The result of parsing a chunk.

    Attributes:
        frame: makes a frame of the wanted columns of the parsed lines, in order; of wireless lines
            also ``form`` (u8), the number in ``WIRELESS_FORMS``. To be called once.
        packed: the same rows of wireless lines as they are, or None.
        rows: number of parsed lines.
        forms: name of a form → number of its lines.
        others: number of the lines that it did not parse.
        times: the times of these lines.
    """

    frame: Callable[[], pl.DataFrame]
    packed: PackedRows | None
    rows: int
    forms: Mapping[str, int]
    others: int
    times: Times
    _chunk: _WiredChunk | _WirelessChunk

    @property
    def is_all(self) -> bool:
        """Whether it parsed all lines."""
        return self.rows > 0 and self.others == 0

    @property
    def other_lines(self) -> list[int]:
        """Indices of the lines that it did not parse."""
        return list(self._chunk.other_line[: self.others])

    @property
    def other_starts(self) -> list[int]:
        """Offsets of these lines."""
        return list(self._chunk.other_start[: self.others])


_ADDRESS, _COUNT, _MASK = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint32


def _function(
    library: ctypes.CDLL, name: str, *takes: Any, gives: Any = ctypes.c_int
) -> Callable[..., Any]:
    """A function of the library, with the types of its arguments and of its result."""
    found = library[f"bdpbench_{name}"]
    found.argtypes, found.restype = list(takes), gives
    return found


class LineParser:
    """The compiled parsers; calls from several threads run in parallel."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        text = (_ADDRESS, _COUNT, _MASK)
        self._parse = _function(library, "parse_wired", *text, _ADDRESS)
        self._release = _function(library, "release", _ADDRESS, gives=None)
        self._parse_wireless = _function(library, "parse_wireless", *text, _ADDRESS)
        self._release_wireless = _function(library, "release_wireless", _ADDRESS, gives=None)
        self._find_times = _function(library, "wireless_times", *[_ADDRESS] * 3, gives=None)
        self._own_wireless = _function(library, "own_wireless", _ADDRESS)

    def parse(self, buffer: bytearray, length: int, wanted: Collection[str]) -> Lines:
        """Parse the lines in the first ``length`` bytes, the last of which is a newline.

        Args:
            buffer: the text, followed by 64 bytes of any content.
            length: length of the text, bytes.
            wanted: names among COLUMNS.

        Raises:
            MemoryError: when the columns cannot be allocated.
        """
        chunk = _WiredChunk()
        mask = sum(1 << index for index, name in enumerate(COLUMNS) if name in wanted)
        text = chars(len(buffer)).from_buffer(buffer)
        if not self._parse(ctypes.addressof(text), length, mask, ctypes.addressof(chunk)):
            raise MemoryError("no memory for the columns of a chunk")
        names = [name for name in COLUMNS if name in wanted]
        found = Lines(
            lambda: pl.DataFrame([_series(chunk, COLUMNS.index(name), name) for name in names]),
            None,
            chunk.rows,
            {"wired": chunk.rows} if chunk.rows else {},
            chunk.others,
            _wired_times(chunk),
            chunk,
        )
        weakref.finalize(found, self._release, ctypes.byref(chunk))
        return found

    def forms_of(self, lines: Sequence[bytes]) -> Mapping[str, int]:
        """Name of a form → number of its lines; none unless all are wired, or all wireless."""
        text = bytearray().join(line + b"\n" for line in lines)
        for parse in (self.parse, self.parse_wireless):
            found = parse(text.ljust(len(text) + PADDING), len(text), ("time_s",))
            if found.is_all:
                return found.forms
        return {}

    def tell(self, sink: LineSink) -> Telling:
        """Begin to tell the lines of a trace to a sink."""
        return Telling(self._library, sink)

    @staticmethod
    def reads_of_wireless(columns: Collection[str]) -> bool:
        """Whether these columns are among those that wireless lines are parsed for here."""
        return set(columns) <= {*_WIRELESS_COLUMNS, *_NEVER_WIRELESS}

    def parse_wireless(self, buffer: bytearray, length: int, wanted: Collection[str]) -> Lines:
        """Parse lines of wireless nodes, as ``parse`` does those of links.

        Raises:
            MemoryError: when the columns cannot be allocated.
        """
        chunk = _WirelessChunk()
        places = {
            name: at
            for at, name in enumerate(_WIRELESS_COLUMNS)
            if name in wanted or name == "form"
        }
        mask = sum(1 << at for at in places.values())
        text = chars(len(buffer)).from_buffer(buffer)
        if not self._parse_wireless(ctypes.addressof(text), length, mask, ctypes.addressof(chunk)):
            raise MemoryError("no memory for the columns of a chunk")

        def frame() -> pl.DataFrame:
            if not self._own_wireless(ctypes.addressof(chunk)):
                raise MemoryError("no memory for the columns of a chunk")
            return pl.DataFrame([_wireless_series(chunk, at, name) for name, at in places.items()])

        packed = PackedRows(
            chunk.rows,
            {name: chunk.data[at] for name, at in places.items()},
            EVENTS,
            LAYERS,
            chunk.types.words(),
            chunk.reasons.words(),
            frame,
        )
        weakref.finalize(packed, self._release_wireless, ctypes.byref(chunk))
        forms = zip(WIRELESS_FORMS, chunk.forms, strict=True)
        return Lines(
            packed.frame,
            packed,
            chunk.rows,
            {name: count for name, count in forms if count},
            chunk.others,
            self._times_of(chunk, (), (), ()),
            chunk,
        )

    def times_among(self, found: Lines, others: pl.DataFrame) -> Times:
        """The times of wireless lines together with those of others, read before their frame is.

        Args:
            found: the wireless lines.
            others: index in the chunk, time, s, and half a unit of its last digit, s, of lines
                among those that were not parsed, in order.
        """
        assert isinstance(found._chunk, _WirelessChunk)  # noqa: S101 - no others are so read
        columns = others.iter_columns() if others.width else ((), (), ())
        return self._times_of(found._chunk, *columns)

    def _times_of(
        self,
        chunk: _WirelessChunk,
        lines: Iterable[int],
        times_s: Iterable[float],
        units_s: Iterable[float],
    ) -> Times:
        numbers, times, units = list(lines), list(times_s), list(units_s)
        count = len(numbers)
        whole = (ctypes.c_int64 * count)(*numbers)
        real = (ctypes.c_double * (2 * count))(*times, *units)
        at = ctypes.addressof(real)
        timed = _Timed(count, ctypes.addressof(whole), at, at + 8 * count)
        self._find_times(ctypes.addressof(chunk), _WIRELESS_UNITS, ctypes.addressof(timed))
        first = Moment(chunk.first_time, chunk.first_unit)
        return Times(first, Moment(chunk.last_time, chunk.last_unit), _backwards_of(chunk))


def _wired_times(chunk: _WiredChunk) -> Times:
    unit_s = HALF_UNITS_S["wired"]
    first, last = Moment(chunk.first_time, unit_s), Moment(chunk.last_time, unit_s)
    return Times(first, last, _backwards_of(chunk))


def _backwards_of(chunk: _WiredChunk | _WirelessChunk) -> Backwards | None:
    if not chunk.backwards:
        return None
    times_s = chunk.backwards_time, chunk.backwards_after
    return Backwards(chunk.backwards, chunk.backwards_line, *times_s)


def _wireless_series(chunk: _WirelessChunk, index: int, name: str) -> pl.Series:
    dtype = pl.UInt8() if name == "form" else PACKETS[name]
    series = series_of(name, _code_of(dtype), chunk.columns[index])
    if name == "event":
        return _events()[series].alias(name)
    if name == "layer":
        return pl.Series([None, *LAYERS], dtype=layer_type()).gather(series).alias(name)
    if name in ("type", "reason"):
        words: pl.Series = (chunk.types if name == "type" else chunk.reasons).series()
        return words.gather(series.cast(pl.UInt32)).alias(name)
    return series


class Telling:
    """Wired lines, told to a sink chunk by chunk; what is known of links and packets is kept."""

    def __init__(self, library: ctypes.CDLL, sink: LineSink) -> None:
        begin = _function(library, "new_telling", _ADDRESS, _ADDRESS, gives=_ADDRESS)
        told = _function(library, "told", _ADDRESS, gives=ctypes.POINTER(_WiredChunk))
        self._tell = _function(library, "tell_wired", _ADDRESS, _ADDRESS, _COUNT, gives=_COUNT)
        self._state = begin(sink.function, sink.state)
        if not self._state:
            raise MemoryError("no memory for the lines of a trace")
        weakref.finalize(self, _function(library, "free_telling", _ADDRESS), self._state)
        self._chunk = told(self._state).contents
        self._sink = sink

    def tell(self, buffer: bytearray, start: int, length: int) -> int:
        """Tell the lines from ``start`` to ``length``.

        Returns:
            The place of the first line that is not told, or ``length``.

        Raises:
            MemoryError: when the sink has no memory.
        """
        text = ctypes.addressof(chars(len(buffer)).from_buffer(buffer)) + start
        end = start + int(self._tell(self._state, text, length - start))
        if self._chunk.taken < 0:
            raise MemoryError("no memory for the sums of a trace")
        return end

    def told(self) -> tuple[int, Times]:
        """Number and times of the lines that were told since the last call."""
        chunk, times = self._chunk, _wired_times(self._chunk)
        rows, chunk.rows = chunk.rows, 0
        return rows, times

    @property
    def is_open(self) -> bool:
        """Whether the sink takes lines."""
        return self._sink.is_open

    def close(self) -> None:
        """Tell no further lines."""
        self._sink.is_open = False

    def may_go_on(self) -> bool:
        """Whether the sink takes the line that it has left, now that it knows the word in it."""
        return self._chunk.taken == 0 and self._sink.learn(self._chunk.types.words())


@functools.cache
def load() -> LineParser | None:
    """The parsers; None if they can be neither found nor compiled."""
    library = load_library(_SOURCE)
    return None if library is None else LineParser(library)


def _code_of(dtype: pl.DataType) -> pl.DataType:
    """The type of the numbers that the parser has in the place of words."""
    if isinstance(dtype, pl.Enum):
        return pl.UInt8()
    return pl.UInt16() if dtype == pl.Categorical() else dtype


def _series(chunk: _WiredChunk, index: int, name: str) -> pl.Series:
    dtype = PACKETS[name]
    if name in _EXTENDED and chunk.extended == 0:
        return nulls(name, dtype, chunk.rows)
    series = series_of(name, _code_of(dtype), chunk.columns[index])
    # Indexing is immediate; gather() builds a query, which takes longer than the parser.
    if name == "event":
        return _events()[series].alias(name)
    if name in _WORD_COLUMNS:
        words: pl.Series = getattr(chunk, _WORD_COLUMNS[name]).series()
        return words[series].alias(name)
    return series


def nulls(name: str, dtype: pl.DataType, rows: int) -> pl.Series:
    """A column of nulls, made without a query."""
    return pl.Series(name, [None], dtype=dtype).new_from_index(0, rows)


@functools.cache
def _events() -> pl.Series:
    return pl.Series(EVENTS, dtype=event_type())
