"""The report of an evaluation: its sentences, tables, charts and files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.pipeline.pages import evaluated as made

from bdpbench.contracts.evaluation import Judgement
from bdpbench.contracts.judged import Found, Judged
from bdpbench.pages.evaluation.files import evaluation_files, evaluation_tables
from bdpbench.pages.evaluation.findings import Findings, changes_of, findings_of, moved
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


def test_a_figure_without_direction_has_no_place_and_a_missing_one_says_why() -> None:
    figure = made.figure("b", *_values(1, 2), better="")
    assert "no figure that can be compared" in _findings(figure).summary
    missing = made.figure("a", made.value("Mine", None, None), made.value("cubic", 2, 1, 1))
    assert _findings(missing).unknown == [("Figure a", "its run failed", "chart-figure-a")]
    assert _findings(made.figure("a", dict(NEVER), made.value("cubic", 2, 1))).unknown == []


def test_general_use_keeps_from_deployment_and_special_cases_limit() -> None:
    failing = {"kind": "5.2.1", "steady": "5.1.4", "queued": "7.1", "full": "5.1.1", "so": "5.1.10"}
    criteria = [made.criterion(key, each, passes=False) for key, each in failing.items()]
    criteria.append(made.criterion("calm", "5.1.1", passes=True))
    criteria.append(made.criterion("wireless", "6.4", passes=None))
    criteria.append(made.criterion("honest", "7.6", passes=None, simulated=False))
    found, keeps = _findings(criteria=criteria), "would keep it from deployment"
    assert [(each.key, meaning) for each, _, meaning in found.failed] == [
        ("kind", f"{keeps}, as a danger to others"),
        ("steady", keeps),
        ("queued", "limits where it can be used"),
        ("full", f"{keeps}, as a danger to others"),
        ("so", keeps),  # another section that begins alike
    ]
    assert found.unknown == [("Is it wireless?", "its run failed", "criterion-wireless")]
    assert found.summary.endswith(
        f"It meets 1 of the 6 criteria of RFC 9743 that could be judged; 4 of the others {keeps}, "
        "as a danger to others."
    )


FIGURES = [
    made.figure(
        "a",
        made.value("Mine", 12.5, 1, low=12.4, high=12.6, unsure=True),
        made.value("cubic", 13, 2),
    ),
    made.figure("none", made.value("Mine", None, None)),
]
CRITERIA = [
    made.criterion("kind", "5.2.1", passes=False),
    made.criterion("honest", "7.6", passes=None, simulated=False),
]


def _report(earlier: Judgement | None = None, **more: Any) -> EvaluationReport:
    prints = {("paper", "cubic-run", "metric_a", "flow:0"): 13.75}
    judgement = made.judgement(FIGURES, CRITERIA, prints=prints, **more)
    return EvaluationReport(judgement, None if earlier is None else ("earlier", earlier))


@pytest.fixture(scope="module")
def page() -> str:
    return evaluation_page(_report())


def test_the_page_shows_the_new_row_first_and_printed_values_beside_ours(page: str) -> None:
    (standings,) = re.findall(r'<table class="standings".*?</table>', page, re.DOTALL)
    assert re.findall(r"</i>(.*?)</th>", standings) == ["Mine &amp; &lt;co&gt;", "CUBIC"]
    for said in (
        '<span class="rank">1st*</span>',
        "12.4–12.6",
        '13.50 <span class="printed">13.75</span>',
        'title="never reached in 1 of 1 runs">–</span>',
        "takes the place of H-TCP; all else is as it was.",
    ):
        assert said in page
    found = re.findall(r'<li id="criterion-(\w+)">(.*?)</li>\s*(?=<li id|</ul>)', page, re.DOTALL)
    criteria = dict(found)
    for said in ("does not meet it", "Also met by CUBIC.", 'href="#run-Mine-run"'):
        assert said in criteria["kind"]
    assert "not simulated" in criteria["honest"]
    assert "Rule:" not in criteria["honest"]


def test_links_lead_to_elements_and_nothing_is_loaded(page: str) -> None:
    bare = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    ids = set(re.findall(r'\bid="([^"]+)"', bare))
    assert set(re.findall(r'href="#([^"]+)"', bare)) <= ids
    assert not re.findall(r"\s(?:src|srcset|action)=|url\((?!data:)", bare)
    assert "<co>" not in bare
    assert "it is &lt;slow&gt;" in bare
    (store,) = re.findall(r'id="chart-data">(.*?)</script>', page, re.DOTALL)
    assert set(json.loads(store)) == {"time", "charts"}
    assert evaluation_page(_report()) == page  # equal inputs give equal bytes


def test_charts_are_valid_and_have_the_new_line() -> None:
    charts = {each.chart_id: each for each in _report().charts}
    assert set(charts) == {"figure-a", "paper-pairs", "paper-curve"}
    for chart in charts.values():
        assert "spec" in chart.content
        offline_chart(chart.content["spec"])
    assert "Hollow diamonds are the printed values." in charts["paper-curve"].caption


def test_tables_for_a_paper_have_a_row_more() -> None:
    tables = {each.name: each for each in evaluation_tables(_report())}
    assert list(tables) == ["standings", "rfc9743", "paper-table", "paper-pairs", "paper-curve"]
    assert tables["paper-table"].rows[0] == ("Mine & <co>", "12.5", "–")
    assert tables["paper-table"].rows[1] == ("CUBIC", "13.50 [13.75]", "80")
    assert tables["standings"].rows[0] == ("Mine & <co>", "12.5 (1st)", "–")
    assert tables["paper-curve"].rows[0][1:] == ("10", "20")


def test_files_are_latex_csv_and_figures() -> None:
    files = dict(evaluation_files(_report(), ("pdf",), "Build 0."))
    latex = files["tables/paper-table.tex"].decode()
    assert r"Mine \& \textless{}co\textgreater{} & 12.5 & -- \\" in latex
    assert files["figures/paper-curve.pdf"].startswith(b"%PDF")
    assert "paper,table,a,Mine & <co>,,True," in files["cells.csv"].decode()
    questions = files["tables/rfc9743.csv"].decode().splitlines()
    assert questions[0] == (
        "section,question,rule,source,unit,bound,reference,protocol,verdict,value,runs"
    )
    asked = "5.2.1,Is it kind?,at least 0.5 s,a source,s,0.5,,"
    assert questions[1:] == [
        f"{asked}Mine & <co>,does not meet it,0.25,Mine-run",
        f"{asked}CUBIC,meets it,0.5,Mine-run",
        "7.6,Is it honest?,,,,,,,not simulated,,",
    ]
    standings = files["tables/standings.csv"].decode().splitlines()
    assert standings[1].startswith("Mine & <co>,a,12.5,s,12.4,12.6,1,3,")


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
    earlier = made.judgement(
        [made.figure("a", made.value("Mine", 20, 2), made.value("cubic", 13, 1))],
        [made.criterion("kind", "5.2.1", passes=True)],
        made.cells(factor=2.0),
    )
    found = changes_of(earlier, made.judgement(FIGURES, CRITERIA))
    (figure,) = found.figures
    assert (figure.before, figure.now, figure.move) == (
        "20 s, 2nd of 3",
        "12.5 s, 1st of 3",
        "better",
    )
    (answer,) = found.criteria
    assert (answer.before, answer.now, answer.move) == ("meets it", "does not meet it", "worse")
    # The factor halves three values of the evaluated protocol, of which one is that of the figure;
    # its pairs and the empty cell stay.
    assert [(each.before, each.now) for each in found.cells] == [
        ("20 s", "10 s"),
        ("40 s", "20 s"),
    ]
    assert (found.same, found.within, found.only) == (4, 0, 0)
    page = evaluation_page(_report(earlier))
    assert "Compared with <code>earlier</code>" in page
    assert "One of the two is a quick evaluation" not in page
    full = earlier.evaluation.model_copy(update={"choice": "full"})
    page = evaluation_page(_report(replace(earlier, evaluation=full)))
    assert "One of the two is a quick evaluation" in page


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
    report = EvaluationReport(made.judgement(found=found))
    tables = {each.name: each for each in evaluation_tables(report)}
    assert [row[0] for row in tables["paper-table"].rows][2:] == [
        "Standard TCP (Reno)",
        "Standard TCP (Tahoe)",
    ]
