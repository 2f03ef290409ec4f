"""What is placed in a page cannot end its element, load anything or run, and comes back."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from tests.pipeline.pages import golden

from bdpbench.errors import BdpbenchError
from bdpbench.pages.html import Notes, packed_vega
from bdpbench.pages.packing import pack, unpack
from bdpbench.pages.series import embed_json
from bdpbench.pages.text import embed_text, unbroken, web_address
from bdpbench.studies.load import find_study, study_keys


@pytest.mark.parametrize("text", ["</script>", "<!--", "a & b", "\u2028", "</SCRIPT >", "ü"])
def test_json_is_inert_and_reads_back(text: str) -> None:
    embedded = str(embed_json({text: [text]}))
    assert not set("<>&\u2028\u2029") & set(embedded)
    assert json.loads(embedded) == {text: [text]}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_json_refuses_what_json_does_not_have(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embed_json([value])


@pytest.mark.parametrize("text", ["x</Script>", "a <!-- b", "</style>"])
def test_text_that_would_end_its_element_is_refused(text: str) -> None:
    with pytest.raises(BdpbenchError, match="cannot be embedded"):
        embed_text(text, "a file")


def test_only_addresses_of_the_web_are_linked() -> None:
    assert web_address("https://example.org") == "https://example.org"
    assert web_address("javascript:alert(1)") == ""


def test_vega_is_kept_as_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path))
    monkeypatch.setattr("bdpbench.pages.html.pack", lambda text: pack(text[:9999]))  # takes seconds
    made = packed_vega.__wrapped__()
    (kept,) = (tmp_path / "cache").iterdir()
    assert packed_vega.__wrapped__() == made
    kept.write_bytes(kept.read_bytes()[:-1000])
    assert packed_vega.__wrapped__() == made


NOTES = """# Notes

Read off.

## Words as thresholds

**Cuts** (`first_cut`). Half.

*Cuts of others.* More.
"""


def test_notes_are_headings_below_those_of_the_page_and_nothing_else() -> None:
    """Paragraphs that begin with emphasis are parts; no image, no HTML, no script."""
    more = "# A, b\n\n### A b\n\n###### Six\n\n| a |\n|---|\n| *b* |\n"
    bad = "![x](https://example.org/x.png) <b>bold</b> [go](javascript:alert(1))\n"
    golden.compare("notes.html", Notes(f"{NOTES}\n{more}\n{bad}").html)


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


@pytest.mark.parametrize("key", study_keys())
def test_the_parts_that_a_study_names_exist(key: str) -> None:
    folder = find_study(key)
    notes = Notes((folder / "NOTES.md").read_text())
    texts = [*folder.glob("*.yaml"), folder / "published.csv"]
    for text in (" ".join(each.read_text().split()) for each in texts if each.is_file()):
        for mention in re.findall(r'NOTES(?:\.md)?, "?[A-Z][^,.;:)"]+', text):
            assert 'href="#notes-' in notes.linked(mention), mention


def test_a_number_stays_with_its_unit_and_other_words_may_be_parted() -> None:
    said = "2 flows received 1.5 Mbit/s in 2.5 s; 25 % of 40 packets, of 3 senders, 7 ms late"
    units = ("1.5_Mbit/s", "2.5_s;", "25_%", "40_packets,", "7_ms")
    assert [each for each in unbroken(said).replace("\u00a0", "_").split() if "_" in each] == [
        *units
    ]


@pytest.mark.parametrize("text", ["", "cwnd", "\u2028<é\n" * 1000])
def test_whatever_is_packed_comes_back(text: str) -> None:
    packed = pack(text)
    assert unpack(packed) == text
    assert not set(packed) & set('"<\\\n')


@pytest.mark.parametrize("damaged", [pack("cwnd" * 20)[:-8], "é" + pack("cwnd"), "~" * 5])
def test_damage_is_noticed(damaged: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(damaged)
