"""Damage from the layout of the page: furniture, typography, wrapped lines, lost blanks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.recover import Recovered

Repair = Callable[..., Recovered]
Body = Callable[[Recovered], list[str]]

LONG_COMMENT = "# arguments: the time to end, the protocol, the first of the packets"


@pytest.mark.parametrize(
    ("rule", "damaged", "repaired"),
    [
        ("page-furniture", ["```", "", "```", "puts hello"], ["", "puts hello"]),
        ("page-furniture", ["```tcl", "puts hello"], ["puts hello"]),
        (
            "page-furniture",
            ["puts hello", "", " 107", "\fputs you"],
            ["puts hello", "", "puts you"],
        ),
        ("page-furniture", ["puts hello", "107", "```", "```"], ["puts hello"]),
        ("typography", ["puts “hello”"], ['puts "hello"']),
        ("typography", ["puts\u00a0–10"], ["puts -10"]),
        ("typography", ["puts o\ufb03ce".replace("\ufb03", "\ufb00i")], ["puts office"]),
        ("wrapped-command", ["set a [expr 1 +", "   2]"], ["set a [expr 1 + 2]"]),
        ("wrapped-command", ["set a [expr 1", "", "+ 2", "+ 3]"], ["set a [expr 1 + 2 + 3]"]),
        ("wrapped-command", ["#set a [expr 1 +", "2]"], ["#set a [expr 1 + 2]"]),
        ("wrapped-comment", [LONG_COMMENT, "flow and run"], [f"{LONG_COMMENT} flow and run"]),
        (
            "wrapped-comment",
            ["set buffer 311;                       # a fifth of the product: 5", "times 8"],
            ["set buffer 311;                       # a fifth of the product: 5 times 8"],
        ),
        ("lost-blank", ["Agent/TCP set some_beta_0.8"], ["Agent/TCP set some_beta_ 0.8"]),
        ("lost-blank", ["Agent/TCP set window_40;"], ["Agent/TCP set window_ 40;"]),
    ],
)
def test_what_is_repaired(
    repair: Repair, body: Body, rule: str, damaged: list[str], repaired: list[str]
) -> None:
    recovered = repair(*damaged)
    assert body(recovered) == repaired
    assert set(recovered.count()) == {rule}
    assert all(made.why for made in recovered.repairs)


@pytest.mark.parametrize(
    "lines",
    [
        ["puts 1", "", "# a number alone is a command that fails, so none is at a page's end"],
        ["# a [bracket left open in prose", "puts hello"],
        ["# short", "puts hello"],
        [LONG_COMMENT, "puts hello"],
        ["set a_1 2", "puts $a_1"],
        ["Agent/TCP set window_ 40"],
        ["puts [Agent/TCP set window_]"],
        ["# see (3]", "set a [list 1 2]"],
    ],
)
def test_what_is_left_alone(repair: Repair, body: Body, lines: list[str]) -> None:
    recovered = repair(*lines)
    assert body(recovered) == lines
    assert recovered.repairs == ()


def test_a_repair_tells_line_and_texts(repair: Repair) -> None:
    # BEGIN occupies lines 1 and 2.
    (made,) = repair("puts hello", "set a [expr 1 +", "  2]").repairs
    assert (made.line, made.before, made.after) == (
        4,
        "set a [expr 1 +\n  2]",
        "set a [expr 1 + 2]",
    )


def test_a_bracket_that_stays_open_is_refused(repair: Repair) -> None:
    with pytest.raises(BdpbenchError, match=r"Appendix C, line 4: opens a bracket") as caught:
        repair("puts hello", "set a [expr 1 +", "puts 1", "puts 2", "puts 3", "puts 4")
    assert "set a [expr 1 +" in str(caught.value)


def test_prose_after_a_short_comment_is_refused(repair: Repair) -> None:
    # A comment that ends before the margin was not wrapped, so the next line is something else.
    with pytest.raises(BdpbenchError, match="line 4: 'flow' is no command"):
        repair("# arguments", "flow and run")


def test_a_number_inside_a_page_is_refused(repair: Repair) -> None:
    with pytest.raises(BdpbenchError, match="line 4: '107' is no command"):
        repair("puts hello", "107", "puts you")
