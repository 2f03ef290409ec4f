"""The notes of a study: Markdown that cannot load or run anything."""

from __future__ import annotations

from bdpbench.pages.notes import notes_html


def test_headings_go_below_those_of_the_page() -> None:
    assert notes_html("# One\n\n### Three\n\n###### Six") == (
        "<h4>One</h4>\n<h6>Three</h6>\n<h6>Six</h6>\n"
    )


def test_tables_and_emphasis() -> None:
    html = notes_html("| a |\n|---|\n| *b* |\n")
    assert "<table>" in html
    assert "<em>b</em>" in html


def test_no_image_no_html_no_script() -> None:
    html = notes_html("![x](https://example.org/x.png) <b>bold</b> [go](javascript:alert(1))")
    assert "<img" not in html
    assert "<b>" not in html
    assert 'href="javascript' not in html
