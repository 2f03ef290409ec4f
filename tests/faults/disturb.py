"""Disturbs calls, resumes them, and checks that nothing is lost, left or changed.

    export BDPBENCH_HOME=.bdpbench PYTHONPATH=$PWD/pipeline:$PWD
    python tests/faults/disturb.py kills --instants 200 [--of run|build|set-up] [--jobs 2]
    python tests/faults/disturb.py writes --instants 40

``kills`` sends a signal to the call, or to a process of it, at a random instant. ``writes`` makes
all writes of a call fail from a random one on, in all of its processes (failing_writes.c). The
seed, from --first-seed on, decides what is random. Prints a line for each instant; the exit status
is 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import home_dir, repository_root
from bdpbench.simulation.build import PREFIX_VARIABLE, build_prefix

ROOT = repository_root()
WRAPPER = str(ROOT / "bdpbench")
SURVIVE_S = 5.0
# A streamed run beside the plain ones of tests/data/dumbbell.
STREAMED = """
  streamed:
    title: One flow, its trace streamed
    topology: small
    parameters: {protocol: Reno, trace: stream}
    flows:
      - {}
    tiers:
      quick: [{duration_s: 60}]
"""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Call → what may be hit besides the call and its group → a part of its command.
TARGETS = {
    "run": {"Snakemake": "snakemake", "batch": "-m bdpbench simulate ", "ns-2": "/ns "},
    "build": {"build.sh": "bash /", "make": "make -C ", "compiler": "cc1plus "},
    "set-up": {"pip": "pip install "},
}
PACKAGES = ("click", "pyyaml")  # of the lock file of a set-up
# The error of a failing write, and the word that its message has to contain.
FAILURES = {errno.ENOSPC: "full", errno.EROFS: "read-only", errno.EACCES: "permission"}


def is_locked(path: Path) -> bool:
    """Whether anyone holds the lock on a file."""
    if not path.exists():
        return False
    with path.open("r+", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def checksums_of(files: Sequence[Path], folder: Path) -> dict[str, str]:
    """Checksums of files by their names in a folder."""
    return {str(path.relative_to(folder)): sha256_of(path) for path in files if path.is_file()}


@dataclass(frozen=True)
class Workspace:
    """A configuration with the small study, a results folder, and calls of `run`."""

    config: Path
    results: Path

    @property
    def command(self) -> list[str]:
        """The call."""
        return [WRAPPER, "run", "--backend", "native", "--jobs", "2"]

    def environment(self) -> dict[str, str]:
        """The environment of a call; it marks all processes of this workspace."""
        return {
            **os.environ,
            "BDPBENCH_VENV": sys.prefix,
            "BDPBENCH_CONFIG": str(self.config),
            "BDPBENCH_RESULTS": str(self.results),
        }

    def start(self, **variables: str) -> subprocess.Popen[str]:
        """Start a call in a session of its own, with more environment variables."""
        return subprocess.Popen(
            self.command,
            env={**self.environment(), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, **variables: str) -> tuple[int, str]:
        """Run a call to its end; returns its exit status and its output."""
        with self.start(**variables) as call:
            said, _ = call.communicate(timeout=600)
        return call.returncode, said

    def processes(self) -> dict[int, str]:
        """Running processes that work for this workspace: id → command."""
        wanted = f"BDPBENCH_RESULTS={self.results}\0".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if wanted in (folder / "environ").read_bytes():
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if command:  # zombies have none
                        found[int(folder.name)] = command
        return found

    def survivors(self) -> list[str]:
        """Processes that are still running, and a lock that is still held, after SURVIVE_S."""
        deadline = time.monotonic() + SURVIVE_S
        while (left := self.processes()) or any(map(is_locked, self.locks())):
            if time.monotonic() > deadline:
                return [f"outlived by {sorted(left.values())}"] if left else ["a lock is held"]
            time.sleep(0.05)
        return []

    def locks(self) -> list[Path]:
        """Files on which a call holds a lock."""
        return [self.results / ".lock", *self.results.glob("runs/*/*/.lock")]

    def finished(self) -> dict[Path, int]:
        """Records of the finished runs, and their modification times."""
        return {path: path.stat().st_mtime_ns for path in self.results.glob("runs/*/*/run.json")}

    def checksums(self) -> dict[str, str]:
        """Checksums of the tier's files, except the report, which says when its runs were made."""
        files = [self.tier / each for each in ("metrics.parquet", "metrics.csv", "scorecard.json")]
        return checksums_of([*files, *self.results.glob("runs/*/*/out/*")], self.results)

    def leftovers(self) -> list[Path]:
        """What only an interrupted call may leave behind: scratch folders and temporary files."""
        found = [*self.results.rglob(".*.tmp"), *self.results.glob("runs/*/*/.scratch")]
        return [path for path in found if ".snakemake" not in path.parts]

    @property
    def tier(self) -> Path:
        """The folder of the tier's results."""
        return self.results / "dumbbell" / "quick"


