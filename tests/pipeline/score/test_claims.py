"""Each kind of claim holds, fails or lacks its run; the values are those of the fixture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml  # type: ignore[import-untyped]
from tests.data_of import yaml_of
from tests.pipeline.score.conftest import make_run

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import Plan
from bdpbench.errors import BdpbenchError
from bdpbench.score import Claim, Expectations, load_claims, score

CASES = yaml_of((repository_root() / "tests" / "data" / "claims.yaml").read_text())["cases"]
METRICS = {"time_to_90pct_cwnd", "utilization", "asymmetry"}
HS40 = {
    "scenario": "one",
    "select": {"protocol": "HS", "buffer_pkts": 40},
    "metric": "utilization",
}
SWEEP = {
    "kind": "monotone",
    "scenario": "one",
    "select": {"protocol": "HS"},
    "metric": "utilization",
    "along": "buffer_pkts",
    "direction": "increasing",
}
NEVER = {"kind": "within", "lower": None, "upper": None}
EACH_BUFFER = {
    "kind": "for_each",
    "values": {"buffer_pkts": [40, 200, 500, 600]},
    "claim": {
        "kind": "compare",
        "left": {"scenario": "one", "select": {"protocol": "HS"}, "metric": "utilization"},
        "op": ">",
        "right": 90,
    },
}


def _load(tmp_path: Path, condition: dict[str, Any]) -> list[Claim]:
    text = {"id": "c", "where": "Section 1", "found": "stated", "statement": "It is so."}
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([{**text, **condition}], sort_keys=False))
    return load_claims(path, METRICS)


def _scored(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame, condition: dict[str, Any]
) -> dict[str, Any]:
    card = score(plan, metrics, Expectations([], _load(tmp_path, condition)))
    (claim,) = card["claims"]
    assert card["claim_totals"][claim["verdict"]] == 1
    return dict(claim)


@pytest.mark.parametrize(("verdict", "explanation", "condition"), CASES)
def test_a_claim_is_decided_by_the_runs(
    tmp_path: Path,
    plan: Plan,
    metrics: pl.DataFrame,
    verdict: str,
    explanation: str,
    condition: dict[str, Any],
) -> None:
    claim = _scored(tmp_path, plan, metrics, condition)
    assert (claim["verdict"], claim["explanation"]) == (verdict, explanation)


def test_a_claim_carries_its_text_and_its_evidence(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    reno = {**HS40, "select": {"protocol": "Reno"}}
    claim = _scored(
        tmp_path,
        plan,
        metrics,
        {"kind": "ordered_groups", "groups": [[reno], [HS40]], "order": "ascending"},
    )
    assert claim["evidence"] == [
        {"label": "utilization, d", "value": 50.0, "unit": "%", "run_id": "d"},
        {"label": "utilization, a", "value": 88.0, "unit": "%", "run_id": "a"},
    ]
    assert claim["protocols"] == ["HS", "Reno"]
    assert (claim["id"], claim["where"], claim["page"]) == ("c", "Section 1", "")
    assert (claim["statement"], claim["known_miss"]) == ("It is so.", "")
    assert (claim["found"], claim["chosen_on"], claim["kind"]) == ("stated", [], "blind")


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ({"kind": "compared"}, "compared"),
        ({"kind": "ranking", "items": [HS40]}, "ordered_groups"),
        ({"kind": "within", "value": HS40, "lower": 1, "upper": None}, "numbers, or both null"),
        ({"kind": "ordered_groups", "groups": [[HS40], []], "order": "ascending"}, "groups"),
        ({"kind": "spread", "items": [HS40], "op": "<", "limit": 45}, "items"),
        ({"kind": "within", "value": HS40, "lower": 1, "uper": 2}, "uper: unknown key"),
        ({"kind": "within", "value": HS40, "lower": 2, "upper": 1}, r"no value is within \[2, 1"),
        ({**NEVER, "value": {**HS40, "metric": "utilisation"}}, "'utilization'"),
        ({**EACH_BUFFER, "values": {"scenario": ["one"]}}, "every selector has its own scenario"),
        ({**EACH_BUFFER, "values": {"protocol": ["HS"]}}, "every selector has its own protocol"),
        ({"kind": "compare", "left": HS40, "op": "<", "right": 1, "margin": -1}, "margin"),
        ({"kind": "compare", "left": 2, "op": "<", "right": 1}, "no run can prove them wrong"),
        ({**NEVER, "value": HS40, "found": "chosen"}, r"c: unknown word 'chosen'"),
        ({**NEVER, "value": HS40, "chosen_on": ["c"]}, "chosen_on: c: is given"),
    ],
)
def test_a_slip_names_the_file(tmp_path: Path, condition: dict[str, Any], said: str) -> None:
    with pytest.raises(BdpbenchError, match=said) as caught:
        _load(tmp_path, condition)
    assert "claims.yaml" in str(caught.value)


def test_a_claim_appears_once_and_says_how_it_was_found(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    text = (
        "- {id: c, where: w, statement: s, kind: within, lower: null, upper: null, "
        "value: {metric: utilization}"
    )
    path.write_text(f"{text}}}\n")
    with pytest.raises(BdpbenchError, match=r"claims\.yaml:1: 0: the key found is missing"):
        load_claims(path, METRICS)
    path.write_text(f"{text}, found: stated}}\n" * 2)
    with pytest.raises(BdpbenchError, match=r"claims\.yaml:2: 1\.id: 'c' appears twice"):
        load_claims(path, METRICS)
    assert load_claims(tmp_path / "none.yaml", METRICS) == []


@pytest.mark.parametrize(
    ("along", "said"),
    [("buffer_pkt", "did you mean 'buffer_pkts'"), ("protocol", "'protocol' is not a number")],
)
def test_a_sweep_along_no_number_is_refused(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame, along: str, said: str
) -> None:
    with pytest.raises(BdpbenchError, match=f"claims.yaml, c: .*{said}|{said}"):
        _scored(tmp_path, plan, metrics, {**SWEEP, "along": along})


def test_steps_back_within_a_margin_are_overlooked(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    for at_200, verdicts in {87.0: ("fails", "holds"), 100.0: ("fails", "holds")}.items():
        value = pl.when(pl.col("run_id") == "b").then(at_200).otherwise(pl.col("value"))
        steps = metrics.with_columns(value=value)  # 88, 87, 99 and 88, 100, 99
        found = [
            _scored(tmp_path, plan, steps, {**SWEEP, "margin": margin}) for margin in (0.5, 1.0)
        ]
        assert tuple(each["verdict"] for each in found) == verdicts


def test_a_sweep_with_a_margin_ends_beyond_its_beginning(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    level = pl.when(pl.col("run_id") == "c").then(88.0).otherwise(pl.col("value"))
    ends_level = metrics.with_columns(value=level)  # 88, 95, 88
    for margin, verdict in ((7.0, "fails"), (6.9, "fails")):
        sweep = {**SWEEP, "margin": margin}
        assert _scored(tmp_path, plan, ends_level, sweep)["verdict"] == verdict
    down = {**SWEEP, "direction": "decreasing", "margin": 7.5}
    assert _scored(tmp_path, plan, ends_level, down)["verdict"] == "fails"


def test_a_fall_may_step_back_by_the_margin_itself(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    falling = {"a": 99.0, "b": 100.0, "c": 95.0}
    value = pl.col("run_id").replace_strict(falling, default=0.0)
    sweep = {**SWEEP, "direction": "decreasing", "margin": 1.0}
    claim = _scored(tmp_path, plan, metrics.with_columns(value=value), sweep)
    assert (claim["verdict"], claim["explanation"][:13]) == ("holds", "99 → 100 → 95")


def test_a_sweep_of_which_a_run_is_missing_is_open(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    plan["runs"].append(make_run("e", protocol="HS", buffer_pkts=600))
    assert _scored(tmp_path, plan, metrics, SWEEP)["verdict"] == "not_run"
    over = {**SWEEP, "select": {}, "mean_over": ["protocol"]}
    assert _scored(tmp_path, plan, metrics, over)["verdict"] == "not_run"
    never = metrics.with_columns(
        value=pl.when(pl.col("run_id") == "c").then(None).otherwise(pl.col("value"))
    )
    del plan["runs"][-1]
    claim = _scored(tmp_path, plan, never, SWEEP)
    assert (claim["verdict"], claim["explanation"][:16]) == ("fails", "88 → 95 → never ")


def test_of_many_cases_three_are_told_and_missing_runs_leave_it_open_unless_one_fails(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    plan["runs"].append(make_run("e", protocol="HS", buffer_pkts=600))

    def told(frame: pl.DataFrame, right: float) -> str:
        each = {**EACH_BUFFER, "claim": {**EACH_BUFFER["claim"], "right": right}}  # type: ignore[dict-item]
        claim = _scored(tmp_path, plan, frame, each)
        return f"{claim['verdict']}: {claim['explanation']}"

    assert told(metrics, 1) == "not_run: a run that it needs is not in this tier"
    assert told(metrics, 90) == (
        "fails: it holds in 2 of 4 cases, 1 of which lacks runs, "
        "and not for buffer_pkts 40: 88 > 90"
    )
    rest = metrics.filter(pl.col("run_id") != "c")
    assert "it holds in 1 of 4 cases, 2 of which lack runs" in told(rest, 90)
    last = metrics.filter(pl.col("run_id") == "a").with_columns(run_id=pl.lit("e"))
    every = told(pl.concat([metrics, last]), 99.5)
    assert every.startswith("fails: it holds in 0 of 4 cases, and not for buffer_pkts 40: 88 > 99")
    assert every.endswith("buffer_pkts 500: 99 > 99.5; …")
