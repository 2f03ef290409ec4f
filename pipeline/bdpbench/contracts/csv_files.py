"""CSV files in which a spreadsheet takes no text for a formula.

A spreadsheet evaluates every cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
return, so that a text from a study could run commands. Such a text gets a leading apostrophe, which
spreadsheets do not show; a text that begins with apostrophes followed by one of these characters
gets one more, so that every text can be restored. Numbers, and texts that are numbers, stay as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"


def cell(value: object) -> object:
    """A cell as it is written: a text that a spreadsheet would evaluate gets an apostrophe.

    >>> cell("=1+1"), cell("-1.5"), cell(-1.5), cell("'=x"), cell("'s")
    ("'=1+1", '-1.5', -1.5, "''=x", "'s")
    """
    if not isinstance(value, str) or re.fullmatch(_NUMBER, value):
        return value
    return f"'{value}" if re.search(_FORMULA, value) else value


def csv_of(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as CSV under a header of ``columns``; numbers with all digits, as Python prints them."""
    lines = [columns, *([row.get(name) for name in columns] for row in rows)]
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(value: object) -> str:
    """A cell, quoted if RFC 4180 requires it; the csv module does not quote a lone CR."""
    text = "" if value is None else str(cell(value))
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if re.search(r'[",\r\n]', text) else text


def csv_of_frame(frame: pl.DataFrame) -> bytes:
    """A frame as CSV; its numbers as polars prints them."""
    import polars as pl

    columns = []
    for name, dtype in frame.schema.items():
        if dtype in (pl.String, pl.Categorical, pl.Enum):
            text = pl.col(name).cast(pl.String)
            computed = text.str.contains(_FORMULA) & ~text.str.contains(f"^(?:{_NUMBER})$")
            columns.append(pl.when(computed).then("'" + text).otherwise(text).alias(name))
    return frame.with_columns(columns).write_csv().encode()
