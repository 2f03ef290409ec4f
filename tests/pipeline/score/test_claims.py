"""Each kind of claim holds, fails or lacks its run; the values are those of the fixture."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml  # type: ignore[import-untyped]
from tests.data_of import data_of
from tests.pipeline.score.conftest import METRICS, judged, make_run

from bdpbench.contracts.plan import Plan
from bdpbench.errors import BdpbenchError
from bdpbench.score import load_expectations, score

CASES = data_of(__file__)["cases"]


def _share(text: object) -> Any:
    """The margin that a case gives as a quotient, such as 0.5/88."""
    over, _, under = str(text).partition("/")
    return pytest.approx(float(Fraction(over) / Fraction(under or "1")))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1][:40]}, {case[2]['kind']}")
def test_a_claim_is_decided_by_the_runs(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame, case: list[Any]
) -> None:
    verdict, explanation, condition, margin, changed = (*case, *[None] * (5 - len(case)))
    if "e" in (changed or {}):
        plan["runs"].append(make_run("e", protocol="HS", buffer_pkts=600))
        last = metrics.filter(run_id="a").with_columns(run_id=pl.lit("e"))
        metrics = pl.concat([metrics, last])
    for run_id, value in (changed or {}).items():
        is_it = pl.col("run_id") == run_id
        new = pl.when(is_it).then(None if value == "absent" else value).otherwise("value")
        metrics = metrics.with_columns(value=new).filter(~is_it | (value != "absent"))
    (claim,) = judged(tmp_path, plan, metrics, claim=condition)["claims"]
    assert (claim["verdict"], claim["explanation"]) == (verdict, explanation)
    if margin is not None:
        assert claim["margin"] == (None if margin == "none" else _share(margin))


def test_a_claim_carries_its_text_and_its_evidence(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    reno = {"scenario": "one", "select": {"protocol": "Reno"}, "metric": "utilization"}
    hs = {**reno, "select": {"protocol": "HS", "buffer_pkts": 40}}
    condition = {"kind": "ordered_groups", "groups": [[reno], [hs]], "order": "ascending"}
    card = judged(tmp_path, plan, metrics, claim=condition)
    (claim,) = card["claims"]
    assert card["claim_totals"]["holds"] == 1
    assert claim == {
        "id": "c",
        "where": "Section 1",
        "page": "",
        "statement": "It is so.",
        "known_miss": "",
        "found": "stated",
        "chosen_on": [],
        "kind": "blind",
        "verdict": "holds",
        "explanation": "50 < 88",
        "margin": pytest.approx(38 / 88),
        "protocols": ["HS", "Reno"],
        "evidence": [
            {"label": "utilization, d", "value": 50.0, "unit": "%", "run_id": "d"},
            {"label": "utilization, a", "value": 88.0, "unit": "%", "run_id": "a"},
        ],
    }


@pytest.mark.parametrize(
    ("along", "said"),
    [("buffer_pkt", "did you mean 'buffer_pkts'"), ("protocol", "'protocol' is not a number")],
)
def test_a_sweep_along_no_number_is_refused(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame, along: str, said: str
) -> None:
    sweep = {"kind": "monotone", "direction": "increasing", "metric": "utilization"}
    sweep |= {"scenario": "one", "along": along}
    with pytest.raises(BdpbenchError, match=said):
        judged(tmp_path, plan, metrics, claim={**sweep, "select": {"protocol": "HS"}})


def test_a_cause_has_what_was_run_and_is_the_reason_of_claims_without_one(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    reno = {"scenario": "one", "select": {"protocol": "Reno"}, "metric": "utilization"}
    link = {**reno, "subject": "link:bottleneck"}
    condition = {"kind": "compare", "left": reno, "op": ">", "right": 60}
    (claim,) = judged(tmp_path, plan, metrics, claim=condition)["claims"]
    assert (claim["verdict"], claim["known_miss"]) == ("fails", "")
    absent = {**reno, "select": {"protocol": "CUBIC"}}
    cause = {"cause": "Why", "text": "So.", "of": ["c"], "shown": [reno, link, absent]}
    (tmp_path / "causes.yaml").write_text(yaml.safe_dump([cause]))
    card = score(plan, metrics, load_expectations(tmp_path, METRICS))
    assert card["claims"] == [{**claim, "known_miss": "So."}]
    (told,) = card["causes"]
    found = [(each["label"], each["value"]) for each in told["evidence"]]
    assert found == [("utilization, d", 50.0), ("utilization of link:bottleneck, d", 50.0)]
