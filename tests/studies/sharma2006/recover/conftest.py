"""Small listings of our own, each damaged in one way; the thesis itself is not needed here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tcl.sharma2006.recover.listing import Vocabulary, procedures
from tcl.sharma2006.recover.printed import Line, Script
from tcl.sharma2006.recover.recovery import repair_script

from bdpbench.contracts.paths import tcl_dir

# These make a complete script of a rule's example, which is put between them.
BEGIN = ["# Two nodes", "set ns [new Simulator]"]
END = ["$ns run"]

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
            parts += [f"Appendix {letter}", "", "Tcl script of a test", "", "```", *lines]
            parts += ["```", ""]
        return "\n".join([*parts, "REFERENCES", "", "- nobody"]) + "\n"

    return text
