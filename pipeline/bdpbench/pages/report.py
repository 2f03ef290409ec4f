"""The report of a tier: existing results as HTML that opens offline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from bdpbench import __version__
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.scorecard import CLAIM_VERDICTS, NUMBER_VERDICTS
from bdpbench.pages.curves import time_specs
from bdpbench.pages.experiments import STANDING, Experiment, experiments, placed, run_rows
from bdpbench.pages.html import Notes, embedded, page_environment
from bdpbench.pages.inputs import MOST_RUNS_OF_ONE_FILE, ReportData, ReportInputs
from bdpbench.pages.matrix_charts import MatrixGroup, matrix_groups
from bdpbench.pages.names import protocols_of
from bdpbench.pages.packing import pack
from bdpbench.pages.protocols import law_charts, protocol_pages, protocol_table, queue_pages
from bdpbench.pages.scored import (
    cause_rows,
    claim_rows,
    in_doubt,
    kind_rows,
    number_rows,
    printed_chart,
    reading_rows,
    summarize,
)
from bdpbench.pages.series import bins_for
from bdpbench.pages.shards import Shards, drop_others, shards_folder
from bdpbench.pages.specs import Chart
from bdpbench.pages.text import distinct, offered_origins, totals
from bdpbench.pages.texts import told_errata

MOST_BUTTONS = 12
"""If there are more views than these, a list offers them: rows of buttons would hide the chart."""


MOST_LEADS = 2
"""Experiments that a page without questions begins with."""

MOST_LEAD_CHARTS = 2
"""Charts beside the answer of a page that begins with one experiment."""


class Sections:
    """Everything that a page or a set of figures shows of a tier: each section is one function.

    A section is made from the data of the report: inputs, series of the runs, names for readers. A
    new one is a function, an attribute and a template; ``exports.py`` names its files.

    Args:
        inputs: what to show.
        bins: intervals of time whose extremes a series keeps.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/``.

    Attributes:
        data: what the sections were made of.
        numbers, claims: rows of the scorecard.
        printed: all numbers in one chart; None if none was run.
        experiments, matrices: sections with their charts.
        protocols, queues: their rules and parameters.
        laws: response functions, growth and cuts of cwnd; empty if no runs show them.
        table: main metrics of each protocol; None if nothing was measured of one alone.
    """

    def __init__(self, inputs: ReportInputs, bins: int) -> None:
        self.data = data = ReportData(inputs, bins)
        self.numbers = number_rows(inputs.scorecard, data.names)
        self.claims = claim_rows(inputs.scorecard, data.names)
        self.printed = printed_chart(self.numbers, data.names.captions)
        self.experiments = experiments(data)
        self.matrices = [_placed_group(each, data) for each in matrix_groups(data)]
        self.protocols = protocol_pages(data, self.numbers, self.claims)
        self.queues = queue_pages(data)
        self.laws = law_charts(data)
        self.table = protocol_table(data, self.experiments, self.numbers)

    @property
    def charts(self) -> list[Chart]:
        """The charts of the page, without those of views and of single runs."""
        return [
            *([self.printed] if self.printed else ()),
            *(chart for each in self.experiments for chart in each.summaries),
            *self.laws,
            *(chart for group in self.matrices for chart in group.charts),
        ]


def _placed_group(group: MatrixGroup, data: ReportData) -> MatrixGroup:
    runs = [run for run in data.scenarios[group.scenario] if run["run_id"] in data.series]
    metrics = data.inputs.metrics.filter(pl.col("scenario") == group.scenario)
    return replace(group, charts=placed(group.charts, group.title, runs, data, metrics))


def build_report(
    inputs: ReportInputs, out: Path, *, with_files: bool = True, one_file: bool = False
) -> None:
    """Write the report of one tier of a study, which opens offline.

    It is one HTML file. With more than ``MOST_RUNS_OF_ONE_FILE`` runs it has a folder beside it,
    ``report-data/`` of ``report.html``, with parts that the page loads on demand.

    It measures and judges nothing: it shows what earlier stages have written. Equal inputs give
    equal bytes.

    Args:
        inputs: what to show; runs of the plan without a record are shown as not run.
        out: file to write, atomically and after the files beside it.
        with_files: link the output files of the runs; the links are valid for a page at
            ``results/<study>/<tier>/report.html``.
        one_file: put everything into the page, however many runs there are.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    bins = bins_for(len(inputs.run_info))
    sections = Sections(inputs, bins)
    is_large = len(sections.data.runs) > MOST_RUNS_OF_ONE_FILE and not one_file
    shards = Shards(shards_folder(out) if is_large else None)
    files = _add_runs(sections.data, shards, with_files=with_files)
    views = _add_views(sections.experiments, shards) if is_large else {}
    inside = {} if is_large else {each.key: list(each.views) for each in sections.experiments}
    in_views = (chart for held in inside.values() for view in held for chart in view.charts)
    content = _content(sections)
    numbers = _add_numbers(sections, content, shards)
    index = _index([*sections.charts, *in_views], sections.data, shards, files, views, numbers)
    content = {
        **content,
        **embedded(),
        "bins": bins,
        "is_large": is_large,
        "most_buttons": MOST_BUTTONS,
        "with_files": with_files,
        "views": inside,
        "shards": shards.packed,
        "index": index,
    }
    page = page_environment().get_template("report.html").render(content)
    write_text_atomically(out, page)
    drop_others(shards_folder(out), shards.names)


