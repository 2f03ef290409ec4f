"""The page: all that was computed before, written into one HTML file that needs no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import polars as pl

from bdpbench import __version__
from bdpbench.model.files import write_text_atomically
from bdpbench.report.assets import assets_dir, read_asset, read_captions
from bdpbench.report.charts import time_charts
from bdpbench.report.details import RunDetail, run_details
from bdpbench.report.embed import embed_json, embed_text, vega_bundle, web_address
from bdpbench.report.experiments import Experiment, experiments
from bdpbench.report.notes import notes_html
from bdpbench.report.series import LoadTable, RunSeries, bins_for, run_series
from bdpbench.report.verdicts import (
    CLAIM_VERDICTS,
    NUMBER_VERDICTS,
    Names,
    claim_rows,
    number_rows,
    totals,
)

RunInfo = Mapping[str, Mapping[str, Any]]


def build_report(
    plan: Mapping[str, Any],
    metrics: pl.DataFrame,
    scorecard: Mapping[str, Any],
    definitions: Sequence[Mapping[str, str]],
    load_table: LoadTable,
    run_info: RunInfo,
    study: Mapping[str, Any],
    out: Path,
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
        study: ``title``; if known ``description``, ``citation`` (mapping with ``authors``,
            ``title``, ``venue``, ``year``, ``url``, ``doi``, ``bibtex``) and ``notes`` (Markdown).
        out: file to write, atomically; links to output files hold for
            ``results/<study>/<tier>/report.html``.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    names = Names(plan, read_captions())
    bins = bins_for(len(run_info))
    series = {
        run["run_id"]: run_series(run["run_id"], load_table, bins)
        for run in plan["runs"]
        if run["run_id"] in run_info
    }
    sections = experiments(plan, metrics, scorecard, series, names)
    details = run_details(plan, metrics, run_info, series, names)
    page = _environment().get_template("report.html")
    content = {
        "plan": plan,
        "scorecard": scorecard,
        "definitions": definitions,
        "experiments": sections,
        "runs": details,
        "bins": bins,
        "provenance": _provenance(plan, run_info),
        **_about(study),
        **_verdicts(scorecard, names),
        **_embedded(sections, details, series, names),
    }
    write_text_atomically(out, page.render(content))


def _about(study: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "study": study,
        "citation": study.get("citation") or {},
        "notes": notes_html(str(study.get("notes") or "")),
    }


def _verdicts(scorecard: Mapping[str, Any], names: Names) -> dict[str, Any]:
    return {
        "number_totals": totals(scorecard["totals"], NUMBER_VERDICTS),
        "claim_totals": totals(scorecard["claim_totals"], CLAIM_VERDICTS),
        "numbers": number_rows(scorecard, names),
        "claims": claim_rows(scorecard, names),
        "metric_name": names.captions.metric,
    }


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(assets_dir() / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["web_address"] = web_address
    return environment


def _provenance(plan: Mapping[str, Any], run_info: RunInfo) -> dict[str, Any]:
    """Facts about all runs together; the dates are theirs, so that equal runs give equal pages."""
    infos = [run_info[run["run_id"]] for run in plan["runs"] if run["run_id"] in run_info]
    started = sorted(str(info["started"]) for info in infos)
    return {
        "version": __version__,
        "backends": sorted({str(info["ns2"]["backend"]) for info in infos}),
        "binaries": sorted({str(info["ns2"].get("binary_sha256") or "") for info in infos} - {""}),
        "ns2_info": infos[0]["ns2"].get("info") or {} if infos else {},
        "first_day": started[0][:10] if started else "",
        "last_day": started[-1][:10] if started else "",
        "planned": len({run["run_id"] for run in plan["runs"]}),
        "finished": len(infos),
    }


def _embedded(
    sections: Sequence[Experiment],
    details: Sequence[RunDetail],
    series: Mapping[str, RunSeries],
    names: Names,
) -> dict[str, Any]:
    """Style sheet, scripts and data, ready to stand inside their elements."""
    charts = [
        chart
        for section in sections
        for chart in (*section.summaries, *(each for view in section.views for each in view.charts))
    ]
    charts += [chart for detail in details for chart in detail.charts]
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
