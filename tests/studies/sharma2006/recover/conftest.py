"""Small listings of our own, each damaged in one way; the thesis itself is not needed here."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tcl.sharma2006.recover.listing import Vocabulary, procedures
from tcl.sharma2006.recover.printed import Line, Script
from tcl.sharma2006.recover.recovery import repair_script

from bdpbench.contracts.paths import tcl_dir

# These make a complete script of a rule's example, which is put between them.
BEGIN = ["# Two nodes", "set ns [new Simulator]"]
END = ["$ns run"]
LINES_PER_PAGE = 20

Repair = Callable[..., Script]


@pytest.fixture(scope="session")
def repair() -> Repair:
    """Repair a script with the given lines between BEGIN and END; the first of them is line 3."""
    commands = frozenset(procedures((tcl_dir() / "lib" / "utils.tcl").read_text()))

    def run(*lines: str, vocabulary: Vocabulary | None = None) -> Script:
        numbered = [Line(*each) for each in enumerate([*BEGIN, *lines, *END], start=1)]
        script = Script("Appendix C", "c.tcl", numbered)
        repair_script(script, commands, vocabulary or Vocabulary())
        return script

    return run


def body(script: Script) -> list[str]:
    """The lines of a repaired script between BEGIN and END."""
    return [line.text for line in script.lines][len(BEGIN) : -len(END)]


@pytest.fixture
def thesis_text() -> Callable[..., str]:
    """Make a thesis of our own: eight appendices, each with three lines or the given ones."""

    def text(**listings: list[str]) -> str:
        parts = ["A thesis of our own", "", "Contents", "Appendix A ........ 7", ""]
        for letter in "ABCDEFGH":
            lines = listings.get(letter, ["# Two nodes", "set ns [new Simulator]", "$ns run"])
            parts += [
                f"Appendix {letter}",
                "",
                "Tcl script of a test",
                "",
                "```",
                *lines,
                "```",
                "",
            ]
        return "\n".join([*parts, "REFERENCES", "", "- nobody"]) + "\n"

    return text


@pytest.fixture
def thesis_pdf(tmp_path: Path) -> Callable[[str], Path]:
    """Typeset a text as the pages of a PDF, with page numbers at the bottom."""

    def write(text: str) -> Path:
        lines = [line for line in text.split("\n") if not line.startswith("```")]
        pages = [
            lines[start : start + LINES_PER_PAGE] for start in range(0, len(lines), LINES_PER_PAGE)
        ]
        path = tmp_path / "thesis.pdf"
        path.write_bytes(_pdf([[*page, "", str(101 + i)] for i, page in enumerate(pages)]))
        return path

    return write


def _pdf(pages: list[list[str]]) -> bytes:
    """A PDF (1.4) with one text block per page, in Courier; the pages share objects 1 to 3."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ]
    for index, lines in enumerate(pages):
        shown = "".join(f"({_escaped(line)}) Tj T*\n" for line in lines)
        stream = zlib.compress(f"BT /F1 9 Tf 12 TL 72 700 Td\n{shown}ET".encode())
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * index} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        head = f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + stream + b"\nendstream")
    return _with_table(objects)


def _with_table(objects: list[bytes]) -> bytes:
    out, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    tail = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{tail}".encode()


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
