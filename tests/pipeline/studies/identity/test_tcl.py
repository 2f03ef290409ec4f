"""Which Tcl files a script sources: all of them are found, or the script is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import tcl_files

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
