"""A recovery is checked by Tcl's own parser and written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tcl.sharma2006.recover.__main__ import tcl_interpreter
from tcl.sharma2006.recover.listing import Vocabulary
from tcl.sharma2006.recover.printed import SCRIPTS, find_scripts, read_document
from tcl.sharma2006.recover.recovery import Recovery, check_scripts, repair_script, write_recovery
from tcl.sharma2006.recover.rules import RULES

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError

Text = Callable[..., str]
DAMAGED = ["# Two nodes", "set ns [new Simulator]", "puts [list 1", "2]", "$ns run"]


Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, thesis_text: Text) -> Write:
    """Write the recovery of a thesis with one wrapped line, and a helper, into a folder."""
    path = tmp_path / "thesis.txt"
    path.write_text(thesis_text(B=DAMAGED))
    copy = read_document(path)
    scripts = find_scripts(copy)
    for each in scripts:
        repair_script(each, frozenset(), Vocabulary())

    def call(folder: Path) -> None:
        write_recovery(Recovery(copy, scripts, "puts 1\n", "tclsh"), folder)

    return call


def test_the_record_has_every_rule_and_repair(tmp_path: Path, write: Write) -> None:
    out = tmp_path / "out"
    write(out)
    written = json.loads((out / "repairs.json").read_text())
    assert [rule["rule"] for rule in written["rules"]] == [rule.rule_id for rule in RULES]
    assert written["files"]["utils.tcl"] == sha256_of(out / "utils.tcl")
    assert written["document"]["sha256"] == sha256_of(tmp_path / "thesis.txt")
    script = written["scripts"][1]
    assert (script["heading"], script["script"]) == ("Appendix B", "standard_tcp_high_bdp.tcl")
    assert script["count"] == {"page-furniture": 1, "wrapped-command": 1}
    repair = script["repairs"][0]
    assert repair["before"] == "puts [list 1\n2]"
    assert repair["after"] == "puts [list 1 2]"
    thesis_lines = (tmp_path / "thesis.txt").read_text().splitlines()
    assert thesis_lines[repair["line"] - 1] == "puts [list 1"
    text = (out / "REPAIRS.md").read_text()
    assert "## Appendix B: `standard_tcp_high_bdp.tcl`" in text
    assert f"- line {repair['line']}, *wrapped-command*: `` puts [list 1 `` ⏎ `` 2] `` → " in text


def test_a_folder_is_filled_once_or_not_at_all(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    write(out)
    written = {path.name: path.read_bytes() for path in out.iterdir()}
    assert set(written) == {"utils.tcl", "repairs.json", "REPAIRS.md", *SCRIPTS.values()}
    assert written["utils.tcl"] == b"puts 1\n"
    (tmp_path / "file").write_text("precious")
    for folder, said in {
        out: "is not empty: nothing was written",
        tmp_path / "file": "is a file, expected a folder",
        tmp_path / "file" / "deeper": "cannot be written",
        Path("/proc/out"): "/proc/out: cannot be written",
    }.items():
        with pytest.raises(BdpbenchError, match=said):
            write(folder)
    # A name that no file system accepts.
    monkeypatch.setattr("tcl.sharma2006.recover.recovery.HELPER_NAME", "x" * 300)
    with pytest.raises(BdpbenchError, match="cannot be written: File name too long"):
        write(tmp_path / "other")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "thesis.txt", "file"}
    assert {path.name: path.read_bytes() for path in out.iterdir()} == written
    assert (tmp_path / "file").read_text() == "precious"


# ---------------------------------------------------------------- Tcl's parser


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