def _add_runs(data: ReportData, shards: Shards, *, with_files: bool) -> Mapping[str, int]:
    """Add the sections of runs; returns run id → position of its part."""
    files = {}
    for run_id, row in run_rows(data, with_files=with_files):
        files[run_id] = shards.position
        shards.add_row(f"run-{run_id}", row)
        if run_id in data.series:
            shards.add_series(run_id, data.series.text(run_id))
        shards.turn()
    shards.close()
    return files


def _add_numbers(
    sections: Sections, content: Mapping[str, object], shards: Shards
) -> dict[str, int]:
    """Add the details of numbers; returns the id of a number → position of its part."""
    template, parts = page_environment().get_template("number.html"), {}
    for row in sections.numbers:
        parts[row.number["id"]] = shards.position
        html = template.render(content, row=row).split("\n")
        shards.add_row(f"more-{row.number['id']}", {"html": html})
        shards.turn()
    shards.close()
    return parts


def _add_views(shown: Iterable[Experiment], shards: Shards) -> dict[str, list[tuple[str, int]]]:
    """Add the views of all experiments; returns experiment → title and part of each view."""
    template = page_environment().get_template("view.html")
    found: dict[str, list[tuple[str, int]]] = {}
    for experiment in shown:
        found[experiment.key] = []
        for number, view in enumerate(experiment.views, start=1):
            found[experiment.key].append((view.title, shards.position))
            html = template.render(view=view).split("\n")
            shards.add_row(f"view-{experiment.key}-{number}", {"html": html})
            shards.add_charts(view.charts)
            shards.turn()
    shards.close()
    return found


def _index(
    shown: Iterable[Chart],
    data: ReportData,
    shards: Shards,
    files: Mapping[str, int],
    views: Mapping[str, list[tuple[str, int]]],
    numbers: Mapping[str, int],
) -> str:
    """Add the charts that the page shows; returns the packed index of all parts."""
    ids = []
    for chart in shown:
        ids.append(chart.chart_id)
        shards.add_charts([chart])
        shards.turn()
    shards.close()
    names, scenarios = data.names, list(data.names.scenarios)
    index = {
        "folder": shards.folder.name if shards.folder else None,
        "time": time_specs(data.names.captions),
        "files": shards.names,
        "charts": {chart_id: shards.charts[chart_id] for chart_id in ids},
        "views": views,
        "numbers": numbers,
        "scenarios": [[key, names.scenario(key)] for key in scenarios],
        "runs": [
            [
                run_id,
                names.run(run_id).label,
                scenarios.index(run["scenario"]),
                int(run_id in data.series),
                files[run_id],
            ]
            for run_id, run in data.runs.items()
        ],
    }
    return pack(json.dumps(index, separators=(",", ":"), ensure_ascii=False))