class Build(Workspace):
    """Calls of `ns2 build` with a folder of their own for builds and scratch."""

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
        return checksums_of(list(self.results.glob("ns2/*/ns")), self.results)

    def locks(self) -> list[Path]:
        """That of builds."""
        return [self.results / "ns2" / ".lock"]

    def leftovers(self) -> list[Path]:
        """Scratch folders and temporary files."""
        return [*self.results.glob("tmp/bdpbench-*"), *self.results.glob("ns2/*/*.[0-9]*")]


class SetUp(Build):
    """First calls in a checkout whose lock file has a few packages only."""

    @property
    def command(self) -> list[str]:
        """The call: it needs no more packages."""
        return [str(self.results / "bdpbench"), "--version"]

    def environment(self) -> dict[str, str]:
        """The environment is made in the checkout, which is made first."""
        if not self.results.exists():
            (self.results / "pipeline").mkdir(parents=True)
            shutil.copy(ROOT / "bdpbench", self.results)
            for each in ("ns2", "pipeline/bdpbench", "config"):
                (self.results / each).symlink_to(ROOT / each)
            lock = re.split(r"\n(?=\S)", (ROOT / "pipeline" / "requirements.lock").read_text())
            chosen = "\n".join(each for each in lock if each.startswith(PACKAGES))
            (self.results / "pipeline" / "requirements.lock").write_text(f"{chosen}\n")
        return {
            **Workspace.environment(self),
            "BDPBENCH_HOME": str(self.home),
            "BDPBENCH_VENV": str(self.home / "venv"),
            PREFIX_VARIABLE: str(build_prefix()),  # a first call would begin to build ns-2
        }

    @property
    def home(self) -> Path:
        """Where the checkout keeps its environment."""
        return self.results / ".bdpbench"

    def checksums(self) -> dict[str, str]:
        """Checksums of the installed packages, without what names the folder of the checkout."""
        lib = self.home / "venv" / "lib"
        files = [path for path in lib.rglob("*") if path.suffix != ".pyc" and path.name != "RECORD"]
        return checksums_of(files, lib)

    def locks(self) -> list[Path]:
        """That of set-ups."""
        return [self.home / "setup.lock"]

    def leftovers(self) -> list[Path]:
        """Packages that pip was about to replace, and the mark of an unfinished environment."""
        return [*self.home.rglob("~*"), *self.home.glob("venv/.unfinished")]


SCENES: dict[str, type[Workspace]] = {"run": Workspace, "build": Build, "set-up": SetUp}


@dataclass(frozen=True)
class Reference:
    """What an undisturbed call gave, and took, s."""

    scene: type[Workspace]
    folder: Path
    checksums: dict[str, str]
    took_s: float
    writes: int = 0

    def workspace(self, name: str) -> Workspace:
        """Another one for the same call."""
        return self.scene(self.folder / "config", self.folder / name)


def write_config(config: Path, plain_s: int, streamed_s: int) -> None:
    """A configuration with the small study and runs of the given durations."""
    study = config / "studies" / "dumbbell"
    shutil.copytree(ROOT / "tests" / "data" / "dumbbell", study, dirs_exist_ok=True)
    text = (study / "study.yaml").read_text().replace("duration_s: 20", f"duration_s: {plain_s}")
    streamed = STREAMED.replace("duration_s: 60", f"duration_s: {streamed_s}")
    (study / "study.yaml").write_text(text.rstrip("\n") + streamed)
    (study / "published.csv").unlink(missing_ok=True)
    given = (ROOT / "config" / "config.yaml").read_text()
    (config / "config.yaml").write_text(given.replace("study: sharma2006", "study: dumbbell"))


def reference(folder: Path, of: str) -> Reference:
    """Run the call to its end, undisturbed.

    The kills test bdpbench, and ns-2 only incidentally, so simulations are a small part of a call.
    """
    write_config(folder / "config", plain_s=80, streamed_s=30)
    names = ["undisturbed"]
    if of == "build" and "CCACHE_DIR" not in os.environ:
        names.insert(0, "compiled")  # fills the cache
    for name in names:
        workspace, began = SCENES[of](folder / "config", folder / name), time.monotonic()
        status, said = workspace.run()
        if status != 0:
            raise RuntimeError(said)
    took_s = time.monotonic() - began
    return Reference(SCENES[of], folder, workspace.checksums(), took_s)


def resumed(workspace: Workspace, expected: Reference) -> list[str]:
    """Faults in the results of the same command after a disturbed call."""
    finished = workspace.finished()
    status, said = workspace.run()
    if status != 0:
        return [f"does not resume: {said.strip().splitlines()[-1:]}"]
    faults = ["other bytes"] * (workspace.checksums() != expected.checksums)
    if not finished.items() <= workspace.finished().items():
        faults.append("a finished run was simulated again")
    if left := workspace.leftovers():
        faults.append(f"left: {[*map(str, left)]}")
    return faults


def told_badly(status: int, said: str, word: str) -> list[str]:
    """Faults of a call that had to end in one message with a word about the disk."""
    faults = [f"exit status {status}"] * (status != 1) + ["a traceback"] * ("Traceback" in said)
    if said.count("error: ") != 1 or word not in said:
        faults.append(f"no word that it is {word}, or more than one message")
    return [f"{each}: {said}" for each in faults]


