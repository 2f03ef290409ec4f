"""Names misread by a letter or a sign."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError
from bdpbench.recover import Line, PrintedScript, Recovered, Vocabulary, load_originals
from bdpbench.studies.load import find_study

Repair = Callable[..., Recovered]
Body = Callable[[Recovered], list[str]]

ORIGINALS = load_originals(find_study("sharma2006") / "originals.yaml")
# The variables that utils.tcl uses of the script that sources it.
UTILS = [
    "source utils.tcl",
    *(f"set {name} 0" for name in sorted(ORIGINALS.helper_variables - {"ns", "frep"})),
]


@pytest.mark.parametrize(
    ("rule", "damaged", "repaired"),
    [
        (
            "lost-dollar",
            ["set agent [new Agent/TCP]", "agent set window_ 3"],
            ["set agent [new Agent/TCP]", "$agent set window_ 3"],
        ),
        (
            "lost-dollar",
            ["set agent [new Agent/TCP]", "puts [agent set window_]"],
            ["set agent [new Agent/TCP]", "puts [$agent set window_]"],
        ),
        (
            "surplus-dollar",
            ["set i 0", "set host(s$i) 1", "puts $host($s$i)"],
            ["set i 0", "set host(s$i) 1", "puts $host(s$i)"],
        ),
        # The more frequent name is right, whether or not it is the one that is set.
        (
            "misread-name",
            ["set finish 3", "puts $finish", "puts $finich"],
            ["set finish 3", "puts $finish", "puts $finish"],
        ),
        (
            "misread-name",
            ["set finich 3", "puts $finish", "puts [set finish]"],
            ["set finish 3", "puts $finish", "puts [set finish]"],
        ),
        # A letter added, a letter lost, and a capital.
        ("misread-name", ["set rate 3", "puts $rate$srate"], ["set rate 3", "puts $rate$rate"]),
        ("misread-name", ["set hosts 3", "puts $hosts$host"], ["set hosts 3", "puts $hosts$hosts"]),
        ("misread-name", ["set endTime 3", "puts $endtime$endtime"],
         ["set endtime 3", "puts $endtime$endtime"]),
        # Two names are similar; the one that nobody uses is meant.
        (
            "misread-name",
            ["set node_x 1", "set nod_s 2", "puts $node_x$node_s$node_s"],
            ["set node_x 1", "set node_s 2", "puts $node_x$node_s$node_s"],
        ),
        (
            "misread-object",
            [
                "set link 1",
                "set model [new ErrorModel/Periodic]",
                "set module [$link errormodule]",
                "puts [$model errormodels]",
            ],
            [
                "set link 1",
                "set model [new ErrorModel/Periodic]",
                "set module [$link errormodule]",
                "puts [$module errormodels]",
            ],
        ),
        ("misread-file", ["puts a/cwn.out"], ["puts a/cwnd.out"]),
        ("misread-file", ['open "x/pkts.trq" w'], ['open "x/pckts.trq" w']),
    ],
)  # fmt: skip
def test_what_is_repaired(
    repair: Repair, body: Body, rule: str, damaged: list[str], repaired: list[str]
) -> None:
    recovered = repair(*damaged)
    assert body(recovered) == repaired
    assert set(recovered.count()) == {rule}


@pytest.mark.parametrize(
    "lines",
    [
        ["set n1 1", "set n2 2", "puts $n1$n2"],
        ["proc half {value} {", "    return [expr {$value / 2}]", "}", "puts [half 3]"],
        ["global defaultRNG", "$defaultRNG seed 3"],
        ["puts [lindex $argv 0]"],
        ["for {set i 0} {$i < 3} {incr i} {", "    set flow$i $i", "    puts [set flow$i]", "}"],
        ["puts a/cwnd_hstcp.out", "puts notes.out"],
        ["set em [new ErrorModule Fid]", "puts [$em errormodels]"],
        ["set word 1 ;# a $wrd in a comment", "puts $word"],
    ],
)
def test_what_is_left_alone(repair: Repair, body: Body, lines: list[str]) -> None:
    recovered = repair(*lines)
    assert body(recovered) == lines
    assert recovered.repairs == ()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["puts $nothing"], "line 3: uses nothing, which is never set"),
        (["set n1 1", "puts $n1$n3"], "line 4: uses n3, which is never set"),
        (["set port1 1", "puts $port1$port2"], "line 4: uses port2, which is never set"),
        # Each occurs once, so either may be misread.
        (["set word 1", "puts $wurd"], "line 4: either wurd or word is misread"),
        (
            ["set nodea 1", "set nodeb 2", "puts $nodea$nodeb$nodec"],
            "line 5: uses nodec, which is never set; it may be each of nodea, nodeb",
        ),
        (
            ["set model [new ErrorModel/Periodic]", "puts [$model errormodels]"],
            "line 4: model is a ErrorModel/Periodic, which has no errormodels",
        ),
        (["puts hello", "putz hello"], "line 4: 'putz' is no command"),
        (["puts [putz hello]"], "line 3: 'putz' is no command"),
        (["$ns at 3 \"putz hello\""], "line 3: 'putz' is no command"),
        (["Agent/TCP se window_ 3"], "line 3: expected 'CLASS set NAME_ VALUE'"),
        (["Agent/TCP set win dow_ 3"], "line 3: expected 'CLASS set NAME_ VALUE'"),
        (["Agent/TCP set window_ l0"], "line 3: expected 'CLASS set NAME_ VALUE'"),
        (["set window3"], "line 3: sets no value"),
        (["print-cwnd 1 2 3"], "line 3: 'print-cwnd' is no command"),
    ],
)  # fmt: skip
def test_what_is_refused(repair: Repair, lines: list[str], said: str) -> None:
    with pytest.raises(BdpbenchError, match=re.escape(f"Appendix C, {said}")):
        repair(*lines)


def test_the_name_that_utils_needs_is_right_however_rare_it_is(repair: Repair, body: Body) -> None:
    recovered = repair(*UTILS, "set freq 1", "puts $freq", "puts $freq")
    assert body(recovered)[-3:] == ["set frep 1", "puts $frep", "puts $frep"]
    assert recovered.count() == {"misread-name": 3}
    assert "utils.tcl needs this name" in recovered.repairs[0].why


def test_names_that_utils_needs_are_never_taken_for_one_another(repair: Repair) -> None:
    # urep is one letter from frep, but utils.tcl needs both.
    with pytest.raises(BdpbenchError, match="uses frep, which is never set"):
        repair(*UTILS)


def test_utils_needs_what_the_rule_says() -> None:
    text = (tcl_dir() / "lib" / "utils.tcl").read_text()
    declared = set(re.findall(r"\w+", " ".join(re.findall(r"^\s*global (.*)$", text, re.M))))
    by_flow = set(re.findall(r"of_flow (\w+) \$fid", text))
    closed = set(re.findall(r"foreach name \{([\w ]+)\} \{\n\s+if \{\[array", text)[0].split())
    assert declared | by_flow | closed == ORIGINALS.helper_variables


# Four scripts by the same author, three of which set window_ and call queue-limit.
HAND = [
    PrintedScript(
        letter, letter, tuple(Line(1 + i, text) for i, text in enumerate(lines)), "thesis"
    )
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


def test_a_word_that_only_one_script_has_is_that_of_the_others(repair: Repair, body: Body) -> None:
    vocabulary = Vocabulary.of(HAND)
    recovered = repair(*(line.text for line in HAND[2].lines), vocabulary=vocabulary)
    assert body(recovered) == [
        "Agent/TCP set window_ 3",
        "$ns queue-lirnit 1 2 3",  # two letters in place of one
        "Agent/TCP set windowy_ 3",  # occurs twice
        "open a/windw_.out",  # the name of a file
    ]
    assert recovered.count() == {"misread-word": 1}


def test_words_of_the_script_s_own_variables_are_left_to_the_script(repair: Repair) -> None:
    own = ["set windw_ 3", "puts $windw_"]
    assert repair(*own, vocabulary=Vocabulary.of(HAND)).repairs == ()
