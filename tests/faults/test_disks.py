"""One size of ``disks.py``, and a read-only disk, where disks can be mounted (as root)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.faults.calls import make_workspace
from tests.faults.disks import disk, faults_of_full_disk, faults_of_read_only_disk

# No run starts with less than 4 MiB left, and two runs of the study leave 0.3 MiB and more.
SIZE_MIB = 4.25


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts disks")
def test_a_disk_that_takes_no_more_is_told_in_one_message(tmp_path: Path, ns_binary: Path) -> None:
    workspace = make_workspace(tmp_path, tmp_path / "results")
    with disk(workspace.results, SIZE_MIB):
        assert faults_of_full_disk(workspace, [SIZE_MIB]) == []
        assert faults_of_read_only_disk(workspace) == []
