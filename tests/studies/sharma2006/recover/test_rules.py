"""Each rule repairs its kind of damage, leaves other lines alone, and refuses what is not certain.

``listings.yaml`` has the examples; those that a rule cannot tell from the lines alone are here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tcl.sharma2006.recover.listing import Vocabulary
from tcl.sharma2006.recover.printed import HELPER_VARIABLES, Line, Script
from tcl.sharma2006.recover.recovery import count_repairs
from tcl.sharma2006.recover.rules import RULES
from tests.data_of import yaml_of
from tests.studies.sharma2006.recover.conftest import Repair, body

from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError

LISTINGS: dict[str, Any] = yaml_of(Path(__file__).with_name("listings.yaml").read_text())


@pytest.mark.parametrize("listing", LISTINGS["repaired"], ids=lambda each: each["rule"])
def test_what_is_repaired(repair: Repair, listing: dict[str, str]) -> None:
    script = repair(*listing["damaged"].split("\n"))
    assert body(script) == listing["repaired"].split("\n")
    assert set(count_repairs(script)) == {listing["rule"]}
    assert all(made.why for made in script.repairs)


def test_each_rule_but_that_of_words_has_an_example() -> None:
    rules = {rule.rule_id for rule in RULES}
    assert {each["rule"] for each in LISTINGS["repaired"]} == rules - {"misread-word"}


@pytest.mark.parametrize("listing", LISTINGS["untouched"])
def test_what_is_left_alone(repair: Repair, listing: str) -> None:
    script = repair(*listing.split("\n"))
    assert body(script) == listing.split("\n")
    assert script.repairs == []


@pytest.mark.parametrize("listing", LISTINGS["refused"], ids=lambda each: each["error"])
def test_what_is_refused(repair: Repair, listing: dict[str, str]) -> None:
    with pytest.raises(BdpbenchError, match=re.escape(f"Appendix C, {listing['error']}")):
        repair(*listing["lines"].split("\n"))


def test_a_repair_tells_line_and_texts(repair: Repair) -> None:
    # BEGIN occupies lines 1 and 2.
    (made,) = repair("puts hello", "set a [expr 1 +", "  2]").repairs
    assert made[:4] == ("wrapped-command", 4, "set a [expr 1 +\n  2]", "set a [expr 1 + 2]")


# ---------------------------------------------------------------- words of all scripts

# Four scripts by the same author, three of which set window_ and call queue-limit.
HAND = [
    Script(letter, f"{letter}.tcl", [Line(*each) for each in enumerate(lines, start=1)])
    for letter, lines in {
        "A": ["Agent/TCP set window_ 3", "$ns queue-limit 1 2 3"],
        "B": ["Agent/TCP set window_ 3", "$ns queue-limit 1 2 3"],
        "C": [
            "Agent/TCP set windw_ 3",
            "$ns queue-lirnit 1 2 3",
            "Agent/TCP set windowy_ 3",
            "open a/windw_.out",
        ],
        "D": ["puts hello", "puts windowy_"],
    }.items()
]


def test_a_word_that_only_one_script_has_is_that_of_the_others(repair: Repair) -> None:
    script = repair(*(line.text for line in HAND[2].lines), vocabulary=Vocabulary.of(HAND))
    assert body(script) == [
        "Agent/TCP set window_ 3",
        "$ns queue-lirnit 1 2 3",  # two letters in place of one
        "Agent/TCP set windowy_ 3",  # occurs twice
        "open a/windw_.out",  # the name of a file
    ]
    assert count_repairs(script) == {"misread-word": 1}


def test_words_of_the_script_s_own_variables_are_left_to_the_script(repair: Repair) -> None:
    own = ["set windw_ 3", "puts $windw_"]
    assert repair(*own, vocabulary=Vocabulary.of(HAND)).repairs == []


# ---------------------------------------------------------------- the helper that scripts source


NEEDED = set(HELPER_VARIABLES)


@pytest.fixture
def utils() -> list[str]:
    """A script that sources utils.tcl and gives it all that it needs but frep."""
    return ["source utils.tcl", *(f"set {name} 0" for name in sorted(NEEDED - {"ns", "frep"}))]


def test_the_name_that_utils_needs_is_right_however_rare_it_is(
    repair: Repair, utils: list[str]
) -> None:
    script = repair(*utils, "set freq 1", "puts $freq", "puts $freq")
    assert body(script)[-3:] == ["set frep 1", "puts $frep", "puts $frep"]
    assert count_repairs(script) == {"misread-name": 3}
    assert "utils.tcl needs this name" in script.repairs[0].why


def test_names_that_utils_needs_are_never_taken_for_one_another(
    repair: Repair, utils: list[str]
) -> None:
    # urep is one letter from frep, but utils.tcl needs both.
    with pytest.raises(BdpbenchError, match="uses frep, which is never set"):
        repair(*utils)


def test_utils_needs_what_the_rule_says() -> None:
    text = (tcl_dir() / "lib" / "utils.tcl").read_text()
    declared = set(re.findall(r"\w+", " ".join(re.findall(r"^\s*global (.*)$", text, re.M))))
    by_flow = set(re.findall(r"of_flow (\w+) \$fid", text))
    closed = set(re.findall(r"foreach name \{([\w ]+)\} \{\n\s+if \{\[array", text)[0].split())
    assert declared | by_flow | closed == NEEDED


# ---------------------------------------------------------------- pages that end inside blocks


def _removed(script: Script) -> list[int]:
    return [made.line for made in script.repairs if made.rule == "surplus-brace"]


def test_a_page_that_ends_inside_blocks_loses_the_braces_at_its_end(repair: Repair) -> None:
    script = repair(
        "if {1} {", "    if {2} {", "        puts a", "    }", "}",  # lines 3 to 7
        "```", "", "```",
        "    } else {", "        puts b", "    }", "}",
    )  # fmt: skip
    assert body(script) == [
        "if {1} {", "    if {2} {", "        puts a", "",
        "    } else {", "        puts b", "    }", "}",
    ]  # fmt: skip
    assert _removed(script) == [6, 7]


@pytest.mark.parametrize(
    "page_end", [["```", "", "```", "        puts b"], ["", "107", "\f        puts b"]]
)
def test_the_end_of_a_page_goes_before_a_nearer_row(repair: Repair, page_end: list[str]) -> None:
    script = repair(
        "for {set i 0} {$i < 2} {incr i} {", "    if {1} {", "        puts a", "    }", "}",
        *page_end, "    }",
        "    if {2} {", "        if {3} {", "            puts c", "        }", "    }", "}",
    )  # fmt: skip
    assert _removed(script) == [6, 7]


def test_else_continues_an_if_and_nothing_else(repair: Repair) -> None:
    # Line 8 closes the if of line 4, so else would continue the loop.
    script = repair(
        "for {set i 0} {$i < 2} {incr i} {", "    if {1} {", "        if {2} {",
        "            puts a", "        }", "    }", "        puts b", "    } else {",
        "        puts c", "    }", "    puts d", "}",
    )  # fmt: skip
    assert _removed(script) == [8]


# ---------------------------------------------------------------- faults of the original


@pytest.mark.parametrize("sets_always", [False, True])
def test_a_variable_that_a_pass_inherits_is_told_and_kept(
    repair: Repair, sets_always: bool
) -> None:
    script = repair(
        "set window 0",
        "for {set i 0} {$i < 2} {incr i} {",
        "    set window 0" if sets_always else "",
        "    if {$i == 0} {",
        "        set window 38",
        "    }",
        "    puts $window",
        "}",
    )
    assert script.repairs == []
    told = [(note.line, note.text[:42]) for note in script.notes]
    assert told == ([] if sets_always else [(9, "window is set for some protocols only, so ")])
