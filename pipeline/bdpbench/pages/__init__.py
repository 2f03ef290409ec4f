"""The pages: reports, comparisons, traces, and figures and tables of a report as files.

They measure and judge nothing: what they show was written by the stages before them.

Nothing is imported here: a batch of runs, which makes only what charts show of them, needs
``pages.series`` and neither the models of a study's files nor altair, whose import takes longer
than a small report; it is loaded when a chart of a shape that is not kept yet is made.
``pages.page.build_report`` makes a report, ``pages.exports.export_files`` its figures and tables as
files, ``pages.charts.Charts`` its charts as objects for notebooks.
"""
