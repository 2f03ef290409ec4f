"""Tables → numbers: frames in, frames out, no file access."""

from __future__ import annotations

from bdpbench.metrics.groups import measure_groups
from bdpbench.metrics.registry import Definition
from bdpbench.metrics.run import METRICS_SCHEMA, measure_run
from bdpbench.metrics.traced import DEFINITIONS, definitions_as_dicts

__all__ = [
    "DEFINITIONS",
    "METRICS_SCHEMA",
    "Definition",
    "definitions_as_dicts",
    "measure_groups",
    "measure_run",
]
