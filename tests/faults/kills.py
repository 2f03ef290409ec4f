"""Kills a call at random instants, resumes it, and checks that nothing is lost, left or changed.

    BDPBENCH_HOME=.bdpbench PYTHONPATH=pipeline:. python tests/faults/kills.py --instants 200
    ... kills.py --of build --instants 40

The call is `run`, `ns2 build`, or the set-up of an environment with a few packages.
Prints a line for each instant.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.faults.calls import WRAPPER, Workspace, is_locked, make_workspace

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import home_dir, repository_root
from bdpbench.simulation.build import PREFIX_VARIABLE, build_prefix

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TARGETS = {
    "run": ("call", "group", "Snakemake", "batch", "ns-2"),
    "build": ("call", "group", "build.sh", "make", "compiler"),
    "set-up": ("call", "group", "pip"),
}
# Target → a part of its command.
COMMANDS = {
    "Snakemake": "snakemake",
    "batch": "-m bdpbench simulate ",
    "ns-2": "/ns ",
    "build.sh": "bash /",
    "make": "make -C ",
    "compiler": "cc1plus ",
    "pip": "pip install ",
}
# The kills test bdpbench, and ns-2 only incidentally: simulations may be a small part of a call.
RUNS_S = {"plain_s": 80, "streamed_s": 30}
PACKAGES = ("click", "pyyaml")


class Run(Workspace):
    """A call of `run`."""

    def after_resume(self, expected: Reference) -> list[str]:
        """The report must match the results, and, times apart, that of the undisturbed call."""
        faults = []
        if (self.tier / "report.html").read_bytes() != self.report():
            faults.append("the report is not that of the results")
        self.set_times(expected.times)
        if self.report() != expected.report:
            faults.append("another report")
        return faults


class Build(Workspace):
    """A call of `ns2 build` with a folder of its own for builds and scratch."""

    @property
    def command(self) -> list[str]:
        """The call."""
        return [WRAPPER, "ns2", "build", "--backend", "native"]

    def environment(self) -> dict[str, str]:
        """Compiled again are only files that no earlier build had, if ccache is installed."""
        scratch, cache = self.results / "tmp", self.results / "cache"
        for each in (scratch, cache):
            each.mkdir(parents=True, exist_ok=True)
        for source in (home_dir() / "cache").glob("ns2_*"):
            if not (cache / source.name).exists():
                shutil.copy(source, cache)
        return {
            **super().environment(),
            "BDPBENCH_HOME": str(self.results),
            "TMPDIR": str(scratch),
            "PATH": f"/usr/lib/ccache:{os.environ['PATH']}",
            "CCACHE_DIR": os.environ.get("CCACHE_DIR", str(self.config.parent / "ccache")),
            "CCACHE_SLOPPINESS": "locale",
            "CCACHE_NOHASHDIR": "1",
            "CCACHE_BASEDIR": str(self.config.parent),
        }

    def checksums(self) -> dict[str, str]:
        """Checksum of ns-2."""
        return _checksums(self.results / "ns2", "*/ns")

    def is_locked(self) -> bool:
        """Whether anyone builds."""
        return is_locked(self.results / "ns2" / ".lock")

    def leftovers(self) -> list[str]:
        """Scratch folders and temporary files."""
        found = [*(self.results / "tmp").glob("bdpbench-*"), *self.results.glob("ns2/*/*.[0-9]*")]
        return list(map(str, found))


class SetUp(Workspace):
    """The first call in a checkout whose lock file has a few packages only."""

    @property
    def command(self) -> list[str]:
        """The call: it needs no more packages."""
        return [str(self.results / "bdpbench"), "--version"]

    def environment(self) -> dict[str, str]:
        """The environment is made in the checkout."""
        if not self.results.exists():
            self._make_checkout()
        return {
            **super().environment(),
            "BDPBENCH_HOME": str(self.home),
            "BDPBENCH_VENV": str(self.home / "venv"),
            PREFIX_VARIABLE: str(build_prefix()),  # a first call would begin to build ns-2
        }

    @property
    def home(self) -> Path:
        """Where the checkout keeps its environment."""
        return self.results / ".bdpbench"

    def _make_checkout(self) -> None:
        root = repository_root()
        (self.results / "pipeline").mkdir(parents=True)
        shutil.copy(root / "bdpbench", self.results)
        for each in ("ns2", "pipeline/bdpbench", "config"):
            (self.results / each).symlink_to(root / each)
        lock = (root / "pipeline" / "requirements.lock").read_text()
        chosen = [f"{each}" for each in re.split(r"\n(?=\S)", lock) if each.startswith(PACKAGES)]
        (self.results / "pipeline" / "requirements.lock").write_text("\n".join(chosen) + "\n")

    def checksums(self) -> dict[str, str]:
        """Checksums of the installed packages, without what names the folder of the checkout."""
        found = _checksums(self.home / "venv" / "lib")
        return {name: each for name, each in found.items() if not name.endswith((".pyc", "RECORD"))}

    def is_locked(self) -> bool:
        """Whether anyone sets up."""
        return is_locked(self.home / "setup.lock")

    def leftovers(self) -> list[str]:
        """Packages that pip was about to replace, and the mark of an unfinished environment."""
        found = [*self.home.rglob("~*"), *self.home.glob("venv/.unfinished")]
        return list(map(str, found))


SCENES: dict[str, type[Workspace]] = {"run": Run, "build": Build, "set-up": SetUp}


def _checksums(folder: Path, pattern: str = "**/*") -> dict[str, str]:
    files = sorted(path for path in folder.glob(pattern) if path.is_file())
    return {str(path.relative_to(folder)): sha256_of(path) for path in files}


@dataclass(frozen=True)
class Reference:
    """The result of an undisturbed call, and its duration, s; of `run` also times and report."""

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


def reference(folder: Path, of: str = "run") -> Reference:
    """Run the call to its end, undisturbed."""
    workspace = make_workspace(folder, folder / "reference", **RUNS_S)
    if of == "run":
        took_s = _took_s(workspace)
        report = (workspace.tier / "report.html").read_bytes()
        return Reference(workspace.checksums(), workspace.times(), report, took_s)
    other = SCENES[of](workspace.config, folder / "undisturbed")
    if of == "build" and "CCACHE_DIR" not in os.environ:
        _took_s(SCENES[of](workspace.config, folder / "compiled"))  # fills the cache
    took_s = _took_s(other)
    return Reference(other.checksums(), {}, b"", took_s)


def _took_s(workspace: Workspace) -> float:
    began = time.monotonic()
    status, said = workspace.run()
    if status != 0:
        raise RuntimeError(said)
    return time.monotonic() - began


def kill_once(folder: Path, seed: int, expected: Reference, of: str = "run") -> Kill:
    """Test one instant, target and signal, chosen by ``seed``."""
    chance = random.Random(seed)
    number, target = chance.choice(SIGNALS), chance.choice(TARGETS[of])
    after_s = chance.uniform(0, expected.took_s)
    workspace = SCENES[of](folder / "config", folder / f"results-{seed}")  # as in the reference
    with workspace.start() as call:
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
    """Send the signal, as soon as there is its target; returns it, or the call if there is none."""
    with suppress(ProcessLookupError):
        if target == "group":
            os.killpg(call.pid, number)
            return target
        while target in COMMANDS and call.poll() is None:
            for pid, command in workspace.processes().items():
                if COMMANDS[target] in command and pid != call.pid:
                    os.kill(pid, number)
                    return target
            time.sleep(0.02)
        os.kill(call.pid, number)
    return "call"


def _after_kill(workspace: Workspace, call: subprocess.Popen[str]) -> list[str]:
    """Violations of what holds after a kill: no hang, processes, locks or traceback."""
    faults = []
    try:
        said, _ = call.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(call.pid, signal.SIGKILL)
        said, _ = call.communicate()
        faults.append("the call hung")
    faults += workspace.survivors()
    if (call.returncode == 1 and "error: " not in said) or "Aborted!" in said:
        faults.append(f"no reason: {said[-200:]!r}")
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
    return [*faults, *(workspace.after_resume(expected) if isinstance(workspace, Run) else ())]


def main() -> int:
    """Kill as often as requested; returns how many kills had a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instants", type=int, default=10)
    parser.add_argument("--of", choices=list(SCENES), default="run", help="the call that is killed")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="kills at the same time")
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = reference(folder, given.of)
        print(f"undisturbed: {expected.took_s:.1f} s", flush=True)
        seeds = range(given.first_seed, given.first_seed + given.instants)
        with ThreadPoolExecutor(given.jobs) as pool:
            for last in pool.map(lambda seed: kill_once(folder, seed, expected, given.of), seeds):
                wrong += bool(last.faults)
                found = "; ".join(last.faults) or "no fault"
                print(
                    f"seed {last.seed}: {last.number.name} to {last.target}"
                    f" after {last.after_s:.2f} s: {found}",
                    flush=True,
                )
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(), 1))
