"""The program from the command line: eight scripts, or one clear error and nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tcl.sharma2006.recover.__main__ import main

from bdpbench.contracts.paths import tcl_dir

Text = Callable[..., str]
DAMAGED = ["# Two nodes", "set ns [new Simulator]", "puts [list 1", "2]", "$ns run"]


Recover = Callable[..., Result]


@pytest.fixture
def recover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """Call the program in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, arguments)


def _write(folder: Path, text: str) -> None:
    (folder / "thesis.txt").write_text(text)


def test_scripts_and_repairs_are_written(
    tmp_path: Path, recover: Recover, thesis_text: Text
) -> None:
    _write(tmp_path, thesis_text(B=DAMAGED))
    done = recover("thesis.txt", "-o", "deep/originals")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "Appendix A -> standard_tcp_low_bdp.tcl: 1 page-furniture"
    assert "B -> standard_tcp_high_bdp.tcl: 1 page-furniture, 1 wrapped-command" in lines[1]
    # A fence that ends each of the eight listings, and the line that was wrapped.
    assert lines[-1] == "9 repairs, listed in deep/originals/REPAIRS.md"
    folder = tmp_path / "deep" / "originals"
    assert (folder / "standard_tcp_high_bdp.tcl").read_text() == (
        "# Two nodes\nset ns [new Simulator]\nputs [list 1 2]\n$ns run\n"
    )
    assert (folder / "utils.tcl").read_bytes() == (tcl_dir() / "lib" / "utils.tcl").read_bytes()
    assert len(list(folder.glob("*.tcl"))) == 8 + 1
    assert len(json.loads((folder / "repairs.json").read_text())["scripts"]) == 8


def test_all_refusals_are_told_together(
    tmp_path: Path, recover: Recover, thesis_text: Text
) -> None:
    _write(tmp_path, thesis_text().replace("set ns", "sot ns", 2))
    done = recover("thesis.txt", "-o", "out")
    assert "Appendix A, line 12" in done.stderr
    assert "Appendix B, line 22" in done.stderr


def test_without_any_tcl_interpreter_the_way_out_is_told(
    tmp_path: Path, recover: Recover, thesis_text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, thesis_text())
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in map(Path, ("/bin", "/usr/bin")):
        for path in folder.iterdir():
            if not path.name.startswith("tclsh") and not (tools / path.name).exists():
                (tools / path.name).symlink_to(path)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path / "home"))
    done = recover("thesis.txt", "-o", "out")
    assert done.exit_code == 1
    assert "neither tclsh nor ns-2" in done.stderr
    assert "./bdpbench ns2 build" in done.stderr
    assert not (tmp_path / "out").exists()
