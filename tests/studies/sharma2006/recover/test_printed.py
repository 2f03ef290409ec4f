"""What the thesis prints is found in a reader's copy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tcl.sharma2006.recover.listing import Vocabulary
from tcl.sharma2006.recover.printed import Script, find_scripts, read_document
from tcl.sharma2006.recover.recovery import count_repairs, repair_script
from tests.needs import needs

from bdpbench.errors import BdpbenchError

Text = Callable[..., str]

needs_pdftotext = needs("pdftotext", "poppler-utils")


# ---------------------------------------------------------------- copies


PDF = Path(__file__).with_name("thesis.pdf")  # thesis_text with PRINTED, 20 lines to a page
PRINTED = ["# Two nodes", "set ns [new Simulator]", *(f"puts {i}" for i in range(30)), "$ns run"]


@needs_pdftotext
def test_a_pdf_has_the_scripts_of_its_text() -> None:
    copy = read_document(PDF)
    assert copy.kind == "pdf"
    script = find_scripts(copy)[3]  # it goes on after the number of a page
    repair_script(script, frozenset(), Vocabulary())
    assert [line.text.rstrip() for line in script.lines if line.text.strip()] == PRINTED
    assert set(count_repairs(script)) == {"page-furniture"}


@needs_pdftotext
def test_a_pdf_without_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "thesis.pdf"
    # No page has contents: those of a scan have only pictures.
    path.write_bytes(re.sub(rb"/Contents [^/]*0 R", lambda f: b" " * len(f[0]), PDF.read_bytes()))
    with pytest.raises(BdpbenchError, match="contains images of pages and no text"):
        read_document(path)


def test_a_missing_pdftotext_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "thesis.pdf"
    path.write_bytes(b"%PDF-1.4\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BdpbenchError, match=r"pdftotext[\s\S]*poppler-utils"):
        read_document(path)


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
        read_document(path)
    with pytest.raises(BdpbenchError, match="cannot be read"):
        read_document(tmp_path)


def test_line_ends_of_windows_and_a_byte_order_mark_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_bytes("\ufeffone\r\ntwo\x0cthree\r\n".encode())
    assert read_document(path).lines == ("one", "two\x0cthree", "")


# ---------------------------------------------------------------- headings


@pytest.fixture
def found(tmp_path: Path) -> Callable[[str], list[Script]]:
    """The scripts that are found in a text."""

    def find(text: str) -> list[Script]:
        path = tmp_path / "thesis.txt"
        path.write_text(text)
        return find_scripts(read_document(path))

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
