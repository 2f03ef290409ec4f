"""Polars, imported when it is first used, and schemas that do not need it.

Its import takes longer than all else that a short call does, and a call that prints a few numbers
does without it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

__all__ = ["Schema", "pl"]

if TYPE_CHECKING:
    import polars as pl
else:

    class _Later:
        def __getattr__(self, name):
            found = getattr(importlib.import_module("polars"), name)
            setattr(self, name, found)  # which is found without this the next time
            return found

    pl = _Later()


class Schema(Mapping[str, "pl.DataType"]):
    """Columns in order, and their types, which are made when they are asked for.

    Args:
        types: names of columns, separated by blanks → the name of their type in polars, or what
            makes the type.

    >>> schema = Schema({"from_node to_node": "Int32"})
    >>> list(schema), schema["to_node"]
    (['from_node', 'to_node'], Int32)
    """

    def __init__(self, types: Mapping[str, str | Callable[[], pl.DataType]]) -> None:
        self._types = {name: each for names, each in types.items() for name in names.split()}

    def __getitem__(self, name: str) -> pl.DataType:
        kind = self._types[name]
        found: pl.DataType = getattr(pl, kind)() if isinstance(kind, str) else kind()
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)