def leads_of(sections: Sections) -> list[tuple[Experiment, tuple[Chart, ...]]]:
    """Experiments that the page begins with, and the charts beside their answers.

    They are those with a question, or else the first ones that have an answer.
    """
    answered = [each for each in sections.experiments if each.answer]
    cells = {each.scenario: each.charts for each in sections.matrices}
    first: dict[str, Experiment] = {}  # variants of an experiment may have its question, too
    for each in answered:
        first.setdefault(each.question, each)
    asked = [each for question, each in first.items() if question]
    if not asked:  # the first ones that have a chart, before them one that compares all senders
        answered.sort(key=lambda each: all(chart.metrics != STANDING for chart in each.summaries))
        asked = [each for each in answered if each.summaries or each.key in cells][:MOST_LEADS]
    asked = asked or answered[:MOST_LEADS]
    most = MOST_LEAD_CHARTS if len(asked) == 1 else 1
    leads = []
    for each in asked:
        charts = tuple(
            sorted((*each.summaries, *cells.get(each.key, ())), key=lambda own: own.pools)
        )
        if each.answers:  # a chart of another metric would not answer the question
            charts = tuple(own for own in charts if set(own.metrics) & set(each.answers))
        apart = [own for own in charts[most:] if own.chart_id.startswith(f"{charts[0].chart_id}-")]
        leads.append((each, (*charts[:most], *apart)))
    return leads


def _content(sections: Sections) -> dict[str, object]:
    """What the templates show of the sections."""
    inputs, names = sections.data.inputs, sections.data.names
    numbers, claims, leads = sections.numbers, sections.claims, leads_of(sections)
    scorecard, study = inputs.scorecard, inputs.study
    shown = {*inputs.metrics["metric"], *(each["metric"] for each in scorecard["numbers"])}
    used = {key for run in inputs.plan["runs"] for key in protocols_of(run)}
    return {
        "plan": inputs.plan,
        "study": study,
        "citation": study.citation,
        "notes": Notes(study.notes),
        "provenance": _provenance(inputs),
        "errata": told_errata(
            (names.protocol(key), each) for key, each in study.protocols.items() if key in used
        ),
        "reproduces": bool(numbers or claims),
        "scorecard": scorecard,
        "summary": summarize(numbers, claims, sections.experiments),
        "kinds": kind_rows(scorecard),
        "readings": reading_rows(scorecard, numbers, claims),
        "changes": scorecard["history"][::-1],  # the latest first
        "numbers": in_doubt(numbers),
        "claims": in_doubt(claims),
        "causes": cause_rows(scorecard, claims),
        "number_totals": totals(scorecard["totals"], NUMBER_VERDICTS),
        "claim_totals": totals(scorecard["claim_totals"], CLAIM_VERDICTS),
        "number_origins": offered_origins(row.number for row in numbers),
        "claim_origins": offered_origins(row.claim for row in claims),
        "number_protocols": distinct(each for row in numbers for each in row.protocols),
        "claim_protocols": distinct(each for row in claims for each in row.protocols),
        "places": {row.number["id"]: place for place, row in enumerate(numbers)},
        # Of what the page shows: what was measured, and what the study prints.
        "definitions": [each for each in inputs.definitions if each["metric"] in shown],
        "metric_name": names.metric,
        "names": names,
        "given": {name for run in inputs.plan["runs"] for name in run["parameters"]},
        "experiments": sections.experiments,
        "printed": sections.printed,
        "leads": leads,
        "led": {chart.chart_id for _, charts in leads for chart in charts},
        "table": sections.table,
        "matrices": sections.matrices,
        "laws": sections.laws,
        "protocols": sections.protocols,
        "queues": sections.queues,
        "runs": sections.data.runs,
        "series": sections.data.series,
    }


def _provenance(inputs: ReportInputs) -> dict[str, object]:
    """Facts about all runs together, with the runs' dates, so that equal runs give equal pages."""
    planned = list(dict.fromkeys(run["run_id"] for run in inputs.plan["runs"]))  # may be shared
    infos = [inputs.run_info[run_id] for run_id in planned if run_id in inputs.run_info]
    started = sorted(info["started"] for info in infos)
    return {
        "version": __version__,
        "simulators": " and ".join(inputs.simulators),
        "backends": sorted({info["ns2"]["backend"] for info in infos}),
        "binaries": sorted({info["ns2"]["binary_sha256"] or "" for info in infos} - {""}),
        "ns2_info": infos[0]["ns2"].get("info", {}) if infos else {},
        "first_day": started[0][:10] if started else "",
        "last_day": started[-1][:10] if started else "",
        "planned": len(planned),
        "finished": len(infos),
    }
