"""ns-2's output files → tables: the only place that knows ns-2's columns."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from bdpbench.trace.batches import LineAccount
from bdpbench.trace.open import Trace, open_trace

if TYPE_CHECKING:
    from bdpbench.trace.reader import OUTPUT_FORMATS, OutputFormat, read_output
    from bdpbench.trace.tables import holds_outputs, load_table, write_tables

__all__ = [
    "OUTPUT_FORMATS",
    "LineAccount",
    "OutputFormat",
    "Trace",
    "holds_outputs",
    "load_table",
    "open_trace",
    "read_output",
    "write_tables",
]


def __getattr__(name: str) -> object:
    """What is not about packet traces is imported when it is asked for."""
    if name in __all__:
        for module in ("reader", "tables"):
            found = vars(importlib.import_module(f"{__name__}.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
