"""The report in a browser: it draws, filters, sorts and links, from a file alone.

The fixture ``visit`` also makes each test check that the console stayed silent and that nothing
was requested but the page itself.
"""

from __future__ import annotations

import base64
import csv
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.conftest import WINDOW, Visit, spent_s, window

# The page scrolls to its target when the event arrives; a click before that could miss.
LEAVE = """async () => {
    if (location.hash && location.hash !== "#summary") {
        const heard = new Promise((done) => {
            addEventListener("hashchange", () => setTimeout(done), { once: true });
        });
        location.hash = "#summary";
        await heard;
    }
    document.querySelectorAll("details.run[open]").forEach((run) => { run.open = false; });
}"""
NUMBERS = "table.numbers > tbody:not([hidden])"
STATEMENTS = "ol.claims > li:not([hidden])"


def _unfolded(page: Any) -> Any:
    """The page with scorecard, claims and misses open, which are folded initially."""
    page.locator("details.fold").evaluate_all("all => all.forEach(each => { each.open = true })")
    return page


@pytest.fixture(scope="module")
def reading(browser: Any, report: Path) -> Iterator[Visit]:
    """A visit of the report with everything unfolded, for tests that restore what they change."""
    context = window(browser)
    visit = Visit(context.new_page())
    _unfolded(visit.open(report))
    yield visit
    context.close()
    assert [url for url in visit.requests if not url.startswith(("data:", "blob:"))] == [
        report.as_uri()
    ]


@pytest.fixture
def page(reading: Visit) -> Iterator[Any]:
    """Its page, without filters, with runs closed and no number or run as its target: opening
    another page takes most of the time of a test."""
    yield reading.page
    reading.page.set_viewport_size(WINDOW)
    reading.page.mouse.move(0, 0)
    for clear in reading.page.get_by_role("button", name="Clear").all():
        if clear.is_visible():
            clear.click()
    reading.page.evaluate(LEAVE)
    assert reading.complaints == []


@pytest.fixture
def changed(visit: Visit, report: Path) -> Any:
    """The page of a visit of its own, for tests that do not restore what they change."""
    return _unfolded(visit.open(report))


def _draw(canvas: Locator) -> Locator:
    canvas.scroll_into_view_if_needed()
    expect(canvas).to_have_attribute("data-drawn", "yes")
    return canvas.locator("svg.marks")


