"""Damage by page layout: page furniture, typographic characters, line width."""

from __future__ import annotations

import re

from bdpbench.recover.listing import Listing
from bdpbench.recover.tcl_text import has_comment, is_comment, open_brackets

_FENCE = re.compile(r"^\s*(```|~~~)\s*\w*\s*$")
_PAGE_NUMBER = re.compile(r"^\s*\d{1,3}\s*$")
_TYPOGRAPHY = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "„": '"',
        "‘": "'",
        "’": "'",
        "–": "-",
        "—": "-",
        "−": "-",
        "\u00a0": " ",
        "\u00ad": "",
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
    }
)
# Only comments that reach the margin are wrapped; shorter lines end where their author ended them.
_MARGIN = 60
_LONGEST_WRAP = 4


def remove_page_furniture(listing: Listing) -> None:
    """Take out code fences, page numbers and form feeds; blank lines at the end as well."""
    for index, text in reversed(list(listing.numbered())):
        if _FENCE.match(text) or "\f" in text:
            listing.page_breaks.append(listing.lines[index].number)
        if _FENCE.match(text):
            listing.remove(index, "a code fence marks where text was set as code; it is no Tcl")
        elif _PAGE_NUMBER.match(text) and _ends_page(listing, index):
            listing.remove(index, "a number alone before a new page is the number of the page")
        elif "\f" in text:
            listing.change(index, text.replace("\f", ""), "a form feed starts a page")
    while listing.lines and not listing.lines[-1].text.strip():
        listing.lines.pop()


def _ends_page(listing: Listing, index: int) -> bool:
    following = listing.following(index)
    if following is None:
        return True
    number, next_number = listing.lines[index].number, listing.lines[following].number
    return any(number < each <= next_number for each in listing.page_breaks)


def restore_typography(listing: Listing) -> None:
    """Replace typographic quotes, dashes, blanks and ligatures by the ASCII that Tcl requires."""
    for index, text in listing.numbered():
        plain = text.translate(_TYPOGRAPHY)
        if plain != text:
            listing.change(index, plain, "Tcl knows only the plain forms of these characters")


def join_wrapped_commands(listing: Listing) -> None:
    """Join a line that leaves a bracket open with the lines that close it.

    Commands in comments are wrapped in the same way; a comment whose bracket stays open is prose.
    """
    index = 0
    while index < len(listing.lines):
        if open_brackets(listing.lines[index].text) > 0:
            following = _closing_lines(listing, index)
            if not following and not is_comment(listing.lines[index].text):
                raise listing.refuse(index, "opens a bracket that no following line closes")
            for _ in following:
                listing.join(index, "a new line would end the command inside the open bracket")
        index += 1


def _closing_lines(listing: Listing, index: int) -> list[int]:
    """Indices of the lines that close the brackets of a line; empty if they stay open."""
    depth = open_brackets(listing.lines[index].text)
    following: list[int] = []
    at: int | None = index
    for _ in range(_LONGEST_WRAP):
        at = listing.following(at) if at is not None else None
        if at is None or is_comment(listing.lines[at].text):
            return []
        following.append(at)
        depth += open_brackets(listing.lines[at].text)
        if depth <= 0:
            return following
    return []


def join_wrapped_comments(listing: Listing) -> None:
    """Join a comment with its wrapped rest, which would otherwise be a command."""
    index = 0
    while index < len(listing.lines) - 1:
        text = listing.lines[index].text.rstrip()
        if has_comment(text) and len(text) >= _MARGIN and _is_prose(listing, index + 1):
            listing.join(
                index,
                "it starts with no command and has no Tcl in it: the rest of the comment above",
            )
        else:
            index += 1


def _is_prose(listing: Listing, index: int) -> bool:
    words = listing.lines[index].text.split()
    if not words or re.search(r"[\[\]{}$#;\"]", listing.lines[index].text):
        return False
    return not listing.is_command(words[0]) and words[0] not in listing.written(before=index)


def restore_lost_blanks(listing: Listing) -> None:
    """Separate a class variable, whose name ends with ``_``, from the value that follows it."""
    glued = re.compile(r"^(\s*[A-Z]\w*(?:/\w+)+\s+set\s+[A-Za-z]\w*?_)(\d[\d.]*)(\s*;?\s*)$")
    for index, text in listing.numbered():
        found = glued.match(text)
        if found:
            listing.change(
                index,
                " ".join(found.group(1, 2)) + found.group(3),
                "names of ns-2's variables end with an underscore, and without a value the line"
                " would set nothing",
            )
