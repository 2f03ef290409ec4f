"""First screens of studies of few and many experiments, for eyes, keyboard and screen reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visit, spent_s
from tests.pipeline.pages import evaluated

from bdpbench.contracts.paths import repository_root
from bdpbench.pages.evaluation.page import EvaluationReport, evaluation_page

PUBLISHED = repository_root() / "reports" / "published" / "sharma2006" / "report.html"
ALL_PUBLISHED = sorted(PUBLISHED.parents[1].glob("*/report.html"))
SWEPT = "With the buffer at 40 packets, link utilization"
STUDIES = {"one": SWEPT, "six": "1 of 5", "many": "112 of 138"}
"""Study → what its first screen says."""

FINDINGS = """axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes[0].html}`))"""


@pytest.fixture(scope="module")
def pages(synthetic: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Study → its page."""
    folder = tmp_path_factory.mktemp("studies")
    one, six = synthetic.synthetic_inputs(), synthetic.synthetic_inputs()
    one.plan["runs"] = [run for run in one.plan["runs"] if run["scenario"] == "buffer_size"]
    one.scorecard["numbers"] = one.scorecard["claims"] = []
    one.study = replace(one.study, citation=None)
    again = [run for run in six.plan["runs"] if run["scenario"] == "single_flow"]
    six.plan["scenarios"]["again"] = {**six.plan["scenarios"]["single_flow"], "title": "Again"}
    six.plan["runs"] += [{**run, "scenario": "again"} for run in again]
    for name, inputs in (("one", one), ("six", six)):
        inputs.build(folder / f"{name}.html")
    return {"one": folder / "one.html", "six": folder / "six.html", "many": PUBLISHED}


def the_table_is_whole(page: Any, *, folded: bool) -> None:
    """On a phone it is folded; nowhere does it scroll inside the page."""
    table = page.get_by_role("region", name="Main metrics of each protocol")
    if folded:
        expect(table).to_be_hidden()
        # By key: charts that are drawn above it move it away from under a pointer.
        page.locator("#by-protocol summary").press("Enter")
    for more in ("({scrollWidth, clientWidth}) => scrollWidth - clientWidth",
                 "({scrollHeight, clientHeight}) => scrollHeight - clientHeight"):  # fmt: skip
        assert table.evaluate(more) <= 1
    page.set_viewport_size({"width": 1400, "height": 900})
    assert table.evaluate("({scrollWidth, clientWidth}) => scrollWidth - clientWidth") <= 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("study", STUDIES)
def test_it_answers_at_once_within_a_few_screens_and_nothing_sticks_out(
    visit: Visit, pages: dict[str, Path], study: str, width: int, scheme: Any
) -> None:
    visit.beside = pages[study].with_name("report-data") if study == "many" else None
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.page.emulate_media(color_scheme=scheme)
    page = visit.open(pages[study])
    expect(page.get_by_text(STUDIES[study]).first).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("document.body.scrollHeight") <= 6000
    the_table_is_whole(page, folded=width == 390)
    page.evaluate("window.scrollTo(0, 0)")
    chart = page.locator("#summary svg.marks").first
    expect(chart).to_be_visible()
    if width == 1400:
        expect(chart).to_be_in_viewport()


@pytest.mark.ci
@pytest.mark.parametrize(
    ("study", "width", "scheme"), [("one", 390, "dark"), ("six", 1400, "light")]
)
def test_a_screen_reader_meets_nothing_serious(
    visit: Visit, pages: dict[str, Path], axe: str, study: str, width: int, scheme: Any
) -> None:
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.page.emulate_media(color_scheme=scheme)
    page = visit.open(pages[study])
    page.locator("details.fold").evaluate_all("all => all.forEach(each => { each.open = true })")
    expect(page.locator("#summary svg.marks").first).to_be_visible()
    page.evaluate(axe)
    assert page.evaluate(FINDINGS) == []


def test_a_keyboard_reaches_the_summary_and_opens_what_is_folded(
    visit: Visit, pages: dict[str, Path]
) -> None:
    page = visit.open(pages["six"])
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the summary")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_text("All 5 numbers").focus()
    page.keyboard.press("Enter")
    page.locator("#number-hs-40 button.more").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#more-hs-40 dl")).to_be_visible()


# Charts and unpacking wait for a page that answers; how much of them comes before a measurement
# would depend on what else the machine does.
HOLD_WHAT_WAITS = """
    window.IntersectionObserver = class { observe() {} unobserve() {} disconnect() {} };
    const later = window.setTimeout;
    window.setTimeout = (call, ms) => (ms === 500 ? 0 : later(call, ms));"""


@pytest.mark.ci
def test_it_answers_within_a_second(visit: Visit) -> None:
    visit.beside = PUBLISHED.with_name("report-data")
    visit.page.add_init_script(HOLD_WHAT_WAITS)
    clock = visit.clock()
    page = visit.open(PUBLISHED)
    page.get_by_label("Show on the whole page").focus()
    assert 0 < spent_s(clock) < 1


@pytest.mark.ci
@pytest.mark.parametrize("report", ALL_PUBLISHED, ids=lambda each: each.parent.name)
def test_no_published_report_scrolls_sideways_or_is_long_on_a_phone(
    visit: Visit, report: Path
) -> None:
    visit.beside = report.with_name("report-data")
    visit.page.set_viewport_size({"width": 390, "height": 900})
    page = visit.open(report)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("document.body.scrollHeight") <= 6000
    the_table_is_whole(page, folded=True)


@pytest.mark.ci
@pytest.mark.parametrize("width", [390, 1400])
def test_an_evaluation_answers_on_the_first_screen_and_folds_the_rest(
    visit: Visit, tmp_path: Path, axe: str, width: int
) -> None:
    names = ("Mine", "cubic", "standard")
    figures = [
        evaluated.figure(key, *(evaluated.value(name, n, n) for n, name in enumerate(names, 1)))
        for key in "abcdefghijk"
    ]
    criteria = [evaluated.criterion(f"kind{n}", "5.1.2", passes=n > 1) for n in range(30)]
    report = EvaluationReport(evaluated.judgement(figures, criteria))
    path = tmp_path / "evaluation.html"
    path.write_text(evaluation_page(report))
    visit.page.set_viewport_size({"width": width, "height": 900})
    page = visit.open(path)
    answer = page.locator("#answer .message")
    expect(answer).to_be_in_viewport()
    expect(answer).to_contain_text("Of 11 figures, Mine")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("document.body.scrollHeight") <= 6000
    page.evaluate(axe)
    assert page.evaluate(FINDINGS) == []
    # What a link points to is opened.
    page.locator("#answer > p a").last.click()
    expect(page.locator(":target")).to_be_in_viewport()
