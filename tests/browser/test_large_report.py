"""A report of many runs in a browser: it opens at once and loads data on demand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import spent_s, window

RUNS = 420


@pytest.fixture(scope="module")
def large(synthetic: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a synthetic study of many runs."""
    out: Path = tmp_path_factory.mktemp("large") / "report.html"
    synthetic.large_inputs(RUNS).build(out)
    return out


@pytest.mark.ci
def test_it_opens_and_draws_within_three_seconds(visit: Any, large: Path) -> None:
    visit.beside = large.with_name("report-data")
    clock = visit.clock()
    page = visit.open(large, "#experiment-grid")
    expect(page.locator("#experiment-grid svg.marks").first).to_be_visible()
    assert 0 < spent_s(clock) < 3


def test_runs_are_found_by_words_and_opened(visit: Any, large: Path) -> None:
    visit.beside = large.with_name("report-data")
    page = visit.open(large, "#runs")
    shown = page.locator("#find-runs output")
    expect(shown).to_have_text(f"{RUNS} of {RUNS} runs")
    expect(page.locator("details.run")).to_have_count(100)
    page.locator("#more-runs").click()
    expect(page.locator("details.run")).to_have_count(200)
    page.locator("#find-runs input").fill("scalable rtt 20 ms buffer 40")
    # 20 ms and 40 packets with both substreams, and 40 ms and 20 packets.
    expect(shown).to_have_text(re.compile(r"^3 of"))
    page.locator("details.run summary").first.click()
    expect(page.locator("details.run .run-body")).to_have_count(1)
    expect(page.locator("details.run").get_by_role("heading", name="Metrics")).to_be_visible()
    canvas = page.locator("details.run .canvas").first
    canvas.scroll_into_view_if_needed()
    expect(canvas).to_have_attribute("data-drawn", "yes")


def test_a_link_opens_a_run_that_is_not_listed(visit: Any, large: Path, synthetic: Any) -> None:
    visit.beside = large.with_name("report-data")
    run_id = synthetic.run_id_of(f"large {RUNS - 1}")
    page = visit.open(large, f"#run-{run_id}")
    run = page.locator(f"#run-{run_id}")
    expect(run).to_have_attribute("open", "")
    expect(run.locator("figure").first).to_be_visible()


def test_a_view_is_chosen_from_a_list(visit: Any, large: Path) -> None:
    visit.beside = large.with_name("report-data")
    page = visit.open(large, "#experiment-grid")
    choice = page.locator("#experiment-grid select.find-view")
    expect(choice.locator("option")).to_have_count(101)  # the last one says how many more there are
    choice.select_option(index=3)
    place = page.locator("#experiment-grid .view")
    expect(place.locator('.canvas[data-drawn="yes"]').first).to_be_visible()
    assert place.locator(".canvas").first.get_attribute("data-chart") == "grid-3-cwnd"


def test_a_link_to_a_chart_of_a_view_or_a_run_opens_it(
    visit: Any, large: Path, synthetic: Any
) -> None:
    visit.beside = large.with_name("report-data")
    run = synthetic.run_id_of(f"large {RUNS - 1}")
    for chart in ("chart-grid-150-cwnd", f"chart-run-{run}-cwnd"):
        page = visit.open(large, f"#{chart}")
        expect(page.locator(f"#{chart} svg.marks")).to_be_in_viewport()


def test_a_file_that_is_missing_is_named(browser: Any, large: Path, tmp_path: Path) -> None:
    alone = tmp_path / "report.html"
    alone.write_bytes(large.read_bytes())
    page = window(browser).new_page()
    page.goto(f"{alone.as_uri()}#runs")
    page.locator("details.run summary").first.click()
    expect(page.locator("details.run .failed")).to_have_text(
        re.compile(r"report-data/[0-9a-f]{16}\.js, which belongs beside this page, cannot be read")
    )
    page.context.close()
