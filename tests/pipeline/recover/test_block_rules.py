"""Surplus closing braces, and links in comments."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.recover import Recovered

Repair = Callable[..., Recovered]
Body = Callable[[Recovered], list[str]]


def _removed(recovered: Recovered) -> list[int]:
    return [made.line for made in recovered.repairs if made.rule == "surplus-brace"]


def test_a_row_that_closes_more_than_is_open_loses_its_last_brace(
    repair: Repair, body: Body
) -> None:
    recovered = repair("if {1} {", "    puts a", "}", "}")
    assert body(recovered) == ["if {1} {", "    puts a", "}"]
    assert _removed(recovered) == [6]


def test_a_page_that_ends_inside_blocks_loses_the_braces_at_its_end(
    repair: Repair, body: Body
) -> None:
    recovered = repair(
        "if {1} {", "    if {2} {", "        puts a", "    }", "}",  # lines 3 to 7
        "```", "", "```",
        "    } else {", "        puts b", "    }", "}",
    )  # fmt: skip
    assert body(recovered) == [
        "if {1} {", "    if {2} {", "        puts a", "",
        "    } else {", "        puts b", "    }", "}",
    ]  # fmt: skip
    assert _removed(recovered) == [6, 7]


@pytest.mark.parametrize(
    "page_end", [["```", "", "```", "        puts b"], ["", "107", "\f        puts b"]]
)
def test_the_end_of_a_page_goes_before_a_nearer_row(repair: Repair, page_end: list[str]) -> None:
    recovered = repair(
        "for {set i 0} {$i < 2} {incr i} {", "    if {1} {", "        puts a", "    }", "}",
        *page_end, "    }",
        "    if {2} {", "        if {3} {", "            puts c", "        }", "    }", "}",
    )  # fmt: skip
    assert _removed(recovered) == [6, 7]


def test_else_continues_an_if_and_nothing_else(repair: Repair) -> None:
    # Line 8 closes the if of line 4, so else would continue the loop.
    recovered = repair(
        "for {set i 0} {$i < 2} {incr i} {", "    if {1} {", "        if {2} {",
        "            puts a", "        }", "    }", "        puts b", "    } else {",
        "        puts c", "    }", "    puts d", "}",
    )  # fmt: skip
    assert _removed(recovered) == [8]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["puts a", "}"], "line 4: closes a block that is not open"),
        (["if {1} {", "    puts a", "} else {", "    puts b", "} else {", "}"],
         "line 7: closes a block that is not open"),
        (["if {1} {", "    puts a"], "line 3: opens a block that is never closed"),
        (["proc a {} {", "    if {1} {", "        puts a", "}"],
         "line 3: opens a block that is never closed"),
    ],
)  # fmt: skip
def test_what_is_refused(repair: Repair, lines: list[str], said: str) -> None:
    with pytest.raises(BdpbenchError, match=f"Appendix C, {said}"):
        repair(*lines)


def test_whole_blocks_are_left_alone(repair: Repair) -> None:
    recovered = repair(
        "proc a {x} {", "    if {$x} {", "        # }", "        puts {a}", "    }", "}", "a 1"
    )
    assert recovered.repairs == ()


NODES = ["set a [$ns node]", "set b [$ns node]"]


def test_a_link_in_a_comment_is_restored_where_it_is_used(repair: Repair, body: Body) -> None:
    recovered = repair(
        *NODES,
        "# $ns duplex-link $a $b 9Mb ${delay}ms DropTail",  # delay is never set
        "#  $ns duplex-link $a $b 9Mb 1ms DropTail",
        "$ns queue-limit $b $a 5",
    )
    assert body(recovered)[3] == "$ns duplex-link $a $b 9Mb 1ms DropTail"
    assert recovered.count() == {"commented-link": 1}


def test_a_comment_about_a_link_that_stands_is_left_alone(repair: Repair) -> None:
    link = "$ns duplex-link $a $b 9Mb 1ms DropTail"
    assert repair(*NODES, f"# {link}", link, "$ns queue-limit $a $b 5").repairs == ()


@pytest.mark.parametrize("delays", [[], ["1", "2"]])
def test_a_link_that_no_single_comment_makes_is_refused(repair: Repair, delays: list[str]) -> None:
    comments = [f"# $ns duplex-link $a $b 9Mb {delay}ms DropTail" for delay in delays]
    with pytest.raises(BdpbenchError, match=f"line {5 + len(delays)}: limits the queue of a link"):
        repair(*NODES, *comments, "$ns queue-limit $a $b 5")
