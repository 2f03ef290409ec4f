"""Applies all rules to a listing, and checks the resulting script as a whole."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from bdpbench.recover.listing import Listing, Repair, Vocabulary
from bdpbench.recover.notes import Note, find_notes
from bdpbench.recover.originals import Originals
from bdpbench.recover.printed import Line, PrintedScript
from bdpbench.recover.rules import RULES
from bdpbench.recover.tcl_text import code_of

_OF_CLASS = re.compile(r"^[A-Z]\w*(?:/\w+)+\s")
_CLASS_SETTING = re.compile(
    r"^[A-Z]\w*(?:/\w+)+\s+set\s+[A-Za-z]\w*_\s+(?:-?\d+(?:\.\d+)?(?:e-?\d+)?|\$\w+)\s*;?$"
)
_NO_VALUE = re.compile(r"^set\s+\S+$")
_LAST_COMMAND = re.compile(r"^\$ns\s+run$")


@dataclass(frozen=True)
class Recovered:
    """A repaired script.

    Attributes:
        title: its heading, e.g. ``Appendix A``.
        name: file name of the script.
        lines: its lines, with the lines of the copy on which they start.
        repairs: the changes, in the order of the copy.
        notes: faults of the original, which are kept.
    """

    title: str
    name: str
    lines: tuple[Line, ...]
    repairs: tuple[Repair, ...]
    notes: tuple[Note, ...]

    @property
    def text(self) -> str:
        """The script."""
        return "\n".join(line.text.rstrip() for line in self.lines) + "\n"

    def count(self) -> dict[str, int]:
        """Rule → number of repairs, for the rules that made any."""
        counted = Counter(repair.rule for repair in self.repairs)
        return {rule.rule_id: counted[rule.rule_id] for rule in RULES if counted[rule.rule_id]}


def repair_script(
    script: PrintedScript,
    originals: Originals,
    helper_commands: frozenset[str],
    vocabulary: Vocabulary,
) -> Recovered:
    """Repair a listing, given the helper's procedures and the words of all scripts.

    Raises:
        BdpbenchError: naming heading, line and text of damage that no rule repairs.
    """
    listing = Listing(script, originals, helper_commands, vocabulary)
    for rule in RULES:
        listing.rule_id = rule.rule_id
        rule.apply(listing)
    _check_end(listing)
    _check_settings(listing)
    return Recovered(
        title=script.title,
        name=originals.scripts[script.key],
        lines=tuple(listing.lines),
        repairs=tuple(sorted(listing.repairs, key=lambda repair: repair.line)),
        notes=tuple(find_notes(listing.lines, originals.inherited)),
    )


def _check_settings(listing: Listing) -> None:
    """Refuse a ``set`` command that sets nothing, or nothing that ns-2 could use."""
    for index, text in listing.numbered():
        code = code_of(text).strip()
        if _OF_CLASS.match(code) and not _CLASS_SETTING.match(code):
            raise listing.refuse(index, "expected 'CLASS set NAME_ VALUE', VALUE a number")
        if _NO_VALUE.match(code):
            raise listing.refuse(index, "sets no value")


def _check_end(listing: Listing) -> None:
    code = [i for i, text in listing.numbered() if code_of(text).strip()]
    last = code[-1] if code else 0
    document = listing.originals.document
    if not code or not _LAST_COMMAND.match(code_of(listing.lines[last].text).strip()):
        raise listing.refuse(
            last,
            f"the script is truncated: a script of the {document} ends with '$ns run'",
            hint=f"take a complete copy of the {document}",
        )
