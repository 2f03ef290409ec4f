"""Fixtures that tests of several rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bdpbench.ns2.build import build_prefix, current_build_id


@pytest.fixture(scope="session")
def ns_binary() -> Path:
    """The ns-2 under test: $BDPBENCH_NS, else the build that the sources in ns2/ ask for."""
    if given := os.environ.get("BDPBENCH_NS"):
        binary = Path(given)
    else:
        binary = build_prefix() / current_build_id() / "ns"
    if not binary.is_file():
        pytest.fail(f"no ns-2 at {binary}: run `./bdpbench test`, which builds it")
    return binary