def test_all_charts_draw_lines_at_a_readable_size_and_fit_any_screen(
    visit: Any, report: Path
) -> None:
    # Drawing the charts is most of what these tests cost, so one visit checks several screens,
    # beginning with a phone, whose charts are the narrowest.
    visit.page.set_viewport_size({"width": 390, "height": 900})
    page = visit.open(report, "?all")
    canvases = page.locator(".canvas")
    expect(page.locator("details.run:not([open])")).to_have_count(0)  # their charts are there now
    expect(page.locator('.canvas[data-drawn="yes"]')).to_have_count(canvases.count())
    assert canvases.count() > 40
    # A path of two points is just "M…L…"; the paths that are drawn have many more characters.
    paths = page.locator(".canvas .mark-line path").evaluate_all(
        "all => all.map(path => path.getAttribute('d').length)"
    )
    assert min(paths) > 20
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    wider = page.locator(".scroll").evaluate_all(
        "all => all.filter(each => each.scrollWidth > each.clientWidth + 1)"
        ".map(each => each.getAttribute('aria-label'))"
    )
    assert wider == []
    for width, scheme in ((768, "dark"), (1280, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width
    boxes = page.locator(".canvas svg.marks").evaluate_all(
        "all => all.map(marks => marks.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) == canvases.count()
    assert min(box["width"] for box in boxes) > 300
    assert min(box["height"] for box in boxes) > 200


def test_charts_are_drawn_only_when_they_come_into_view(changed: Any) -> None:
    page = changed
    last = page.locator(".experiment .canvas:visible").last
    assert last.get_attribute("data-drawn") is None
    _draw(last)
    assert page.locator(".run .canvas[data-drawn]").count() == 0


@pytest.mark.ci
def test_first_chart_is_there_within_two_seconds(visit: Any, report: Path) -> None:
    clock = visit.clock()
    page = visit.open(report)
    expect(page.locator("#summary svg.marks").first).to_be_visible()
    assert 0 < spent_s(clock) < 2


@pytest.mark.ci
def test_paper_has_the_charts_that_the_page_shows(visit: Any, report: Path) -> None:
    page = visit.open(report)
    page.wait_for_function("document.documentElement.dataset.unpacked === 'yes'")
    page.emulate_media(media="print")
    # At the end of printing, before the page can draw any chart that it had put off.
    page.evaluate(
        """() => window.addEventListener("afterprint", () => {
            const isOpen = (c) => c.offsetParent && !c.closest("details:not([open])");
            const shown = [...document.querySelectorAll(".canvas")].filter(isOpen);
            window.printed = shown.map((c) => Boolean(c.querySelector("svg.marks path")));
        })"""
    )
    assert page.pdf().startswith(b"%PDF")
    printed = page.evaluate("window.printed")
    assert len(printed) > 2
    assert all(printed)
    for hidden in (".contents", ".filter", ".views", "button.csv"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.locator("table.numbers")).to_be_visible()


def test_pointing_at_a_chart_reads_its_values(page: Any) -> None:
    canvas = page.locator("#experiment-single_flow .canvas").first
    drawn = _draw(canvas)
    drawn.hover(position={"x": 200, "y": 120})
    readout = canvas.locator(".readout")
    expect(readout).to_be_visible()
    expect(readout).to_have_text(re.compile(r"^[\d.]+ sHS-TCP: [\d,.]+Scalable TCP: [\d,.]+$"))
    page.mouse.move(0, 0)
    expect(readout).to_be_hidden()


def test_a_name_picked_at_its_line_makes_the_other_lines_faint(changed: Any) -> None:
    page = changed
    drawn = _draw(page.locator("#experiment-single_flow .canvas").first)
    lines = drawn.locator(".mark-line.role-mark path")
    opacities = lines.evaluate_all("all => all.map(path => path.getAttribute('opacity') || '1')")
    assert opacities == ["1", "1"]
    name = drawn.locator(".mark-text.role-mark text", has_text="Scalable TCP").bounding_box()
    assert name is not None
    page.mouse.click(name["x"] + name["width"] / 2, name["y"] + name["height"] / 2)
    faint = "all => all.filter(path => Number(path.getAttribute('opacity')) < 0.5).length"
    page.wait_for_function(f"lines => ({faint})(lines) === 1", arg=lines.element_handles())


def test_zoom_moves_the_charts_of_a_group_together(changed: Any) -> None:
    page = changed
    first, second = (page.locator("#experiment-single_flow .canvas").nth(i) for i in (0, 1))
    labels = [_draw(each).locator(".role-axis-label").first for each in (first, second)]
    before = [label.text_content() for label in labels]
    first.scroll_into_view_if_needed()
    first.locator("svg.marks").hover(position={"x": 250, "y": 150})
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    for label, old in zip(labels, before, strict=True):
        expect(label).not_to_have_text(old or "")


def test_a_link_to_what_is_folded_opens_it(visit: Any, report: Path) -> None:
    page = visit.open(report, "#protocol-HS")
    expect(page.locator("#protocol-HS math").first).to_be_visible()
    page.evaluate("location.hash = 'chart-buffer_size-sweep-time_to_90pct_cwnd'")
    expect(page.locator("#chart-buffer_size-sweep-time_to_90pct_cwnd")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("folder", "link"),
    [
        ("alone", None),
        ("published/synthetic", "../two/report.html?protocol=HS-TCP#comparison"),
        ("evaluations", "../published/two/report.html?protocol=HS-TCP#comparison"),
    ],
)
def test_reports_that_are_published_together_link_each_other(
    visit: Any, report: Path, tmp_path: Path, folder: str, link: str | None
) -> None:
    place = tmp_path / folder
    shutil.copytree(report.parent, place)
    page = visit.open(place / report.name, "#protocol-HS")
    other = page.get_by_text("Two of it", exact=True)
    expect(other).to_be_visible()
    assert other.get_attribute("href") == link


def test_a_link_chooses_the_protocol_of_the_page(visit: Any, report: Path) -> None:
    page = visit.open(report, "?protocol=HS-TCP#protocols")
    expect(page.get_by_label("Show on the whole page")).to_have_value("HS-TCP")
    expect(page.locator(".by-protocol tbody tr:visible")).to_have_count(1)


def test_a_link_to_an_unknown_protocol_chooses_none(visit: Any, report: Path) -> None:
    page = visit.open(report, "?protocol=Tahoe")
    expect(page.get_by_label("Show on the whole page")).to_have_value("")


def test_the_page_shows_one_protocol_by_keyboard(visit: Any, report: Path) -> None:
    page = _unfolded(visit.open(report))
    chosen = page.get_by_label("Show on the whole page")
    canvas = page.locator('[data-chart="buffer_size-sweep-utilization"]')
    expect(_draw(canvas).locator(".mark-line.role-mark path")).to_have_count(2)
    chosen.focus()
    page.keyboard.press("ArrowDown")  # HS-TCP
    expect(page.locator(".by-protocol tbody tr:visible")).to_have_count(1)
    expect(page.locator("#protocol-Scalable")).to_be_hidden()
    assert set(
        page.locator(NUMBERS).evaluate_all("all => all.map(each => each.dataset.protocols)")
    ) == {"HS-TCP"}
    expect(canvas.locator(".mark-line.role-mark path")).to_have_count(1)
    expect(page.locator("#page-filter output")).to_contain_text("HS-TCP only")
    page.get_by_label("HS-TCP, all values").press("Space")
    unnamed = page.locator('[data-chart="buffer_size-3-cwnd"]')
    _draw(unnamed)
    told = page.locator("figure", has=unnamed).locator(".of-all")
    expect(told).to_have_text(
        "It names no single protocol, so it shows the same with HS-TCP chosen."
    )
    chosen.focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".by-protocol tbody tr:visible")).to_have_count(2)
    expect(told).to_have_count(0)
    expect(page.locator("#protocol-Scalable")).to_be_visible()


def test_plain_wheel_scrolls_the_page(page: Any) -> None:
    canvas = page.locator("#experiment-single_flow .canvas").first
    _draw(canvas).hover(position={"x": 250, "y": 150})
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 300)
    page.wait_for_function("before => scrollY > before", arg=before)


