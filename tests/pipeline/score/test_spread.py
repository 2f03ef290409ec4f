"""The spread of repetitions may leave a verdict undecided; other readings change none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.pipeline.score.conftest import published_number

from bdpbench.contracts.plan import Plan
from bdpbench.errors import BdpbenchError
from bdpbench.score import Expectations, score
from bdpbench.score.spreads import Spreads, load_spreads

METRICS = {"utilization": None, "asymmetry": None}
NUMBER = published_number(value=60.0, lower=59.0, upper=61.0)  # measured 88 %
GIVEN = "- {of: [n], varied: the seed, least: %s, most: %s, source: three runs}\n"


def _load(folder: Path, text: str) -> Spreads:
    (folder / "spread.yaml").write_text(text)
    return load_spreads(folder / "spread.yaml", ["n"], METRICS)


@pytest.mark.parametrize(
    ("least", "most", "holds"),
    [(61, 90, True), (61.1, 90, False), (40, 59, True), (40, 58.9, False)],
)
def test_a_spread_that_reaches_the_bounds_holds_the_print(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame, least: float, most: float, holds: bool
) -> None:
    spreads = _load(tmp_path, GIVEN % (least, most))
    (number,) = score(plan, metrics, Expectations([NUMBER], spreads=spreads))["numbers"]
    (spread,) = number["spread"]
    assert (spread["least"], spread["most"], spread["holds_print"]) == (least, most, holds)
    assert number["verdict"] == "not_reproduced"


def test_another_reading_of_the_run_is_the_other_end(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    other = metrics.filter(pl.col("metric") == "utilization").with_columns(
        metric=pl.lit("other_reading"), value=pl.col("value") - 30
    )
    (tmp_path / "spread.yaml").write_text("- {of: ['*'], varied: reading, metric: other_reading}")
    spreads = load_spreads(tmp_path / "spread.yaml", ["n"], {"other_reading": None})
    both = pl.concat([metrics, other])
    (number,) = score(plan, both, Expectations([NUMBER], spreads=spreads))["numbers"]
    assert [(each["least"], each["most"]) for each in number["spread"]] == [(58.0, 88.0)]


@pytest.mark.parametrize(
    ("runs", "ends", "source"),
    [
        ("{scenario: one, select: {protocol: HS}}", (88.0, 99.0), "3 runs of one"),
        ("{scenario: one, select: {buffer_pkts: 200}}", (88.0, 95.0), "1 run of one"),
        ("{scenario: one}", (50.0, 99.0), "4 runs of one, 1 of them without a value"),
    ],
)
def test_the_runs_of_a_spread_are_counted(
    tmp_path: Path,
    plan: Plan,
    metrics: pl.DataFrame,
    runs: str,
    ends: tuple[float, float],
    source: str,
) -> None:
    value = pl.when(pl.col("run_id") == "b").then(None).otherwise(pl.col("value"))
    known = metrics.with_columns(value=value) if "4 runs" in source else metrics
    spreads = _load(tmp_path, f"- {{of: [n], varied: v, runs: {runs}}}")
    (number,) = score(plan, known, Expectations([NUMBER], spreads=spreads))["numbers"]
    (spread,) = number["spread"]
    assert (spread["least"], spread["most"], spread["source"]) == (*ends, source)


def test_a_spread_of_one_value_or_of_another_number_is_none(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    for text in (
        "- {of: [n], varied: v, runs: {scenario: empty}}",
        "- {of: [n], varied: v, metric: asymmetry}",  # no run measures it for this subject
    ):
        spreads = _load(tmp_path, text)
        (number,) = score(plan, metrics, Expectations([NUMBER], spreads=spreads))["numbers"]
        assert "spread" not in number
    (tmp_path / "spread.yaml").write_text(GIVEN % (1, 2))
    given = load_spreads(tmp_path / "spread.yaml", ["n"], METRICS)
    others = [replace(NUMBER, id="m"), replace(NUMBER, scenario="empty")]
    for other in others:
        (number,) = score(plan, metrics, Expectations([other], spreads=given))["numbers"]
        assert "spread" not in number


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {of: [m], varied: v, metric: utilization}", r"spread\.yaml:1: 0\.of: no number"),
        ("- {of: [n], varied: v, metric: utilisation}", "did you mean 'utilization'"),
        (
            "- {of: [n], varied: v}",
            "give either repeats, or reading, or metric or runs or both, or least and most",
        ),
        ("- {of: [n], varied: v, least: 1}", "give either repeats, or reading, or metric or runs"),
        ("- {of: [n], varied: v, least: 2, most: 1, source: s}", "least is above most"),
        ("- {of: [n], varied: v, metric: utilization, source: s}", "nothing else has one"),
        ("- {of: [n], varied: v, runs: {select: {}}}", "scenario"),
        ("- {of: [n], varied: v, least: 1, most: 2}", "least and most need their source"),
        ("- {of: [n], varied: v, least: 1, most: .inf, source: s}", r"0\.most: .*finite"),
        ("- {of: [n], varied: v, least: -.inf, most: 1, source: s}", r"0\.least: .*finite"),
    ],
)
def test_a_slip_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BdpbenchError, match=said):
        _load(tmp_path, text)
