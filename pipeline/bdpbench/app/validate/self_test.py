"""`bdpbench test`: runs the project's tests with everything that they need."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from bdpbench.contracts.paths import checkout_root
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import current_build_id, require_build

VARIANT = "fast"
"""The variant that is tested, whichever runs use; tests compare others with it."""


def run_tests(arguments: Sequence[str]) -> int:
    """Build ns-2 if necessary and run pytest; returns its exit status.

    Raises:
        BdpbenchError: when there is no checkout, which contains the tests.
    """
    root = checkout_root()
    build_id = current_build_id(VARIANT)
    NativeBackend(build_id, VARIANT).build()
    environment = {
        **os.environ,
        "BDPBENCH_NS": str(require_build(build_id).binary),
        "BDPBENCH_REQUIRE_NS2": "1",
        # The workers keep all processors busy, and tables in tests are small: more threads would
        # cost a fifth.
        "POLARS_MAX_THREADS": "1",
    }
    # Tests start hundreds of processes, each of which would compile the pipeline again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [*_pytest(), *arguments], cwd=root, env=environment, check=False
    ).returncode


def _pytest() -> list[str]:
    """Run pytest with one worker more than there are processors, because tests also wait.

    On two processors, three workers took 147 s, two 165 s, and four 152 s. Files go to the workers
    in the order of collection, so that tests/app, whose tests take longest, comes first and the
    workers end together.
    """
    workers = str(len(os.sched_getaffinity(0)) + 1)
    distribution = ["-n", workers, "--dist", "loadfile", "--no-loadscope-reorder"]
    return [sys.executable, "-m", "pytest", *distribution]
