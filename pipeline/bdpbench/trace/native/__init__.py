"""The parser of wired lines in C: compiled at first use, loaded by ctypes, handed to polars.

Where there is no compiler, :func:`load` gives None and the lines are read by their patterns; a test
holds both to the same frames.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from bdpbench.contracts.paths import home_dir
from bdpbench.trace.schema import EVENT, EVENTS, PACKETS

COLUMNS = tuple(PACKETS)[:18]
"""Columns that wired lines have, in the order of the parser's; the last four may be null."""

_EXTENDED = ("ack", "tcp_flags", "header_bytes", "sack_bytes")
_WORD_COLUMNS = {"type": "types", "flags": "flags"}
_ARROW_FORMATS = {
    pl.Float64(): b"g",
    pl.Int32(): b"i",
    pl.Int64(): b"l",
    EVENT: b"C",
    pl.Categorical(): b"S",
}
_MAX_WORDS, _MAX_WORD = 256, 16
_HERE = Path(__file__).parent
_NULLABLE = 2


class _ArrowArray(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("length", "null_count", "offset")),
        *((name, ctypes.c_int64) for name in ("n_buffers", "n_children")),
        *((name, ctypes.c_void_p) for name in ("buffers", "children", "dictionary")),
        *((name, ctypes.c_void_p) for name in ("release", "private_data")),
    )


class _ArrowSchema(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("format", "name", "metadata")),
        *((name, ctypes.c_int64) for name in ("flags", "n_children")),
        *((name, ctypes.c_void_p) for name in ("children", "dictionary")),
        *((name, ctypes.c_void_p) for name in ("release", "private_data")),
    )


class _Words(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int32),
        ("text", (ctypes.c_char * _MAX_WORD) * _MAX_WORDS),
        ("length", ctypes.c_int32 * _MAX_WORDS),
        ("key", ctypes.c_uint64 * _MAX_WORDS),
        ("mask", ctypes.c_uint64 * _MAX_WORDS),
    )

    def series(self) -> pl.Series:
        words = [self.text[i][:].rstrip(b"\0").decode("ascii") for i in range(self.count)]
        return pl.Series(words, dtype=pl.String).cast(pl.Categorical())


class _WiredChunk(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "extended", "others")),
        ("other_line", ctypes.POINTER(ctypes.c_int64)),
        ("other_start", ctypes.POINTER(ctypes.c_int64)),
        *((name, ctypes.c_int64) for name in ("backwards", "backwards_line")),
        *((name, ctypes.c_double) for name in ("first_time", "last_time")),
        *((name, ctypes.c_double) for name in ("backwards_time", "backwards_after")),
        ("types", _Words),
        ("flags", _Words),
        ("columns", _ArrowArray * len(COLUMNS)),
    )


def _mark_released(schema: Any) -> None:
    """A schema's memory is Python's; it is only marked as released."""
    schema.contents.release = None


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(_ArrowSchema))(_mark_released)


@dataclass(frozen=True)
class Backwards:
    """The first of ``count`` places of a chunk where time runs backwards; lines count from 0."""

    count: int
    line: int
    time_s: float
    after_s: float


@dataclass(frozen=True)
class WiredLines:
    """What the parser made of a chunk.

    Attributes:
        frame: the wanted columns of the lines that it took, in their order.
        rows: number of those lines.
        other_lines, other_starts: indices and offsets of the lines that it left.
        first_s, last_s: times of the first and the last line that it took, s.
        backwards: where time runs backwards among them, or None.
    """

    frame: pl.DataFrame
    rows: int
    other_lines: list[int]
    other_starts: list[int]
    first_s: float
    last_s: float
    backwards: Backwards | None


