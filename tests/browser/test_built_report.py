"""A report of real simulations opens, draws and links: the quick tier's, or else a small study's.

``BDPBENCH_REPORT`` names another report to test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.app.conftest import finished_once
from tests.browser.conftest import Visit, window

__all__ = ["finished_once"]

USUAL = Path(__file__).parents[2] / "results" / "sharma2006" / "quick" / "report.html"


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest) -> Path:
    """A report written by `bdpbench run`."""
    if "BDPBENCH_REPORT" in os.environ or USUAL.is_file():
        return Path(os.environ.get("BDPBENCH_REPORT", USUAL)).resolve()
    small: Path = request.getfixturevalue("finished_once")
    return small / "results" / "dumbbell" / "quick" / "report.html"


@pytest.fixture(scope="module")
def visited(browser: Any, built: Path) -> Iterator[Visit]:
    """A visit for tests that need no charts, as drawing them all takes many seconds."""
    context = window(browser)
    visit = Visit(context.new_page())
    visit.open(built)
    yield visit
    context.close()


@pytest.fixture
def page(visited: Visit) -> Iterator[Any]:
    """Its page, which must not complain or load anything but itself."""
    yield visited.page
    assert visited.complaints == []
    assert [url for url in visited.requests if not url.startswith(("data:", "blob:"))] == [
        visited.page.url.partition("#")[0]
    ]


def test_it_draws_everything_without_a_complaint(built: Path, visit: Any) -> None:
    page = visit.open(built, "?all")
    canvases = page.locator(".canvas")
    closed = page.locator("details.run:not([open])")
    expect(closed).to_have_count(0)  # their charts are there now
    expect(page.locator('.canvas[data-drawn="yes"]')).to_have_count(canvases.count())
    assert canvases.count() > 0
    expect(page.locator(".canvas:has(svg.marks)")).to_have_count(canvases.count())


def test_every_number_that_was_run_leads_to_its_run(page: Any) -> None:
    links = page.locator(".col-measured a")
    targets = links.evaluate_all("all => all.map(link => link.getAttribute('href'))")
    assert targets
    counted = "all => all.map(each => document.querySelectorAll(`details${each}`).length)"
    assert set(page.evaluate(counted, sorted(set(targets)))) == {1}
    page.locator("#all-numbers > summary").click()
    links.first.click()
    expect(page.locator("details.run:target")).to_be_in_viewport()


def test_its_links_to_files_hold_where_it_lies(built: Path, page: Any) -> None:
    runs = page.locator("details.run")  # their contents are unpacked when they are opened
    runs.evaluate_all("all => all.forEach(run => { run.open = true })")
    expect(page.locator("details.run:has(th a)")).to_have_count(runs.count())
    files = page.locator(".run th a[href^='../../runs/']")
    names = files.evaluate_all("all => all.map(link => link.getAttribute('href'))")
    assert names
    assert [name for name in names if not (built.parent / name).is_file()] == []
