"""Every Tcl file is complete Tcl, and sources others in a form that planning can follow."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path


def test_every_script_is_complete(
    run_ns: Callable[..., subprocess.CompletedProcess[str]], tcl_root: Path, tmp_path: Path
) -> None:
    check = tmp_path / "check.tcl"
    check.write_text(
        """
        foreach path $argv {
            set file [open $path]
            if {![info complete [read $file]]} {puts "incomplete: $path"}
            close $file
        }
        puts "checked [llength $argv]"
        """
    )
    files = sorted(tcl_root.rglob("*.tcl"))
    done = run_ns(check, *files)
    assert done.stdout == f"checked {len(files)}\n"


SOURCED = re.compile(
    r"source \[file join \[file dirname \[info script\]\]((?: [\w.]+)+)\]", re.ASCII
)


def test_files_are_sourced_in_the_one_form_that_planning_follows(tcl_root: Path) -> None:
    for path in sorted(tcl_root.rglob("*.tcl")):
        if path.parent.name == "recover":  # no scenario can name these
            continue
        for line in path.read_text().splitlines():
            if re.match(r"\s*(eval )?source\b", line):
                found = SOURCED.fullmatch(line)
                assert found, f"{path}: {line}"
                assert path.parent.joinpath(*found[1].split()).is_file(), f"{path}: {line}"


def test_parts_of_the_library_source_nothing(tcl_root: Path) -> None:
    # A script names everything that it uses. utils.tcl also has to be usable on its own.
    for path in (tcl_root / "lib").glob("*.tcl"):
        assert not re.search(r"^\s*source\b", path.read_text(), re.MULTILINE), path
