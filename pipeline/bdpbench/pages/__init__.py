"""The pages: reports, comparisons, traces, and figures and tables of a report as files.

They measure and judge nothing: what they show was written by the stages before them.
"""

from __future__ import annotations

from bdpbench.pages.exports import ExportRequest, export_files
from bdpbench.pages.figures import FIGURE_FORMATS
from bdpbench.pages.inputs import ReportInputs, StudyTexts
from bdpbench.pages.matrices import load_matrices
from bdpbench.pages.page import build_report
from bdpbench.pages.reduce import reduce_min_max
from bdpbench.pages.study_page import load_page

__all__ = [
    "FIGURE_FORMATS",
    "ExportRequest",
    "ReportInputs",
    "StudyTexts",
    "build_report",
    "export_files",
    "load_matrices",
    "load_page",
    "reduce_min_max",
]
