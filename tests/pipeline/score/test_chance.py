"""Margins of verdicts, and verdicts that repetitions leave undecided; the values are by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml  # type: ignore[import-untyped]
from tests.pipeline.score.conftest import make_run, published_number
from tests.pipeline.score.test_spread import NUMBER

from bdpbench.contracts.plan import Plan
from bdpbench.contracts.scorecard import Scorecard, is_narrow, is_repeated
from bdpbench.errors import BdpbenchError
from bdpbench.score import Expectations, PublishedNumber, load_claims, score
from bdpbench.score.spreads import load_spreads

METRICS = {"utilization": None, "asymmetry": None, "time_to_90pct_cwnd": None, "mean_of_all": None}
HS = {"scenario": "one", "select": {"protocol": "HS", "buffer_pkts": 40}, "metric": "utilization"}
HS_200 = {**HS, "select": {"protocol": "HS", "buffer_pkts": 200}}
RENO = {**HS, "select": {"protocol": "Reno", "buffer_pkts": 40}}
SWEEP = {
    "kind": "monotone",
    "scenario": "one",
    "select": {"protocol": "HS"},
    "metric": "utilization",
    "along": "buffer_pkts",
}
ABOVE_90 = {"kind": "compare", "left": HS, "op": ">", "right": 90}
REPEATS = "- {of: ['*'], varied: v, repeats: {runs: {one: again}, over: [substream]}}"


@pytest.fixture
def repeated(plan: Plan) -> Plan:
    """The plan with two repetitions of the run of HS with 40 packets, and a longer run."""
    runs = [
        {**make_run(run_id, protocol="HS", buffer_pkts=40, **more), "scenario": "again"}
        for run_id, more in (
            ("x", {"substream": 2}),
            ("y", {"substream": 3}),
            ("z", {"substream": 4, "duration_s": 9}),
        )
    ]
    one = {**plan["scenarios"]["one"], "swept": ["protocol", "buffer_pkts"]}
    again = {**one, "swept": ["substream"]}
    scenarios = {**plan["scenarios"], "one": one, "again": again}
    return {**plan, "scenarios": scenarios, "runs": [*plan["runs"], *runs]}  # type: ignore[typeddict-item]


def _judged(
    folder: Path,
    plan: Plan,
    metrics: pl.DataFrame,
    again: Mapping[str, float | None],
    *,
    condition: Mapping[str, Any] = ABOVE_90,
    bounds: tuple[float, float] = (87.0, 91.0),
    spread: str = REPEATS,
    parts: Sequence[PublishedNumber] = (),
    **options: Any,
) -> Scorecard:
    """A number of 88 % within some bounds, or its parts, and a statement, beside repetitions."""
    rows = [
        {**metrics.row(0, named=True), "run_id": run_id, "scenario": "again", "value": value}
        for run_id, value in again.items()
    ]
    text = {"id": "c", "where": "Section 1", "found": "stated", "statement": "It is so."}
    (folder / "claims.yaml").write_text(yaml.safe_dump([{**text, **condition}]))
    (folder / "spread.yaml").write_text(spread)
    number = replace(NUMBER, value=sum(bounds) / 2, lower=bounds[0], upper=bounds[1])
    claims = load_claims(folder / "claims.yaml", METRICS)
    spreads = load_spreads(folder / "spread.yaml", ["n"], METRICS, ["c"])
    known = pl.concat([metrics, pl.DataFrame(rows, schema=metrics.schema)])
    return score(plan, known, Expectations(parts or [number], claims, spreads=spreads), **options)


# The values of the fixture are 88, 95 and 99 % for HS with 40, 200 and 500 packets, 50 % for Reno.
@pytest.mark.parametrize(
    ("condition", "holds", "margin"),
    [
        (ABOVE_90, False, -2 / 90),
        ({**ABOVE_90, "op": "<", "right": 88.5}, True, 0.5 / 88.5),
        ({"kind": "compare", "left": RENO, "op": "<", "right": HS, "factor": 0.5}, False, -6 / 50),
        ({"kind": "compare", "left": HS, "op": ">=", "right": 89, "margin": 2}, True, 1 / 88),
        ({"kind": "within", "value": HS, "lower": 80, "upper": 90}, True, 2 / 90),
        ({"kind": "within", "value": HS, "lower": 60, "upper": 80}, False, -8 / 88),
        ({"kind": "within", "value": HS, "lower": 0, "upper": 90, "absolute": True}, True, 2 / 90),
        # No value is above 100 %, so that this end is never near.
        (
            {"kind": "within", "value": HS, "lower": 70, "upper": 100, "absolute": True},
            True,
            18 / 88,
        ),
        ({**SWEEP, "direction": "increasing"}, True, 4 / 99),
        ({**SWEEP, "direction": "decreasing"}, False, -7 / 95),
        ({**SWEEP, "direction": "decreasing", "margin": 8}, False, -11 / 99),
        (
            {"kind": "ordered_groups", "groups": [[RENO], [HS], [HS_200]], "order": "ascending"},
            True,
            7 / 95,
        ),
        (
            {"kind": "ordered_groups", "groups": [[HS_200, HS], [RENO]], "order": "descending"},
            True,
            38 / 88,
        ),
        ({"kind": "spread", "items": [HS, HS_200], "op": "<", "limit": 5}, False, -2 / 95),
        ({"kind": "spread", "items": [HS, HS_200], "op": ">", "limit": 5}, True, 2 / 95),
        ({"kind": "all_of", "claims": [ABOVE_90, {**ABOVE_90, "right": 80}]}, False, -2 / 90),
        (
            {"kind": "for_each", "values": {"buffer_pkts": [40, 200]}, "claim": {
                "kind": "compare",
                "left": {**HS, "select": {"protocol": "HS"}}, "op": ">", "right": 85,
            }},
            True,
            3 / 88,
        ),
    ],
)  # fmt: skip
def test_the_margin_is_that_of_the_comparison_that_decides(
    tmp_path: Path,
    repeated: Plan,
    metrics: pl.DataFrame,
    condition: Mapping[str, Any],
    holds: bool,
    margin: float,
) -> None:
    (claim,) = _judged(tmp_path, repeated, metrics, {}, condition=condition, spread="[]")["claims"]
    assert claim["verdict"] == ("holds" if holds else "fails")
    assert claim["margin"] == pytest.approx(margin)


def test_a_statement_that_no_shift_would_change_has_no_margin(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame
) -> None:
    zero = metrics.with_columns(value=pl.when(pl.col("run_id") == "a").then(0.0).otherwise("value"))
    never = {"kind": "compare", "left": HS, "op": "<=", "right": 0}
    (claim,) = _judged(tmp_path, repeated, zero, {}, condition=never, spread="[]")["claims"]
    assert (claim["verdict"], claim["margin"]) == ("holds", None)


def test_the_margin_of_a_number_is_in_half_widths(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame
) -> None:
    for bounds, margin in (((87.9, 91.9), 0.05), ((89.0, 91.0), -1.0), ((88.0, 88.0), None)):
        (number,) = _judged(tmp_path, repeated, metrics, {}, bounds=bounds, spread="[]")["numbers"]
        assert number["margin"] == (margin if margin is None else pytest.approx(margin))
        assert is_narrow(number) is (margin == 0.05)


@pytest.mark.parametrize(
    ("again", "verdict", "alone"),
    [
        ({"x": 89.0, "y": 90.5}, "reproduced", None),
        ({"x": 89.0, "y": 91.5}, "undecided", "reproduced"),
        ({"x": 89.0, "y": None}, "undecided", "reproduced"),
        ({"x": 99.0}, "undecided", "reproduced"),  # the other repetition is not finished
        ({}, "reproduced", None),
    ],
)
def test_a_number_that_repetitions_reproduce_in_part_is_undecided(
    tmp_path: Path,
    repeated: Plan,
    metrics: pl.DataFrame,
    again: Mapping[str, float | None],
    verdict: str,
    alone: str | None,
) -> None:
    card = _judged(tmp_path, repeated, metrics, again)
    (number,) = card["numbers"]
    assert (number["verdict"], number.get("alone")) == (verdict, alone)
    assert is_repeated(number) is bool(again)
    assert card["totals"][number["verdict"]] == 1


def test_repetitions_that_are_all_outside_leave_a_miss(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame
) -> None:
    outside = _judged(tmp_path, repeated, metrics, {"x": 80.0, "y": 86.0}, bounds=(89.0, 90.0))
    assert outside["numbers"][0]["verdict"] == "not_reproduced"
    around = _judged(tmp_path, repeated, metrics, {"x": 80.0, "y": 99.0}, bounds=(89.0, 90.0))
    assert around["numbers"][0]["verdict"] == "undecided"


@pytest.mark.parametrize(
    ("again", "verdict", "counts"),
    [
        ({"x": 89.0, "y": 80.0}, "fails", (0, 2)),
        ({"x": 89.0, "y": 91.0}, "undecided", (1, 1)),
        ({"x": 95.0}, "undecided", (1, 0)),
    ],
)
def test_a_statement_that_repetitions_decide_otherwise_is_undecided(
    tmp_path: Path,
    repeated: Plan,
    metrics: pl.DataFrame,
    again: Mapping[str, float | None],
    verdict: str,
    counts: tuple[int, int],
) -> None:
    card = _judged(tmp_path, repeated, metrics, again)
    (claim,) = card["claims"]
    (found,) = claim["repeated"]
    assert (claim["verdict"], (found["holds"], found["fails"])) == (verdict, counts)
    assert claim.get("alone") == ("fails" if verdict == "undecided" else None)
    assert card["claim_totals"][claim["verdict"]] == 1


def test_a_repetition_of_other_runs_is_none_of_a_number(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame
) -> None:
    """The third substream repeats Reno's run alone, so that the number of HS has one repetition."""
    for run in repeated["runs"]:
        if run["run_id"] == "y":
            run["parameters"]["protocol"] = "Reno"
    (number,) = _judged(tmp_path, repeated, metrics, {"x": 89.0, "y": 45.0})["numbers"]
    (spread,) = number["spread"]
    assert (spread["repetitions"], spread["least"], spread["most"]) == (1, 88.0, 89.0)


