"""ns-2's own validation suite (``tcl/test`` of its archive), run on a build and judged.

``suite`` finds the suite and makes the folders it runs in, ``recorder`` stands in for ``ns`` and
notes what each test wrote, ``subset`` runs one subset, ``known`` holds the differences that have
a reason, ``judge`` compares, ``tables`` shows.
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
