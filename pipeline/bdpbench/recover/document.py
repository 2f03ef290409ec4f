"""A reader's copy of a study → lines of text, whether it is a text file or a PDF."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from bdpbench.errors import BdpbenchError

_PDF_MAGIC = b"%PDF-"
_PDFTOTEXT = ("pdftotext", "-layout", "-enc", "UTF-8")


@dataclass(frozen=True)
class Document:
    """The text of a copy.

    Attributes:
        path: the copy.
        kind: ``text``, or ``pdf`` if the lines are those of ``pdftotext -layout``.
        lines: text of each line, starting with line 1.
    """

    path: Path
    kind: str
    lines: tuple[str, ...]


def read_document(path: Path, noun: str) -> Document:
    """Read a copy of a study; ``noun`` is its name in messages, e.g. ``thesis``.

    Raises:
        BdpbenchError: when it is missing, neither text nor PDF, or a PDF without text, and when
            pdftotext is missing.
    """
    expected = f"expected the text of the {noun} (UTF-8) or its PDF"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BdpbenchError(f"no such file: {expected}", where=str(path)) from None
    except OSError as error:
        raise BdpbenchError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if content.startswith(_PDF_MAGIC):
        return Document(path, "pdf", _lines_of(_text_of_pdf(path, noun)))
    return Document(path, "text", _lines_of(_decoded(path, content, expected)))


def _lines_of(text: str) -> tuple[str, ...]:
    # Not splitlines(): a form feed starts a page inside a line and must not count as one.
    return tuple(line.rstrip("\r") for line in text.split("\n"))


def _decoded(path: Path, content: bytes, expected: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BdpbenchError(
            f"is neither UTF-8 text nor a PDF: {expected}", where=str(path)
        ) from None
    if "\0" in text:
        raise BdpbenchError(f"is a binary file: {expected}", where=str(path))
    return text


def _text_of_pdf(path: Path, noun: str) -> str:
    try:
        done = subprocess.run([*_PDFTOTEXT, str(path), "-"], capture_output=True, check=False)
    except FileNotFoundError:
        raise BdpbenchError(
            "pdftotext, which reads PDFs, is not installed",
            where=str(path),
            hint=f"run apt-get install poppler-utils, or give the text of the {noun}",
        ) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise BdpbenchError(f"pdftotext cannot read this PDF: {said[-1]}", where=str(path))
    text = done.stdout.decode("utf-8", "replace")
    if not text.strip():
        raise BdpbenchError(
            "this PDF contains images of pages and no text",
            where=str(path),
            hint="run text recognition first (for example with ocrmypdf)",
        )
    return text