@pytest.mark.parametrize("of_its_own", [False, True])
def test_metrics_of_several_runs_are_computed_of_the_repetitions(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame, of_its_own: bool
) -> None:
    """The mean of HS and Reno with 40 packets is 69; with 99 in place of 88 it is 74.5.

    The repetition may have such a mean in its own scenario.
    """

    def mean_of_all(rows: pl.DataFrame) -> pl.DataFrame:
        own = rows.filter(metric="utilization", scenario="one")
        of_40 = own.filter(pl.col("run_id").is_in(["a", "d"]))["value"].mean()
        return own.head(1).with_columns(
            metric=pl.lit("mean_of_all"), value=pl.lit(of_40), run_id=pl.lit("a")
        )

    with_mean = pl.concat([metrics, mean_of_all(metrics)])
    if of_its_own:
        own = with_mean.tail(1).with_columns(run_id=pl.lit("x"), scenario=pl.lit("again"))
        with_mean = pl.concat([with_mean, own])
    above_70 = {**ABOVE_90, "left": {**HS, "metric": "mean_of_all"}, "right": 70}
    card = _judged(
        tmp_path, repeated, with_mean, {"x": 99.0}, condition=above_70, groups=mean_of_all
    )
    (claim,) = card["claims"]
    assert (claim["verdict"], claim["repeated"][0]["holds"]) == ("undecided", 1)
    assert claim["repeated"][0]["least"] == pytest.approx(4.5 / 74.5)


