"""Two studies at once where everything is missing that a run can do without (environments.py)."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.faults.environments import CONDITIONS, Environment, faults_of


def _may_unshare() -> bool:
    command = ["unshare", "--net", "--mount", "true"]
    return os.geteuid() == 0 and subprocess.run(command, check=False).returncode == 0


@pytest.mark.skipif(not _may_unshare(), reason="only root takes networks and disks away")
def test_two_studies_run_at_once_where_much_is_missing(ns_binary: Path) -> None:
    # pytest's own folder is closed to other users.
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        environment = Environment(Path(name), frozenset(CONDITIONS))
        assert faults_of(environment, ("mine", "yours")) == []
