"""A study is named by its key, or by its folder, wherever that is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.paths import relative, repository_root, tcl_dir
from bdpbench.contracts.plan import study_folder
from bdpbench.errors import BdpbenchError
from bdpbench.studies import load
from bdpbench.studies.folders import ProtocolFolder
from bdpbench.studies.load import check_study, find_study, load_study, read_study
from bdpbench.studies.plan import make_plan
from bdpbench.studies.runs import expand_tier

RENO = '  Reno: {label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}\n'


@pytest.fixture
def outside(own_script: Callable[..., Path], tmp_path: Path) -> Path:
    """A study with its Tcl in a separate folder that is not part of the configuration."""
    folder = own_script().parent
    moved = tmp_path / "elsewhere" / "mine"
    moved.parent.mkdir()
    return folder.rename(moved)


def test_a_folder_is_a_study_wherever_it_lies(
    outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(outside.parent)
    for name in (str(outside), "./mine", "mine/", "mine/study.yaml", "mine"):
        assert find_study(name) == outside


def test_its_script_lies_in_its_own_folder(outside: Path) -> None:
    study = load_study(outside)
    runs = expand_tier(study, "quick")
    own = relative(outside / "tcl" / "own.tcl", tcl_dir())
    assert [run["script"] for run in runs] == [own]
    plan = make_plan(study, "quick", "0" * 16, runs, "")
    assert (plan["folder"], study_folder(plan)) == (relative(outside), outside)
    (scenario,) = plan["scenarios"].values()
    assert "time_series" not in scenario  # its runs are shown
    assert "ms" in {each["unit"] for each in plan["parameters"].values()}


def test_an_id_does_not_depend_on_where_a_study_lies(outside: Path, tmp_path: Path) -> None:
    before = [run["run_id"] for run in expand_tier(load_study(outside), "quick")]
    moved = outside.rename(tmp_path / "mine")
    assert [run["run_id"] for run in expand_tier(load_study(moved), "quick")] == before
    (moved / "tcl" / "own.tcl").write_text("puts goodbye\n")
    assert [run["run_id"] for run in expand_tier(load_study(moved), "quick")] != before


def test_a_folder_without_a_study_is_told(tmp_path: Path) -> None:
    with pytest.raises(BdpbenchError, match=r"no study\.yaml in this folder"):
        find_study(tmp_path)
    with pytest.raises(BdpbenchError, match=r"no study\.yaml in this folder"):
        find_study(tmp_path / "nowhere")


def test_a_folder_whose_results_would_be_another_s_is_refused(
    outside: Path, study_file: Callable[[str, str], Path]
) -> None:
    study_file("", "")
    with pytest.raises(BdpbenchError, match=r"whose results these would replace[\s\S]*name"):
        find_study(outside)


def test_a_study_is_read_again_only_when_it_has_changed(outside: Path) -> None:
    first = load_study(outside)
    assert load_study(outside) is first
    path = outside / "study.yaml"
    path.write_text(path.read_text().replace("A study of my own", "Another"))
    os.utime(path, ns=(0, 0))
    assert load_study(outside).title == "Another"


def test_a_law_s_folder_has_any_values_and_that_of_a_module_of_linux_whole_ones(
    study_file: Callable[[str, str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "protocol.yaml").write_text(
        "key: Mine\nlabel: M\ncolour: '#000000'\nname: M\nsummary: m\n"
        "parameters: [{symbol: b, meaning: m, variable: beta_, unit: '1', default: 1}]\n"
    )
    study_file(RENO, f"  Reno: {{folder: {folder}, settings: {{beta_: 0.5}}}}\n")
    module = folder / "tcp_mine.c"
    module.touch()
    with (folder / "protocol.yaml").open("a") as stream:
        stream.write("sender: tcp-linux\n")
    with pytest.raises(BdpbenchError, match=r"beta_: expected a whole number \(got 0\.5\)"):
        load_study("mine")
    assert ProtocolFolder(folder).base == "Agent/TCP/Linux/Module"
    module.rename(folder / "law.cc")
    assert load_study("mine").protocols["Reno"].agent.startswith("TCP/Protocol/Mine")


def test_as_many_runs_as_can_be_planned_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository_root() / "tests" / "data" / "dumbbell" / "study.yaml"
    monkeypatch.setattr(load, "MOST_RUNS", 3)  # two of a sweep, and one
    check_study(read_study(path))
    monkeypatch.setattr(load, "MOST_RUNS", 2)
    with pytest.raises(BdpbenchError, match="tier quick would have 3 runs or more, and at most 2"):
        check_study(read_study(path))
