"""The parts of a report that few readers open, packed: see ``shards.py``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypedDict

import jinja2
from markupsafe import Markup

from bdpbench.pages.chart import Chart
from bdpbench.pages.details import RunDetail
from bdpbench.pages.embed import embed_json, pack_text
from bdpbench.pages.experiments import ChartedView
from bdpbench.pages.sections import Sections
from bdpbench.pages.shards import Shards
from bdpbench.pages.time_charts import time_specs

MOST_RUNS_OF_ONE_FILE = 400
"""Runs above which a page has files beside it: as one file it would exceed 8 MB."""


class Parts(TypedDict):
    """Contents of the templates: views, charts, and the packed parts.

    Attributes:
        views: experiment → its views with their charts; empty if they are in files.
        charts: what all charts over time share.
        shards: packed parts in the page itself.
        index: packed index of all parts.
    """

    views: dict[str, list[ChartedView]]
    charts: Markup
    shards: list[str]
    index: str


def make_parts(
    sections: Sections, environment: jinja2.Environment, shards: Shards, *, with_files: bool
) -> Parts:
    """Pack runs, their series and all charts; with a folder, also the views of experiments."""
    files = _add_runs(sections, environment, shards, with_files=with_files)
    beside = shards.folder is not None
    views = _add_views(sections, environment, shards) if beside else {}
    inside = {} if beside else {each.key: list(each.views) for each in sections.experiments}
    shown = [
        *summary_charts(sections),
        *section_charts(sections),
        *(chart for held in inside.values() for view in held for chart in view.charts),
    ]
    for chart in shown:
        shards.add_charts([chart])
        shards.turn()
    shards.close()
    scenarios = list(sections.names.scenarios)
    index = {
        "folder": shards.folder.name if shards.folder else None,
        "files": shards.names,
        "charts": {chart.chart_id: shards.charts[chart.chart_id] for chart in shown},
        "views": views,
        "scenarios": [[key, sections.names.scenario(key)] for key in scenarios],
        "runs": [
            [
                run["run_id"],
                sections.names.run(run["run_id"]).label,
                scenarios.index(run["scenario"]),
                int(run["run_id"] in sections.series),
                files[run["run_id"]],
            ]
            for run in sections.runs
        ],
    }
    text = json.dumps(index, separators=(",", ":"), ensure_ascii=False)
    return {
        "views": inside,
        "charts": embed_json({"time": time_specs(sections.names.captions), "charts": {}}),
        "shards": shards.packed,
        "index": pack_text(text),
    }


def summary_charts(sections: Sections) -> list[Chart]:
    """The charts about each experiment as a whole, and about all of them together."""
    own = [chart for experiment in sections.experiments for chart in experiment.summaries]
    return [*own, *sections.laws]


def section_charts(sections: Sections) -> list[Chart]:
    """The charts of protocols and of matrices."""
    pages = [chart for page in sections.protocols for chart in page.charts]
    return [*pages, *(chart for group in sections.matrices for chart in group.charts)]


def _run_body(detail: RunDetail, environment: jinja2.Environment, *, with_files: bool) -> str:
    """The section of a run, with the contents of its charts."""
    contents = {chart.chart_id: chart.content for chart in detail.charts}
    template = environment.get_template("run.html")
    return template.render(run=detail, chart_contents=embed_json(contents), with_files=with_files)


def _add_runs(
    sections: Sections, environment: jinja2.Environment, shards: Shards, *, with_files: bool
) -> Mapping[str, int]:
    """Add the sections of runs; returns run id → position of its part."""
    files = {}
    for run in sections.details():
        files[run.run_id] = shards.position
        body = _run_body(run, environment, with_files=with_files)
        shards.add_html(f"run-{run.run_id}", body)
        if run.finished:
            shards.add_series(run.run_id, sections.series.text(run.run_id))
        shards.turn()
    shards.close()
    return files


def _add_views(
    sections: Sections, environment: jinja2.Environment, shards: Shards
) -> dict[str, list[tuple[str, int]]]:
    """Add the views of all experiments; returns experiment → title and part of each view."""
    template = environment.get_template("view.html")
    found: dict[str, list[tuple[str, int]]] = {}
    for experiment in sections.experiments:
        found[experiment.key] = []
        for number, view in enumerate(experiment.views, start=1):
            found[experiment.key].append((view.title, shards.position))
            shards.add_html(f"view-{experiment.key}-{number}", template.render(view=view))
            shards.add_charts(view.charts)
            shards.turn()
    shards.close()
    return found
