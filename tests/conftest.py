"""Fixtures that tests of several rooms share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def ns_binary() -> Path:
    """The ns-2 under test: $BDPBENCH_NS, else the build that the sources in ns2/ ask for."""
    if given := os.environ.get("BDPBENCH_NS"):
        binary = Path(given)
    else:
        build_id = subprocess.run(
            ["bash", "ns2/build.sh", "--print-id"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        binary = ROOT / ".bdpbench" / "ns2" / build_id / "ns"
    if not binary.is_file():
        pytest.fail(f"no ns-2 at {binary}: run `./bdpbench test`, which builds it")
    return binary
