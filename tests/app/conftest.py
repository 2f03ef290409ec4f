from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root

Workspace = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A configuration with the study of tests/data/dumbbell, and an empty results folder."""
    studies = tmp_path / "config" / "studies"
    shutil.copytree(repository_root() / "tests" / "data" / "dumbbell", studies / "dumbbell")
    config = (repository_root() / "config" / "config.yaml").read_text()
    (tmp_path / "config" / "config.yaml").write_text(
        config.replace("study: sharma2006", "study: dumbbell")
    )
    return tmp_path


@pytest.fixture
def bdpbench(workspace: Path, ns_binary: Path) -> Workspace:
    """Run bdpbench in the workspace; ns-2 is the real one."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bdpbench", *arguments],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": str(repository_root() / "pipeline"),
                "BDPBENCH_CONFIG": str(workspace / "config"),
                "BDPBENCH_RESULTS": str(workspace / "results"),
            },
            check=False,
        )

    return run
