"""The pages: reports, comparisons, traces, and figures and tables of a report as files.

They measure and judge nothing: what they show was written by the stages before them.

This module imports nothing: a batch of runs, which only makes the data of charts, needs
``pages.series`` and neither the models of a study's files nor altair, whose import takes longer
than a small report. altair is loaded when a chart has a shape that is not cached yet.
``pages.page.build_report`` makes a report, ``pages.exports.export_files`` its figures and tables as
files, ``pages.charts.Charts`` its charts as objects for notebooks.
"""
