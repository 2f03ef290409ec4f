"""ns-2's output files → tables: the only place that knows ns-2's columns."""

from __future__ import annotations

from bdpbench.trace.batches import LineAccount
from bdpbench.trace.open import Trace, open_trace
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