def test_a_point_of_a_sweep_opens_its_run(page: Any) -> None:
    canvas = page.locator('[data-chart="buffer_size-sweep-utilization"]')
    _draw(canvas).locator(".mark-symbol.role-mark path").last.click()
    page.wait_for_function("location.hash.startsWith('#run-')")
    expect(page.locator("details.run:target")).to_have_attribute("open", "")


def test_views_switch(changed: Any) -> None:
    changed.get_by_role("group", name="Show over time").get_by_text("HS-TCP, all values").click()
    shown = changed.locator("#experiment-buffer_size .view:visible")
    expect(shown).to_have_count(1)
    _draw(shown.locator(".canvas").first)
    for buffer in ("40", "200", "1,555"):
        expect(shown.locator("svg.marks").first).to_contain_text(f"buffer {buffer} packets")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("verdict", "not_reproduced", {"number-scalable-40", "number-hs-null"}),
        ("verdict", "not_run", {"number-hs-20ms"}),
        ("protocol", "Scalable TCP", {"number-scalable-40"}),
    ],
)
def test_filter_by_choice(page: Any, field: str, value: str, expected: set[str]) -> None:
    page.locator(f"#scorecard select[name={field}]").select_option(value)
    assert {row.get_attribute("id") for row in page.locator(NUMBERS).all()} == expected
    expect(page.locator("#scorecard output")).to_have_text(f"{len(expected)} of 5 numbers")


