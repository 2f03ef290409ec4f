"""The notes of a study: Markdown that cannot load or run anything."""

from __future__ import annotations

import re

import pytest

from bdpbench.pages.html import Notes
from bdpbench.studies.load import find_study, study_keys

NOTES = """# Notes

Read off.

## Words as thresholds

**Cuts** (`first_cut`). Half.

*Cuts of others.* More.
"""


def test_headings_go_below_those_of_the_page() -> None:
    assert Notes("# One\n\n### Three\n\n###### Six").html == (
        '<h4 id="notes-one">One</h4>\n'
        '<h6 id="notes-three">Three</h6>\n'
        '<h6 id="notes-six">Six</h6>\n'
    )


def test_parts_are_headings_and_paragraphs_that_begin_with_emphasis() -> None:
    html = Notes(NOTES).html
    for part in (
        'h5 id="notes-words-as-thresholds"',
        'strong id="notes-cuts"',
        'em id="notes-cuts-of-others"',
    ):
        assert f"<{part}>" in html


def test_equal_names_give_one_anchor() -> None:
    assert Notes("# A, b\n\n# A b\n\n# A, b\n").html.count("id=") == 1


@pytest.mark.parametrize(
    ("text", "anchor", "words"),
    [
        ("The filter (NOTES).", "notes", "NOTES"),
        ("NOTES.md has the rule.", "notes", "NOTES.md"),
        ("NOTES, Cuts, has what was tried.", "notes-cuts", "NOTES, Cuts"),
        ("NOTES, Cuts of others.", "notes-cuts-of-others", "NOTES, Cuts of others"),
        ("NOTES, Cutsome.", "notes", "NOTES"),
        ('See NOTES.md, "Words as thresholds".', "notes-words-as-thresholds", None),
    ],
)
def test_mentions_become_links(text: str, anchor: str, words: str | None) -> None:
    linked = Notes(NOTES).linked(text)
    assert linked.count("<a ") == 1
    assert f'<a href="#{anchor}">{words or ""}' in linked
    assert linked.striptags() == text


def test_other_words_stay() -> None:
    assert Notes(NOTES).linked("FOOTNOTES <b>") == "FOOTNOTES &lt;b&gt;"
    assert Notes("").linked("NOTES <b>") == "NOTES &lt;b&gt;"
    assert Notes("Read off.").linked("NOTES, Cuts") == '<a href="#notes">NOTES</a>, Cuts'


def test_tables_and_emphasis() -> None:
    html = Notes("| a |\n|---|\n| *b* |\n").html
    assert "<table>" in html
    assert "<em>b</em>" in html


def test_no_image_no_html_no_script() -> None:
    html = Notes("![x](https://example.org/x.png) <b>bold</b> [go](javascript:alert(1))").html
    assert "<img" not in html
    assert "<b>" not in html
    assert 'href="javascript' not in html


@pytest.mark.parametrize("key", study_keys())
def test_the_parts_that_a_study_names_exist(key: str) -> None:
    folder = find_study(key)
    notes = Notes((folder / "NOTES.md").read_text())
    texts = [*folder.glob("*.yaml"), folder / "published.csv"]
    for text in (" ".join(each.read_text().split()) for each in texts if each.is_file()):
        for mention in re.findall(r'NOTES(?:\.md)?, "?[A-Z][^,.;:)"]+', text):
            assert 'href="#notes-' in notes.linked(mention), mention
