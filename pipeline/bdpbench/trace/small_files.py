"""Fast reading of small, ordinary output files of ns-2, without a polars query for each.

A run of a second writes files of some twenty lines, and thousands of such runs are read. Only files
that are certainly valid are read here; all others are left to ``reader``, which also reports
errors.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from bdpbench.trace.output_formats import OUTPUT_FORMATS, OutputFormat

MOST_BYTES = 64 * 2**10
"""Largest size, bytes: for a larger file a query takes less time."""

_NUMBERS: Mapping[pl.DataType, bytes] = {
    pl.Float64(): rb"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?",
    pl.Int32(): rb"\d{1,9}",
    pl.Int64(): rb"\d{1,18}",
}


def read_small(path: Path, form: OutputFormat) -> pl.DataFrame | None:
    """The fields of a small file of plain numbers; None if ``reader`` has to read it."""
    pattern = _pattern(form.table)
    if pattern is None or form != OUTPUT_FORMATS[form.table]:
        return None
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError:
        return None
    if len(content) > MOST_BYTES or pattern.fullmatch(content) is None:
        return None
    words, count = content.decode("ascii").split(), len(form.fields)
    columns = {
        name: _values(words[index::count], dtype)
        for index, (name, dtype) in enumerate(form.fields.items())
    }
    finite = all(map(math.isfinite, (value for values in columns.values() for value in values)))
    rising = all(columns[name] == sorted(columns[name]) for name in form.rises)
    return pl.DataFrame(columns, schema=dict(form.fields)) if finite and rising else None


@functools.cache
def _pattern(table: str) -> re.Pattern[bytes] | None:
    """A pattern for a whole file of numbers, non-negative where required; None for other tables."""
    form = OUTPUT_FORMATS[table]
    if form.streamed or form.span or any(each not in _NUMBERS for each in form.fields.values()):
        return None
    fields = [
        _NUMBERS[dtype] if form.counts and name not in form.signed else b"-?" + _NUMBERS[dtype]
        for name, dtype in form.fields.items()
    ]
    return re.compile(rb"(?:" + rb"[ \t]".join(fields) + rb"[ \t]?\n)+")


def _values(words: Sequence[str], dtype: pl.DataType) -> Sequence[float]:
    return list(map(float if dtype.is_float() else int, words))