class WiredParser:
    """The compiled parser; calls from several threads run at the same time."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._parse = library.bdpbench_parse_wired
        self._parse.argtypes = [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_uint32,
            ctypes.c_void_p,
        ]
        self._release = library.bdpbench_release
        self._release.argtypes = [ctypes.c_void_p]
        self._release.restype = None

    def parse(self, buffer: bytearray, length: int, wanted: Collection[str]) -> WiredLines:
        """Parse the lines in the first ``length`` bytes, the last of which is a newline.

        Args:
            buffer: the text, and 16 bytes behind it that do not matter.
            length: bytes of the text.
            wanted: names among COLUMNS.

        Raises:
            MemoryError: when the columns cannot be allocated.
        """
        chunk = _WiredChunk()
        mask = sum(1 << index for index, name in enumerate(COLUMNS) if name in wanted)
        text = (ctypes.c_char * len(buffer)).from_buffer(buffer)
        if not self._parse(ctypes.addressof(text), length, mask, ctypes.addressof(chunk)):
            raise MemoryError("no memory for the columns of a chunk")
        try:
            return _taken(chunk, wanted)
        finally:
            self._release(ctypes.addressof(chunk))


@functools.cache
def load() -> WiredParser | None:
    """The parser, compiled unless it has been; None where it can be neither found nor compiled."""
    path = library_path()
    try:
        if not path.is_file():
            command = ["bash", str(_HERE / "build.sh"), str(path.parent)]
            subprocess.run(command, check=True, capture_output=True)
        return WiredParser(ctypes.CDLL(str(path)))
    except (OSError, subprocess.CalledProcessError):
        return None


def library_path() -> Path:
    """Where build.sh puts the library; the name holds a hash of what it is made from."""
    sources = b"".join((_HERE / name).read_bytes() for name in ("build.sh", "wired_lines.c"))
    digest = hashlib.sha256(sources).hexdigest()[:16]
    return home_dir() / "trace" / f"wired_lines-{digest}.so"


def _taken(chunk: _WiredChunk, wanted: Collection[str]) -> WiredLines:
    series = [
        _series(chunk, index, name)
        for index, name in enumerate(COLUMNS)
        if chunk.columns[index].release and name in wanted
    ]
    backwards = (
        Backwards(
            chunk.backwards, chunk.backwards_line, chunk.backwards_time, chunk.backwards_after
        )
        if chunk.backwards
        else None
    )
    return WiredLines(
        pl.DataFrame(series),
        chunk.rows,
        chunk.other_line[: chunk.others],
        chunk.other_start[: chunk.others],
        chunk.first_time,
        chunk.last_time,
        backwards,
    )


def _series(chunk: _WiredChunk, index: int, name: str) -> pl.Series:
    dtype = PACKETS[name]
    if name in _EXTENDED and chunk.extended == 0:
        return pl.repeat(None, chunk.rows, dtype=dtype, eager=True).alias(name)
    series = pl.Series(name, _Column(_ARROW_FORMATS[dtype], name, chunk.columns[index]))
    if name == "event":
        return _events().gather(series).alias(name)
    if name in _WORD_COLUMNS:
        words: pl.Series = getattr(chunk, _WORD_COLUMNS[name]).series()
        return words.gather(series).alias(name)
    return series


@functools.cache
def _events() -> pl.Series:
    return pl.Series(EVENTS, dtype=EVENT)


class _Column:
    """A column as polars takes it over, without a copy: the Arrow C data interface."""

    def __init__(self, arrow_format: bytes, name: str, array: _ArrowArray) -> None:
        self._array = array
        self._schema = _ArrowSchema(
            format=arrow_format,
            name=name.encode(),
            flags=_NULLABLE,
            release=ctypes.cast(_RELEASE_SCHEMA, ctypes.c_void_p).value,
        )

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return _capsule(self._schema, b"arrow_schema"), _capsule(self._array, b"arrow_array")


def _capsule(structure: ctypes.Structure, name: bytes) -> object:
    """A capsule over memory that outlives it: whoever takes the content marks it as taken."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(structure), name, None)