# ---------------------------------------------------------------- kills


def kill(
    targets: dict[str, str], workspace: Workspace, chance: random.Random, expected: Reference
) -> tuple[str, list[str]]:
    """Send a signal; after it, no call hangs or ends in a traceback or without a reason."""
    number, target = chance.choice(SIGNALS), chance.choice(["call", "group", *targets])
    after_s, faults = chance.uniform(0, expected.took_s), []
    with workspace.start() as call:
        time.sleep(after_s)
        hit = send(number, target, targets, workspace, call)
        try:
            said, _ = call.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            os.killpg(call.pid, signal.SIGKILL)
            said, _ = call.communicate()
            faults.append("the call hung")
    if (call.returncode == 1 and "error: " not in said) or "Aborted!" in said:
        faults.append(f"no reason: {said[-200:]!r}")
    if "Traceback" in said:
        before, _, after = said.partition("Traceback")
        faults.append(f"a traceback: {before[-200:]}Traceback{after[:2000]}")
    return f"{number.name} to {hit} after {after_s:.2f} s", faults


def send(
    number: signal.Signals,
    target: str,
    targets: dict[str, str],
    workspace: Workspace,
    call: subprocess.Popen[str],
) -> str:
    """Send a signal as soon as there is its target; returns it, or the call if there is none."""
    with suppress(ProcessLookupError):
        if target == "group":
            os.killpg(call.pid, number)
            return target
        while target in targets and call.poll() is None:
            for pid, command in workspace.processes().items():
                if targets[target] in command and pid != call.pid:
                    os.kill(pid, number)
                    return target
            time.sleep(0.02)
        os.kill(call.pid, number)
    return "call"


# ---------------------------------------------------------------- writes


@dataclass(frozen=True)
class Failing:
    """A library that makes writes below a folder fail, and the file in which it counts them."""

    library: Path
    counter: Path

    def run(self, workspace: Workspace, first: int, number: int) -> tuple[int, str, int]:
        """A call whose writes fail from the ``first`` on (0: never), and the number of writes."""
        self.counter.write_bytes(struct.pack("Q", 0))
        status, said = workspace.run(
            LD_PRELOAD=str(self.library),
            FAILING_WRITES_UNDER=str(workspace.results),
            FAILING_WRITES_COUNTER=str(self.counter),
            FAILING_WRITES_FROM=str(first),
            FAILING_WRITES_ERRNO=str(number),
        )
        (count,) = struct.unpack("Q", self.counter.read_bytes())
        return status, said, int(count)


def make_failing(folder: Path) -> Failing:
    """Compile the library into a folder."""
    library, source = folder / "failing_writes.so", Path(__file__).with_name("failing_writes.c")
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return Failing(library, folder / "writes")


def fail_writes(
    failing: Failing, workspace: Workspace, chance: random.Random, expected: Reference
) -> tuple[str, list[str]]:
    """Make writes fail from one on; the call has to end with a message about the disk."""
    first, number = chance.randint(1, expected.writes), chance.choice(list(FAILURES))
    status, said, count = failing.run(workspace, first, number)
    faults = [] if count < first else told_badly(status, said, FAILURES[number])
    return f"write {first}, {errno.errorcode[number]}", faults


# ---------------------------------------------------------------- all of them


def disturb_once(
    expected: Reference,
    disturb: Callable[[Workspace, random.Random, Reference], tuple[str, list[str]]],
    seed: int,
) -> tuple[str, list[str]]:
    """Disturb a call as a seed says, and resume it; returns what was done, and the faults."""
    workspace = expected.workspace(f"results-{seed}")
    done, faults = disturb(workspace, random.Random(seed), expected)
    faults += [*workspace.survivors(), *resumed(workspace, expected)]
    shutil.rmtree(workspace.results, ignore_errors=True)
    return f"seed {seed}: {done}", faults


def main() -> int:
    """Disturb as often as requested; returns whether there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["kills", "writes"])
    parser.add_argument("--instants", type=int, default=10)
    parser.add_argument("--of", choices=SCENES, default="run", help="the call that is killed")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="kills at the same time")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected, disturb = reference(folder, given.of), partial(kill, TARGETS[given.of])
        if given.what == "writes":
            failing = make_failing(folder)
            *_, count = failing.run(expected.workspace("counted"), 0, 0)
            expected, disturb = replace(expected, writes=count), partial(fail_writes, failing)
        print(f"undisturbed: {expected.took_s:.1f} s, {expected.writes} writes", flush=True)
        seeds = range(given.first_seed, given.first_seed + given.instants)
        once, wrong = partial(disturb_once, expected, disturb), 0
        with ThreadPoolExecutor(1 if given.what == "writes" else given.jobs) as pool:
            for done, found in pool.map(once, seeds):
                wrong += bool(found)
                print(f"{done}: {'; '.join(found) or 'no fault'}", flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
