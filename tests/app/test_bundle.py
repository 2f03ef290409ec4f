"""Kept results name their commit, and contain no path of this machine, wherever the study is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bdpbench.app.keep.tier import commit_of, portable
from bdpbench.contracts.paths import relative, repository_root

STUDY = Path("/home/someone/studies/mine")


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("tcl/network.tcl", "tcl/network.tcl"),
        (relative(STUDY), "config/studies/mine"),
        (f"{STUDY}", "config/studies/mine"),
        (f"{STUDY}/tcl/own.tcl", "config/studies/mine/tcl/own.tcl"),
        (f"{repository_root()}/tcl/lib/args.tcl", "tcl/lib/args.tcl"),
        (f"{STUDY}-2/tcl/own.tcl", "scripts/own.tcl"),
    ],
)
def test_paths_of_study_and_checkout_are_relative_and_others_keep_their_name(
    path: str, kept: str
) -> None:
    assert portable(path, STUDY) == kept


def test_the_commit_is_told_and_whether_sources_differ_from_it(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    code, report = root / "pipeline" / "a.py", root / "reports" / "published" / "report.html"
    for path in (code, report):
        path.parent.mkdir(parents=True)
    code.write_text("1\n")
    for command in (["init"], ["add", "-A"], ["commit", "-m", "one"]):
        who = ("-c", "user.name=N. N.", "-c", "user.email=nobody@example.org")
        subprocess.run(["git", *who, *command], cwd=root, check=True, capture_output=True)
    commit = commit_of(root)
    assert len(commit) == 40
    # Published results and other files are no change of the sources.
    report.write_text("new")
    (root / "notes.txt").write_text("new")
    assert commit_of(root) == commit
    code.write_text("2\n")
    assert commit_of(root) == f"{commit}+"
    assert commit_of(tmp_path) == ""
    # A folder inside some repository, such as unpacked sources, must not get that one's commit.
    assert commit_of(root / "pipeline") == ""
