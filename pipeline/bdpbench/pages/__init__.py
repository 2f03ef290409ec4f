"""The pages: reports, comparisons, traces, and figures and tables of a report as files.

They measure and judge nothing: they show what earlier stages have written.

This module imports nothing. A batch of runs only makes the data of charts and needs
``pages.series``, but neither the models of a study's files nor altair, whose import takes longer
than a small report. altair is loaded when a chart has a shape that is not cached yet.
``pages.report.build_report`` makes a report, ``pages.exports.export_files`` its figures and tables
as files, ``pages.exports.Charts`` its charts as objects for notebooks.
"""
