"""ns-2's own validation suite (``tcl/test`` of its archive), run with a build and judged.

``suite`` finds the suite and prepares its working folders, ``recorder`` stands in for ``ns`` and
records what each test wrote, ``subset`` runs one subset, ``known`` reads the explained differences,
``judge`` compares, and ``tables`` formats the result.
"""

from __future__ import annotations

from bdpbench.simulation.validation.judge import Judgement, judge
from bdpbench.simulation.validation.known import KnownDifference, read_known_differences
from bdpbench.simulation.validation.subset import (
    KeptSubset,
    Limits,
    SubsetResult,
    TestResult,
    run_subset,
)
from bdpbench.simulation.validation.suite import QUICK_SUBSETS, Suite, open_suite

__all__ = [
    "QUICK_SUBSETS",
    "Judgement",
    "KeptSubset",
    "KnownDifference",
    "Limits",
    "SubsetResult",
    "Suite",
    "TestResult",
    "judge",
    "open_suite",
    "read_known_differences",
    "run_subset",
]
