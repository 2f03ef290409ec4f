"""A copy of a study is text or a PDF with text; anything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.needs import needs

from bdpbench.errors import BdpbenchError
from bdpbench.recover import Originals, Vocabulary, find_scripts, read_document, repair_script

needs_pdftotext = needs("pdftotext", "poppler-utils")


@needs_pdftotext
def test_a_pdf_has_the_scripts_of_its_text(
    originals: Originals, thesis_text: Callable[..., str], thesis_pdf: Callable[[str], Path]
) -> None:
    # Thirty lines: with twenty to a page, the listing continues after the first page's number.
    lines = ["# Two nodes", "set ns [new Simulator]", *(f"puts {i}" for i in range(30)), "$ns run"]
    text = thesis_text(D=lines)
    thesis = read_document(thesis_pdf(text), "thesis")
    assert thesis.kind == "pdf"
    recovered = [
        repair_script(each, originals, frozenset(), Vocabulary())
        for each in find_scripts(thesis, originals)
    ]
    script = [line.text.rstrip() for line in recovered[3].lines if line.text.strip()]
    assert script == lines
    assert set(recovered[3].count()) == {"page-furniture"}


@needs_pdftotext
def test_a_pdf_without_text_is_told(thesis_pdf: Callable[[str], Path], tmp_path: Path) -> None:
    path = thesis_pdf("")
    # No text block at all: the pages of a scan contain only pictures.
    content = path.read_bytes().replace(b"/F1 3 0 R", b"/F2 3 0 R")
    path.write_bytes(content.replace(b"/Contents 5 0 R", b"               "))
    with pytest.raises(BdpbenchError, match="contains images of pages and no text"):
        read_document(path, "thesis")


@needs_pdftotext
def test_a_broken_pdf_is_told(tmp_path: Path) -> None:
    path = tmp_path / "thesis.pdf"
    path.write_bytes(b"%PDF-1.4\nnothing of the kind\n")
    with pytest.raises(BdpbenchError, match="pdftotext cannot read this PDF"):
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
    ],
)
def test_other_files_are_told(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "thesis"
    path.write_bytes(content)
    with pytest.raises(BdpbenchError, match=said):
        read_document(path, "thesis")


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(BdpbenchError, match="no such file"):
        read_document(tmp_path / "none.txt", "thesis")
    with pytest.raises(BdpbenchError, match="cannot be read"):
        read_document(tmp_path, "thesis")


def test_line_ends_of_windows_and_a_byte_order_mark_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_bytes("\ufeffone\r\ntwo\x0cthree\r\n".encode())
    assert read_document(path, "thesis").lines == ("one", "two\x0cthree", "")
