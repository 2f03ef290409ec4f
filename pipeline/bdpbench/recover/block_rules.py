"""Structural damage: surplus braces, and commands turned into comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bdpbench.recover.listing import Listing
from bdpbench.recover.printed import Line
from bdpbench.recover.tcl_text import GIVEN_VARIABLES, code_of, is_comment, reads

_HEAD = re.compile(r"^\s*(?:\}\s*)?(\w[\w-]*)")
_CONTINUES = re.compile(r"^\s*\}\s*(else|elseif)\b")


@dataclass(frozen=True)
class Block:
    """An open block: the index of the line that opened it, and its command."""

    opened: int
    command: str


@dataclass(frozen=True)
class Structure:
    """Blocks of a script, read until the first brace that matches no open block.

    Attributes:
        around: for each line read, the blocks around it, outermost first.
        fault: index of the line that closes or continues a block that is not open, or None.
        unclosed: blocks open at the end.
    """

    around: tuple[tuple[Block, ...], ...]
    fault: int | None
    unclosed: tuple[Block, ...]


def read_structure(lines: Sequence[Line]) -> Structure:
    """Find the blocks of a script by its braces."""
    stack: list[Block] = []
    around: list[tuple[Block, ...]] = []
    for index, line in enumerate(lines):
        around.append(tuple(stack))
        if not is_comment(line.text) and not _step(stack, index, code_of(line.text)):
            return Structure(tuple(around), index, ())
    return Structure(tuple(around), None, tuple(stack))


def _step(stack: list[Block], index: int, code: str) -> bool:
    """Apply a line's braces to the open blocks; False if one matches none."""
    rest = code.strip()
    if rest.startswith("}"):
        continues = _CONTINUES.match(code)
        if not stack or (continues and stack[-1].command not in ("if", "elseif")):
            return False
        stack.pop()
        rest = rest[1:]
    head = _HEAD.match(code)
    change = rest.count("{") - rest.count("}")
    if change < -len(stack):
        return False
    if change < 0:
        del stack[change:]
    stack.extend(Block(index, head.group(1) if head else "") for _ in range(change))
    return True


@dataclass
class Row:
    """A row of closing lines with only blank lines between them.

    Attributes:
        lone: lines of the copy that consist of ``}``, without those removed since.
        at_page_end: whether a page ends in the row, right before it or right after it.
    """

    lone: list[int]
    at_page_end: bool


def remove_surplus_braces(listing: Listing) -> None:
    """Remove closing braces until no line closes or continues a block that is not open.

    A line without its block shows that there is a surplus brace above it, but not which one.
    Surplus braces come in rows: where a page ends inside a block, all open blocks were closed
    although they continue. So the last brace is removed from the nearest row at the end of a page,
    or else from the nearest row.
    """
    rows = _rows(listing)
    while (fault := read_structure(listing.lines).fault) is not None:
        number = listing.lines[fault].number
        above = [row for row in rows if row.lone and row.lone[-1] <= number]
        if not above:
            raise listing.refuse(
                fault, "closes a block that is not open, and no row of closing braces is above it"
            )
        row = max(above, key=lambda each: (each.at_page_end, each.lone[-1]))
        surplus = row.lone.pop()
        where = "where a page ends" if row.at_page_end else "in a row of closing braces"
        listing.remove(
            next(i for i, line in enumerate(listing.lines) if line.number == surplus),
            f"it stands {where}, and line {number} closes or continues the block again",
        )
    unclosed = read_structure(listing.lines).unclosed
    if unclosed:
        raise listing.refuse(unclosed[-1].opened, "opens a block that is never closed")


def _rows(listing: Listing) -> list[Row]:
    rows: list[Row] = []
    filled = [line for line in listing.lines if line.text.strip()]
    closing = [line.text.strip().startswith("}") for line in filled]
    start = 0
    while start < len(filled):
        end = start
        while end < len(filled) and closing[end]:
            end += 1
        if end - start >= 2:
            lone = [line.number for line in filled[start:end] if line.text.strip() == "}"]
            first = filled[max(start - 1, 0)].number
            last = filled[end].number if end < len(filled) else filled[-1].number
            broken = any(first < each <= last for each in listing.page_breaks)
            rows.append(Row(lone, broken))
        start = end + 1
    return rows


_LINK = re.compile(r"^\s*\$ns\s+duplex-link\s+(\S+)\s+(\S+)\s")
_QUEUE_LIMIT = re.compile(r"^\s*\$ns\s+queue-limit\s+(\S+)\s+(\S+)\s")


def restore_commented_links(listing: Listing) -> None:
    """Remove the comment sign from the line that makes a link which the script uses later."""
    written = listing.written() | GIVEN_VARIABLES
    for index, text in listing.numbered():
        used = _QUEUE_LIMIT.match(text)
        if used is None or set(used.groups()) in _links(listing.lines):
            continue
        makers = [
            (i, bare)
            for i, line in listing.numbered()
            if (bare := _uncommented(line)) and _joins(bare, set(used.groups()))
            and all(name in written for name in reads(bare))
        ]  # fmt: skip
        if len(makers) != 1:
            raise listing.refuse(
                index, "limits the queue of a link that no line, or no single comment, makes"
            )
        listing.change(
            makers[0][0],
            makers[0][1],
            f"line {listing.lines[index].number} needs this link, and of the comments that would"
            " make it this is the only one whose variables are set",
        )


def _links(lines: Sequence[Line]) -> list[set[str]]:
    """Pairs of nodes that the script links."""
    return [set(found.groups()) for line in lines if (found := _LINK.match(line.text))]


def _uncommented(text: str) -> str:
    """The command in a comment, or "" for a line that is not a comment."""
    return re.sub(r"^(\s*)#\s*", r"\1", text) if is_comment(text) else ""


def _joins(text: str, nodes: set[str]) -> bool:
    found = _LINK.match(text)
    return found is not None and set(found.groups()) == nodes
