"""Means of repetitions are judged, other readings change no verdict; the values are by hand."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.pipeline.score.conftest import judged, make_run, published_number

from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.scorecard import LEAST_FOR_SKILL, Scorecard, is_narrow, is_repeated
from bdpbench.score import PublishedNumber
from bdpbench.score.scorecard import _skills

HS = {"scenario": "one", "select": {"protocol": "HS", "buffer_pkts": 40}, "metric": "utilization"}
RENO = {**HS, "select": {"protocol": "Reno", "buffer_pkts": 40}}
ABOVE_90 = {"kind": "compare", "left": HS, "op": ">", "right": 90}
REPEATS = "- {of: ['*'], varied: v, repeats: {runs: {one: again}, over: [substream]}}"
READING = REPEATS.replace("repeats", "reading")
MISSED = published_number(value=60.0, lower=59.0, upper=61.0)  # measured 88 %

Judge = Callable[..., Scorecard]


def _within(lower: float, upper: float) -> PublishedNumber:
    return published_number(value=(lower + upper) / 2, lower=lower, upper=upper)


@pytest.fixture
def repeated(plan: Plan) -> Plan:
    """The plan with two repetitions of the run of HS with 40 packets, and a longer run."""
    parameters = {"x": {"substream": 2}, "y": {"substream": 3}}
    parameters["z"] = {"substream": 4, "duration_s": 9}
    for run_id, more in parameters.items():
        run = make_run(run_id, protocol="HS", buffer_pkts=40, **more)
        plan["runs"].append({**run, "scenario": "again"})
    one = plan["scenarios"]["one"]
    plan["scenarios"]["again"] = {**one, "swept": ["substream"]}
    plan["scenarios"]["one"] = {**one, "swept": ["protocol", "buffer_pkts"]}
    return plan


@pytest.fixture
def judge(tmp_path: Path, repeated: Plan, metrics: pl.DataFrame) -> Judge:
    """Judge a number within 87 to 91 %, where 88 % is measured, and that it is above 90 %.

    The repetitions have the values of ``again``; those of another ``metric`` if it is given.
    """

    def judge(
        again: Mapping[str, float | None],
        *numbers: PublishedNumber,
        spread: str = REPEATS,
        claim: Mapping[str, Any] = ABOVE_90,
        known: pl.DataFrame = metrics,
        metric: str = "utilization",
        **options: Any,
    ) -> Scorecard:
        like = {**metrics.row(0, named=True), "scenario": "again", "metric": metric}
        rows = [{**like, "run_id": run_id, "value": value} for run_id, value in again.items()]
        known = pl.concat([known, pl.DataFrame(rows, schema=metrics.schema)])
        numbers = numbers or (_within(87, 91),)
        return judged(tmp_path, repeated, known, *numbers, claim=claim, spread=spread, **options)

    return judge


def test_the_margin_of_a_number_is_in_half_widths(judge: Judge) -> None:
    for bounds, margin in (((87.9, 91.9), 0.05), ((89.0, 91.0), -1.0), ((88.0, 88.0), None)):
        (number,) = judge({}, _within(*bounds), spread="")["numbers"]
        assert number["margin"] == (margin if margin is None else pytest.approx(margin))
        assert is_narrow(number) is (margin == 0.05)


@pytest.mark.parametrize(
    ("bounds", "again", "verdict", "alone", "ends"),
    [
        # Mean 88, deviation 1: half of the interval is 4.303/√3.
        ((80, 96), {"x": 87.0, "y": 89.0}, "reproduced", None, (85.516, 90.484)),
        ((86, 96), {"x": 87.0, "y": 89.0}, "reproduced", None, (85.516, 90.484)),  # by 90 %
        ((86.4, 96), {"x": 87.0, "y": 89.0}, "undecided", "reproduced", (85.516, 90.484)),
        ((90.4, 99), {"x": 87.0, "y": 89.0}, "undecided", "close", (85.516, 90.484)),
        ((90.5, 99), {"x": 87.0, "y": 89.0}, "close", None, (85.516, 90.484)),
        ((92, 93), {"x": 87.0, "y": 89.0}, "not_reproduced", None, (85.516, 90.484)),
        ((80, 85.5), {"x": 87.0, "y": 89.0}, "close", None, (85.516, 90.484)),
        ((87, 91), {"x": 88.0, "y": 88.0}, "reproduced", None, (88, 88)),  # nothing varies
        (
            (60, 100),
            {"x": 99.0, "y": 100.0},
            "reproduced",
            None,
            (79.126, 112.207),
        ),  # all of a share
        ((80, 96), {"x": 89.0, "y": None}, "undecided", "not_reproduced", (82.147, 94.853)),
        ((80, 99), {"x": 88.5}, "reproduced", None, (85.073, 91.427)),  # the other is unfinished
    ],
)
def test_a_number_is_judged_by_the_mean_of_its_repetitions(
    judge: Judge,
    bounds: tuple[float, float],
    again: Mapping[str, float | None],
    verdict: str,
    alone: str | None,
    ends: tuple[float, float],
) -> None:
    card = judge(again, _within(*bounds))
    (number,) = card["numbers"]
    (spread,) = number["spread"]
    assert (number["verdict"], number.get("alone")) == (verdict, alone)
    assert (spread["least"], spread["most"]) == pytest.approx(ends, abs=1e-3)
    deviation = statistics.stdev([88.0, *(each for each in again.values() if each is not None)])
    assert spread["deviation"] == pytest.approx(deviation)
    width = pytest.approx((bounds[1] - bounds[0]) / deviation) if deviation else None
    for skill in _skills([number] * LEAST_FOR_SKILL):
        assert skill.get("width") == width
    assert is_repeated(number)
    assert card["totals"][number["verdict"]] == 1
    assert not is_repeated(judge({}, _within(*bounds))["numbers"][0])


@pytest.mark.parametrize(
    ("looks", "verdict", "counted", "level"),
    [
        ("[3]", "reproduced", 3, "95 %"),
        ("[2, 4]", "undecided", 2, "97.5 %"),  # of a and x: 88 and 87
        ("[3, 6]", "reproduced", 3, "97.5 %"),
        ("[4]", "undecided", 3, "95 %"),  # nobody has looked yet
    ],
)
def test_what_a_number_of_repetitions_decides_depends_on_the_looks(
    judge: Judge, looks: str, verdict: str, counted: int, level: str
) -> None:
    spread = REPEATS.replace("}}", f", looks: {looks}}}}}")
    (number,) = judge({"x": 87.0, "y": 89.0}, _within(85, 96), spread=spread)["numbers"]
    (found,) = number["spread"]
    assert (number["verdict"], found["repetitions"]) == (verdict, counted)
    assert found["source"].startswith(f"{level} interval of the mean of {counted} repetitions")
    assert found["source"].endswith(f"(looks at {looks[1:-1]})")


def test_each_run_of_a_number_is_missed_at_its_share_of_the_level(judge: Judge) -> None:
    """The 95 % interval of the first run is just outside of the bounds, that of 97.5 % is not."""
    parts = [
        published_number(id=name, part_of="both", value=95.0, lower=90.5, upper=99.0, select=select)
        for name, select in (("n", HS["select"]), ("m", {"protocol": "HS", "buffer_pkts": 200}))
    ]
    (number,) = judge({"x": 87.0, "y": 89.0}, *parts)["numbers"]
    assert number["verdict"] == "undecided"
    assert [each["verdict"] for each in number["parts"]] == ["undecided", "reproduced"]


@pytest.mark.parametrize(
    ("again", "verdict", "alone", "holds"),
    [
        ({"x": 89.0, "y": 87.0}, "fails", None, 0.9629),  # t = -2 √3 with two degrees of freedom
        ({"x": 98.0, "y": 93.0}, "undecided", "holds", 0.2039),  # t = 0.6 √3
        ({"x": 89.0, "y": 91.0}, "undecided", "fails", 0.7357),  # mean 89 1/3
    ],
)
def test_a_statement_is_judged_by_means_too(
    judge: Judge, again: Mapping[str, float], verdict: str, alone: str | None, holds: float
) -> None:
    card = judge(again)
    (claim,) = card["claims"]
    assert (claim["verdict"], claim.get("alone")) == (verdict, alone)
    assert claim["shown"]["holds"] == pytest.approx(holds, abs=1e-3)
    assert claim["shown"]["holds"] + claim["shown"]["fails"] == pytest.approx(1)
    assert card["claim_totals"][claim["verdict"]] == 1
    assert is_repeated(claim)


def test_a_repetition_of_other_runs_is_none_of_a_number(judge: Judge, repeated: Plan) -> None:
    """The third substream repeats Reno's run alone, so that the number of HS has one repetition."""
    repeated["runs"][-2]["parameters"]["protocol"] = "Reno"  # y
    (number,) = judge({"x": 89.0, "y": 45.0})["numbers"]
    assert (number["spread"][0]["repetitions"], number["measured"]) == (2, 88.5)


