"""ns-2's output files → tables: the only place that knows ns-2's columns."""

from __future__ import annotations

from bdpbench.trace.formats import FORMATS, Format
from bdpbench.trace.open import Trace, open_trace
from bdpbench.trace.reader import read_output
from bdpbench.trace.report import Report
from bdpbench.trace.tables import load_table, write_tables

__all__ = [
    "FORMATS",
    "Format",
    "Report",
    "Trace",
    "load_table",
    "open_trace",
    "read_output",
    "write_tables",
]
