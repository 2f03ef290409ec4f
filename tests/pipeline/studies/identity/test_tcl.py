"""Comments of Tcl are recognized as Tcl does; tclsh is the reference."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import strip_tcl, tcl_files

ROOT = Path(__file__).resolve().parents[4]

# Evaluates scripts and their bodies with every command replaced by a record of its words.
RECORD = r"""
fconfigure stdin -encoding utf-8 -translation lf
fconfigure stdout -encoding utf-8 -translation lf
proc record {script} {
    set child [interp create -safe]
    set ::told {}
    interp alias $child told {} lappend ::told
    $child eval {
        proc unknown args {told $args; return {}}
        rename proc make
        make proc {name arguments body} {told proc $name $arguments; eval $body}
        make namespace {verb name body} {told namespace $verb $name; eval $body}
        make set args {told [list set {*}$args]; return 0}
        make puts args {told [list puts {*}$args]}
    }
    interp limit $child command -value 2000
    set status [catch {$child eval $script}]
    interp delete $child
    return [list $status $::told]
}
foreach {one two} [read stdin] {
    set first [record $one]
    set second [record $two]
    puts [expr {$first eq $second ? "same" : [list $one $two $first $second]}]
}
"""

# Disassembles every procedure and shows every variable of a namespace; neither contains comments.
DISASSEMBLE = r"""
proc unknown args {return {}}
rename source {}
proc source args {}
set argv {}
set before [info procs]
# Without ns-2, OTcl's methods are procedures of the same name.
proc method {class verb name arguments body} {::proc ::$class.$name $arguments $body}
foreach class {SplitObject Simulator} {
    ::proc ::$class {verb name arguments body} "method $class \$verb \$name \$arguments \$body"
}
proc exit args {return -code error exit}
fconfigure stdin -encoding utf-8
# One command after another: some need what the files that are not sourced here would define.
set command ""
foreach line [split [read stdin] \n] {
    append command $line \n
    if {[info complete $command]} {
        catch {uplevel #0 $command}
        set command ""
    }
}
proc show {space} {
    global before
    foreach name [lsort [info procs ${space}::*]] {
        if {$name in {::unknown ::source ::method ::show ::exit ::SplitObject ::Simulator}
            || [string trimleft $name :] in $before} continue
        puts "proc $name [info args $name]"
        catch {::tcl::unsupported::disassemble proc $name} text
        foreach line [split $text \n] {
            if {[regexp {^\s*\(\d+\)} $line]} {puts $line}
        }
    }
    if {$space ne ""} {
        foreach name [lsort [info vars ${space}::*]] {
            if {[info exists $name]} {
                puts "variable $name [expr {
                    [array exists $name] ? [array get $name] : [set $name]}]"
            }
        }
    }
    foreach child [lsort [namespace children ${space}::]] {
        if {$child ni {::tcl ::oo ::zlib}} {show $child}
    }
}
show ""
"""


def tclsh(program: str, text: str, tmp_path: Path) -> str:
    script = tmp_path / "program.tcl"
    script.write_text(program)
    done = subprocess.run(
        ["tclsh8.6", str(script)], input=text, capture_output=True, text=True, check=True
    )
    return done.stdout


def braced(words: list[str]) -> str:
    """Words as a Tcl list."""
    escaped = ("".join(f"\\x{ord(each):02x}" for each in word) for word in words)
    return " ".join(f'"{word}"' for word in escaped)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# one\nset a 1 ;# two\n", "set a 1"),
        ("set a 1 # no comment", "set a 1 # no comment"),
        ("# goes \\\n on\nset a 1", "set a 1"),
        ("# ends \\\\\nset a 1", "set a 1"),
        ("set a \\\n;# gone", "set a"),
        ("set rows {\n    # data\n\n    one\n}", "set rows {\n    # data\n\n    one\n}"),
        ('set text "\n# data\n"', 'set text "\n# data\n"'),
        ("puts {# data}", "puts {# data}"),
        ("proc f {} {\n  # gone\n  set b {# kept}\n}", "proc f {} {\nset b {# kept}\n}"),
        ("proc f {} {\n  # gone\n}", "proc f {} {}"),
        (
            "if {1} {\n# gone\na\n} elseif {2} {\n# gone\nb\n} else {\n# gone\nc\n}",
            "if {1} {\na\n} elseif {2} {\nb\n} else {\nc\n}",
        ),
        ("if {1} then {\n# gone\na\n} {\n# gone\nb\n}", "if {1} then {\na\n} {\nb\n}"),
        ("foreach x {# kept} {\n# gone\na\n}", "foreach x {# kept} {\na\n}"),
        (
            "switch -exact -- $x {\n    one {\n# gone\na\n}\n    # {b}\n}",
            "switch -exact -- $x {\none {\na\n}\n# {\nb\n}\n}",
        ),
        ("switch $x one {\n# gone\na\n} two -", "switch $x one {\na\n} two -"),
        ("Agent instproc f {} {\n# gone\na\n}", "Agent instproc f {} {\na\n}"),
        ("namespace eval ::x {\n# gone\nvariable y {\n# kept\n}\n}", None),
        ("dict for {k v} $d {\n# gone\na\n}", "dict for {k v} $d {\na\n}"),
        (
            "for {\n# gone\na\n} {1} {\n# gone\nb\n} {\n# gone\nc\n}",
            "for {\na\n} {1} {\nb\n} {\nc\n}",
        ),
        ("catch {\n# gone\na\n} message", "catch {\na\n} message"),
        ("try {\n# gone\na\n} on error {x y} {\n# gone\nb\n}", None),
        ("set x [lindex {\n# kept\n} 0]", "set x [lindex {\n# kept\n} 0]"),
        ("set x $y(# kept); a", "set x $y(# kept)\na"),
        ("a {*}{# kept} b", "a {*}{# kept} b"),
        ("eval proc f {} {\n# kept\n}", "eval proc f {} {\n# kept\n}"),
        ("half {\n# kept", "half {\n# kept"),
        ('half "\n# kept', 'half "\n# kept'),
    ],
)
def test_what_is_a_comment(text: str, expected: str | None, tmp_path: Path) -> None:
    stripped = strip_tcl(text)
    assert "gone" not in stripped
    assert stripped.count("kept") == text.count("kept")
    if expected is not None:
        assert stripped == expected
    assert strip_tcl(stripped) == stripped


def test_stripped_files_define_the_same_procedures_and_tables(tmp_path: Path) -> None:
    for path in (ROOT / "tcl").rglob("*.tcl"):
        text = path.read_text()
        stripped = strip_tcl(text)
        before = tclsh(DISASSEMBLE, text, tmp_path)
        assert tclsh(DISASSEMBLE, stripped, tmp_path) == before, path
        assert before.count("proc ") >= text.count("\nproc "), path
        assert len(stripped) < len(text), path


# ---------------------------------------------------------------- any text at all

PIECES = [
    *("set a 1", "puts", "x", "proc f {} ", "if {1} ", "foreach i {1 2} ", "catch ", "switch a "),
    *("{", "}", "[", "]", '"', "#", "# one", ";", "\n", "\\\n", "\\", " ", "$", "$a(", ")", "{*}"),
    *("namespace eval n ", "else ", "while 0 ", "eval ", "\n\n", "a ", "{# x}", "{\n# x\n}"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@examples(5)
@given(batch=st.lists(texts, min_size=40, max_size=80))
def test_tcl_runs_the_same_commands_without_comments(batch: list[str], tmp_path: Path) -> None:
    pairs = [word for text in batch for word in (text, strip_tcl(text))]
    told = tclsh(RECORD, braced(pairs), tmp_path)
    assert told == "same\n" * len(batch)


# Scripts as lists of commands, written with and without comments and blank lines.
plain = st.sampled_from(
    ["set a 1", "puts {# kept}", 'puts "# kept ; # kept"', "set t {\n# kept\n\nrow\n}", "$ns run"]
)
remark = st.sampled_from(["", "# gone\n", "\n\n", "    \n# gone { \\\n gone }\n", ";# gone\n"])


def block(commands: st.SearchStrategy[tuple[str, str]]) -> st.SearchStrategy[tuple[str, str]]:
    heads = st.sampled_from(
        ["proc f {a} ", "if {$a} ", "foreach i {1 # 2} ", "namespace eval ::n ", "catch "]
    )
    return st.builds(
        lambda head, inner: (f"{head}{{\n{inner[0]}\n}}", f"{head}{{\n{inner[1]}\n}}"),
        heads,
        st.builds(join, st.lists(st.tuples(remark, commands), min_size=1, max_size=3)),
    )


def join(parts: list[tuple[str, tuple[str, str]]]) -> tuple[str, str]:
    decorated = "".join(f"{remark}  {command[0]} ;# gone\n" for remark, command in parts)
    return decorated, "\n".join(command[1] for _, command in parts)


command = st.recursive(plain.map(lambda each: (each, each)), block, max_leaves=8)
script = st.builds(join, st.lists(st.tuples(remark, command), min_size=1, max_size=5))


@given(script)
def test_comments_and_blank_lines_leave_no_trace(both: tuple[str, str]) -> None:
    decorated, bare = both
    assert strip_tcl(decorated) == bare


# ---------------------------------------------------------------- files

BESIDE = "source [file join [file dirname [info script]] "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BDPBENCH_ROOT", str(tmp_path))
    (tmp_path / "tcl" / "lib").mkdir(parents=True)
    (tmp_path / "tcl" / "lib" / "one.tcl").write_text(f"{BESIDE}two.tcl]\nset one 1\n")
    (tmp_path / "tcl" / "lib" / "two.tcl").write_text("set two 2\n")
    (tmp_path / "study" / "tcl").mkdir(parents=True)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "tcl" / "script.tcl"
    path.write_text(text)
    return path


def names(files: list[Path], folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in files]


def test_files_come_in_the_order_of_sourcing_each_once(folder: Path) -> None:
    script = write(folder, f"{BESIDE}lib one.tcl]\n{BESIDE}lib two.tcl]\n{BESIDE}lib/one.tcl]\n")
    found = names(tcl_files(script), folder)
    assert found == ["tcl/script.tcl", "tcl/lib/one.tcl", "tcl/lib/two.tcl"]


def test_a_study_outside_the_checkout_reaches_the_library(folder: Path) -> None:
    script = folder / "study" / "tcl" / "own.tcl"
    script.write_text("source [file join $::env(BDPBENCH_TCL) lib two.tcl]\n")
    assert names(tcl_files(script), folder) == ["study/tcl/own.tcl", "tcl/lib/two.tcl"]


def test_files_that_source_one_another_are_named_once(folder: Path) -> None:
    (folder / "tcl" / "lib" / "two.tcl").write_text(f"{BESIDE}one.tcl]\n")
    script = write(folder, f"{BESIDE}lib one.tcl]\n")
    assert len(tcl_files(script)) == 3


@pytest.mark.parametrize(
    "text",
    [
        f"# {BESIDE}lib one.tcl]\n",
        'puts "the source of packets"\n',
        "set source [new Application/Traffic/CBR]\n$source start\n",
        "set table {\n    # source is a word here\n}\n",
        "$ns at 1 {$source start}\n",
    ],
)
def test_what_sources_nothing_of_its_own(text: str, folder: Path) -> None:
    script = write(folder, text)
    assert tcl_files(script) == [script]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("set a 1\nsource other.tcl\n", 2),
        ("\n\nsource $file\n", 3),
        ("source $argv0\n", 1),
        ("source [file join $folder one.tcl]\n", 1),
        (f"foreach part {{one}} {{\n    {BESIDE}lib $part.tcl]\n}}\n", 2),
        (f"if {{1}} {{\n    {BESIDE}lib one.tcl]\n}}\n", 2),
        ("proc load {} {\n\n    source [file join a b.tcl]\n}\n", 3),
        ("uplevel #0 source [file join a b.tcl]\n", 1),
        ("eval {source other.tcl}\n", 1),
        ("set x [source other.tcl]\n", 1),
        ("::source other.tcl\n", 1),
        ("source\n", 1),
    ],
)
def test_other_forms_are_refused_with_file_and_line(text: str, line: int, folder: Path) -> None:
    script = write(folder, text)
    with pytest.raises(BdpbenchError, match="cannot determine which file this sources") as told:
        tcl_files(script)
    assert told.value.where == f"{script}:{line}"
    assert "[file dirname [info script]]" in told.value.hint


def test_a_missing_file_is_told_where_it_is_sourced(folder: Path) -> None:
    script = write(folder, f"set a 1\n{BESIDE}lib three.tcl]\n")
    with pytest.raises(BdpbenchError, match=r"no such Tcl file: .*three\.tcl") as told:
        tcl_files(script)
    assert told.value.where == f"{script}:2"


def test_a_missing_script_is_told(folder: Path) -> None:
    with pytest.raises(BdpbenchError, match=r"no such Tcl file: .*none\.tcl"):
        tcl_files(folder / "none.tcl")


def test_half_a_script_is_told(folder: Path) -> None:
    script = write(folder, "proc half {} {\n")
    with pytest.raises(BdpbenchError, match="is not a Tcl script: missing close-brace"):
        tcl_files(script)
