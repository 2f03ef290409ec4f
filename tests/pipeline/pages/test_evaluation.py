"""The report of an evaluation: its sentences, tables, charts and files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest
from tests.pipeline.pages import evaluated as made

from bdpbench.contracts.evaluation import Judgement
from bdpbench.contracts.judged import Found, Judged
from bdpbench.pages.evaluation.changes import changes_of, moved
from bdpbench.pages.evaluation.files import evaluation_files, evaluation_tables
from bdpbench.pages.evaluation.findings import Findings, findings_of
from bdpbench.pages.evaluation.page import (
    EvaluationReport,
    evaluation_page,
)
from bdpbench.pages.notebook import offline_chart


def _findings(*figures: Any, criteria: Sequence[Any] = (), **more: Any) -> Findings:
    return findings_of(made.judgement(figures, criteria, **more), "Mine")


def test_a_first_and_a_last_place_count() -> None:
    three = [made.value("Mine", 1, 1), made.value("cubic", 2, 2), made.value("standard", 3, 3)]
    turned = [made.value("Mine", 9, 3), made.value("cubic", 7, 2), made.value("standard", 5, 1)]
    found = _findings(made.figure("a", *three), made.figure("b", *turned))
    assert found.summary.startswith("Of 2 figures, Mine & <co> is best in 1 and worst in 1.")


def test_a_tie_shares_its_place_and_equal_values_are_neither_best_nor_worst() -> None:
    tied = [made.value("Mine", 1, 1), made.value("cubic", 1, 1), made.value("standard", 3, 3)]
    alike = [made.value(key, 1, 1) for key in made.LABELS]
    found = _findings(made.figure("a", *tied), made.figure("b", *alike))
    assert "best in 1 and worst in none" in found.summary
    # Last together with another.
    last = [made.value("Mine", 3, 2), made.value("cubic", 3, 2), made.value("standard", 1, 1)]
    assert "best in none and worst in 1" in _findings(made.figure("a", *last)).summary


def test_who_overlaps_with_another_place_is_neither_best_nor_worst() -> None:
    values = [made.value("Mine", 1, 1, low=0.9, high=2.1), made.value("cubic", 2, 2)]
    assert "best in none" in _findings(made.figure("a", *values)).summary
    values[0]["high"] = 1.9
    assert "best in 1" in _findings(made.figure("a", *values)).summary


@pytest.mark.parametrize("number", [None, math.nan])
def test_a_missing_figure_is_not_known_and_counts_nowhere(number: float | None) -> None:
    values = [made.value("Mine", number, None, why="its run failed"), made.value("cubic", 2, 1, 1)]
    found = _findings(made.figure("a", *values))
    assert found.unknown == [("Figure a", "its run failed", "chart-figure-a")]
    assert "has no figure that can be compared" in found.summary


def test_what_is_never_reached_is_last() -> None:
    why = "never reached in 1 of 1 runs"
    values = [made.value("Mine", None, 2, why=why), made.value("cubic", 2, 1)]
    found = _findings(made.figure("a", *values))
    assert "worst in 1" in found.summary
    assert found.unknown == []


def test_one_protocol_alone_and_a_figure_without_direction_have_no_place() -> None:
    alone = made.figure("a", made.value("Mine", 1, 1, 1))
    neither = made.figure("b", made.value("Mine", 1, 1), made.value("cubic", 2, 2), better="")
    found = _findings(alone, neither, protocols=made.protocols("Mine", "cubic"))
    assert found.summary.startswith("Of one figure, Mine & <co> is best in none and worst in none.")
    assert _findings().summary.startswith("Mine & <co> has no figure")


def test_general_use_keeps_from_deployment_and_special_cases_limit() -> None:
    criteria = [
        made.criterion("kind", "5.2.1", passes=False),
        made.criterion("steady", "5.1.4", passes=False),
        made.criterion("calm", "5.1.1", passes=True),
        made.criterion("queued", "7.1", passes=False),
        made.criterion("wireless", "6.4", passes=None),
        made.criterion("honest", "7.6", passes=None, simulated=False),
    ]
    found = _findings(criteria=criteria)
    assert [(each.key, meaning) for each, _, meaning in found.failed] == [
        ("kind", "would keep it from deployment, as a danger to others"),
        ("steady", "would keep it from deployment"),
        ("queued", "limits where it can be used"),
    ]
    assert found.unknown == [("Is it wireless?", "its run failed", "criterion-wireless")]
    assert found.summary.endswith(
        "It meets 1 of the 4 criteria of RFC 9743 that could be judged; 2 of the others would keep "
        "it from deployment, as a danger to others."
    )


def test_collapse_is_a_danger_and_another_section_that_begins_alike_is_not() -> None:
    criteria = [made.criterion(key, key, passes=False) for key in ("5.1.1", "5.1.10")]
    first, second = (meaning for *_, meaning in _findings(criteria=criteria).failed)
    assert first.endswith("as a danger to others")
    assert "danger" not in second


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
    assert '<span class="rank">1st*</span>' in standings
    assert "12.4–12.6" in standings
    (table,) = re.findall(
        r'<table class="part-table" data-csv="part-paper-table">.*?</table>', page, re.DOTALL
    )
    assert '13.50 <span class="printed">13.75</span>' in table
    assert 'title="never reached in 1 of 1 runs">–</span>' in table
    assert "takes the place of H-TCP; all else is as it was." in page


def test_the_page_answers_each_question_and_says_what_is_not_simulated(page: str) -> None:
    criteria = dict(
        re.findall(r'<li id="criterion-(\w+)">(.*?)</li>\s*(?=<li id|</ul>)', page, re.DOTALL)
    )
    assert "does not meet it" in criteria["kind"]
    assert "Also met by CUBIC." in criteria["kind"]
    assert 'href="#run-Mine-run"' in criteria["kind"]
    assert "not simulated" in criteria["honest"]
    assert "Rule:" not in criteria["honest"]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        target = given.get("href") or ""
        if target.startswith("#"):
            self.targets.add(target[1:])


def test_links_lead_to_elements_and_nothing_is_loaded(page: str) -> None:
    links = _Links()
    links.feed(page)
    assert links.targets <= links.ids
    bare = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r"\s(?:src|srcset|action)=|url\((?!data:)", bare)
    assert "<co>" not in bare.replace("&lt;co&gt;", "")
    assert "it is &lt;slow&gt;" in bare


def test_charts_are_valid_and_have_the_new_line() -> None:
    charts = {each.chart_id: each for each in _report().charts}
    assert set(charts) == {"figure-a", "paper-pairs", "paper-curve"}
    for chart in charts.values():
        assert "spec" in chart.content
        offline_chart(chart.content["spec"])
    assert "Hollow diamonds are the printed values." in charts["paper-curve"].caption


def test_equal_inputs_give_equal_bytes(page: str) -> None:
    assert evaluation_page(_report()) == page


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


def test_moves_follow_the_intervals() -> None:
    less = Judged("less", 0.02)
    assert moved(Found(1, 0.9, 1.1), Found(1.3, 1.2, 1.4), less) == "worse"
    assert moved(Found(1, 0.9, 1.1), Found(1.3, 1.2, 1.4), Judged("more", 0.02)) == "better"
    assert moved(Found(1, 0.9, 1.3), Found(1.3, 1.2, 1.4), less) == "within"
    assert moved(Found(1, 1, 1), Found(1, 0, 2), less) == "same"
    assert moved(Found(None), Found(1, 1, 1), less) == "other"
    assert moved(Found(1), Found(2), Judged()) == "other"


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


def test_the_data_of_charts_is_json(page: str) -> None:
    (store,) = re.findall(r'id="chart-data">(.*?)</script>', page, re.DOTALL)
    assert set(json.loads(store)) == {"time", "charts"}
