"""README of a kept tier: totals, verdicts by protocol, and what was not reproduced."""

from __future__ import annotations

from collections import Counter

from bdpbench.app.keep.collecting import Results
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.plan import Plan
from bdpbench.contracts.reports import KEPT_RUNS_NAME, PROVENANCE_NAME, REPORT_FOLDER, REPORT_NAME
from bdpbench.contracts.runs import METRICS_NAME
from bdpbench.contracts.scorecard import (
    NUMBER_VERDICTS,
    SCORECARD_NAME,
    NumberVerdict,
    Scorecard,
    ScoredNumber,
    rows_of,
)

_ONE_FILE = "the report, one file that opens offline (save it, then open it)"
_AS_JSON = "`--runs` prints it as JSON"
_AS_CSV = "`./bdpbench metrics FOLDER` prints it as CSV"
_FROM_KEPT = (
    "Verdicts, texts and charts were made again from the values and series published "
    "before; bdpbench {version} measured them (commit `{commit:.12}`)."
)
_ADDED = (
    "Added later, from their own runs: {scenarios}; bdpbench {version} measured them "
    "(commit `{commit:.12}`)."
)
_PART = (
    "**A part of the tier: {finished} of {planned} runs have been simulated.** Numbers and "
    "statements that need any of the others are not run."
)
_WITH_FOLDER = f"the report, which opens offline with `{REPORT_FOLDER}/` beside it (save both)"


def readme_of(results: Results, taken_over: str = "", *, has_folder: bool = False) -> str:
    """README of a tier, in Markdown.

    Args:
        results: results of the tier.
        taken_over: sentence on runs with older ids; "" if there are none.
        has_folder: whether the report has files beside it.
    """
    plan, scorecard = results.plan, results.scorecard
    lines = [
        f"# {plan['study']}, {plan['tier']} tier",
        "",
        f"{plan['title']}. {totals_sentence(scorecard)}",
        "",
        f"- `{REPORT_NAME}`: {_WITH_FOLDER if has_folder else _ONE_FILE}",
        f"- `{METRICS_NAME}`: every metric of every run ({_AS_CSV})",
        f"- `{SCORECARD_NAME}`: every number and statement with its verdict",
        f"- `{KEPT_RUNS_NAME}`: parameters, checksums and times of every run ({_AS_JSON})",
        f"- `{PROVENANCE_NAME}`: versions of bdpbench, ns-2 and the configuration",
        "",
    ]
    if results.missing:
        planned = len(results.finished) + len(results.missing)
        lines += [_PART.format(finished=len(results.finished), planned=planned), ""]
    lines += [taken_over, ""] if taken_over else []
    lines += [_FROM_KEPT.format(**results.measured_by), ""] if results.measured_by else []
    for each in results.added:
        names = ", ".join(f"`{name}`" for name in each["scenarios"])
        lines += [_ADDED.format(scenarios=names, **each["measured_by"]), ""]
    lines += [*_by_protocol(plan, scorecard), *_misses(scorecard)]
    return "\n".join(lines).rstrip() + "\n"


def _by_protocol(plan: Plan, scorecard: Scorecard) -> list[str]:
    counts: dict[str, Counter[NumberVerdict]] = {}
    for number in (row for each in scorecard["numbers"] for row in rows_of(each)):
        selected = number["select"]
        for key in {value for name, value in selected.items() if name.startswith("protocol")}:
            counts.setdefault(key, Counter())[number["verdict"]] += 1
    rows = [
        f"| {protocol['label']} | " + " | ".join(str(counts[key][each]) for each in NUMBER_VERDICTS)
        for key, protocol in plan["protocols"].items()
        if key in counts
    ]
    if not rows:
        return []
    titles = " | ".join(each.replace("_", " ") for each in NUMBER_VERDICTS)
    ruler = "|---|" + "---:|" * len(NUMBER_VERDICTS)
    return [f"| numbers of | {titles} |", ruler, *(f"{row} |" for row in rows), ""]


def _misses(scorecard: Scorecard) -> list[str]:
    """Numbers that were not reproduced and statements that fail, each with its distance."""
    numbers = [
        f"- `{number['id']}`, {number['where']}: published {number['published']:g}, measured "
        f"{_measured(number)}. {_why(number)}"
        for number in scorecard["numbers"]
        if number["verdict"] == "not_reproduced"
    ]
    claims = [
        f"- `{claim['id']}`, {claim['where']}: {claim['statement']} {claim['known_miss']}".rstrip()
        for claim in scorecard["claims"]
        if claim["verdict"] == "fails"
    ]
    return [
        *(["Not reproduced:", "", *numbers, ""] if numbers else []),
        *(["Fail:", "", *claims] if claims else []),
    ]


def _why(number: ScoredNumber) -> str:
    return number["reason"] if number.get("parts") else number["known_miss"] or number["reason"]


def _measured(number: ScoredNumber) -> str:
    return "no value" if number["measured"] is None else f"{number['measured']:.4g}"
