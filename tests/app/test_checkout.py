"""The commit that results are said to come from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bdpbench.app.keep.results import commit_of


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit."""
    root = tmp_path / "checkout"
    (root / "pipeline").mkdir(parents=True)
    (root / "reports" / "published").mkdir(parents=True)
    (root / "pipeline" / "a.py").write_text("1\n")
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "one")
    return root


def _git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=N. N.", "-c", "user.email=nobody@example.org")
    return subprocess.run(
        ["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_the_commit_is_told_and_what_differs_from_it(repository: Path) -> None:
    commit = _git(repository, "rev-parse", "HEAD")
    assert commit_of(repository) == commit
    (repository / "pipeline" / "a.py").write_text("2\n")
    assert commit_of(repository) == f"{commit}+"


def test_published_results_and_other_files_are_no_change_of_the_sources(repository: Path) -> None:
    (repository / "reports" / "published" / "report.html").write_text("new")
    (repository / "notes.txt").write_text("new")
    assert not commit_of(repository).endswith("+")


def test_without_a_repository_there_is_no_commit(repository: Path, tmp_path: Path) -> None:
    assert commit_of(tmp_path) == ""
    # A folder inside some repository, such as unpacked sources, must not get that one's commit.
    assert commit_of(repository / "pipeline") == ""
