"""A recovery is written whole or not at all, and never overwrites anyone else's files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.files import sha256_of
from bdpbench.errors import BdpbenchError
from bdpbench.recover import (
    RULES,
    Originals,
    Vocabulary,
    find_scripts,
    read_document,
    record_of,
    repair_script,
    write_recovery,
)
from bdpbench.recover.write import RecoveryRecord

Text = Callable[..., str]
DAMAGED = ["# Two nodes", "set ns [new Simulator]", "puts [list 1", "2]", "$ns run"]


@pytest.fixture
def record(tmp_path: Path, thesis_text: Text, originals: Originals) -> RecoveryRecord:
    path = tmp_path / "thesis.txt"
    path.write_text(thesis_text(B=DAMAGED))
    thesis = read_document(path, "thesis")
    recovered = [
        repair_script(each, originals, frozenset(), Vocabulary())
        for each in find_scripts(thesis, originals)
    ]
    return record_of(thesis, recovered, "tclsh")


def _state(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_record_has_every_rule_and_repair(tmp_path: Path, record: RecoveryRecord) -> None:
    write_recovery(tmp_path / "out", {"a.tcl": "puts 1\n"}, record)
    written = json.loads((tmp_path / "out" / "repairs.json").read_text())
    assert [rule["rule"] for rule in written["rules"]] == [rule.rule_id for rule in RULES]
    assert written["files"]["a.tcl"] == sha256_of(tmp_path / "out" / "a.tcl")
    assert written["document"]["sha256"] == sha256_of(tmp_path / "thesis.txt")
    script = written["scripts"][1]
    assert (script["heading"], script["script"]) == ("Appendix B", "standard_tcp_high_bdp.tcl")
    assert script["count"] == {"page-furniture": 1, "wrapped-command": 1}
    repair = script["repairs"][0]
    assert repair["before"] == "puts [list 1\n2]"
    assert repair["after"] == "puts [list 1 2]"
    thesis_lines = (tmp_path / "thesis.txt").read_text().splitlines()
    assert thesis_lines[repair["line"] - 1] == "puts [list 1"


def test_the_readable_form_has_them_too(tmp_path: Path, record: RecoveryRecord) -> None:
    write_recovery(tmp_path / "out", {}, record)
    text = (tmp_path / "out" / "REPAIRS.md").read_text()
    line = record["scripts"][1]["repairs"][0]["line"]
    assert "## Appendix B: `standard_tcp_high_bdp.tcl`" in text
    assert f"- line {line}, *wrapped-command*: `` puts [list 1 `` ⏎ `` 2] `` → " in text


def test_an_earlier_recovery_is_replaced(tmp_path: Path, record: RecoveryRecord) -> None:
    write_recovery(tmp_path / "out", {"a.tcl": "puts 1\n", "b.tcl": "puts 2\n"}, record)
    write_recovery(tmp_path / "out", {"a.tcl": "puts 3\n"}, record)
    assert set(_state(tmp_path / "out")) == {"a.tcl", "repairs.json", "REPAIRS.md"}
    assert (tmp_path / "out" / "a.tcl").read_text() == "puts 3\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "thesis.txt"]


def test_an_empty_folder_is_filled(tmp_path: Path, record: RecoveryRecord) -> None:
    (tmp_path / "out").mkdir()
    write_recovery(tmp_path / "out", {}, record)
    assert set(_state(tmp_path / "out")) == {"repairs.json", "REPAIRS.md"}


@pytest.mark.parametrize("change", ["a further file", "an edited script", "an edited record"])
def test_what_somebody_else_wrote_is_not_lost(
    tmp_path: Path, record: RecoveryRecord, change: str
) -> None:
    folder = tmp_path / "out"
    write_recovery(folder, {"a.tcl": "puts 1\n"}, record)
    name = {
        "a further file": "mine.tcl",
        "an edited script": "a.tcl",
        "an edited record": "repairs.json",
    }[change]
    (folder / name).write_text("precious\n")
    before = _state(folder)
    with pytest.raises(BdpbenchError, match="would be lost: nothing was written"):
        write_recovery(folder, {"a.tcl": "puts 2\n"}, record)
    assert _state(folder) == before


def test_a_folder_that_holds_a_folder_is_left_alone(tmp_path: Path, record: RecoveryRecord) -> None:
    (tmp_path / "out" / "inner").mkdir(parents=True)
    with pytest.raises(BdpbenchError, match="holds inner, which would be lost"):
        write_recovery(tmp_path / "out", {}, record)


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path, record: RecoveryRecord) -> None:
    (tmp_path / "out").write_text("precious")
    with pytest.raises(BdpbenchError, match="is a file, expected a folder"):
        write_recovery(tmp_path / "out", {}, record)
    with pytest.raises(BdpbenchError, match="cannot be written"):
        write_recovery(tmp_path / "out" / "deeper", {}, record)
    assert (tmp_path / "out").read_text() == "precious"


def test_a_folder_in_which_nobody_may_write_is_told(record: RecoveryRecord) -> None:
    with pytest.raises(BdpbenchError, match="/proc/out: cannot be written"):
        write_recovery(Path("/proc/out"), {}, record)


def test_a_failed_writing_leaves_nothing(tmp_path: Path, record: RecoveryRecord) -> None:
    # A name that no file system accepts.
    with pytest.raises(BdpbenchError, match="cannot be written: File name too long"):
        write_recovery(tmp_path / "out", {"x" * 300: ""}, record)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis.txt"]
