"""The page: all that was computed before, written into one HTML file that needs no other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import polars as pl

from bdpbench import __version__
from bdpbench.contracts.files import write_text_atomically
from bdpbench.pages.assets import assets_dir, read_asset
from bdpbench.pages.chart import Chart
from bdpbench.pages.charts import time_charts
from bdpbench.pages.details import RunDetail
from bdpbench.pages.embed import embed_json, embed_text, pack_text, vega_bundle, web_address
from bdpbench.pages.names import Names
from bdpbench.pages.notes import notes_html
from bdpbench.pages.sections import RunInfo, Sections, gather
from bdpbench.pages.series import LoadTable, RunSeries, bins_for
from bdpbench.pages.summary import summarize
from bdpbench.pages.text import subscripts
from bdpbench.pages.verdicts import (
    CLAIM_VERDICTS,
    NUMBER_VERDICTS,
    totals,
)

# More views than these are chosen from a list: rows of buttons would hide the chart below them.
MOST_BUTTONS = 12


def build_report(
    plan: Mapping[str, Any],
    metrics: pl.DataFrame,
    scorecard: Mapping[str, Any],
    definitions: Sequence[Mapping[str, str]],
    load_table: LoadTable,
    run_info: RunInfo,
    study: Mapping[str, Any],
    out: Path,
    *,
    with_files: bool = True,
) -> None:
    """Write the report of one tier of a study: one HTML file that opens offline.

    The report computes no number: it shows what the stages before it have written. Equal inputs
    give equal bytes. Runs of the plan that are not in ``run_info`` are shown as not run.

    Args:
        plan: content of ``plan.json``.
        metrics: table of ``metrics.parquet``.
        scorecard: content of ``scorecard.json``.
        definitions: ``id``, ``metric``, ``unit``, ``text``, ``source`` of every definition.
        load_table: (run id, table) → its frame, None where the run does not have the table.
        run_info: run id → content of ``run.json``, for the runs that are finished.
        study: ``title``; if known ``protocols`` (key → mapping with ``agent``, ``linux`` and
            ``settings``), ``regions`` (of its pairs), ``repetitions`` (means over them),
            ``description``, ``citation`` (mapping with ``authors``, ``title``, ``venue``,
            ``year``, ``url``, ``doi``, ``bibtex``) and ``notes`` (Markdown).
        out: file to write, atomically.
        with_files: link the output files of the runs; the links hold for a page at
            ``results/<study>/<tier>/report.html``.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    bins = bins_for(len(run_info))
    sections = gather(plan, metrics, scorecard, load_table, run_info, study, bins)
    environment = page_environment()
    content = {
        "plan": plan,
        "scorecard": scorecard,
        "definitions": definitions,
        "metric_name": sections.names.captions.metric,
        "numbers": sections.numbers,
        "claims": sections.claims,
        "summary": summarize(sections.numbers, sections.claims, sections.experiments),
        "bins": bins,
        "provenance": _provenance(plan, run_info),
        **_about(study),
        **_totals(scorecard),
        **_sections(sections, environment, with_files=with_files),
        **_embedded(_charts(sections), sections.series, sections.names),
    }
    write_text_atomically(out, environment.get_template("report.html").render(content))


def _sections(
    sections: Sections, environment: jinja2.Environment, *, with_files: bool
) -> dict[str, Any]:
    return {
        "experiments": sections.experiments,
        "swept": [section for section in sections.experiments if section.summaries],
        "pairs": sections.pairs,
        "response": sections.response,
        "protocols": sections.protocols,
        "runs": sections.runs,
        "most_buttons": MOST_BUTTONS,
        "bodies": {
            run.run_id: _run_body(run, environment, with_files=with_files) for run in sections.runs
        },
        "with_files": with_files,
    }


def _about(study: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "study": study,
        "citation": study.get("citation") or {},
        "notes": notes_html(str(study.get("notes") or "")),
    }


def _totals(scorecard: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "number_totals": totals(scorecard["totals"], NUMBER_VERDICTS),
        "claim_totals": totals(scorecard["claim_totals"], CLAIM_VERDICTS),
    }


class _Unindented(jinja2.FileSystemLoader):
    """Templates without their indentation: it is for their readers, and a tenth of a page."""

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        source, *rest = super().get_source(environment, template)
        return re.sub(r"^[ \t]+", "", source, flags=re.MULTILINE), *rest


def page_environment() -> jinja2.Environment:
    """Templates of pages: everything is escaped, and an unknown name is an error."""
    environment = jinja2.Environment(
        loader=_Unindented(assets_dir() / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        web_address=web_address,
        subscripts=subscripts,
        list_of_values=lambda mapping: list(mapping.values()),
    )
    return environment


def _provenance(plan: Mapping[str, Any], run_info: RunInfo) -> dict[str, Any]:
    """Facts about all runs together; the dates are theirs, so that equal runs give equal pages."""
    planned = list(dict.fromkeys(run["run_id"] for run in plan["runs"]))  # two scenarios may share
    infos = [run_info[run_id] for run_id in planned if run_id in run_info]
    started = sorted(str(info["started"]) for info in infos)
    return {
        "version": __version__,
        "backends": sorted({str(info["ns2"]["backend"]) for info in infos}),
        "binaries": sorted({str(info["ns2"].get("binary_sha256") or "") for info in infos} - {""}),
        "ns2_info": infos[0]["ns2"].get("info") or {} if infos else {},
        "first_day": started[0][:10] if started else "",
        "last_day": started[-1][:10] if started else "",
        "planned": len(planned),
        "finished": len(infos),
    }


def _run_body(detail: RunDetail, environment: jinja2.Environment, *, with_files: bool) -> str:
    """What a run has to say, with the contents of its charts, packed."""
    contents = {chart.chart_id: chart.content for chart in detail.charts}
    template = environment.get_template("run.html")
    text = template.render(run=detail, chart_contents=embed_json(contents), with_files=with_files)
    return pack_text(text)


def _charts(sections: Sections) -> list[Chart]:
    """All charts of the page but those of the single runs."""
    views = [view for experiment in sections.experiments for view in experiment.views]
    summaries = [chart for experiment in sections.experiments for chart in experiment.summaries]
    held: Sequence[tuple[Chart, ...]] = [
        *(view.charts for view in views),
        *(page.charts for page in sections.protocols),
        *(group.charts for group in sections.pairs),
    ]
    response = [sections.response] if sections.response else []
    return [*summaries, *response, *(chart for charts in held for chart in charts)]


def _embedded(
    charts: Sequence[Chart], series: Mapping[str, RunSeries], names: Names
) -> dict[str, Any]:
    """Style sheet, scripts and data, ready to stand inside their elements."""
    return {
        "style": embed_text(read_asset("static/report.css"), "reports/static/report.css"),
        "script": embed_text(read_asset("static/report.js"), "reports/static/report.js"),
        "vega": embed_text(vega_bundle(), "the Vega bundle"),
        "charts": embed_json(
            {
                "time": time_charts(names.captions),
                "charts": {chart.chart_id: chart.content for chart in charts},
            }
        ),
        "series": {run_id: embed_json(each) for run_id, each in series.items()},
    }
