"""Variables of objects in the variant fast: what scripts see of them is what they see in stock."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script as Tcl
from tests.ns2.stock import Stock

_DATA = data_of(__file__)


SCENARIO = Path(__file__).with_name("object_variables.tcl")
COMMANDS = Path(__file__).with_name("commands.tcl")
AGENT = "set ns [new Simulator]\nset tcp [new Agent/TCP/Sack1]\n"


@pytest.fixture
def both(tcl: Tcl, stock: Stock) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run a script: its status, output and errors, which are returned, are those of stock."""

    def outcome(done: subprocess.CompletedProcess[str]) -> list[object]:
        return [done.returncode, done.stdout.splitlines(), done.stderr.splitlines()]

    def run(text: str) -> subprocess.CompletedProcess[str]:
        fast = tcl(text)
        stock.gives(outcome(fast), lambda ns: outcome(tcl(text, ns=ns)), text)
        return fast

    return run


def test_scripts_see_what_they_see_in_stock(
    both: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = both(SCENARIO.read_text())
    # The scenario went to its end and did what it is for.
    assert "$tcp cmd set" in done.stderr
    assert len(re.findall("^created ", done.stdout, re.MULTILINE)) > 80
    assert "warning: no class variable Agent/TCP/Sack1::maxcwnd_" in done.stderr
    assert 'can\'t read "nosuch_": no such variable' in done.stdout
    assert re.search(r"^write own_ now 4 at \d+ by SplitObject set own_ 4$", done.stdout, re.M)


def test_commands_of_objects_end_as_in_stock(
    both: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = both(COMMANDS.read_text())
    assert done.returncode == 0
    assert "error when calling class Agent/TCP: nosuch {a b} {}" in done.stdout
    assert 'invalid command name "_o' in done.stdout  # objects that their commands have deleted
    assert "own trace" in done.stdout
    assert "error when calling class Simulator: nosuch" in done.stdout  # what happens at the end


def test_traced_variables_and_samples_are_those_of_stock(
    both: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    lines = both(_DATA["traced"]).stdout.splitlines()
    assert sum(" cwnd_ " in line for line in lines) > 20
    assert sum(line.startswith("d ") for line in lines) > 0


def test_links_are_listed_for_nam_as_in_stock(
    both: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    lines = both(_DATA["links"]).stdout.splitlines()
    # A link made again moves to the end, and the second direction is not listed.
    assert re.fullmatch(r"simplex 2 1: (_o\d+) (_o\d+)", lines[2])
    assert [len(line.split(": ")[1].split()) for line in lines[:8]] == [1, 2, 2, 3, 3, 3, 4, 4]
    assert sum(line.startswith("l -t * -s ") for line in lines) == 4


def test_an_object_gets_the_defaults_of_the_moment_of_its_creation(tcl: Tcl) -> None:
    done = tcl(
        AGENT + "Agent/TCP set window_ 31\nset later [new Agent/TCP/Sack1]\n"
        "Agent/TCP/Sack1 set window_ 32\nset last [new Agent/TCP/Sack1]\n"
        "puts [list [$tcp set window_] [$later set window_] [$last set window_]]"
    )
    # ns-2's own default is 20 (tcl/lib/ns-default.tcl).
    assert done.stdout.split() == ["20", "31", "32"]


def test_a_value_reaches_cxx_and_comes_back_as_cxx_has_it(tcl: Tcl) -> None:
    calls = ["window_ 0x10", "window_", "cwnd_ 2.50", "cwnd_"]
    done = tcl(AGENT + "".join(f"puts [$tcp set {call}]\n" for call in calls))
    assert done.stdout.split() == ["0x10", "16", "2.50", "2.5"]


UTILS = Path(__file__).parent.parent.parent / "tcl" / "lib" / "utils.tcl"


@pytest.mark.parametrize(
    "replaced",
    [
        "",
        'SplitObject instproc sampled {name} {$self instvar $name; return "mine [set $name]"}',
        'Agent/TCP instproc sampled {name} {return "own [$self next $name]"}',
        '$tcp proc sampled {name} {return "its [$self next $name]"}',
        'Simulator instproc now {} {$self instvar scheduler_; return "0[$scheduler_ now]"}',
        'Simulator instproc at {args} {puts "at $args"; eval [$self set scheduler_] at $args}',
    ],
    ids=["kept", "all", "class", "object", "now", "at"],
)
def test_samples_are_those_of_stock(
    both: Callable[[str], subprocess.CompletedProcess[str]], replaced: str
) -> None:
    done = both(_DATA["sampling"] % (UTILS, replaced))
    assert done.returncode == 0
    assert done.stdout.count("sampled cwnd_: 0 ") == 4
    assert 'can\'t read "no_such_": no such variable' in done.stdout
    assert "at eight" in done.stdout


@pytest.mark.parametrize(
    "definition",
    [
        '{name} {\n    $self instvar $name\n    return "[set $name]!"\n}',
        "{{name cwnd_}} {\n    $self instvar $name\n    return [set $name]\n}",
        "{name args} {\n    $self instvar $name\n    return [set $name]\n}",
    ],
    ids=["body", "default", "arguments"],
)
def test_another_procedure_of_that_name_is_kept(
    both: Callable[[str], subprocess.CompletedProcess[str]], definition: str
) -> None:
    more = "[catch {$tcp sampled} answer] $answer [catch {$tcp sampled cwnd_ more} answer] $answer"
    done = both(
        f"SplitObject instproc sampled {definition}\n{AGENT}"
        f'$ns at 1 {{puts "[$tcp sampled cwnd_] {more}"; exit 0}}\n$ns run'
    )
    assert done.stdout.startswith("1")  # cwnd at the start
