"""Tcl's own parser finds invalid Tcl, also inside blocks, and runs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.app.recovering import tcl_interpreter
from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError
from bdpbench.recover import check_scripts


@pytest.fixture(params=["tclsh", "ns"])
def interpreter(request: pytest.FixtureRequest, ns_binary: Path) -> Path:
    if request.param == "ns":
        return ns_binary
    return tcl_interpreter()


@pytest.mark.parametrize(
    ("lines", "line", "said"),
    [
        (["puts a", "set a [list 1"], 2, "never closed"),
        (["puts a", 'puts "b'], 2, "never closed"),
        (["puts a", "if {1} {", "puts b"], 2, "never closed"),
        (["puts a", "}"], 2, "no opening one"),
        (["puts a]"], 1, "]"),
        (["if {1} {", "    puts a", "}else {", "}"], 1, "extra characters after close-brace"),
        (["if {1} {", "    puts a", "} esle {", "}"], 1, "not 'esle'"),
        (["proc a {} {", "", '    puts "b"c', "}"], 3, "extra characters after close-quote"),
        (
            ["if {1} {", "    puts a", "} else {", "    foreach x {1} {", "        puts {a}b",
             "    }", "}"],
            5,
            "extra characters after close-brace",
        ),
    ],
)  # fmt: skip
def test_what_is_no_tcl_is_told_with_its_line(
    interpreter: Path, tmp_path: Path, lines: list[str], line: int, said: str
) -> None:
    path = tmp_path / "script.tcl"
    path.write_text("\n".join(lines) + "\n")
    problem = check_scripts(interpreter, [path])[0]
    assert (problem.path, problem.line) == (path, line)
    assert said in problem.message


def test_bdpbench_s_own_scripts_are_tcl(interpreter: Path) -> None:
    assert check_scripts(interpreter, sorted((tcl_dir() / "sharma2006").glob("*.tcl"))) == []


def test_nothing_is_run(interpreter: Path, tmp_path: Path) -> None:
    path = tmp_path / "script.tcl"
    path.write_text(f"set f [open {tmp_path / 'made'} w]\nif {{[exit 3]}} {{\n    exit 4\n}}\n")
    assert check_scripts(interpreter, [path]) == []
    assert not (tmp_path / "made").exists()


def test_an_interpreter_that_fails_is_told(tmp_path: Path) -> None:
    path = tmp_path / "script.tcl"
    path.write_text("puts a\n")
    with pytest.raises(BdpbenchError, match="could not parse the scripts"):
        check_scripts(Path("/bin/false"), [path])
    with pytest.raises(BdpbenchError, match="could not parse the scripts"):
        check_scripts(tmp_path / "nothing", [path])
