"""The HTML report: one self-contained page a study and tier. It computes no number."""

from __future__ import annotations

from bdpbench.report.page import build_report
from bdpbench.report.reduce import reduce_min_max
from bdpbench.report.regions import load_regions

__all__ = ["build_report", "load_regions", "reduce_min_max"]
