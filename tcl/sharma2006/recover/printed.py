"""What the thesis prints: a reader's copy of it, and the scripts found in it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bdpbench.errors import BdpbenchError

SCRIPTS = {
    "A": "standard_tcp_low_bdp.tcl",
    "B": "standard_tcp_high_bdp.tcl",
    "C": "single_flow.tcl",
    "D": "single_drop.tcl",
    "E": "buffer_size.tcl",
    "F": "rtt.tcl",
    "G": "two_flows_rtt.tcl",
    "H": "inter_protocol.tcl",
}
"""Letter of the appendix → name of the file with its script."""

HELPER_NAME = "utils.tcl"
"""The file that the scripts source and the thesis does not print; ours is in ``tcl/lib``."""

HELPER_VARIABLES = (
    "ns", "endtime", "bandwidth", "qmon", "fmon2", "frep", "urep", "qfp", "cfp_hs", "tput_hs",
    "lastKBytes",
)  # fmt: skip
"""Global variables that the helper takes from the script that sources it."""

OUTPUT_FILES = ("cwnd.out", "tput.out", "pckts.trq", "queue.out", "util.out")
"""Files that the scripts write, by their right names."""

_PDF_MAGIC = b"%PDF-"
_PDFTOTEXT = ("pdftotext", "-layout", "-enc", "UTF-8")
_HEADING = re.compile(r"^[\s\f#*]*Appendix\s+([A-Z])[\s.:*]*$", re.IGNORECASE)
_AFTERWARDS = re.compile(r"^[\s\f#*]*(references|bibliography)[\s:*]*$", re.IGNORECASE)
_EXPECTED = "expected the text of the thesis (UTF-8) or its PDF"
_COMPLETE = "take a complete copy of the thesis"


# ---------------------------------------------------------------- the reader's copy


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


def read_document(path: Path) -> Document:
    """Read a copy of the thesis.

    Raises:
        BdpbenchError: when it is missing, neither text nor PDF, or a PDF without text, and when
            pdftotext is missing.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BdpbenchError(f"no such file: {_EXPECTED}", where=str(path)) from None
    except OSError as error:
        raise BdpbenchError(f"cannot be read: {error.strerror}", where=str(path)) from None
    is_pdf = content.startswith(_PDF_MAGIC)
    text = _text_of_pdf(path) if is_pdf else _decoded(path, content)
    # Not splitlines(): a form feed starts a page inside a line and must not count as one.
    lines = tuple(line.rstrip("\r") for line in text.split("\n"))
    return Document(path, "pdf" if is_pdf else "text", lines)


def _decoded(path: Path, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        said = f"is neither UTF-8 text nor a PDF: {_EXPECTED}"
        raise BdpbenchError(said, where=str(path)) from None
    if "\0" in text:
        raise BdpbenchError(f"is a binary file: {_EXPECTED}", where=str(path))
    return text


def _text_of_pdf(path: Path) -> str:
    try:
        done = subprocess.run([*_PDFTOTEXT, str(path), "-"], capture_output=True, check=False)
    except FileNotFoundError:
        raise BdpbenchError(
            "pdftotext, which reads PDFs, is not installed",
            where=str(path),
            hint="run apt-get install poppler-utils, or give the text of the thesis",
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


# ---------------------------------------------------------------- the scripts in it


class Line(NamedTuple):
    """A line of a script: its text, and the line of the copy on which it starts."""

    number: int
    text: str


class Repair(NamedTuple):
    """One change of one line.

    Attributes:
        rule: id of the rule that made the change.
        line: line of the copy.
        before, after: the text; ``after`` is None for a line that was removed.
        why: reason for the change.
    """

    rule: str
    line: int
    before: str
    after: str | None
    why: str


class Note(NamedTuple):
    """A fault of the original, which is kept: the line where it shows, and its effect."""

    line: int
    text: str


@dataclass
class Script:
    """A script, first as printed in the copy, from its first comment to its last line.

    Attributes:
        title: its heading, e.g. ``Appendix A``.
        name: its file name.
        lines: its lines, with the lines of the copy on which they start.
        repairs: the changes.
        notes: faults of the original.
    """

    title: str
    name: str
    lines: list[Line]
    repairs: list[Repair] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Content of the file."""
        return "\n".join(line.text.rstrip() for line in self.lines) + "\n"


def find_scripts(document: Document) -> list[Script]:
    """The scripts of the eight appendices.

    Raises:
        BdpbenchError: when the text has no appendices, lacks one, or one has no listing.
    """
    found = _headings(document)
    if not found:
        raise BdpbenchError(
            "has no appendices: expected lines 'Appendix A' to 'Appendix H', each before a Tcl"
            " script, as in P. Sharma's thesis of 2006",
            where=str(document.path),
        )
    missing = [key for key in SCRIPTS if key not in found]
    if missing:
        raise BdpbenchError(
            f"lacks {_titles(missing)}: it has {_titles(sorted(found))}",
            where=str(document.path),
            hint=_COMPLETE,
        )
    return [_script(document, key, found) for key in SCRIPTS]


def _titles(keys: list[str]) -> str:
    """The names of several appendices in messages."""
    return f"{'Appendix' if len(keys) == 1 else 'Appendices'} {', '.join(keys)}"


def _headings(document: Document) -> dict[str, int]:
    """Letter → index of its heading; the last one counts, since the table of contents comes first.

    A heading stands alone on its line; the table of contents has a title or page number beside it.
    """
    return {
        match.group(1).upper(): index
        for index, text in enumerate(document.lines)
        if (match := _HEADING.match(text))
    }


def _script(document: Document, key: str, headings: dict[str, int]) -> Script:
    begin, total = headings[key] + 1, len(document.lines)
    end = min((index for index in headings.values() if index >= begin), default=total)
    ends = (index for index in range(begin, end) if _AFTERWARDS.match(document.lines[index]))
    end = next(ends, end)
    starts = (i for i in range(begin, end) if document.lines[i].lstrip().startswith("#"))
    start = next(starts, None)
    if start is None:
        raise BdpbenchError(
            f"no Tcl script follows the heading of Appendix {key}",
            where=f"{document.path}:{begin}",
            hint=_COMPLETE,
        )
    lines = [Line(index + 1, document.lines[index]) for index in range(start, end)]
    return Script(f"Appendix {key}", SCRIPTS[key], lines)
