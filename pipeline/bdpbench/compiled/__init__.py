"""The pipeline's C code: compiled at first use, loaded by ctypes, sharing columns with polars."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bdpbench.contracts.kept import difference
from bdpbench.contracts.paths import home_dir
from bdpbench.later import pl
from bdpbench.processes import run

_BUILD = Path(__file__).with_name("build.sh")
_MOST_COMPILING_S = 600.0


def load_library(source: Path) -> ctypes.CDLL | None:
    """The library of a source, compiled if necessary.

    None if it can be neither found nor compiled, because a compiler or disk space is missing.
    """
    path = library_path(source)
    try:
        if difference(path.with_suffix(".sha256"), path.name):
            path.unlink(missing_ok=True)
            command = ["bash", str(_BUILD), str(path.parent), str(source)]
            run(command, _MOST_COMPILING_S)
        return ctypes.CDLL(str(path))
    except (OSError, subprocess.TimeoutExpired):
        return None


def library_path(source: Path) -> Path:
    """Where build.sh puts the library, whose name contains a hash of what it is built from."""
    digest = hashlib.sha256(_BUILD.read_bytes() + source.read_bytes()).hexdigest()[:16]
    return home_dir() / "compiled" / f"{source.stem}-{digest}.so"


# Columns shared by C and polars without copying: the Arrow C data and stream interfaces.
_FORMATS = {"Float64": b"g", "Int32": b"i", "Int64": b"l", "UInt8": b"C", "UInt16": b"S"}
_NULLABLE = 2


class ArrowArray(ctypes.Structure):
    """An array of the interface; its consumer releases it."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("length", "null_count", "offset")),
        *((name, ctypes.c_int64) for name in ("n_buffers", "n_children")),
        *((name, ctypes.c_void_p) for name in ("buffers", "children", "dictionary")),
        *((name, ctypes.c_void_p) for name in ("release", "private_data")),
    )


@dataclass(frozen=True)
class PackedRows:
    """Wireless rows as a parser in C leaves them for sums in C: no frame lies between.

    Attributes:
        rows: number of rows.
        columns: name of a column → address of its values, of the type that it has in a frame,
            without nulls. Words are their indices, of types and reasons u16, of events u8, and of
            layers u8 from 1 on, 0 for none. Absent numbers are the largest i32, or
            for seq the least i64, for uid -1, for bytes 0 and for energy_j -1.
        events, layers, types, reasons: the words; an absent type or reason is empty.
        frame: makes the same rows of a frame, and takes the columns away; to be called once.
    """

    rows: int
    columns: Mapping[str, int]
    events: Sequence[str]
    layers: Sequence[str]
    types: Sequence[str]
    reasons: Sequence[str]
    frame: Callable[[], pl.DataFrame]


class LineSink(Protocol):
    """What a parser in C may tell wired lines to, one by one, so that no rows lie between.

    Attributes:
        function, state: address of a ``take_line_of`` of wired_lines.c, and its first argument.
        is_open: whether it takes lines; once it is closed, it stays so.
    """

    function: int
    state: int
    is_open: bool

    def learn(self, words: Sequence[str]) -> bool:
        """Learn all types of packets so far; false if it left a line for another reason."""


class _ArrowSchema(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("format", "name", "metadata")),
        *((name, ctypes.c_int64) for name in ("flags", "n_children")),
        *((name, ctypes.c_void_p) for name in ("children", "dictionary")),
        *((name, ctypes.c_void_p) for name in ("release", "private_data")),
    )


def series_of(name: str, dtype: pl.DataType, array: ArrowArray) -> pl.Series:
    """A series that takes over an array which C has filled and will release."""
    return pl.Series(name, _Column(_FORMATS[str(dtype)], name, array))


def values_of(array: ArrowArray, *, is_real: bool) -> list[float | None]:
    """The values of an array that C has filled, 8 bytes each; it is released.

    Real numbers that are not finite become None.
    """
    buffers = (ctypes.c_void_p * 2).from_address(array.buffers)
    kind = ctypes.c_double if is_real else ctypes.c_int64
    found = list((kind * array.length).from_address(buffers[1]))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(array.release)(ctypes.addressof(array))
    return [each if math.isfinite(each) else None for each in found] if is_real else found


def stream_of(frame: pl.DataFrame) -> tuple[int, object]:
    """Address of a stream of a frame's columns, and the object to keep alive while it is read."""
    capsule = frame.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, b"arrow_array_stream")), capsule


@functools.cache
def chars(count: int) -> type[ctypes.Array[ctypes.c_char]]:
    """The ctypes type of that many bytes, cached because ctypes would create it anew each time."""
    return ctypes.c_char * count


def _mark_released(schema: Any) -> None:
    """Only mark a schema as released: its memory belongs to Python."""
    schema.contents.release = None


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(_ArrowSchema))(_mark_released)


class _Column:
    """A column in the form that polars imports."""

    def __init__(self, arrow_format: bytes, name: str, array: ArrowArray) -> None:
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
    """A capsule over memory that outlives it; the consumer marks its content as released."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(structure), name, None)
