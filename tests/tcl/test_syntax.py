"""Every Tcl file is complete Tcl, and each scenario script stands where the study looks for it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

SCRIPTS = {
    "standard_tcp_low_bdp",
    "standard_tcp_high_bdp",
    "single_flow",
    "single_drop",
    "buffer_size",
    "rtt",
    "two_flows_rtt",
    "inter_protocol",
}


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


def test_there_is_a_script_for_every_appendix(tcl_root: Path) -> None:
    assert {path.stem for path in (tcl_root / "sharma2006").glob("*.tcl")} == SCRIPTS


def test_utils_sources_nothing(tcl_root: Path) -> None:
    text = (tcl_root / "lib" / "utils.tcl").read_text()
    code = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert not any(line.split()[:1] == ["source"] for line in code)
