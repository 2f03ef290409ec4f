"""`bdpbench test`: the project's tests, with what they need in place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from bdpbench.contracts.paths import repository_root
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import current_build_id, require_build


def run_tests(arguments: Sequence[str]) -> int:
    """Build ns-2 if need be and run pytest; returns its exit status."""
    build_id = current_build_id()
    NativeBackend(build_id).build()
    environment = {
        **os.environ,
        "BDPBENCH_NS": str(require_build(build_id).binary),
        "BDPBENCH_REQUIRE_NS2": "1",
    }
    workers = str(len(os.sched_getaffinity(0)))
    command = [sys.executable, "-m", "pytest", "-n", workers, "--dist", "loadfile"]
    return subprocess.run(
        [*command, *arguments], cwd=repository_root(), env=environment, check=False
    ).returncode