def test_repetitions_are_of_the_same_scenario_each_in_place_of_all(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame
) -> None:
    spread = "- {of: [c], varied: v, repeats: {runs: {one: one}, over: [buffer_pkts]}}"
    card = _judged(tmp_path, repeated, metrics, {}, spread=spread)
    (found,) = card["claims"][0]["repeated"]  # 88, 95 and 99 % with 40, 200 and 500 packets
    assert (found["holds"], found["fails"], found["source"]) == (2, 1, "3 repetitions of one")


@pytest.mark.parametrize(("most", "verdict"), [(91.0, "reproduced"), (91.5, "undecided")])
def test_each_repetition_may_have_a_metric_by_itself(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame, most: float, verdict: str
) -> None:
    """Values of another metric in the place of 88 %, which is within 87 to 91 %."""
    row = {**metrics.row(0, named=True), "scenario": "again", "metric": "mean_of_all"}
    values = {"x": 88.5, "y": most, "z": 45.0}
    rows = [{**row, "run_id": run_id, "value": value} for run_id, value in values.items()]
    known = pl.concat([metrics, pl.DataFrame(rows, schema=metrics.schema)])
    repeated["runs"][-1]["parameters"]["protocol"] = "Reno"  # z, which the number is not about
    spread = REPEATS.replace("['*']", "[n]").replace("}}", "}, metric: mean_of_all}")
    (number,) = _judged(tmp_path, repeated, known, {}, spread=spread)["numbers"]
    (found,) = number["spread"]
    assert (number["verdict"], found["least"], found["most"]) == (verdict, 88.0, most)
    assert (found["repetitions"], found["source"]) == (2, "2 repetitions of again")


