"""Finds the printed scripts in the text of a study."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bdpbench.errors import BdpbenchError
from bdpbench.recover.document import Document
from bdpbench.recover.originals import Originals

_AFTERWARDS = re.compile(r"^[\s\f#*]*(references|bibliography)[\s:*]*$", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of a listing: its text, and the line of the copy on which it starts."""

    number: int
    text: str


@dataclass(frozen=True)
class PrintedScript:
    """A script as printed in the copy: from its first comment to its last line.

    ``title`` is its heading, e.g. ``Appendix A``; ``document`` the publication.
    """

    key: str
    title: str
    lines: tuple[Line, ...]
    document: str

    def refuse(self, line: Line, message: str, hint: str = "") -> BdpbenchError:
        """The error for damage that no rule repairs: heading, line and text."""
        return BdpbenchError(
            f"{message}\n    {line.text.strip()}",
            where=f"{self.title}, line {line.number}",
            hint=hint
            or f"correct this line in your copy of the {self.document}, or take another copy",
        )


def find_scripts(document: Document, originals: Originals) -> list[PrintedScript]:
    """The scripts that ``originals`` lists.

    Raises:
        BdpbenchError: when the text has none of them, lacks one, or one has no listing.
    """
    found = _headings(document, originals)
    if not found:
        first, *others = (f"'{originals.title(key)}'" for key in originals.scripts)
        lines = f"lines {first} to {others[-1]}, each" if others else f"a line {first}"
        raise BdpbenchError(
            f"has no {originals.headings.lower()}: expected {lines} before a Tcl"
            f" script, as in {originals.citation}",
            where=str(document.path),
        )
    missing = [key for key in originals.scripts if key not in found]
    if missing:
        raise BdpbenchError(
            f"lacks {_named(originals, missing)}: it has {_named(originals, sorted(found))}",
            where=str(document.path),
            hint=f"take a complete copy of the {originals.document}",
        )
    return [_script(document, originals, key, found) for key in originals.scripts]


def _named(originals: Originals, keys: list[str]) -> str:
    word = originals.heading if len(keys) == 1 else originals.headings
    return f"{word} {', '.join(keys)}"


def _headings(document: Document, originals: Originals) -> dict[str, int]:
    """Key → index of its heading; the last one counts, since the table of contents comes first.

    A heading stands alone on its line; the table of contents has a title or page number beside it.
    """
    keys = r"[A-Z]" if all(key.isalpha() for key in originals.scripts) else r"[A-Z]|[0-9]+"
    heading = re.compile(
        rf"^[\s\f#*]*{re.escape(originals.heading)}\s+({keys})[\s.:*]*$", re.IGNORECASE
    )
    return {
        match.group(1).upper(): index
        for index, text in enumerate(document.lines)
        if (match := heading.match(text))
    }


def _script(
    document: Document, originals: Originals, key: str, headings: dict[str, int]
) -> PrintedScript:
    begin = headings[key] + 1
    later = [index for index in headings.values() if index >= begin]
    end = min(later, default=len(document.lines))
    lines = [Line(index + 1, document.lines[index]) for index in range(begin, end)]
    for index, line in enumerate(lines):
        if _AFTERWARDS.match(line.text):
            lines = lines[:index]
            break
    start = next((i for i, line in enumerate(lines) if line.text.lstrip().startswith("#")), None)
    if start is None:
        raise BdpbenchError(
            f"no Tcl script follows the heading of {originals.title(key)}",
            where=f"{document.path}:{begin}",
            hint=f"take a complete copy of the {originals.document}",
        )
    return PrintedScript(key, originals.title(key), tuple(lines[start:]), originals.document)
