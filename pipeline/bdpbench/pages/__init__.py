"""The pages: reports, comparisons, traces, and figures and tables of a report as files.

They measure and judge nothing: what they show was written by the stages before them.

This module contains what planning and the stages before a report need. altair, whose import takes
longer than a small report, is loaded when a chart of a shape that is not kept yet is made.
``pages.page.build_report`` makes a report, ``pages.exports.export_files`` its figures and tables as
files, ``pages.charts.Charts`` its charts as objects for notebooks.
"""

from __future__ import annotations

from bdpbench.pages.inputs import ReportInputs, StudyTexts
from bdpbench.pages.matrices import load_matrices
from bdpbench.pages.reduce import reduce_min_max
from bdpbench.pages.study_page import load_page

__all__ = ["ReportInputs", "StudyTexts", "load_matrices", "load_page", "reduce_min_max"]
