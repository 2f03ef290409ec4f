"""`bdpbench publish`: report, metrics and scorecard of a finished tier, small enough to keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bdpbench.model.files import write_json_atomically, write_text_atomically
from bdpbench.model.paths import repository_root
from bdpbench.workflow.results import Results, collect
from bdpbench.workflow.stages import SCORECARD_NAME, report_plan, write_metrics_csv

REPORT_NAME = "report.html"
METRICS_NAME = "metrics.csv"
SUMMARY_NAME = "README.md"

_VERDICTS = ("reproduced", "close", "not_reproduced", "not_run")


def publish_study(
    study: str | None, tier: str | None, *, allow_partial: bool, output: Path | None
) -> None:
    """Write ``report.html``, ``metrics.csv``, ``scorecard.json`` and ``README.md`` of a tier.

    Everything is computed anew from the tables of the runs, so that what is published is what the
    present metrics, published numbers and templates make of them. Equal runs give equal bytes.

    Args:
        study: key; None takes that of ``config.yaml``.
        tier: None takes that of ``config.yaml``.
        allow_partial: publish although runs are missing.
        output: folder of all published studies.

    Raises:
        BdpbenchError: when runs of the tier are missing, because they were never simulated or
            because the study, a script or ns-2 has changed since.
    """
    results = collect(study, tier, allow_partial=allow_partial)
    folder = (output or repository_root() / "reports" / "published") / results.plan["study"]
    _write(results, folder)


def _write(results: Results, folder: Path) -> None:
    report_plan(
        results.plan,
        results.metrics,
        results.scorecard,
        results.runs_dir,
        folder / REPORT_NAME,
        with_files=False,
    )
    write_metrics_csv(results.metrics, folder / METRICS_NAME)
    write_json_atomically(folder / SCORECARD_NAME, results.scorecard)
    write_text_atomically(folder / SUMMARY_NAME, _summary(results))
    for path in sorted(folder.iterdir()):
        print(f"{path}  {path.stat().st_size / 1e6:.2f} MB")
    print(totals_sentence(results.scorecard))


def totals_sentence(scorecard: Mapping[str, Any]) -> str:
    """The scorecard's totals in two sentences of Markdown, for README files.

    >>> counts = {"reproduced": 8, "close": 1, "not_reproduced": 1, "not_run": 2}
    >>> claims = {"holds": 3, "fails": 1, "not_run": 0}
    >>> totals_sentence({"totals": counts, "claim_totals": claims})
    'Of 12 numbers: **8 reproduced, 1 close, 1 not reproduced**, 2 not run. Of 4 statements: \
**3 hold, 1 fails**.'
    """
    numbers, claims = scorecard["totals"], scorecard["claim_totals"]
    return (
        f"Of {sum(numbers.values())} numbers: **{numbers['reproduced']} reproduced, "
        f"{numbers['close']} close, {numbers['not_reproduced']} not reproduced**"
        f"{_not_run(numbers)}. Of {sum(claims.values())} statements: **{claims['holds']} "
        f"hold{'s' if claims['holds'] == 1 else ''}, {claims['fails']} "
        f"fail{'s' if claims['fails'] == 1 else ''}**{_not_run(claims)}."
    )


def _not_run(counts: Mapping[str, int]) -> str:
    return f", {counts['not_run']} not run" if counts["not_run"] else ""


def _summary(results: Results) -> str:
    """The published folder's README: totals, by protocol, and what did not come out."""
    plan, scorecard = results.plan, results.scorecard
    lines = [
        f"# {plan['study']}, {plan['tier']} tier",
        "",
        f"{plan['title']}. {totals_sentence(scorecard)}",
        "",
        "- `report.html`: the report, one file that opens offline (save it, then open it)",
        "- `metrics.csv`: every metric of every run",
        "- `scorecard.json`: every number and statement with its verdict",
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
