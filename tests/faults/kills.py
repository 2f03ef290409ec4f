"""Kills a call at random instants, resumes it, and checks that nothing is lost, left or changed.

    BDPBENCH_HOME=.bdpbench PYTHONPATH=pipeline:. python tests/faults/kills.py --instants 200

Prints a line for each instant, and the table of README.md.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.faults.calls import BY_SNAKEMAKE, Workspace, make_workspace

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TARGETS = ("call", "group", "Snakemake", "stage", "ns-2")
SURVIVE_S = 5.0
# The kills test bdpbench, and ns-2 only incidentally: simulations may be a small part of a call.
RUNS_S = {"plain_s": 80, "streamed_s": 30}


@dataclass(frozen=True)
class Reference:
    """The result of an undisturbed call, and its duration, s."""

    checksums: dict[str, str]
    times: dict[str, dict[str, object]]
    report: bytes
    took_s: float


@dataclass(frozen=True)
class Kill:
    """What was done to a call, and the faults found afterwards."""

    seed: int
    number: signal.Signals
    target: str
    after_s: float
    faults: tuple[str, ...]


def reference(folder: Path) -> Reference:
    """Run the study to its end, undisturbed."""
    workspace = make_workspace(folder, folder / "reference", **RUNS_S)
    began = time.monotonic()
    status, said = workspace.run()
    if status != 0:
        raise RuntimeError(said)
    took_s = time.monotonic() - began
    report = (workspace.tier / "report.html").read_bytes()
    return Reference(workspace.checksums(), workspace.times(), report, took_s)


def kill_once(folder: Path, seed: int, expected: Reference) -> Kill:
    """Test one instant, target and signal, chosen by ``seed``; odd seeds involve Snakemake."""
    chance = random.Random(seed)
    number, target = chance.choice(SIGNALS), chance.choice(TARGETS)
    after_s = chance.uniform(0, expected.took_s)
    workspace = Workspace(folder / "config", folder / f"results-{seed}")  # as in the reference
    with workspace.start(*(BY_SNAKEMAKE if seed % 2 else ())) as call:
        time.sleep(after_s)
        hit = _hit(workspace, call, target, number)
        faults = list(_after_kill(workspace, call))
    finished = workspace.finished()
    status, said = workspace.run()
    faults += faults_after_resume(workspace, expected, finished, status, said)
    shutil.rmtree(workspace.results, ignore_errors=True)
    return Kill(seed, number, hit, after_s, tuple(faults))


def _hit(
    workspace: Workspace, call: subprocess.Popen[str], target: str, number: signal.Signals
) -> str:
    """Send the signal; returns its target, which is the call itself if there is no other just now.

    If the target is ns-2, wait until there is one.
    """
    with suppress(ProcessLookupError):
        if target == "group":
            os.killpg(call.pid, number)
            return target
        while call.poll() is None:
            for pid, command in workspace.processes().items():
                if target == _role(command):
                    os.kill(pid, number)
                    return target
            if target != "ns-2":
                break
            time.sleep(0.02)
        os.kill(call.pid, number)
    return "call"


def _role(command: str) -> str:
    if "snakemake" in command:
        return "Snakemake"
    if command.split(" ")[0].endswith("/ns"):
        return "ns-2"
    return "stage" if "-m bdpbench simulate " in command else ""


def _after_kill(workspace: Workspace, call: subprocess.Popen[str]) -> list[str]:
    """Violations of what holds after a kill: no hang, processes, locks or traceback."""
    faults = []
    try:
        said, _ = call.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(call.pid, signal.SIGKILL)
        said, _ = call.communicate()
        faults.append("the call hung")
    left = workspace.wait_until_alone(SURVIVE_S)
    if left:
        faults.append(f"outlived by {sorted(left.values())}")
    if workspace.stays_locked(SURVIVE_S):
        faults.append("a lock is held")
    if "Traceback" in said:
        before, traceback, after = said.partition("Traceback")
        faults.append(f"a traceback: {before[-200:]}{traceback}{after[:2000]}")
    return faults


def faults_after_resume(
    workspace: Workspace, expected: Reference, finished: dict[str, int], status: int, said: str
) -> list[str]:
    """Faults in the results of the same command after a disturbed call."""
    if status != 0:
        return [f"does not resume: {said.strip().splitlines()[-1:]}"]
    faults = []
    if workspace.checksums() != expected.checksums:
        faults.append("other bytes")
    if {path: workspace.finished().get(path) for path in finished} != finished:
        faults.append("a finished run was simulated again")
    if workspace.leftovers():
        faults.append(f"left: {workspace.leftovers()}")
    return [*faults, *_of_report(workspace, expected)]


def _of_report(workspace: Workspace, expected: Reference) -> list[str]:
    """The report must match the results, and, times apart, that of the undisturbed call."""
    faults = []
    if (workspace.tier / "report.html").read_bytes() != workspace.report():
        faults.append("the report is not that of the results")
    workspace.set_times(expected.times)
    if workspace.report() != expected.report:
        faults.append("another report")
    return faults


def table(kills: list[Kill]) -> str:
    """Number of kills by target and signal, and how many had a fault, as Markdown."""
    counted = Counter((each.target, each.number.name, bool(each.faults)) for each in kills)
    lines = ["| who | " + " | ".join(each.name for each in SIGNALS) + " |"]
    lines.append("|---|" + "---:|" * len(SIGNALS))
    for target in TARGETS:
        cells = []
        for number in SIGNALS:
            good = counted[target, number.name, False]
            bad = counted[target, number.name, True]
            cells.append(f"{good + bad}" + (f", {bad} with faults" if bad else ""))
        lines.append(f"| {target} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    """Kill as often as requested; returns how many kills had a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instants", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="kills at the same time")
    given = parser.parse_args()
    kills = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = reference(folder)
        print(f"undisturbed: {expected.took_s:.1f} s", flush=True)
        seeds = range(given.first_seed, given.first_seed + given.instants)
        with ThreadPoolExecutor(given.jobs) as pool:
            for last in pool.map(lambda seed: kill_once(folder, seed, expected), seeds):
                kills.append(last)
                found = "; ".join(last.faults) or "no fault"
                print(
                    f"seed {last.seed}: {last.number.name} to {last.target}"
                    f" after {last.after_s:.2f} s: {found}",
                    flush=True,
                )
    print(table(kills))
    return sum(bool(each.faults) for each in kills)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
