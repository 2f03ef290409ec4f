"""Tables → numbers: frames in, frames out; the only file that is read is a study's ``metrics.py``.

A metric is one decorated function (``definition.py``); this module exports what a study's own
metrics need. It is imported when it is asked for, since packet traces are measured without it.
"""

# ruff: noqa: F403, F405
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # What they define is listed below, once.
    from bdpbench.metrics.definition import *
    from bdpbench.metrics.groups import *
    from bdpbench.metrics.measure import *
    from bdpbench.metrics.views import *

__all__ = [
    "DEFINITIONS",
    "MEAN",
    "METRICS_SCHEMA",
    "Definition",
    "FlowView",
    "Group",
    "GroupMetric",
    "LinkView",
    "Metric",
    "Row",
    "RunView",
    "Statistic",
    "Value",
    "Window",
    "as_metrics",
    "code_of",
    "counted",
    "definitions_for",
    "family",
    "flow_metric",
    "group_metric",
    "link_metric",
    "measure_groups",
    "measure_values",
    "metric_rows",
    "percentile",
    "rest_of",
    "run_metric",
    "second_half",
    "whole",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        for module in ("definition", "groups", "views", "measure"):
            found = vars(importlib.import_module(f"{__name__}.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
