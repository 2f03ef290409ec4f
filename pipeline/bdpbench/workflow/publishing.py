"""`bdpbench publish`: report, metrics and scorecard of a finished tier, small enough to keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bdpbench.errors import BdpbenchError
from bdpbench.model.config import load_config
from bdpbench.model.files import read_json, write_json_atomically, write_text_atomically
from bdpbench.model.paths import repository_root, results_dir
from bdpbench.model.plan import PLAN_VERSION
from bdpbench.model.runs import Run, Selection
from bdpbench.ns2.build import current_build_id
from bdpbench.workflow.planning import Prepared, is_finished, prepare
from bdpbench.workflow.stages import (
    SCORECARD_NAME,
    measure_plan,
    parse_runs,
    report_plan,
    score_plan,
    write_metrics_csv,
)

REPORT_NAME = "report.html"
METRICS_NAME = "metrics.csv"
SUMMARY_NAME = "README.md"

_VERDICTS = ("reproduced", "close", "not_reproduced", "not_run")
_SHOWN_MISSING = 3


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
    config = load_config()
    prepared = prepare(
        study or config.study,
        tier or config.tier,
        Selection(),
        current_build_id(),
        results_dir(config.results),
        write=False,
    )
    _check_complete(prepared, allow_partial=allow_partial)
    folder = (output or repository_root() / "reports" / "published") / prepared.plan["study"]
    _write(prepared, folder)


def _check_complete(prepared: Prepared, *, allow_partial: bool) -> None:
    missing, planned = _distinct(prepared.missing), _distinct(prepared.runs)
    if not missing or (allow_partial and len(missing) < len(planned)):
        return
    labels = [f"{run.scenario}: {run.label}" for run in missing[:_SHOWN_MISSING]]
    shown = "; ".join(labels) + ("; …" if len(missing) > _SHOWN_MISSING else "")
    name = f"{prepared.plan['study']} --tier {prepared.plan['tier']}"
    hint = f"`./bdpbench run {name}` simulates them"
    if len(missing) < len(planned):
        hint += "; --allow-partial publishes without them, and says so"
    raise BdpbenchError(
        f"{len(missing)} of {len(planned)} runs have no results ({shown}){_staleness(prepared)}",
        where=str(prepared.paths.folder),
        hint=hint,
    )


def _distinct(runs: Sequence[Run]) -> list[Run]:
    """Runs that two scenarios share, once."""
    return list({run.run_id: run for run in runs}.values())


def _staleness(prepared: Prepared) -> str:
    """Why runs may be missing that were there once; "" where nothing tells."""
    try:
        old = read_json(prepared.paths.plan, what="a plan", schema_version=PLAN_VERSION)
    except BdpbenchError:
        return ""
    if old["ns2_build_id"] != prepared.plan["ns2_build_id"]:
        return (
            f"; the last run was with ns-2 build {old['ns2_build_id']}, and its sources now make "
            f"{prepared.plan['ns2_build_id']}"
        )
    known = {run["run_id"] for run in old["runs"]}
    changed = sum(run.run_id not in known for run in _distinct(prepared.missing))
    return f"; {changed} of them are new or have changed since the last run" if changed else ""


def _write(prepared: Prepared, folder: Path) -> None:
    runs_dir, plan = prepared.paths.runs, prepared.plan
    runs = _distinct(prepared.runs)
    parse_runs(runs_dir / run.run_id for run in runs if is_finished(prepared.paths, run))
    metrics = measure_plan(plan, runs_dir)
    scorecard = score_plan(plan, metrics)
    report_plan(plan, metrics, scorecard, runs_dir, folder / REPORT_NAME, with_files=False)
    write_metrics_csv(metrics, folder / METRICS_NAME)
    write_json_atomically(folder / SCORECARD_NAME, scorecard)
    missing = f"{len(_distinct(prepared.missing))} of {len(runs)}" if prepared.missing else ""
    write_text_atomically(folder / SUMMARY_NAME, _summary(plan, scorecard, missing))
    for path in sorted(folder.iterdir()):
        print(f"{path}  {path.stat().st_size / 1e6:.2f} MB")
    print(totals_sentence(scorecard))


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


def _summary(plan: Mapping[str, Any], scorecard: Mapping[str, Any], missing: str) -> str:
    """The published folder's README: totals, by protocol, and what did not come out."""
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
    if missing:
        lines += [f"{missing} runs are missing.", ""]
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
