"""Tables → numbers: frames in, frames out, no file access."""

from __future__ import annotations

from bdpbench.metrics.groups import measure_groups
from bdpbench.metrics.registry import (
    DEFINITIONS,
    Definition,
    definitions_as_dicts,
    metric_units,
)
from bdpbench.metrics.run import METRICS_SCHEMA, measure_run

__all__ = [
    "DEFINITIONS",
    "METRICS_SCHEMA",
    "Definition",
    "definitions_as_dicts",
    "measure_groups",
    "measure_run",
    "metric_units",
]
