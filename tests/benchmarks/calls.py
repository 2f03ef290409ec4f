"""What a call costs, and tables of the documentation that benchmarks write."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.files import sha256_of, write_text_atomically

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Cost:
    """Wall-clock and CPU time, s, with all processes that the call waited for; peak memory, MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def cost_of(command: Sequence[str], environment: Mapping[str, str] = {}) -> tuple[Cost, str]:
    """Run a command, with more environment variables; returns its cost and its output.

    Python may keep its compiled modules, as it does for a user.

    Raises:
        SystemExit: when the command fails.
    """
    given = {**os.environ, **environment}
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    before, began = _children_cpu_s(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL, env=given)
        _, status, used = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return Cost(wall_s, _children_cpu_s() - before, used.ru_maxrss / 1e3), text


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Sample:
    """One run of ns-2: CPU time (s), peak memory (MiB), and SHA-256 of every output."""

    cpu_s: float
    peak_mib: float
    outputs: Mapping[str, str]


def run(command: Sequence[str], *, below: str = ".") -> Sample:
    """One run of ns-2 in a folder of its own, with its outputs in a folder below.

    Raises:
        SystemExit: when the run fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / below).mkdir(exist_ok=True)
        # Standard error shows the simulated time each time that a second of time has passed.
        with (folder / "stdout.txt").open("w") as out, (folder / "said").open("w") as err:
            child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed:\n{(folder / 'said').read_text()}")
        written = [each for each in (folder / below).iterdir() if each.name != "said"]
        outputs = {each.name: sha256_of(each) for each in written}
    return Sample(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, outputs)


def replace_in_docs(page: str, marks: str, lines: Sequence[str]) -> None:
    """Replace what a page of docs/ has between the marks ``<!-- marks: begin -->`` and its end.

    Raises:
        SystemExit: when the page does not have them.
    """
    path = ROOT / "docs" / page
    begin, end = f"<!-- {marks}: begin -->", f"<!-- {marks}: end -->"
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{path} has no {begin} … {end}")
    write_text_atomically(path, "\n".join([before + begin, *lines, end + after]))
