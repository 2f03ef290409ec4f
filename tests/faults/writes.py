"""Makes all writes of a call fail from some point on, resumes it, and checks that nothing is lost.

    BDPBENCH_HOME=.bdpbench PYTHONPATH=pipeline:. python tests/faults/writes.py --instants 40

The seed chooses the write from which on the disk is full, read-only or closed to the user, for all
processes of the call (failing_writes.c). Prints a line for each instant.
"""

from __future__ import annotations

import argparse
import errno
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.faults.calls import Workspace, make_workspace, told_badly
from tests.faults.kills import RUNS_S, Reference, faults_after_resume, reference

# The error of a failing write, and the word that its message has to contain.
FAILURES = {errno.ENOSPC: "full", errno.EROFS: "read-only", errno.EACCES: "permission"}


@dataclass(frozen=True)
class Failing:
    """The library that makes writes below a folder fail, and the file in which it counts them."""

    library: Path
    counter: Path

    def variables(self, under: Path, first: int, number: int) -> Mapping[str, str]:
        """Variables for a call that make writes fail from the ``first`` on; 0 only counts them."""
        self.counter.write_bytes(struct.pack("Q", 0))
        return {
            "LD_PRELOAD": str(self.library),
            "FAILING_WRITES_UNDER": str(under),
            "FAILING_WRITES_COUNTER": str(self.counter),
            "FAILING_WRITES_FROM": str(first),
            "FAILING_WRITES_ERRNO": str(number),
        }

    def counted(self) -> int:
        """The number of writes so far."""
        (count,) = struct.unpack("Q", self.counter.read_bytes())
        return int(count)


def make_failing(folder: Path) -> Failing:
    """Compile the library into a folder."""
    library = folder / "failing_writes.so"
    source = Path(__file__).with_name("failing_writes.c")
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return Failing(library, folder / "writes")


def writes_of_a_call(folder: Path, failing: Failing) -> int:
    """The number of writes of a whole call into its results."""
    workspace = make_workspace(folder, folder / "counted", **RUNS_S)
    status, said = workspace.run(**failing.variables(workspace.results, 0, 0))
    if status != 0:
        raise RuntimeError(said)
    return failing.counted()


def faults_of_failing_writes(
    workspace: Workspace, failing: Failing, first: int, number: int, expected: Reference
) -> list[str]:
    """Faults of a call whose writes fail, and of the one that resumes it."""
    status, said = workspace.run(**failing.variables(workspace.results, first, number))
    faults = [] if failing.counted() < first else told_badly(status, said, FAILURES[number])
    faults += workspace.survivors()
    finished = workspace.finished()
    status, resumed = workspace.run()
    return faults + faults_after_resume(workspace, expected, finished, status, resumed)


def main() -> int:
    """Test as many instants as requested; returns how many had a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instants", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        failing, expected = make_failing(folder), reference(folder)
        writes = writes_of_a_call(folder, failing)
        print(f"undisturbed: {writes} writes", flush=True)
        for seed in range(given.first_seed, given.first_seed + given.instants):
            chance = random.Random(seed)
            first, number = chance.randint(1, writes), chance.choice(list(FAILURES))
            workspace = make_workspace(folder, folder / f"results-{seed}", **RUNS_S)
            faults = faults_of_failing_writes(workspace, failing, first, number, expected)
            shutil.rmtree(workspace.results, ignore_errors=True)
            wrong += bool(faults)
            found = "; ".join(faults) or "no fault"
            print(f"seed {seed}: write {first}, {errno.errorcode[number]}: {found}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(), 1))
