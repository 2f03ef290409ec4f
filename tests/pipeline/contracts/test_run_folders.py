"""Where runs are: in 256 folders."""

from __future__ import annotations

import re
from pathlib import Path

from bdpbench.contracts.paths import repository_root, run_folder, run_folders, runs_folder_of

RUN, OTHER = "ab12cd34ef567890", "ab99cd34ef567890"


def finish(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").touch()


def test_a_run_lies_in_the_folder_of_its_first_two_digits(tmp_path: Path) -> None:
    assert run_folder(tmp_path, RUN) == tmp_path / "ab" / RUN
    finish(tmp_path / "ab" / RUN)
    assert run_folder(tmp_path, RUN) == tmp_path / "ab" / RUN


def test_all_runs_are_found_once(tmp_path: Path) -> None:
    assert list(run_folders(tmp_path / "none")) == []
    finish(tmp_path / "ab" / RUN)
    finish(tmp_path / "ab" / OTHER)
    (tmp_path / "cd" / "cd000000").mkdir(parents=True)
    (tmp_path / "cd" / "a file").touch()
    found = [tmp_path / "ab" / RUN, tmp_path / "ab" / OTHER, tmp_path / "cd" / "cd000000"]
    assert list(run_folders(tmp_path)) == found
    assert {runs_folder_of(each) for each in found} == {tmp_path}


def test_nothing_else_decides_where_a_run_lies() -> None:
    joined = re.compile(r'/ "runs"|/ run_id\b|/ \w+\["run_id"\]')
    package = repository_root() / "pipeline" / "bdpbench"
    assert not [path for path in package.rglob("*.py") if joined.search(path.read_text())]