@pytest.mark.parametrize(
    ("repeats", "said"),
    [
        ("{runs: {one: agian}, over: [substream]}", "did you mean 'again'"),
        ("{runs: {one: again}, over: [substraem]}", "has no substraem"),
        ("{runs: {one: again}, over: [buffer_pkts]}", "two runs take the same place: x and y"),
    ],
)
def test_a_slip_in_repetitions_is_told(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame, repeats: str, said: str
) -> None:
    spread = f"- {{of: [n], varied: v, repeats: {repeats}}}"
    with pytest.raises(BdpbenchError) as told:
        _judged(tmp_path, repeated, metrics, {"x": 1.0, "y": 1.0}, spread=spread)
    assert said in f"{told.value} {told.value.hint}"


@pytest.mark.parametrize("repeats", ["", "repeats: {runs: {one: again}, over: [substream]}, "])
def test_only_repetitions_are_of_statements(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame, repeats: str
) -> None:
    spread = f"- {{of: [c], varied: v, {repeats}metric: asymmetry}}"
    with pytest.raises(BdpbenchError, match="no number or statement is called 'c'") as told:
        _judged(tmp_path, repeated, metrics, {}, spread=spread)
    assert "statements have repeats without metric and readings alone" in str(told.value.hint)


READING = "- {of: ['*'], varied: longer, reading: {runs: {one: again}, over: [substream]}}"


def test_another_reading_judges_anew_and_decides_nothing(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame
) -> None:
    """88 % is within 87 to 91 % and not above 90 %; the reading has 95 %."""
    once = {**repeated, "runs": [run for run in repeated["runs"] if run["run_id"] not in "yz"]}
    card = _judged(tmp_path, once, metrics, {"x": 95.0}, spread=READING)  # type: ignore[arg-type]
    (number,), (claim,) = card["numbers"], card["claims"]
    assert (number["verdict"], claim["verdict"]) == ("reproduced", "fails")
    (read,), (said,) = number["readings"], claim["readings"]
    assert (read["verdict"], read["measured"], said["verdict"]) == ("not_reproduced", 95.0, "holds")
    assert read["margin"] == pytest.approx(-4 / 2)
    assert said["margin"] == pytest.approx(5 / 95)
    (reading,) = card["readings"]
    assert (reading["varied"], reading["runs"], reading["scenarios"]) == ("longer", 1, ["again"])
    assert (reading["totals"]["not_reproduced"], reading["claim_totals"]["holds"]) == (1, 1)
    assert not is_repeated(number)


def test_the_reading_of_a_number_of_two_runs_is_that_of_the_worst_by_it(
    tmp_path: Path, repeated: Plan, metrics: pl.DataFrame
) -> None:
    """Of 88 and 95 % the second is above 93 %; of 99 and 91 % in their places, the first."""
    repeated["runs"].pop()  # z
    repeated["runs"][-1]["parameters"]["buffer_pkts"] = 200
    parts = [
        published_number(id=name, part_of="both", value=90.0, upper=93.0, select=each["select"])
        for name, each in (("n", HS), ("m", HS_200))
    ]
    again = {"x": 99.0, "y": 91.0}
    (number,) = _judged(tmp_path, repeated, metrics, again, spread=READING, parts=parts)["numbers"]
    (read,) = number["readings"]
    assert (number["measured"], read["measured"]) == (95.0, 99.0)


@pytest.mark.parametrize(
    ("again", "condition"),
    [
        ({}, ABOVE_90),  # its run is not finished
        ({"x": 95.0}, {"kind": "compare", "left": HS, "op": ">", "right": RENO}),  # not read
    ],
)
def test_a_reading_without_all_of_its_runs_says_nothing(
    tmp_path: Path,
    repeated: Plan,
    metrics: pl.DataFrame,
    again: Mapping[str, float],
    condition: Mapping[str, Any],
) -> None:
    once = {**repeated, "runs": [run for run in repeated["runs"] if run["run_id"] not in "yz"]}
    card = _judged(tmp_path, once, metrics, again, condition=condition, spread=READING)  # type: ignore[arg-type]
    (said,) = card["claims"][0]["readings"]
    assert (said["verdict"], said["margin"]) == ("not_run", None)
    assert card["readings"][0]["claim_totals"]["not_run"] == 1


def test_two_readings_have_two_names(tmp_path: Path, repeated: Plan, metrics: pl.DataFrame) -> None:
    with pytest.raises(BdpbenchError, match="two readings have the same name"):
        _judged(tmp_path, repeated, metrics, {}, spread=f"{READING}\n{READING}")
