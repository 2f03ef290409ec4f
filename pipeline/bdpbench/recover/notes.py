"""Faults of the original scripts themselves, which are reported but not repaired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bdpbench.recover.block_rules import Block, read_structure
from bdpbench.recover.printed import Line
from bdpbench.recover.tcl_text import reads, writes


@dataclass(frozen=True)
class Note:
    """A fault: the line of the copy where it shows, and its effect."""

    line: int
    text: str


def find_notes(lines: Sequence[Line], inherited: str) -> list[Note]:
    """Find variables that a pass of a loop inherits from the previous one.

    Such a variable has a value before the loop, and only some branches of an ``if`` inside it set
    the variable, although the loop uses it. In a pass without such a branch it keeps the value of
    an earlier pass. ``inherited`` is the text of the note.
    """
    structure = read_structure(lines)
    loops = {block for blocks in structure.around for block in blocks if block.command == "for"}
    return [
        Note(lines[used].number, inherited.format(name=name))
        for loop in sorted(loops, key=lambda block: block.opened)
        for name, used in _inherited(lines, structure.around, loop)
    ]


def _inherited(
    lines: Sequence[Line], around: Sequence[tuple[Block, ...]], loop: Block
) -> list[tuple[str, int]]:
    """Variables of a loop that may keep an old value, with the index of the line of first use."""
    inside = [index for index, blocks in enumerate(around) if loop in blocks]
    before = {name for line in lines[: loop.opened] for name in writes(line.text)}
    always = {name for i in inside if around[i][-1] == loop for name in writes(lines[i].text)}
    sometimes = {name for i in inside for name in writes(lines[i].text)} - always
    found = []
    for name in sorted(sometimes & before):
        used = [i for i in inside if name in reads(lines[i].text)]
        if used:
            found.append((name, used[-1]))
    return found