@pytest.mark.parametrize("of_its_own", [False, True])
def test_metrics_of_several_runs_are_computed_of_the_repetitions(
    judge: Judge, metrics: pl.DataFrame, of_its_own: bool
) -> None:
    """The mean of HS and Reno with 40 packets is 69; with 99 in place of 88 it is 74.5.

    The repetition may have such a mean in its own scenario.
    """

    def mean_of_all(rows: pl.DataFrame, runs: object) -> pl.DataFrame:
        own = rows.filter(metric="utilization", scenario="one")
        of_40 = own.filter(pl.col("run_id").is_in(["a", "d"]))["value"].mean()
        return own.head(1).with_columns(
            metric=pl.lit("mean_of_all"), value=pl.lit(of_40), run_id=pl.lit("a")
        )

    known = pl.concat([metrics, mean_of_all(metrics, ())])
    if of_its_own:
        own = known.tail(1).with_columns(run_id=pl.lit("x"), scenario=pl.lit("again"))
        known = pl.concat([known, own])
    above_70 = {**ABOVE_90, "left": {**HS, "metric": "mean_of_all"}, "right": 70}
    (claim,) = judge({"x": 99.0}, claim=above_70, known=known, groups=mean_of_all)["claims"]
    assert (claim["evidence"][0]["value"], claim["verdict"]) == (71.75, "undecided")


