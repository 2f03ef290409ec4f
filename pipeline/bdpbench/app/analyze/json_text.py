"""Frames and plain values as JSON, without a step through Python for each row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

_INDENT = " "


def json_text(value: object, indent: str = "") -> str:
    """Indented JSON of mappings, lists, plain values, and frames as lists, one row per line.

    Non-finite numbers in a frame become null, since JSON cannot represent them.

    Raises:
        ValueError: for a non-finite number outside a frame.

    >>> print(json_text({"name": "a", "rows": pl.DataFrame({"x": [1.5, float("nan")]})}))
    {
     "name": "a",
     "rows": [
      {"x":1.5},
      {"x":null}
     ]
    }
    """
    inner = indent + _INDENT
    if isinstance(value, pl.DataFrame):
        return _joined("[]", _rows(value), indent)
    if isinstance(value, Mapping):
        items = (f"{json.dumps(key)}: {json_text(item, inner)}" for key, item in value.items())
        return _joined("{}", items, indent)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _joined("[]", (json_text(item, inner) for item in value), indent)
    return json.dumps(value, allow_nan=False)


def _joined(brackets: str, items: Iterable[str], indent: str) -> str:
    first, last = brackets[0], brackets[1]
    inner = indent + _INDENT
    text = f",\n{inner}".join(items)
    return f"{first}\n{inner}{text}\n{indent}{last}" if text else brackets


def _rows(frame: pl.DataFrame) -> list[str]:
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    finite = [pl.when(pl.col(name).is_finite()).then(name).alias(name) for name in floats]
    # Line feeds in strings are escaped.
    return frame.with_columns(finite).write_ndjson().split("\n")[:-1]