def test_filter_by_text_and_clear(page: Any) -> None:
    scorecard = page.locator("#scorecard")
    scorecard.get_by_role("searchbox").fill("utilization 40")
    expect(page.locator(NUMBERS)).to_have_count(2)
    scorecard.get_by_role("searchbox").fill("nowhere to be found")
    expect(page.get_by_text("No number matches the filter.")).to_be_visible()
    scorecard.get_by_role("button", name="Clear").click()
    expect(page.locator(NUMBERS)).to_have_count(5)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("verdict", "not_run", ["claim-never"]),
        ("origin", "stated", ["claim-hs-beats-scalable"]),
        ("origin", "fitted", ["claim-never"]),
        ("protocol", "HS-TCP", ["claim-hs-beats-scalable"]),
        ("protocol", "Scalable TCP", ["claim-hs-beats-scalable", "claim-never"]),
    ],
)
def test_statements_are_filtered_by_choice(
    page: Any, field: str, value: str, expected: list[str]
) -> None:
    page.locator(f"#claims select[name={field}]").select_option(value)
    assert [each.get_attribute("id") for each in page.locator(STATEMENTS).all()] == expected
    expect(page.locator("#claims output")).to_have_text(f"{len(expected)} of 2 statements")
    expect(page.locator(NUMBERS)).to_have_count(5)


def test_statements_are_filtered_by_keyboard_and_downloaded(page: Any) -> None:
    claims = page.locator("#claims")
    button = claims.get_by_role("button", name="Download")
    _, rows = _downloaded(page, button)
    assert [row[0] for row in rows] == ["Id", "hs-beats-scalable", "never"]
    claims.get_by_role("searchbox").focus()
    page.keyboard.type("LINK better")
    expect(page.locator(STATEMENTS)).to_have_count(1)
    name, rows = _downloaded(page, button)
    assert name == "synthetic-quick-statements.csv"
    found = dict(zip(*rows, strict=True))
    assert found["Verdict"] == "holds"
    assert found["Test"] == "blind"
    assert found["Statement"].startswith("With 40 packets HS-TCP uses the link better")
    assert found["Evidence"] == "HS-TCP: 88.75 %"
    claims.get_by_role("searchbox").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # on Clear
    expect(page.locator(STATEMENTS)).to_have_count(2)


@pytest.mark.ci
def test_paper_says_what_a_filter_left_out(page: Any) -> None:
    claims = page.locator("#claims")
    told = claims.locator(".chosen")
    page.emulate_media(media="print")
    expect(told).to_be_hidden()
    page.emulate_media(media="screen")
    claims.locator("select[name=verdict]").select_option("holds")
    claims.get_by_role("searchbox").fill("40 packets")
    expect(told).to_be_hidden()
    page.emulate_media(media="print")
    expect(told).to_have_text("1 of 2 statements; verdict: holds; text: 40 packets")
    expect(told).to_be_visible()
    page.emulate_media(media="screen")


def test_a_link_to_what_a_filter_hides_clears_the_filter(visit: Any, report: Path) -> None:
    page = _unfolded(visit.open(report))
    page.locator("#claims select[name=verdict]").select_option("not_run")
    page.locator("#scorecard select[name=verdict]").select_option("close")
    page.evaluate("location.hash = 'claim-hs-beats-scalable'")
    expect(page.locator("#claim-hs-beats-scalable")).to_be_in_viewport()
    expect(page.locator(STATEMENTS)).to_have_count(2)
    expect(page.locator(NUMBERS)).to_have_count(1)