def test_repetitions_are_of_the_same_scenario_each_in_place_of_all(judge: Judge) -> None:
    spread = "- {of: [c], varied: v, repeats: {runs: {one: one}, over: [buffer_pkts]}}"
    (claim,) = judge({}, spread=spread)["claims"]  # 88, 95 and 99 %
    assert claim["evidence"][0]["value"] == 94
    assert claim["shown"]["source"] == "3 repetitions of one"


def test_each_repetition_may_add_another_metric_to_that_of_all(
    judge: Judge, metrics: pl.DataFrame
) -> None:
    """An estimate of a share is not above all of it, though what a repetition adds may be."""
    own = [{**metrics.row(0, named=True), "scenario": "again", "run_id": run} for run in "xy"]
    known = pl.concat([metrics, pl.DataFrame(own, schema=metrics.schema)])
    spread = REPEATS.replace("}}", ", alone: {utilization: mean_of_all}}}")
    for values, mean, verdict in (
        ({"x": 88.5, "y": 88.9}, 88.4667, "reproduced"),
        ({"x": 120.0, "y": 150.0}, 100.0, "undecided"),
    ):
        options = {"metric": "mean_of_all", "spread": spread, "known": known}
        card = judge(values, _within(87, 100), **options)
        (number,) = card["numbers"]
        assert number["measured"] == pytest.approx(mean, abs=1e-3)
        assert (number["verdict"], number["spread"][0]["repetitions"]) == (verdict, 3)


def test_what_a_repetition_adds_follows_from_those_that_count(
    judge: Judge, metrics: pl.DataFrame
) -> None:
    """Of three repetitions two count, of which each adds 44 to the mean of its runs."""

    def share_of_all(rows: pl.DataFrame, runs: Sequence[PlannedRun]) -> pl.DataFrame:
        ids = [run["run_id"] for run in runs if run["run_id"] in "axy"]
        own = rows.filter(pl.col("run_id").is_in(ids), metric="utilization")
        return own.with_columns(metric=pl.lit("mean_of_all"), value=pl.lit(22.0 * len(ids)))

    spread = REPEATS.replace("}}", ", looks: [2, 4], alone: {utilization: mean_of_all}}}")
    card = judge({"x": 99.0, "y": 99.0}, _within(40, 48), spread=spread, groups=share_of_all)
    (number,) = card["numbers"]
    assert (number["measured"], number["spread"][0]["repetitions"]) == (44, 2)


