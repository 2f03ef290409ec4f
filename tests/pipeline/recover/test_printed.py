"""What a study prints is found in a reader's copy, by what its originals.yaml says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.needs import needs

from bdpbench.app.recover import originals_path, recover_scripts
from bdpbench.errors import BdpbenchError
from bdpbench.recover.listing import Vocabulary
from bdpbench.recover.printed import (
    Originals,
    Script,
    find_scripts,
    load_originals,
    read_document,
)
from bdpbench.recover.recovery import count_repairs, repair_script

Text = Callable[..., str]

needs_pdftotext = needs("pdftotext", "poppler-utils")


# ---------------------------------------------------------------- copies


@needs_pdftotext
def test_a_pdf_has_the_scripts_of_its_text(
    originals: Originals, thesis_text: Text, thesis_pdf: Callable[[str], Path]
) -> None:
    # Thirty lines: with twenty to a page, the listing continues after the first page's number.
    lines = ["# Two nodes", "set ns [new Simulator]", *(f"puts {i}" for i in range(30)), "$ns run"]
    copy = read_document(thesis_pdf(thesis_text(D=lines)), "thesis")
    assert copy.kind == "pdf"
    script = find_scripts(copy, originals)[3]
    repair_script(script, originals, frozenset(), Vocabulary())
    assert [line.text.rstrip() for line in script.lines if line.text.strip()] == lines
    assert set(count_repairs(script)) == {"page-furniture"}


@needs_pdftotext
def test_a_pdf_without_text_is_told(thesis_pdf: Callable[[str], Path], tmp_path: Path) -> None:
    path = thesis_pdf("")
    # No text block at all: the pages of a scan contain only pictures.
    content = path.read_bytes().replace(b"/F1 3 0 R", b"/F2 3 0 R")
    path.write_bytes(content.replace(b"/Contents 5 0 R", b"               "))
    with pytest.raises(BdpbenchError, match="contains images of pages and no text"):
        read_document(path, "thesis")


def test_a_missing_pdftotext_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "thesis.pdf"
    path.write_bytes(b"%PDF-1.4\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BdpbenchError, match=r"pdftotext[\s\S]*poppler-utils"):
        read_document(path, "thesis")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\xff", "neither UTF-8 text nor a PDF"),
        ("Größe".encode("latin-1"), "neither UTF-8 text nor a PDF"),
        (b"Appendix A\0\0", "binary file"),
        (None, "no such file"),
        pytest.param(
            b"%PDF-1.4\nnothing of the kind\n",
            "pdftotext cannot read this PDF",
            marks=needs_pdftotext,
        ),
    ],
)
def test_other_files_are_told(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "thesis"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BdpbenchError, match=said):
        read_document(path, "thesis")
    with pytest.raises(BdpbenchError, match="cannot be read"):
        read_document(tmp_path, "thesis")


def test_line_ends_of_windows_and_a_byte_order_mark_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_bytes("\ufeffone\r\ntwo\x0cthree\r\n".encode())
    assert read_document(path, "thesis").lines == ("one", "two\x0cthree", "")


# ---------------------------------------------------------------- headings


@pytest.fixture
def found(tmp_path: Path, originals: Originals) -> Callable[[str], list[Script]]:
    """The scripts that are found in a text."""

    def find(text: str) -> list[Script]:
        path = tmp_path / "thesis.txt"
        path.write_text(text)
        return find_scripts(read_document(path, originals.document), originals)

    return find


Found = Callable[[str], list[Script]]


def test_the_eight_listings_are_found(found: Found, thesis_text: Text) -> None:
    scripts = found(thesis_text())
    assert "".join(each.title[-1] for each in scripts) == "ABCDEFGH"
    # Five lines of contents come first; heading, title and fence precede the script.
    assert scripts[0].lines[0] == (11, "# Two nodes")
    assert not any("REFERENCES" in line.text for line in scripts[-1].lines)


@pytest.mark.parametrize(
    "heading", ["APPENDIX A", "  Appendix A.", "## Appendix A", "\fAppendix A"]
)
def test_headings_may_be_set_otherwise(found: Found, thesis_text: Text, heading: str) -> None:
    assert len(found(thesis_text().replace("\nAppendix A\n", f"\n{heading}\n"))) == 8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: "A text about nothing.\n", "has no appendices"),
        (lambda text: "", "has no appendices"),
        (lambda text: text.replace("Appendix D\n", "Annex D\n"), "lacks Appendix D: it has"),
        (lambda text: text[: text.index("Appendix F")], "lacks Appendices F, G, H"),
        (lambda text: text[: text.index("Appendix H") + 12], "no Tcl script follows"),
    ],
)
def test_what_is_no_thesis_is_refused(
    found: Found, thesis_text: Text, change: Callable[[str], str], said: str
) -> None:
    with pytest.raises(BdpbenchError, match=re.escape(said)) as caught:
        found(change(thesis_text()))
    assert "thesis.txt" in str(caught.value)


# ---------------------------------------------------------------- other studies

OTHER = """\
schema_version: 1
document: paper
citation: a paper of our own
heading: Listing
headings: Listings
scripts: {1: first.tcl, 2: second.tcl}
output_files: [drops.out]
"""
PAPER = """\
Listing 1 is about one thing.
Listing 1
# One node
set ns [new Simulator]
puts drop.out
$ns run
Listing 2
# Two nodes
set ns [new Simulator]
$ns run
References
"""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The folder of a study that prints two scripts."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "originals.yaml").write_text(OTHER.replace("{1:", "{'1':").replace(" 2:", " '2':"))
    (tmp_path / "paper.txt").write_text(PAPER)
    return folder


def test_another_study_is_recovered_by_its_own_names(other: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first, second = recover_scripts(tmp_path / "paper.txt", out, str(other))
    assert (first.title, second.title) == ("Listing 1", "Listing 2")
    assert {path.name for path in out.glob("*.tcl")} == {"first.tcl", "second.tcl"}
    assert (out / "first.tcl").read_text().splitlines()[2] == "puts drops.out"
    assert first.repairs[0].why.startswith("the listings write drops.out")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("Listing 2", "Part 2"), "lacks Listing 2: it has Listing 1"),
        (("Listing", "Part"), "has no listings: expected lines 'Listing 1' to 'Listing 2'"),
        (
            ("puts", "putz"),
            "Listing 1, line 5: 'putz' is not a command of Tcl, ns-2 or this script",
        ),
    ],
)
def test_errors_speak_of_that_study(
    other: Path, tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    (tmp_path / "paper.txt").write_text(PAPER.replace(*change))
    with pytest.raises(BdpbenchError) as caught:
        recover_scripts(tmp_path / "paper.txt", tmp_path / "out", str(other))
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("heading:", "headding:", "originals.yaml:4: headding: unknown key"),
        ("second.tcl", "first.tcl", "first.tcl is the name of Listing 1 already"),
        ("'2':", "B2:", "originals.yaml:6: scripts.B2"),
        ("document: paper", "document: ''", "originals.yaml:2: document"),
    ],
)
def test_a_slip_names_file_and_line(other: Path, old: str, new: str, said: str) -> None:
    path = other / "originals.yaml"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(BdpbenchError) as caught:
        load_originals(path)
    assert said in str(caught.value)


def test_the_study_is_chosen_or_the_only_one(
    other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_CONFIG", str(tmp_path / "config"))
    with pytest.raises(BdpbenchError, match="no study has printed scripts"):
        originals_path(None)
    studies = tmp_path / "config" / "studies"
    for key in ("mine", "yours"):
        (studies / key).mkdir(parents=True)
    (studies / "mine" / "originals.yaml").write_text((other / "originals.yaml").read_text())
    assert originals_path(None) == studies / "mine" / "originals.yaml"
    (studies / "yours" / "originals.yaml").write_text((other / "originals.yaml").read_text())
    with pytest.raises(BdpbenchError, match=r"several studies have printed scripts\n.*mine, yours"):
        originals_path(None)
    assert originals_path("yours") == studies / "yours" / "originals.yaml"
    with pytest.raises(BdpbenchError, match="did you mean 'yours'"):
        originals_path("yurs")
