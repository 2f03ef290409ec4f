"""Where the appendices stand in the text, and which script of ours each of them is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bdpbench.errors import BdpbenchError
from bdpbench.recover.thesis import Thesis

# Appendix → file name; the scripts of bdpbench for the same experiment, under tcl/sharma2006, are
# named alike, so that a scenario can take either.
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

# A heading stands alone on its line; the table of contents has a title or page number beside it.
_HEADING = re.compile(r"^[\s\f#*]*appendix\s+([A-Z])[\s.:*]*$", re.IGNORECASE)
_AFTERWARDS = re.compile(r"^[\s\f#*]*(references|bibliography)[\s:*]*$", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of a listing: its text, and the line of the copy on which it starts."""

    number: int
    text: str


@dataclass(frozen=True)
class Appendix:
    """A listing as it stands in the copy: from its first comment to its last line."""

    letter: str
    lines: tuple[Line, ...]

    def refuse(self, line: Line, message: str, hint: str = "") -> BdpbenchError:
        """The error of a damage that no rule repairs: appendix, line and text."""
        return BdpbenchError(
            f"{message}\n    {line.text.strip()}",
            where=f"Appendix {self.letter}, line {line.number}",
            hint=hint or "mend this line in your copy of the thesis, or take another copy",
        )


def find_appendices(thesis: Thesis) -> list[Appendix]:
    """The listings of Appendices A to H.

    Raises:
        BdpbenchError: when the text has none of them, lacks one, or one has no listing.
    """
    headings = _headings(thesis)
    if not headings:
        raise BdpbenchError(
            "has no appendices: expected lines 'Appendix A' to 'Appendix H', each before a Tcl"
            " script, as in P. Sharma's thesis of 2006",
            where=str(thesis.path),
        )
    missing = [letter for letter in SCRIPTS if letter not in headings]
    if missing:
        raise BdpbenchError(
            f"lacks {_named(missing)}: it has {_named(sorted(headings))}",
            where=str(thesis.path),
            hint="take a complete copy of the thesis",
        )
    return [_appendix(thesis, letter, headings) for letter in SCRIPTS]


def _named(letters: list[str]) -> str:
    return ("Appendix " if len(letters) == 1 else "Appendices ") + ", ".join(letters)


def _headings(thesis: Thesis) -> dict[str, int]:
    """Letter → index of its heading; the last one counts, others are of the table of contents."""
    found = {}
    for index, text in enumerate(thesis.lines):
        heading = _HEADING.match(text)
        if heading:
            found[heading.group(1).upper()] = index
    return found


def _appendix(thesis: Thesis, letter: str, headings: dict[str, int]) -> Appendix:
    begin = headings[letter] + 1
    later = [index for index in headings.values() if index >= begin]
    end = min(later, default=len(thesis.lines))
    lines = [Line(index + 1, thesis.lines[index]) for index in range(begin, end)]
    for index, line in enumerate(lines):
        if _AFTERWARDS.match(line.text):
            lines = lines[:index]
            break
    start = next((i for i, line in enumerate(lines) if line.text.lstrip().startswith("#")), None)
    if start is None:
        raise BdpbenchError(
            f"no Tcl script follows the heading of Appendix {letter}",
            where=f"{thesis.path}:{begin}",
            hint="take a complete copy of the thesis",
        )
    return Appendix(letter, tuple(lines[start:]))
