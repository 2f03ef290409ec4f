"""The HTML report: one self-contained page a study and tier. It computes no number."""

from __future__ import annotations

from bdpbench.pages.exports import ExportRequest, export_files
from bdpbench.pages.figures import FIGURE_FORMATS
from bdpbench.pages.page import build_report
from bdpbench.pages.reduce import reduce_min_max
from bdpbench.pages.regions import load_regions

__all__ = [
    "FIGURE_FORMATS",
    "ExportRequest",
    "build_report",
    "export_files",
    "load_regions",
    "reduce_min_max",
]
