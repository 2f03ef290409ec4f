"""The pages of a trace and of a comparison in a browser, each from a single file."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect
from tests.browser.conftest import window

from bdpbench.app.analyze.analyzing import AnalysisRequest, analyze
from bdpbench.contracts.paths import repository_root
from bdpbench.pages.comparison import comparison_page

HOSTILE = "<script>alert(1)</script>"


def _line(time_s: float, event: str, flow: int, number: int) -> tuple[float, str]:
    """A trace line for a packet of 1,040 bytes from node 0 to node 1."""
    fields = f"tcp 1040 ------- {flow} 0.{flow} 1.{flow} {number} {10_000 * flow + number}"
    return time_s, f"{event} {time_s:g} 0 1 {fields}"


def _flow(flow: int, spacing_s: float) -> list[tuple[float, str]]:
    """Four seconds of packets with delays of 20 to 30 ms; every fiftieth is dropped."""
    lines = []
    for number in range(round(4 / spacing_s)):
        sent_s = round(number * spacing_s, 4)
        lines.append(_line(sent_s, "+", flow, number))
        if number % 50 == 49:
            lines.append(_line(sent_s, "d", flow, number))
            continue
        under_way_s = 0.02 + 0.01 * (number % 20) / 20
        lines.append(_line(sent_s, "-", flow, number))
        lines.append(_line(round(sent_s + under_way_s, 6), "r", flow, number))
    return lines


@pytest.fixture(scope="module")
def trace_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a trace of two flows, whose name is an attempted injection."""
    folder = tmp_path_factory.mktemp("trace")
    trace = folder / f"{HOSTILE.replace('/', '')}.tr"
    lines = sorted([*_flow(1, 0.005), *_flow(2, 0.01)], key=lambda each: each[0])
    trace.write_text("".join(f"{line}\n" for _, line in lines))
    out = folder / "trace.html"
    list(analyze(AnalysisRequest([str(trace)], output=out)))
    return out


def _moved(number: int) -> dict[str, Any]:
    first = 90.123456 - number
    return {
        "scenario": HOSTILE,
        "run": f"{HOSTILE} {number}",
        "metric": "utilization",
        "subject": "link:bottleneck",
        "unit": "%",
        "first": first,
        "second": 80.0,
        "change": 80.0 - first,
        "change_pct": 100 * (80.0 - first) / first,
        "number": "",
        "lower": None,
        "upper": None,
        "beyond": number < 2,
        "why": "no published number; more than 5 %",
    }


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that compares two results with fifteen differing metrics."""
    content = {
        "first": HOSTILE,
        "second": "b",
        "compared": 20,
        "beyond": 2,
        "moved": [_moved(number) for number in range(15)],
        "redefined": [],
        "only_first": [{"scenario": "s", "metric": "asymmetry", "values": 3}],
        "only_second": [],
        "facts": [{"name": "ns-2 build", "first": "0" * 64, "second": "1" * 64}],
    }
    out = tmp_path_factory.mktemp("comparison") / "compare.html"
    out.write_text(comparison_page(content, {}), encoding="utf-8")
    return out


def _draw(page: Any, chart: str) -> Locator:
    canvas: Locator = page.locator(f'[data-chart="{chart}"]')
    canvas.scroll_into_view_if_needed()
    expect(canvas).to_have_attribute("data-drawn", "yes")
    return canvas


def test_a_trace_has_its_flows_over_time_and_their_distributions(
    visit: Any, trace_page: Path
) -> None:
    page = visit.open(trace_page)
    page.get_by_text("more figures").click()
    for chart in ("throughput", "delay", "throughput_share", "delay_share"):
        lines = _draw(page, chart).locator(".mark-line path")
        expect(lines).to_have_count(2)
        assert all(len(line.get_attribute("d") or "") > 40 for line in lines.all())
    share = _draw(page, "delay_share")
    share.locator("svg.marks").hover(position={"x": 200, "y": 120})
    expect(share.locator(".readout")).to_contain_text("ms")
    expect(page.locator("h1")).to_contain_text("<script>alert(1)")


def test_charts_of_a_trace_zoom_together_but_not_with_distributions(
    visit: Any, trace_page: Path
) -> None:
    page = visit.open(trace_page)
    page.get_by_text("more figures").click()
    names = ("throughput", "delay", "delay_share")
    ticks = [_draw(page, name).locator(".role-axis-label").first for name in names]
    before = [tick.text_content() or "" for tick in ticks]
    canvas = _draw(page, "throughput")
    canvas.locator("svg.marks").hover(position={"x": 250, "y": 150})
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    expect(ticks[0]).not_to_have_text(before[0])
    expect(ticks[1]).not_to_have_text(before[1])
    expect(ticks[2]).to_have_text(before[2])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_neither_page_sticks_out_of_a_phone(
    visit: Any, trace_page: Path, comparison: Path, scheme: Any, request: pytest.FixtureRequest
) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.emulate_media(color_scheme=scheme)
    page = visit.open(trace_page if scheme == "dark" else comparison)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    # --paper in the style sheet, light and dark.
    assert ground == {"light": "rgb(251, 251, 249)", "dark": "rgb(20, 24, 28)"}[scheme]


def test_a_comparison_sorts_by_keyboard_and_filters(visit: Any, comparison: Path) -> None:
    page = visit.open(comparison)
    page.get_by_text("All 15 values that moved").click()
    rows = page.locator("details table.moved tbody tr:visible")
    expect(rows).to_have_count(15)
    change = page.get_by_role("button", name="Sort by Change")
    change.focus()
    page.keyboard.press("Enter")
    # 80 − 90.123456 is the smallest, 80 − 76.123456 the largest.
    expect(rows.first).to_contain_text("−10.12 %")
    page.keyboard.press("Enter")
    expect(rows.first).to_contain_text("+3.877 %")
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Change")
    page.get_by_role("searchbox").fill("BEYOND 89.12")
    expect(rows).to_have_count(1)


def test_the_rows_of_a_comparison_are_downloaded_with_all_digits(
    visit: Any, comparison: Path
) -> None:
    page = visit.open(comparison)
    page.get_by_text("All 15 values that moved").click()
    page.get_by_role("searchbox").fill("beyond")
    with page.expect_download() as download:
        page.locator("details .csv").first.click()
    assert download.value.suggested_filename == "compare-all-values-that-moved.csv"
    with Path(download.value.path()).open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert [row[2] for row in rows[1:]] == ["90.123456", "89.123456"]
    assert HOSTILE in rows[1][1]


def test_a_line_breaks_where_nothing_arrived(browser: Browser) -> None:
    script = (repository_root() / "reports" / "static" / "report.js").read_text(encoding="utf-8")
    (function,) = re.findall(r"  function broken\(.*?\n  }\n", script, flags=re.DOTALL)
    page = window(browser).new_page()
    code = f"times => {{ {function} return times.flatMap((t, i) => broken({{t, v: 1}},"
    code += " i ? {t: times[i - 1], v: 1} : undefined, 0.15)) }"
    samples = page.evaluate(code, [0.1, 0.2, 0.5, 0.6])
    page.context.close()
    assert [each["v"] for each in samples] == [1, 1, None, 1, 1]
    assert samples[2]["t"] == pytest.approx(0.35)
