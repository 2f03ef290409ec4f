"""The report of an evaluation: its sentences, tables, charts and files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from tests.pipeline.pages import evaluated as made
from tests.pipeline.pages import golden

from bdpbench.app.evaluate.judging import judged
from bdpbench.contracts.evaluation import EvaluatedStudy, Judgement, cells_schema
from bdpbench.contracts.judged import Found, Judged
from bdpbench.pages.evaluation.files import evaluation_files, evaluation_tables
from bdpbench.pages.evaluation.findings import (
    Character,
    Findings,
    changes_of,
    characters_of,
    findings_of,
    moved,
)
from bdpbench.pages.evaluation.page import EvaluationReport, evaluation_page
from bdpbench.pages.notebook import offline_chart


def _findings(*figures: Any, criteria: Sequence[Any] = (), **more: Any) -> Findings:
    return findings_of(made.judgement(figures, criteria, **more), "Mine")


def _values(*numbers: float, **own: Any) -> list[Any]:
    """Values of protocols in the order of LABELS, and more of the first."""
    ranks = [1 + sum(other < each for other in numbers) for each in numbers]
    found = [made.value(*each) for each in zip(made.LABELS, numbers, ranks, strict=False)]
    found[0] |= own
    return found


NEVER = made.value("Mine", None, 2, why="never reached in 1 of 1 runs")


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ([_values(1, 2, 3), _values(9, 7, 5)], "Of 2 figures, {} is best in 1 and worst in 1."),
        ([_values(1, 1, 3)], "best in 1 and worst in none"),  # a tie shares its place
        ([_values(3, 1, 3)], "best in none and worst in 1"),
        ([_values(1, 1, 1)], "best in none and worst in none"),
        ([_values(1, 2, low=0.9, high=2.1)], "best in none"),  # overlaps with the second place
        ([_values(1, 2, low=0.9, high=1.9)], "best in 1"),
        ([[NEVER, made.value("cubic", 2, 1)]], "worst in 1"),
        ([[made.value("Mine", 1, 1, 1)]], "Of one figure, {} is best in none and worst in none."),
        ([[made.value("Mine", None, None)]], "{} has no figure that can be compared"),
        ([[made.value("Mine", math.nan, None)]], "{} has no figure that can be compared"),
        ([], "{} has no figure"),
    ],
)
def test_first_and_last_places_count(figures: list[Any], said: str) -> None:
    found = _findings(*(made.figure("a", *map(dict, each)) for each in figures))
    assert said.format("Mine & <co>") in found.summary


def test_a_figure_without_direction_has_no_place_and_one_never_reached_is_known() -> None:
    figure = made.figure("b", *_values(1, 2), better="")
    assert "no figure that can be compared" in _findings(figure).summary
    assert _findings(made.figure("a", dict(NEVER), made.value("cubic", 2, 1))).unknown == []


FIGURES = [
    made.figure(
        "a",
        made.value("Mine", 12.5, 1, low=12.4, high=12.6, unsure=True),
        made.value("cubic", 13, 2),
    ),
    made.figure("none", made.value("Mine", None, None)),
    made.figure("mean_queueing_delay", *_values(2, 3, 4, low=1, high=3)),
    made.figure("goodput", *_values(9, 8, 7), better="more"),
]
# General use keeps from deployment, special cases limit; of sections that begin alike, one is kind.
FAILING = {"kind": "5.2.1", "steady": "5.1.4", "queued": "7.1", "full": "5.1.1", "so": "5.1.10"}
CRITERIA = [
    *(made.criterion(key, each, passes=False) for key, each in FAILING.items()),
    made.criterion("calm", "5.1.1", passes=True),
    made.criterion("wireless", "6.4", passes=None),
    made.criterion("honest", "7.6", passes=None, simulated=False),
]


def test_what_is_said_of_many_is_what_chance_does_not_decide() -> None:
    """Good and bad for something beyond two thirds of the others; whom it harms, or perhaps."""
    numbers = {"Mine": (1, 0.9, 1.2), "cubic": (1.1, 1.05, 1.15), "standard": (2, None, None)}
    others = {f"P{n}": (3 + n / 20, None, None) for n in range(6)} | {"worst": (9, 8, 10)}
    known = [
        {**made.DOCUMENT["protocols"][1], "key": each, "label": each, "source": f"paper:{each}"}
        for each in numbers | others
    ]
    cells = pl.DataFrame(
        [
            {**made.CELL, "part": "table", "column": "a", "metric": "metric_a", "protocol": key}
            | {"value": value, "low": low, "high": high, "values": [value], "run_ids": [key]}
            | {"evaluated": False, "why": ""}
            for key, (value, low, high) in (numbers | others).items()
        ],
        schema=cells_schema(),
    )
    (study,) = made.evaluation().model_dump()["studies"]
    study["parts"]["table"]["columns"]["a"]["good"] = "short queues"
    told = {"question": "?", "section": "5.2.1", "text": "!", "part": "table", "column": "a"}
    told |= {"most": 1.08, "source": "ours", "harms": "calls"}
    study |= {"criteria": {"calls": told}}
    evaluation = made.evaluation(protocols=known).model_copy(
        update={"studies": [EvaluatedStudy.model_validate(study)]}
    )
    found = characters_of(judged(evaluation, cells, {}))
    said = {key: (each.good, each.bad, each.harmed) for key, each in found.items()}
    queues = ["short queues"]
    assert said["Mine"] == (queues, [], "perhaps calls")
    assert said["cubic"] == (queues, [], "perhaps calls")
    assert said["standard"] == (queues, [], "calls")  # a tenth around its one run is apart
    assert said["P0"] == ([], [], "calls")
    assert said["worst"] == ([], queues, "calls")
    assert found["Mine"].sentences == "It is good for short queues. It perhaps harms calls."
    assert found["P0"].sentences == "It is neither better nor worse than most. It harms calls."

    study["parts"]["table"]["columns"]["a"]["only"] = {"protocol_2": ["standard"]}
    study |= {"criteria": {"calls": told}}
    beside = evaluation.model_copy(update={"studies": [EvaluatedStudy.model_validate(study)]})
    found = characters_of(judged(beside, cells, {}))
    assert found["standard"].sentences.startswith("It is neither")  # two flows of it are alike
    assert found["standard"].sentences.endswith("It harms nobody.")
    assert found["cubic"].good == queues

    # What another study calls by the same key is another protocol.
    known = [{**each, "source": each["source"].replace("paper:", "other:")} for each in known]
    others = made.evaluation(protocols=known).model_copy(update={"studies": beside.studies})
    found = characters_of(judged(others, cells, {}))
    assert (found["standard"].good, found["standard"].harmed) == (queues, "calls")


@pytest.mark.parametrize(
    ("harms", "told"),
    [
        ({"A": (), "B": ()}, "None of 2 protocols harms those that were asked about."),
        (
            {"A": ("calls",), "B": (), "E": (), "C": ("calls",), "D": ("perhaps calls",)},
            "A and C harm calls; D perhaps harms calls. "
            "2 of 5 protocols harm none of those that were asked about.",
        ),
    ],
)
def test_the_page_of_many_begins_with_who_harms_whom(
    harms: dict[str, tuple[str, ...]], told: str
) -> None:
    report = _report()
    said = {
        label: Character(
            [],
            [],
            [each for each in whom if not each.startswith("perhaps")],
            [each.removeprefix("perhaps ") for each in whom if each.startswith("perhaps")],
        )
        for label, whom in harms.items()
    }
    vars(report)["characters"] = [(SimpleNamespace(label=key), said[key]) for key in said]
    assert report.harm == told


def _report(earlier: Judgement | None = None, **more: Any) -> EvaluationReport:
    prints = {("paper", "cubic-run", "metric_a", "flow:0"): 13.75}
    judgement = made.judgement(FIGURES, CRITERIA, prints=prints, **more)
    return EvaluationReport(judgement, None if earlier is None else ("earlier", earlier))


def _outline(earlier: Judgement | None = None) -> str:
    return golden.outline(evaluation_page(_report(earlier)))


def test_the_page_says_what_it_said_and_loads_nothing() -> None:
    """The new row comes first, and printed values stand beside ours."""
    page = evaluation_page(_report())
    golden.compare("evaluation.txt", golden.outline(page))
    bare = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    ids = set(re.findall(r'\bid="([^"]+)"', bare))
    assert set(re.findall(r'href="#([^"]+)"', bare)) <= ids
    assert not re.findall(r"\s(?:src|srcset|action)=|url\((?!data:)", bare)
    (store,) = re.findall(r'id="chart-data">(.*?)</script>', page, re.DOTALL)
    assert set(json.loads(store)) == {"time", "charts"}
    assert evaluation_page(_report()) == page  # equal inputs give equal bytes


def test_charts_are_valid_and_files_say_what_they_said() -> None:
    report, lines = _report(), []
    for chart in report.charts:
        assert "spec" in chart.content
        offline_chart(chart.content["spec"])
        lines.append(golden.told(chart))
    files = dict(evaluation_files(report, ("svg",), "Build 0."))
    stems = dict.fromkeys(name.partition(".")[0] for name in files)
    lines += [f"{stem}: {[n for n in files if n.startswith(f'{stem}.')]}" for stem in stems]
    for name, content in files.items():
        if name == "cells.csv" or re.match(r"tables/(.*\.md|(standings|rfc).*\.csv)", name):
            lines += [name, *content.decode().splitlines()[:8]]
    golden.compare("evaluation_files.txt", "\n".join(lines))


@pytest.mark.parametrize(
    ("before", "now", "better", "said"),
    [
        ((1, 0.9, 1.1), (1.3, 1.2, 1.4), "less", "worse"),
        ((1, 0.9, 1.1), (1.3, 1.2, 1.4), "more", "better"),
        ((1, 0.9, 1.3), (1.3, 1.2, 1.4), "less", "within"),
        ((1, 1, 1), (1, 0, 2), "less", "same"),
        ((None,), (1, 1, 1), "less", "other"),
        ((1,), (2,), "", "other"),
    ],
)
def test_moves_follow_the_intervals(before: Any, now: Any, better: Any, said: str) -> None:
    assert moved(Found(*before), Found(*now), Judged(better, 0.02)) == said


def test_an_earlier_evaluation_shows_what_a_change_changed() -> None:
    """The factor halves three values, of which one is that of the figure; an empty cell stays."""
    figure = made.figure("a", made.value("Mine", 20, 2), made.value("cubic", 13, 1))
    met = made.criterion("kind", "5.2.1", passes=True)
    earlier = made.judgement([figure], [met], made.cells(factor=2.0))
    found = golden.difference(_outline(), _outline(earlier), 0)
    golden.compare("evaluation_earlier.diff", found)
    full = replace(earlier, evaluation=earlier.evaluation.model_copy(update={"choice": "full"}))
    said = "One of the two is a quick evaluation"
    assert (said in found, said in _outline(full)) == (False, True)


def test_evaluations_without_a_protocol_in_common_compare_nothing() -> None:
    two = made.protocols("Mine", "cubic")
    two[1]["evaluated"] = True
    other = [{**each, "key": f"Other{index}"} for index, each in enumerate(two)]
    found = changes_of(made.judgement(protocols=other), made.judgement(protocols=two))
    assert (found.pairs, found.figures, found.cells) == ([], [], [])


def test_a_protocol_that_has_several_keys_in_a_study_gets_a_row_for_each() -> None:
    cells = made.cells()
    reno = cells.filter(pl.col("protocol") == "standard").with_columns(own_key=pl.lit("Reno"))
    tahoe = reno.with_columns(own_key=pl.lit("Tahoe"))
    found = pl.concat([cells.filter(pl.col("protocol") != "standard"), reno, tahoe])
    (table, *_) = evaluation_tables(EvaluationReport(made.judgement(found=found)))
    rows = [row[0] for row in table.rows][2:]
    assert rows == ["Standard TCP (Reno)", "Standard TCP (Tahoe)"]
