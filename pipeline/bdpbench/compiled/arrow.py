"""Columns between C and polars, without a copy: the Arrow C data and stream interfaces."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import polars as pl

_FORMATS: dict[pl.DataType, bytes] = {
    pl.Float64(): b"g",
    pl.Int32(): b"i",
    pl.Int64(): b"l",
    pl.UInt8(): b"C",
    pl.UInt16(): b"S",
}
_NULLABLE = 2


class ArrowArray(ctypes.Structure):
    """An array of the interface; whoever takes it over releases it."""

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


def series_of(name: str, dtype: pl.DataType, array: ArrowArray) -> pl.Series:
    """The series that takes an array over: one that C has filled and would release."""
    return pl.Series(name, _Column(_FORMATS[dtype], name, array))


def stream_of(frame: pl.DataFrame) -> tuple[int, object]:
    """Address of a stream of a frame's columns, and what has to be kept while it is read."""
    capsule = frame.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, b"arrow_array_stream")), capsule


@functools.cache
def chars(count: int) -> type[ctypes.Array[ctypes.c_char]]:
    """The type of so many bytes, to be laid over a buffer; ctypes would make it anew each time."""
    return ctypes.c_char * count


def _mark_released(schema: Any) -> None:
    """A schema's memory is Python's; it is only marked as released."""
    schema.contents.release = None


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(_ArrowSchema))(_mark_released)


class _Column:
    """A column as polars takes it over."""

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
    """A capsule over memory that outlives it: whoever takes the content marks it as taken."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(structure), name, None)