# ---------------------------------------------------------------- what decides nothing


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("least: 61, most: 90, source: s", (61, 90, "s", True)),
        ("least: 61.1, most: 90, source: s", (61.1, 90, "s", False)),
        ("least: 40, most: 59, source: s", (40, 59, "s", True)),
        ("least: 40, most: 58.9, source: s", (40, 58.9, "s", False)),
        ("metric: mean_of_all", (58, 88, "", True)),
        ("runs: {scenario: one, select: {protocol: HS}}", (88, 99, "3 runs of one", False)),
        ("runs: {scenario: one, select: {buffer_pkts: 200}}", (88, 95, "1 run of one", False)),
        (
            "runs: {scenario: again}",
            (88, 90, "3 runs of again, 1 of them without a value", False),
        ),
        ("runs: {scenario: empty}", None),  # one value alone is no spread
        ("metric: asymmetry", None),  # no run measures it for this subject
    ],
)
def test_a_spread_has_two_ends_and_may_hold_the_print(
    judge: Judge, metrics: pl.DataFrame, given: str, expected: Any
) -> None:
    other = metrics.filter(metric="utilization").with_columns(
        metric=pl.lit("mean_of_all"), value=pl.col("value") - 30
    )
    again = {"x": 89.0, "y": 90.0, "z": None}
    spread = f"- {{of: [n], varied: v, {given}}}"
    known = pl.concat([metrics, other])
    (number,) = judge(again, MISSED, spread=spread, known=known)["numbers"]
    found = [
        (each["least"], each["most"], each["source"], each["holds_print"])
        for each in number.get("spread", [])
    ]
    assert found == ([] if expected is None else [expected])
    assert number["verdict"] == "not_reproduced"


def test_another_number_and_one_without_a_run_have_no_spread(judge: Judge) -> None:
    given = "- {of: [n], varied: v, least: 1, most: 2, source: s}"
    card = judge({}, published_number(id="m"), published_number(scenario="empty"), spread=given)
    assert [each for each in card["numbers"] if "spread" in each] == []


def test_another_reading_judges_anew_and_decides_nothing(judge: Judge, repeated: Plan) -> None:
    """88 % is within 87 to 91 % and not above 90 %; the reading has 95 %."""
    del repeated["runs"][-2:]  # y, z
    card = judge({"x": 95.0}, spread=READING)
    (number,), (claim,) = card["numbers"], card["claims"]
    assert (number["verdict"], claim["verdict"]) == ("reproduced", "fails")
    assert not is_repeated(number)
    ((name, read),) = card["readings"].items()
    (number,), (claim,) = read["numbers"], read["claims"]
    assert (name, number["verdict"], number["measured"]) == ("v", "not_reproduced", 95.0)
    assert (number["margin"], claim["verdict"]) == (pytest.approx(-4 / 2), "holds")
    assert claim["margin"] == pytest.approx(5 / 95)
    assert (read["totals"]["not_reproduced"], read["claim_totals"]["holds"]) == (1, 1)


def test_the_reading_of_a_number_of_two_runs_is_that_of_the_worst_by_it(
    judge: Judge, repeated: Plan
) -> None:
    """Of 88 and 95 % the second is above 93 %; of 99 and 91 % in their places, the first."""
    repeated["runs"].pop()  # z
    repeated["runs"][-1]["parameters"]["buffer_pkts"] = 200
    parts = [
        published_number(id=name, part_of="both", value=90.0, upper=93.0, select=select)
        for name, select in (("n", HS["select"]), ("m", {"protocol": "HS", "buffer_pkts": 200}))
    ]
    card = judge({"x": 99.0, "y": 91.0}, *parts, spread=READING)
    (number,), (read,) = card["numbers"], card["readings"]["v"]["numbers"]
    assert (number["measured"], read["measured"]) == (95.0, 99.0)
    lacking = judge({"x": 99.0}, *parts, spread=READING)
    assert lacking["readings"]["v"]["numbers"] == []


@pytest.mark.parametrize(
    ("again", "right"),
    [({}, 90), ({"x": 95.0}, RENO)],  # its run is not finished; that of Reno is not read
)
def test_a_reading_without_all_of_its_runs_says_nothing(
    judge: Judge, repeated: Plan, again: Mapping[str, float], right: object
) -> None:
    del repeated["runs"][-2:]  # y, z
    card = judge(again, claim={**ABOVE_90, "right": right}, spread=READING)
    assert card["readings"]["v"]["claims"] == []
