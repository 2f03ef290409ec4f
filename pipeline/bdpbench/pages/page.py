"""The page: existing results as HTML that opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from markupsafe import Markup

from bdpbench import __version__
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.plan import Plan
from bdpbench.contracts.runs import BuildFacts, Definition
from bdpbench.contracts.scorecard import CLAIM_VERDICTS, NUMBER_VERDICTS, Scorecard
from bdpbench.pages.assets import read_asset
from bdpbench.pages.embed import embed_text, vega_bundle
from bdpbench.pages.history import change_rows, definition_origins
from bdpbench.pages.inputs import ReportInputs, RunRecords, StudyTexts
from bdpbench.pages.kinds import kind_rows
from bdpbench.pages.names import Names
from bdpbench.pages.notes import Notes
from bdpbench.pages.origins import offered_origins
from bdpbench.pages.overview import overview
from bdpbench.pages.parts import MOST_RUNS_OF_ONE_FILE, make_parts
from bdpbench.pages.sections import Sections, gather
from bdpbench.pages.series import bins_for
from bdpbench.pages.shards import Shards, drop_others, shards_folder
from bdpbench.pages.summary import claims_in_doubt, in_doubt, summarize
from bdpbench.pages.taken_over import taken_over_sentence
from bdpbench.pages.templates import page_environment
from bdpbench.pages.verdicts import ClaimRow, NumberRow, totals

# If there are more views than these, a list offers them: rows of buttons would hide the chart.
MOST_BUTTONS = 12


def build_report(inputs: ReportInputs, out: Path, *, with_files: bool = True) -> None:
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

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    bins = bins_for(len(inputs.run_info))
    sections = gather(inputs, bins)
    environment = page_environment()
    is_large = len(sections.runs) > MOST_RUNS_OF_ONE_FILE
    shards = Shards(shards_folder(out) if is_large else None)
    parts = make_parts(sections, environment, shards, with_files=with_files)
    content = {
        "plan": inputs.plan,
        "scorecard": inputs.scorecard,
        "definitions": shown_definitions(inputs),
        "parameters": _parameters(inputs.plan, sections.names),
        "metric_name": sections.names.metric,
        "numbers": in_doubt(sections.numbers),
        "places": {row.number["id"]: place for place, row in enumerate(sections.numbers)},
        "claims": claims_in_doubt(sections.claims),
        "reproduces": bool(sections.numbers or sections.claims or inputs.study.citation),
        "changes": change_rows(inputs.scorecard),
        "found": definition_origins(sections.numbers),
        "number_origins": offered_origins(row.origins for row in sections.numbers),
        "claim_origins": offered_origins(row.origins for row in sections.claims),
        "overview": overview(sections.numbers),
        "number_protocols": _protocols_of(sections.numbers),
        "claim_protocols": _protocols_of(sections.claims),
        "summary": summarize(sections.numbers, sections.claims, sections.experiments),
        "bins": bins,
        "is_large": is_large,
        "with_files": with_files,
        "provenance": _provenance(inputs.plan, inputs.run_info),
        **_about(inputs.study),
        **_totals(inputs.scorecard),
        **_sections(sections),
        **_embedded(),
        **parts,
    }
    write_text_atomically(out, environment.get_template("report.html").render(content))
    drop_others(shards_folder(out), shards.names)


def shown_definitions(inputs: ReportInputs) -> list[Definition]:
    """Definitions of what the page shows: what was measured, and what the study prints."""
    shown = {
        *inputs.metrics["metric"].unique(),
        *(number["metric"] for number in inputs.scorecard["numbers"]),
    }
    return [each for each in inputs.definitions if each["metric"] in shown]


def _protocols_of(rows: Sequence[NumberRow] | Sequence[ClaimRow]) -> list[str]:
    """Labels of the protocols that some rows concern, each once."""
    return list(dict.fromkeys(each for row in rows for each in row.protocols))


class _Parameter(TypedDict):
    """A parameter; ``nominal``: why ns-2 does not get it, "" if it does."""

    key: str
    name: str
    description: str
    nominal: str


def _parameters(plan: Plan, names: Names) -> list[_Parameter]:
    """The parameters that the runs have, as they are declared."""
    given = {name for run in plan["runs"] for name in run["parameters"]}
    return [
        {
            "key": key,
            "name": names.parameters.name(key),
            "description": each["description"],
            "nominal": each["nominal"],
        }
        for key, each in plan["parameters"].items()
        if key in given
    ]


def _sections(sections: Sections) -> dict[str, object]:
    return {
        "experiments": sections.experiments,
        "swept": [section for section in sections.experiments if section.summaries],
        "matrices": sections.matrices,
        "laws": sections.laws,
        "protocols": sections.protocols,
        "runs": [
            {
                "run_id": run["run_id"],
                "label": sections.names.run(run["run_id"]).label,
                "scenario": run["scenario"],
                "scenario_title": sections.names.scenario(run["scenario"]),
                "finished": run["run_id"] in sections.series,
            }
            for run in sections.runs
        ],
        "most_buttons": MOST_BUTTONS,
    }


def _about(study: StudyTexts) -> dict[str, object]:
    return {"study": study, "citation": study.citation, "notes": Notes(study.notes)}


def _totals(scorecard: Scorecard) -> dict[str, object]:
    return {
        "number_totals": totals(scorecard["totals"], NUMBER_VERDICTS),
        "claim_totals": totals(scorecard["claim_totals"], CLAIM_VERDICTS),
        "kinds": kind_rows(scorecard),
    }


class _Provenance(TypedDict):
    """Facts about all runs together."""

    version: str
    backends: list[str]
    binaries: list[str]
    ns2_info: BuildFacts
    first_day: str
    last_day: str
    planned: int
    finished: int
    taken_over: str


def _provenance(plan: Plan, run_info: RunRecords) -> _Provenance:
    """Facts about all runs together, with the runs' dates, so that equal runs give equal pages."""
    planned = list(dict.fromkeys(run["run_id"] for run in plan["runs"]))  # may be shared
    infos = [run_info[run_id] for run_id in planned if run_id in run_info]
    started = sorted(info["started"] for info in infos)
    return {
        "version": __version__,
        "backends": sorted({info["ns2"]["backend"] for info in infos}),
        "binaries": sorted({info["ns2"]["binary_sha256"] or "" for info in infos} - {""}),
        "ns2_info": infos[0]["ns2"].get("info", {}) if infos else {},
        "first_day": started[0][:10] if started else "",
        "last_day": started[-1][:10] if started else "",
        "planned": len(planned),
        "finished": len(infos),
        "taken_over": taken_over_sentence(infos),
    }


def _embedded() -> dict[str, Markup]:
    """Style sheet and scripts, ready to be placed inside their elements."""
    return {
        "style": embed_text(read_asset("static/report.css"), "reports/static/report.css"),
        "script": embed_text(read_asset("static/report.js"), "reports/static/report.js"),
        "vega": embed_text(vega_bundle(), "the Vega bundle"),
    }