def test_columns_sort_and_leave_numbers_without_value_at_the_end(page: Any) -> None:
    page.get_by_role("button", name="Deviation").click()
    rows = page.locator(NUMBERS)
    # |−0.011 %| < 4.07 % < 70.7 %, then the two rows without a value.
    ids = [row.get_attribute("id") for row in rows.all()]
    assert ids[:3] == ["number-hs-40", "number-hs-time", "number-scalable-40"]
    page.get_by_role("button", name="Deviation").click()
    ids = [row.get_attribute("id") for row in rows.all()]
    assert ids[:3] == ["number-scalable-40", "number-hs-time", "number-hs-40"]
    expect(page.locator("th.col-deviation")).to_have_attribute("aria-sort", "descending")


def test_a_mark_leads_to_the_number_and_its_runs(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    expect(page.locator("#all-numbers")).not_to_have_attribute("open", "")
    chart = _draw(page.locator("#chart-printed-against-measured .canvas"))
    chart.locator(".mark-symbol.role-mark path").last.click()
    expect(page.locator("#all-numbers")).to_have_attribute("open", "")
    expect(page.locator(".more-row:target dl")).to_be_in_viewport()


def test_charts_are_dark_in_the_dark_and_light_on_paper(visit: Any, report: Path) -> None:
    """Check a corner where nothing is drawn, in Chromium's own screenshot decoded by Chromium."""
    visit.page.emulate_media(color_scheme="dark")
    page = _unfolded(visit.open(report))
    drawn = _draw(page.locator("#experiment-single_flow .canvas").first)
    lightness = {}
    for media in ("screen", "print"):
        page.emulate_media(color_scheme="dark", media=media)
        picture = base64.b64encode(drawn.screenshot()).decode()
        lightness[media] = page.evaluate(
            """async (picture) => {
                const image = new Image();
                image.src = `data:image/png;base64,${picture}`;
                await image.decode();
                const canvas = document.createElement("canvas").getContext("2d");
                canvas.drawImage(image, 0, 0);
                return Math.max(...canvas.getImageData(2, 2, 1, 1).data.slice(0, 3));
            }""",
            picture,
        )
    assert lightness["screen"] < 60
    assert lightness["print"] > 240


def test_the_menu_of_a_chart_covers_none_of_it(page: Any) -> None:
    canvas = page.locator("#experiment-single_flow .canvas").first
    chart, menu = _draw(canvas).bounding_box(), canvas.locator("summary").bounding_box()
    assert chart is not None
    assert menu is not None
    assert menu["y"] >= chart["y"] + chart["height"]


def test_rows_expand(page: Any) -> None:
    more = page.locator("#more-scalable-40")
    expect(more).to_be_hidden()
    page.get_by_role("button", name="Details of scalable-40").click()
    expect(more).to_contain_text("A reason known before the run.")
    expect(more).to_contain_text("a synthetic reason")


def test_a_measured_number_leads_to_its_run(page: Any) -> None:
    page.locator("#number-hs-40 .col-measured a").click()
    run = page.locator("details.run:target")
    expect(run).to_have_attribute("open", "")
    expect(run).to_be_in_viewport()
    expect(run.locator("h4")).to_have_text("HS-TCP, buffer 40 packets, 30 s")
    _draw(run.locator(".canvas").first)


def test_a_link_into_the_page_opens_the_run_at_once(visit: Any, report: Path) -> None:
    run_id = re.findall(r'id="run-([0-9a-f]{16})"', report.read_text(encoding="utf-8"))[5]
    page = visit.open(report, f"#run-{run_id}")
    expect(page.locator(f"#run-{run_id}")).to_have_attribute("open", "")
    expect(page.locator(f"#run-{run_id}")).to_be_in_viewport()


def test_equations_are_drawn_and_their_text_is_for_others(page: Any) -> None:
    equations = page.locator("#protocol-HS math")
    # HS-TCP: two rules per ACK, two per loss, three functions, limited slow start.
    expect(equations).to_have_count(8)
    for equation in equations.all():
        box = equation.bounding_box()
        assert box is not None
        assert box["width"] > 40
        assert box["height"] >= 15
    # A fraction is taller than a line, which shows that MathML is laid out.
    boxes = [equation.bounding_box() for equation in equations.all()]
    assert max(box["height"] for box in boxes if box) > 1.5 * min(b["height"] for b in boxes if b)
    expect(page.locator("#protocol-HS .plain").first).to_be_hidden()


def test_a_browser_without_mathml_shows_the_text(changed: Any) -> None:
    page = changed
    style = page.evaluate("document.querySelector('style:not([id])').textContent")
    (rule,) = re.findall(r"@supports not \(display: math\) \{(.*?\})\s*\}", style)
    page.add_style_tag(content=rule)
    expect(page.locator("#protocol-HS .plain").first).to_be_visible()
    expect(page.locator("#protocol-HS math").first).to_be_hidden()


def test_a_cell_of_the_matrix_opens_its_run(page: Any) -> None:
    matrix = page.locator('[data-chart^="pairs-"]').first
    # Beside the middle of the cell, which is covered by its number.
    cell = _draw(matrix).locator(".mark-rect.role-mark path").last
    cell.click(position={"x": 10, "y": 10})
    page.wait_for_function("location.hash.startsWith('#run-')")
    expect(page.locator("details.run:target h4")).to_contain_text(" and ")


def test_a_run_is_unpacked_when_it_is_opened(changed: Any) -> None:
    page = changed
    run = page.locator("details.run").first
    assert run.locator("table").count() == 0
    run.locator("summary").first.click()
    run.get_by_role("heading", name="Output files").click()
    expect(run.get_by_text("out/cwnd_hstcp.out")).to_be_visible()
    _draw(run.locator(".canvas").first)


def _downloaded(page: Any, button: Locator) -> tuple[str, list[list[str]]]:
    with page.expect_download() as download:
        button.click()
    with Path(download.value.path()).open(newline="", encoding="utf-8") as stream:
        return download.value.suggested_filename, list(csv.reader(stream))


def test_the_data_of_a_chart_over_time_can_be_downloaded(page: Any) -> None:
    figure = page.locator("#experiment-single_flow figure.chart").first
    _draw(figure.locator(".canvas"))
    name, rows = _downloaded(page, figure.get_by_role("button", name="as CSV"))
    assert name.startswith("synthetic-quick-")
    assert name.endswith(".csv")
    assert rows[0] == ["run_id", "series", "time_s", "cwnd"]
    assert {row[1] for row in rows[1:]} == {"HS-TCP", "Scalable TCP"}
    assert len(rows) > 100
    assert all(float(row[2]) >= 0 for row in rows[1:])


def test_the_data_of_a_sweep_can_be_downloaded(page: Any) -> None:
    figure = page.locator(
        "figure.chart", has=page.locator('[data-chart="buffer_size-sweep-utilization"]')
    )
    _, rows = _downloaded(page, figure.get_by_role("button", name="as CSV"))
    columns = rows[0]
    assert {"run_id", "x", "value"} <= set(columns)
    buffers = {float(row[columns.index("x")]) for row in rows[1:] if row[columns.index("x")]}
    assert buffers == {40, 200, 1555}


def test_the_scorecard_is_downloaded_as_it_is_filtered(page: Any) -> None:
    button = page.locator("#all-numbers").get_by_role("button", name="Download")
    name, rows = _downloaded(page, button)
    assert name == "synthetic-quick-numbers.csv"
    assert rows[0][:5] == ["Where", "What", "Published", "Measured", "Deviation"]
    assert len(rows) == 1 + 5
    page.locator("#scorecard select[name=verdict]").select_option("close")
    _, rows = _downloaded(page, button)
    assert len(rows) == 1 + 1
    # All digits, not the rounded ones of the page.
    assert float(rows[1][2]) > 0


def test_the_table_of_an_opened_run_can_be_downloaded(page: Any) -> None:
    run = page.locator("details.run").first
    run.locator("summary").first.click()
    run.get_by_role("heading", name="Metrics").click()
    button = run.get_by_role("button", name="Download the table").first
    name, rows = _downloaded(page, button)
    assert re.match(r"synthetic-quick-run-[0-9a-f]{16}-table-1\.csv", name)
    assert rows[0] == ["Metric", "Of", "Value", "Unit", "Window"]


def test_a_run_marks_where_packets_were_dropped(page: Any) -> None:
    run = page.locator("details.run").first
    run.locator("summary").first.click()
    canvas = run.locator(".canvas").first
    drawn = _draw(canvas)
    # One packet every 5 s during 30 s.
    marks = drawn.locator('.mark-rule line[stroke="#a3211b"]')
    expect(marks).to_have_count(6)
    box, frame = marks.nth(2).bounding_box(), drawn.bounding_box()
    assert box is not None
    assert frame is not None
    drawn.hover(position={"x": box["x"] - frame["x"], "y": 150})
    expect(canvas.locator(".readout")).to_have_text(
        # One pixel is 0.08 s.
        re.compile(r"^(14\.9\d*|15|15\.0\d*) s.*packets dropped: 1$")
    )
    name, rows = _downloaded(page, run.get_by_role("button", name="Download the chart").first)
    assert name.endswith("-cwnd.csv")
    dropped = [row for row in rows if row[1] == "drops"]
    assert [(float(row[2]), row[4]) for row in dropped] == [(t, "1") for t in range(5, 31, 5)]


def test_queues_have_their_distribution(page: Any) -> None:
    wanted = page.locator('[data-chart$="queue_share"]')
    figure = page.locator("#experiment-single_flow figure.chart", has=wanted)
    labels = _draw(figure.locator(".canvas")).locator(".role-axis-label text").all_text_contents()
    assert "100" in labels  # % of the time
    _, rows = _downloaded(page, figure.get_by_role("button", name="as CSV"))
    assert rows[0][2:] == ["queue_pkts", "share_of_time_pct"]
    assert [float(row[3]) for row in rows[1:] if row[1] == "HS-TCP"][-1] == 100


def test_other_tables_sort_by_value(page: Any) -> None:
    table = page.locator("#protocol-HS table.parameters")
    table.get_by_role("button", name="Sort by Default").click()
    values = table.locator("tbody tr td:nth-child(5)").all_text_contents()
    numbers = [float(value.replace(",", "")) for value in values]
    assert numbers == sorted(numbers)
    assert "83,000" in values  # which text would put before 9


# Text of cells of a card that reach into the next one beside them.
OVERLAPPING_CELLS = """[...document.querySelectorAll(".cards tbody :is(td, th)")].filter((cell) => {
    const next = cell.nextElementSibling;
    if (!next || !cell.offsetParent) return false;
    const [box, beside] = [cell.getBoundingClientRect(), next.getBoundingClientRect()];
    const right = Math.max(box.right, box.left + cell.scrollWidth);
    return Math.abs(box.top - beside.top) < 1 && right > beside.left;
}).map((cell) => cell.textContent)"""


def test_cells_of_a_phones_cards_do_not_overlap(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#protocol-HS table.parameters thead")).to_be_hidden()
    assert page.evaluate(OVERLAPPING_CELLS) == []


def test_the_summary_leads_to_the_number(page: Any) -> None:
    page.locator("#summary .reasons a").first.click()
    page.wait_for_function("location.hash.startsWith('#number-')")
    expect(page.locator("tbody:target")).to_be_in_viewport()


def test_many_views_are_chosen_from_a_list(visit: Any, report_with_lists: Path) -> None:
    page = _unfolded(visit.open(report_with_lists))
    many = page.locator("#views-buffer_size")
    values = many.locator("option").evaluate_all("all => all.map(each => each.value)")
    expect(page.locator(f"#{values[0]}")).to_be_visible()
    many.select_option(values[-1])
    expect(page.locator(f"#{values[-1]}")).to_be_visible()
    expect(page.locator(f"#{values[0]}")).to_be_hidden()
