"""Which rows a number or a claim finds."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.score.lookup import Lookup

LATE = ("one", {"protocol": "Reno"}, "time_to_90pct_cwnd", None, "here")


@pytest.mark.parametrize(("longest_s", "found"), [(500, 0), (50, 1)])
def test_never_is_no_finding_of_a_run_cut_short(
    plan: dict[str, Any], metrics: pl.DataFrame, longest_s: int, found: int
) -> None:
    # The run ended at 50 s without having got there.
    plan["scenarios"]["one"]["longest_s"] = longest_s
    for run in plan["runs"]:
        run["parameters"]["duration_s"] = 50
    assert len(Lookup(plan, metrics).all(*LATE)) == found


def test_a_value_counts_however_long_the_run_was(
    plan: dict[str, Any], metrics: pl.DataFrame
) -> None:
    plan["scenarios"]["one"]["longest_s"] = 500
    for run in plan["runs"]:
        run["parameters"]["duration_s"] = 50
    row = Lookup(plan, metrics).one("one", {"protocol": "Reno"}, "utilization", None, "here")
    assert row is not None
    assert row.value == 50.0
