"""The summary, its sentences and the table of protocols: what deviates first, who is best."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.data_of import yaml_of
from tests.pipeline.pages.synthetic import Inputs, swept_of

from bdpbench.contracts.judged import Judged
from bdpbench.metrics import DEFINITIONS
from bdpbench.pages import protocols as table_module
from bdpbench.pages.answers import answer
from bdpbench.pages.experiments import experiments
from bdpbench.pages.inputs import ReportData, read_captions
from bdpbench.pages.names import Names, find_sweep
from bdpbench.pages.protocols import ProtocolTable, protocol_table
from bdpbench.pages.scored import (
    NumberRow,
    cause_rows,
    claim_rows,
    in_doubt,
    number_rows,
    printed_chart,
    summarize,
)
from bdpbench.pages.text import VERDICTS


@pytest.fixture
def rows(inputs: Inputs) -> list[NumberRow]:
    return number_rows(inputs.scorecard, _names(inputs))


def _names(inputs: Inputs) -> Names:
    return Names(inputs.plan, read_captions(), inputs.definitions)


def _row(rows: list[NumberRow], verdict: str, **number: Any) -> NumberRow:
    return replace(rows[0], verdict=VERDICTS[verdict], number={**rows[0].number, **number})


def test_a_reason_leads_to_its_farthest_miss(rows: list[NumberRow]) -> None:
    found = summarize(
        [
            _row(rows, "not_reproduced", id="near", distance=9.99, known_miss="A reason."),
            _row(rows, "not_reproduced", id="far", distance=20.4, known_miss="A reason."),
            _row(rows, "close", id="close", distance=4 / 3, known_miss="Another one."),
            _row(rows, "not_reproduced", id="no value", distance=None, known_miss=""),
            _row(rows, "reproduced", id="inside", distance=0.5, known_miss="Nothing."),
        ],
        [],
        [],
    )
    assert found["misses"] == 4
    assert [(each["text"], each["count"], each["first"]) for each in found["reasons"]] == [
        ("A reason.", 2, "far"),
        ("Another one.", 1, "close"),
        ("", 1, "no value"),
    ]


def test_printed_against_measured_has_the_largest_miss_first(rows: list[NumberRow]) -> None:
    bounds = {"published": 10.0, "lower": 9.0, "upper": 12.0, "unit": "s"}
    spread = [{"least": 8.5, "most": 100.0, "repetitions": 3}]
    found = printed_chart(
        [
            _row(rows, "reproduced", id="in", measured=11.0, **bounds),
            _row(rows, "close", id="near", measured=8.75, spread=spread, **bounds),
            _row(rows, "not_reproduced", id="far", measured=1.0, **bounds),
            _row(rows, "not_run", id="none", measured=None, **bounds),
            _row(rows, "close", id="one side", measured=0.9, published=1.0, lower=1.0, upper=1.2),
        ],
        read_captions(),
    )
    assert found is not None
    assert "spec" in found.content
    assert found.title == "1 of 4 printed numbers are reproduced"
    (points,) = (own for own in found.content["spec"]["datasets"].values() if len(own) > 1)
    places = [(each["number"], each["away"], each["low"], each["high"]) for each in points]
    assert places == [
        ("far", -3, -3, -3),
        ("near", -1.25, -1.5, 3),
        ("one side", -1, -1, -1),
        ("in", 0.5, 0.5, 0.5),
    ]
    assert printed_chart(rows[:1], read_captions()) is None  # a sentence says it


def test_statements_that_fail_come_first(inputs: Inputs) -> None:
    (claim, *_) = inputs.scorecard["claims"]
    verdicts: Any = ("not_run", "holds", "undecided", "fails")
    inputs.scorecard["claims"] = [{**claim, "verdict": each} for each in verdicts]
    rows = in_doubt(claim_rows(inputs.scorecard, _names(inputs)))
    assert [row.verdict.key for row in rows] == ["fails", "undecided", "holds", "not_run"]


def test_causes_are_told_of_what_fails_alone(inputs: Inputs) -> None:
    (claim, *_) = inputs.scorecard["claims"]
    verdicts: Any = {"a": "fails", "b": "undecided", "c": "holds", "d": "fails"}
    claims: Any = [{**claim, "id": each, "verdict": is_so} for each, is_so in verdicts.items()]
    causes: Any = [
        {"cause": "Holds", "text": "", "of": ["c"], "evidence": []},
        {"cause": "Known", "text": "", "of": ["b", "a"], "evidence": []},
    ]
    inputs.scorecard["claims"] = claims
    rows = claim_rows(inputs.scorecard, _names(inputs))
    assert cause_rows(inputs.scorecard, rows) == []
    found = cause_rows({**inputs.scorecard, "causes": causes}, rows)
    told = [(each["title"], [row.claim["id"] for row in each["claims"]]) for each in found]
    assert told == [("Known", ["a"]), ("Not explained", ["d"])]


@pytest.mark.parametrize("labels", [["HS-TCP and Scalable TCP"], ["HS-TCP", "Scalable TCP"]])
def test_a_number_of_a_case_is_about_the_protocols_of_its_run(
    inputs: Inputs, labels: list[str]
) -> None:
    runs = {run["label"].removesuffix(", 30 s"): run["run_id"] for run in inputs.plan["runs"]}
    (number, *_) = inputs.scorecard["numbers"]
    number |= {"select": {"case_number": "3"}, "run_ids": [runs[each] for each in labels]}
    (row, *_) = number_rows(inputs.scorecard, _names(inputs))
    assert row.protocols == (("HS-TCP", "Scalable TCP") if len(labels) == 1 else ())


def _table(inputs: Inputs, *keys: str) -> ProtocolTable | None:
    data = ReportData(inputs.frozen(), 200)
    shown = [
        replace(each, asked=("utilization",)) for each in experiments(data) if each.key in keys
    ]
    return protocol_table(data, shown, [])


def test_a_row_is_a_protocol_or_a_pair(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    both, pairs = _table(inputs, "single_flow", "pair"), _table(inputs, "pair")
    assert both is not None
    assert both.title == "By protocol"
    assert {row.who: row.keys for row in both.rows}["HS-TCP"] == ("HS",)
    assert pairs is not None  # most experiments have pairs
    assert pairs.title == "By protocols that meet"
    # The synthetic runs have 80 % and one more for each run before: eight are before the pairs.
    cells = {row.who: row.cells[0] and row.cells[0].text for row in pairs.rows}
    assert cells == {"HS-TCP and Scalable TCP": "88", "Scalable TCP and HS-TCP": "89"}
    assert both.protocols == pairs.protocols == ["HS-TCP", "Scalable TCP"]
    # More pairs than a table can show are left to matrices.
    monkeypatch.setattr(table_module, "MOST_PAIRS", 1)
    assert _table(inputs, "pair") is None


SETTING: Any = {"x": None, "others": "", "rank": 0, "unit": "%"}
UTILIZATION = Judged("more", 1.0, 100, "%")


def _marks(judged: Judged, *runs: tuple[str, float | None]) -> list[tuple[str, str]]:
    column = table_module.Column("one", "metric", "One", "Metric", "%", "", judged)
    rows = [
        {"who": who, "value": value, "run_id": str(n), **SETTING}
        for n, (who, value) in enumerate(runs)
    ]
    of = pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "x": pl.Float64})
    whom = {who: (who,) for who, _ in runs}
    return [(each.text, each.mark) for each in table_module._cells(column, of, whom, []).values()]


@pytest.mark.parametrize(
    ("judged", "values", "marks"),
    [
        (UTILIZATION, (97.534, 97.486, 90.0), ["best", "best", "worst"]),
        (UTILIZATION, (99.98, 99.95, 99.9), ["", "", ""]),  # smaller than what counts
        (UTILIZATION, (97.531, 97.534, None), ["best", "best", "worst"]),
        (Judged("less", 0.05, None, "s"), (0.6, 2.0, 5.5), ["best", "", "worst"]),
        (Judged("nearest", 0.05, 1.0, "1"), (1.91, 1.0, 0.2), ["", "best", "worst"]),
        (Judged("nearest", 0.05, 0.0, "1"), (-0.228, 0.9, -0.93), ["best", "worst", "worst"]),
        (Judged(), (1.0, 2.0, None), ["lowest", "highest", ""]),
    ],
)
def test_what_is_marked_differs_by_what_counts(
    judged: Judged, values: tuple[float | None, ...], marks: list[str]
) -> None:
    found = _marks(judged, *zip("ABC", values, strict=True))
    assert [mark for _, mark in found] == marks
    # The mean of B is the smallest, but A was once faster.
    seconds = Judged("less", 0.05, None, "s")
    open_place = _marks(seconds, ("A", 3.4), ("A", 25.8), ("B", 3.6), ("B", 3.8), ("C", 40.0))
    assert open_place == [("15", ""), ("3.7", ""), ("40", "worst")]


ANSWERS = yaml_of(Path(__file__).with_name("answers.yaml").read_text())
LABELS = {"fast": "FAST", "htcp": "H-TCP", "reno": "Reno", "cubic": "CUBIC"}
PROTOCOLS = {key: {"label": label, "colour": "#000000"} for key, label in LABELS.items()}
LINK = "link:bottleneck"


def _answer(metric: str, *found: tuple[dict[str, Any], float | None]) -> str:
    """The sentence on a metric of runs with these parameters."""
    runs: list[Any] = [
        {"run_id": f"run{n}", "scenario": "one", "label": f"run {n}", "parameters": given}
        for n, (given, _) in enumerate(found)
    ]
    units = {"rtt_ms": "ms", "bottleneck_mbps": "Mbit/s"}
    plan: Any = {
        "runs": runs,
        "protocols": PROTOCOLS,
        "parameters": {name: {"unit": unit} for name, unit in units.items()},
        "scenarios": {},
    }
    definition = DEFINITIONS[metric]
    names = Names(plan, read_captions(), [definition.as_document()])
    rows = [
        {"run_id": f"run{n}", "metric": metric, "subject": LINK, "value": value}
        for n, (_, value) in enumerate(found)
        if value != "unmeasured"
    ]
    metrics = pl.DataFrame(rows, schema_overrides={"value": pl.Float64})
    metrics = metrics.with_columns(unit=pl.lit(definition.unit))
    (sentence,) = answer([metric], runs, metrics, find_sweep(runs, swept_of(runs)), names)
    return sentence


@pytest.mark.parametrize("case", ANSWERS["cases"])
def test_sentences_are_true_of_their_values(case: Any) -> None:
    found = [
        ({name: each for name, each in zip(case["given"], run, strict=False)}, run[-1])
        for run in case["runs"]
    ]
    assert _answer(case["metric"], *found) == case["said"]
