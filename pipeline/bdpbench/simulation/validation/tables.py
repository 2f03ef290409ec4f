"""A validation as a table for readers, and as JSON or CSV for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bdpbench.contracts.documents import csv_of
from bdpbench.simulation.validation.judge import Judgement, not_same
from bdpbench.simulation.validation.subset import SubsetResult

Row = dict[str, Any]


def table_row(one: SubsetResult, other: SubsetResult | None = None) -> Row:
    """One line of the table; ``same`` and ``not_same`` are for a comparison of variants."""
    agree, differ = len(one.named("agree")), len(one.named("differ"))
    row: Row = {
        "subset": one.subset,
        "tests": len(one.tests),
        "agree": agree,
        "differ": differ,
        "neither": len(one.tests) - agree - differ,
    }
    if other is not None:
        changed = len(not_same(one, other))
        row |= {"same": max(len(one.tests), len(other.tests)) - changed, "not_same": changed}
    row["cpu_s"] = round(one.cpu_s, 1)
    if other is not None:
        row["other_cpu_s"] = round(other.cpu_s, 1)
    return row


def totals(rows: Sequence[Row]) -> Row:
    """The sums of all columns."""
    sums = {name: sum(row[name] for row in rows) for name in rows[0] if name != "subset"}
    return {"subset": "total", **{k: round(v, 1) for k, v in sums.items()}}


def header(variant: str, other: str | None) -> str:
    """The heading over lines of ``line``."""
    names = ["tests", "agree", "differ", "neither"]
    times = [f"{variant}, s"]
    if other is not None:
        names += ["same", "not same"]
        times.append(f"{other}, s")
    return "  ".join([f"{'subset':28s}", *(f"{name:>8s}" for name in [*names, *times])])


def line(row: Row) -> str:
    """One row as aligned text."""
    numbers = [value for name, value in row.items() if name != "subset"]
    return "  ".join([f"{row['subset']:28s}", *(f"{value!s:>8s}" for value in numbers)])


def findings(judgement: Judgement, other: str | None) -> list[str]:
    """Lines about single tests: expected differences first, then errors."""
    lines = _known_lines(judgement)
    lines += [f"DIFFERS UNEXPECTEDLY: {subset} {test}" for subset, test in judgement.unknown]
    lines += [
        f"AGREES, but is listed in ns2/known_differences.yaml: {subset} {test}"
        for subset, test in judgement.vanished
    ]
    lines += [f"WROTE NOTHING to compare: {subset} {test}" for subset, test in judgement.silent]
    lines += [f"STOPPED at the time limit: {subset}" for subset in judgement.stopped]
    lines += [f"RAN NO TEST: {subset}" for subset in judgement.empty]
    lines += [
        f"NOT THE SAME as {other}: {subset} {test}: {', '.join(outputs)}"
        for subset, test, outputs in judgement.not_same
    ]
    return lines


def _known_lines(judgement: Judgement) -> list[str]:
    grouped: dict[tuple[str, str], list[str]] = {}
    for subset, test, reason in judgement.known:
        grouped.setdefault((subset, reason), []).append(test)
    return [
        f"differ as expected: {subset} {', '.join(tests)}\n    {reason.strip()}"
        for (subset, reason), tests in grouped.items()
    ]


def as_json(about: Row, rows: Sequence[Row], results: Sequence[SubsetResult]) -> str:
    """Everything, with every test's outcome and checksums."""
    data = {
        "schema_version": 1,
        **about,
        "subsets": list(rows),
        "total": totals(rows),
        "tests": [each.to_json() for each in results],
    }
    return json.dumps(data, indent=1) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    """The table, with its totals."""
    return csv_of(list(rows[0]), [*rows, totals(rows)])
