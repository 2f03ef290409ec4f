"""`recover` from the command line: eight scripts, or one clear error and nothing written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Done

from bdpbench.contracts.paths import config_dir, tcl_dir

Text = Callable[..., str]
DAMAGED = ["# Two nodes", "set ns [new Simulator]", "puts [list 1", "2]", "$ns run"]


Recover = Callable[..., Done]


@pytest.fixture
def recover(bdpbench: Recover) -> Recover:
    """Call `bdpbench recover` in the folder of the test."""
    return lambda *arguments: bdpbench("recover", *arguments)


def _write(folder: Path, text: str) -> None:
    (folder / "thesis.txt").write_text(text)


def test_scripts_and_repairs_are_written(
    tmp_path: Path, recover: Recover, thesis_text: Text
) -> None:
    _write(tmp_path, thesis_text(B=DAMAGED))
    done = recover("thesis.txt", "-o", "deep/originals")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
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


def test_the_study_calls_the_scripts_by_the_names_that_they_get(
    tmp_path: Path, recover: Recover, thesis_text: Text
) -> None:
    _write(tmp_path, thesis_text())
    recover("thesis.txt", "-o", "out")
    study = (config_dir() / "studies" / "sharma2006" / "study.yaml").read_text()
    called = set(re.findall(r"original:\n +script: (\S+)", study))
    assert len(called) == 8
    assert {path.name for path in (tmp_path / "out").glob("*.tcl")} == called | {"utils.tcl"}


def test_all_refusals_are_told_together(
    tmp_path: Path, recover: Recover, thesis_text: Text
) -> None:
    _write(tmp_path, thesis_text().replace("set ns", "sot ns", 2))
    done = recover("thesis.txt", "-o", "out")
    assert "Appendix A, line 12" in done.err
    assert "Appendix B, line 22" in done.err


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
    assert done.code == 1
    assert "neither tclsh nor ns-2" in done.err
    assert "./bdpbench ns2 build" in done.err
    assert not (tmp_path / "out").exists()
