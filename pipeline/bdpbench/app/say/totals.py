"""A finished tier in words: totals, verdicts by protocol, and what did not come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bdpbench.app.keep.collecting import Results

_VERDICTS = ("reproduced", "close", "not_reproduced", "not_run")


def totals_sentence(scorecard: Mapping[str, Any]) -> str:
    """The scorecard's totals in two sentences of Markdown, for README files.

    >>> counts = {"reproduced": 8, "close": 1, "not_reproduced": 1, "not_run": 2}
    >>> claims = {"holds": 3, "fails": 1, "not_run": 0}
    >>> totals_sentence({"totals": counts, "claim_totals": claims})
    'Of 12 numbers: **8 reproduced, 1 close, 1 not reproduced**, 2 not run. Of 4 statements: \
**3 hold, 1 fails**.'
    >>> totals_sentence({"totals": {"reproduced": 0}, "claim_totals": {"holds": 0}})
    'The study lists no published numbers.'
    """
    numbers, claims = scorecard["totals"], scorecard["claim_totals"]
    if not _has_verdicts(scorecard):
        return "The study lists no published numbers."
    return (
        f"Of {sum(numbers.values())} numbers: **{numbers['reproduced']} reproduced, "
        f"{numbers['close']} close, {numbers['not_reproduced']} not reproduced**"
        f"{_not_run(numbers)}. Of {sum(claims.values())} statements: **{claims['holds']} "
        f"hold{'s' if claims['holds'] == 1 else ''}, {claims['fails']} "
        f"fail{'s' if claims['fails'] == 1 else ''}**{_not_run(claims)}."
    )


def totals_lines(scorecard: Mapping[str, Any]) -> Sequence[str]:
    """The scorecard's totals in a line or two for a terminal.

    >>> totals_lines({"totals": {"reproduced": 0}, "claim_totals": {"holds": 0}})
    ('numbers: none published to compare with',)
    """
    totals, claims = scorecard["totals"], scorecard["claim_totals"]
    if not _has_verdicts(scorecard):
        return ("numbers: none published to compare with",)
    return (
        f"numbers: {totals['reproduced']} reproduced, {totals['close']} close, "
        f"{totals['not_reproduced']} not reproduced, {totals['not_run']} not run in this tier",
        f"claims: {claims['holds']} hold, {claims['fails']} fail, "
        f"{claims['not_run']} not run in this tier",
    )


def _has_verdicts(scorecard: Mapping[str, Any]) -> bool:
    """Whether the study has anything published to be judged."""
    return any([*scorecard["totals"].values(), *scorecard["claim_totals"].values()])


def _not_run(counts: Mapping[str, int]) -> str:
    return f", {counts['not_run']} not run" if counts["not_run"] else ""


def summary(results: Results) -> str:
    """README of what is kept of a tier: totals, by protocol, and what did not come out."""
    plan, scorecard = results.plan, results.scorecard
    lines = [
        f"# {plan['study']}, {plan['tier']} tier",
        "",
        f"{plan['title']}. {totals_sentence(scorecard)}",
        "",
        "- `report.html`: the report, one file that opens offline (save it, then open it)",
        "- `metrics.csv`, `metrics.parquet`: every metric of every run",
        "- `scorecard.json`: every number and statement with its verdict",
        "- `runs.json`: parameters, checksums and times of every run",
        "- `provenance.json`: versions of bdpbench, ns-2 and the configuration",
        "",
    ]
    if results.missing:
        planned = len(results.finished) + len(results.missing)
        lines += [f"{len(results.missing)} of {planned} runs are missing.", ""]
    lines += [*_by_protocol(plan, scorecard), "", *_misses(scorecard)]
    return "\n".join(lines).rstrip() + "\n"


def _by_protocol(plan: Mapping[str, Any], scorecard: Mapping[str, Any]) -> list[str]:
    counts: dict[str, Counter[str]] = {}
    for number in scorecard["numbers"]:
        selected = number["select"]
        for key in {value for name, value in selected.items() if name.startswith("protocol")}:
            counts.setdefault(key, Counter())[number["verdict"]] += 1
    rows = [
        f"| {protocol['label']} | " + " | ".join(str(counts[key][each]) for each in _VERDICTS)
        for key, protocol in plan["protocols"].items()
        if key in counts
    ]
    if not rows:
        return []
    head = "| numbers of | " + " | ".join(each.replace("_", " ") for each in _VERDICTS) + " |"
    return [head, "|---|" + "---:|" * len(_VERDICTS), *(f"{row} |" for row in rows)]


def _misses(scorecard: Mapping[str, Any]) -> list[str]:
    """Numbers that were not reproduced and statements that fail, each with its distance."""
    numbers = [
        f"- `{number['id']}`, {number['where']}: published {number['published']:g}, measured "
        f"{_measured(number)}. {number['known_miss'] or number['reason']}"
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


def _measured(number: Mapping[str, Any]) -> str:
    return "no value" if number["measured"] is None else f"{number['measured']:.4g}"
