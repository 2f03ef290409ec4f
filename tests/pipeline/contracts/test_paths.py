"""Where an installed bdpbench keeps its files; tests/app/test_installed.py runs one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bdpbench.app.keep import tier
from bdpbench.contracts import paths
from bdpbench.contracts.paths import repository_root, run_folder
from bdpbench.errors import BdpbenchError


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty home folder for a user whose bdpbench was installed with pip."""
    for module in (paths, tier):
        monkeypatch.setattr(module, "is_installed", lambda: True)
    for name in ("BDPBENCH_HOME", "BDPBENCH_RESULTS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_builds_go_to_the_cache_folder(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths.home_dir() == installed / ".cache" / "bdpbench"
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed / "cache"))
    assert paths.home_dir() == installed / "cache" / "bdpbench"
    # "All paths set in these environment variables must be absolute. If an implementation
    # encounters a relative path [...] it should consider the path invalid and ignore it."
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert paths.home_dir() == installed / ".cache" / "bdpbench"
    monkeypatch.setenv("BDPBENCH_HOME", "here")
    assert paths.home_dir() == installed / "here"


def test_results_go_below_the_current_folder(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paths.results_dir("results") == installed / "results"
    monkeypatch.setenv("BDPBENCH_RESULTS", str(installed / "mine"))
    assert paths.results_dir("results") == installed / "mine"


def test_nothing_is_written_into_the_package(installed: Path) -> None:
    with pytest.raises(BdpbenchError, match="this one was installed with pip") as raised:
        paths.checkout_root()
    assert "-o" in raised.value.hint


def test_pip_knows_the_commit_of_a_repository(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document is the one of PEP 610, which pip writes for `pip install git+https://...`."""
    assert tier.commit_of(paths.repository_root()) == ""
    info = installed / "bdpbench-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bdpbench\nVersion: 1.0\n")
    commit = "7921be1537eac1e97bc40179a57f0349c2aee67d"
    vcs = {"vcs": "git", "requested_revision": "1.3.1", "commit_id": commit}
    document = {"url": "https://github.com/pypa/pip.git", "vcs_info": vcs}
    (info / "direct_url.json").write_text(json.dumps(document))
    monkeypatch.syspath_prepend(installed)
    assert tier.commit_of(paths.repository_root()) == commit


# ---------------------------------------------------------------- folders of runs

RUN = "ab12cd34ef567890"


def finish(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").touch()


def test_a_run_lies_in_the_folder_of_its_first_two_digits(tmp_path: Path) -> None:
    assert run_folder(tmp_path, RUN) == tmp_path / "ab" / RUN
    finish(tmp_path / "ab" / RUN)
    assert run_folder(tmp_path, RUN) == tmp_path / "ab" / RUN


def test_nothing_else_decides_where_a_run_lies() -> None:
    joined = re.compile(r'/ "runs"|/ run_id\b|/ \w+\["run_id"\]')
    package = repository_root() / "pipeline" / "bdpbench"
    assert not [path for path in package.rglob("*.py") if joined.search(path.read_text())]
