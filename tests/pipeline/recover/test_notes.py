"""Faults of the original are reported, not repaired."""

from __future__ import annotations

from collections.abc import Callable

from bdpbench.recover import Recovered

Repair = Callable[..., Recovered]


def test_a_variable_that_a_pass_inherits_is_told(repair: Repair) -> None:
    lines = [
        "set window 0",
        "for {set i 0} {$i < 2} {incr i} {",
        "    if {$i == 0} {",
        "        set window 38",
        "    }",
        "    puts $window",
        "}",
    ]
    recovered = repair(*lines)
    assert recovered.repairs == ()
    (note,) = recovered.notes
    assert note.line == 8
    assert note.text.startswith("window is set for some protocols only")


def test_a_variable_that_every_pass_sets_is_none(repair: Repair) -> None:
    recovered = repair(
        "set window 0",
        "for {set i 0} {$i < 2} {incr i} {",
        "    set window 0",
        "    if {$i == 0} {",
        "        set window 38",
        "    }",
        "    puts $window",
        "}",
    )
    assert recovered.notes == ()
