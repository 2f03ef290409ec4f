"""A small study, calls of `run` on it, and what they leave: shared by the tests in this folder."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.kept import LIST_NAME
from bdpbench.contracts.paths import repository_root

TIMES = ("started", "wall_s", "cpu_s", "max_rss_kib")
"""What `run.json` says of a run that another simulation of it need not repeat."""

SURVIVE_S = 5.0
WRAPPER = str(repository_root() / "bdpbench")
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


@dataclass(frozen=True)
class Workspace:
    """A configuration with the small study, and a results folder."""

    config: Path
    results: Path

    def environment(self) -> dict[str, str]:
        """The environment of a call; it marks all processes of this workspace."""
        return {
            **os.environ,
            "BDPBENCH_VENV": sys.prefix,
            "BDPBENCH_CONFIG": str(self.config),
            "BDPBENCH_RESULTS": str(self.results),
        }

    @property
    def command(self) -> list[str]:
        """The call."""
        return [WRAPPER, "run", "--backend", "native", "--jobs", "2"]

    def start(self, *options: str, **variables: str) -> subprocess.Popen[str]:
        """Start a call in a session of its own, with more environment variables."""
        return subprocess.Popen(
            [*self.command, *options],
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
        while (left := self.processes()) or (locked := self.is_locked()):
            if time.monotonic() > deadline:
                told = [f"outlived by {sorted(left.values())}"] if left else []
                return told or ["a lock is held"] * locked
            time.sleep(0.05)
        return []

    def is_locked(self) -> bool:
        """Whether anyone holds a lock on the results folder or on one of its runs."""
        return any(map(is_locked, [self.results / ".lock", *self.results.glob("runs/*/*/.lock")]))

    def finished(self) -> dict[str, int]:
        """Records of the finished runs, and their modification times."""
        return {
            str(path): path.stat().st_mtime_ns for path in self.results.glob("runs/*/*/run.json")
        }

    @property
    def tier(self) -> Path:
        """The folder of the tier's results."""
        return self.results / "dumbbell" / "quick"

    def times(self) -> dict[str, dict[str, object]]:
        """Run id → the times and the memory in its record."""
        records = map(json.loads, map(Path.read_text, self.results.glob("runs/*/*/run.json")))
        return {each["run_id"]: {name: each[name] for name in TIMES} for each in records}

    def set_times(self, times: dict[str, dict[str, object]]) -> None:
        """Replace the times and the memory in the records by those of other simulations."""
        for path in self.results.glob("runs/*/*/run.json"):
            record = json.loads(path.read_text())
            path.write_text(json.dumps({**record, **times[record["run_id"]]}))

    def report(self) -> bytes:
        """The report of the tier, rendered again."""
        (self.tier / LIST_NAME).unlink()
        command = [sys.executable, "-P", "-m", "bdpbench", "report"]
        subprocess.run(command, env=self.environment(), check=True, capture_output=True)
        return (self.tier / "report.html").read_bytes()

    def checksums(self) -> dict[str, str]:
        """Checksums of the tier's files, except the report, which says when its runs were made."""
        tier = self.tier
        files = [tier / "metrics.parquet", tier / "metrics.csv", tier / "scorecard.json"]
        return {
            str(path.relative_to(self.results)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in [*files, *sorted(self.results.glob("runs/*/*/out/*"))]
        }

    def leftovers(self) -> list[str]:
        """What only an interrupted call may leave behind: scratch folders and temporary files."""
        found = [*self.results.rglob(".*.tmp"), *self.results.glob("runs/*/*/.scratch")]
        return [str(path) for path in found if ".snakemake" not in path.parts]


def make_workspace(
    folder: Path, results: Path, *, plain_s: int = 200, streamed_s: int = 60
) -> Workspace:
    """The small study in a configuration of its own, with runs of the given durations."""
    config = folder / "config"
    study = config / "studies" / "dumbbell"
    shutil.copytree(repository_root() / "tests" / "data" / "dumbbell", study, dirs_exist_ok=True)
    text = (study / "study.yaml").read_text().replace("duration_s: 20", f"duration_s: {plain_s}")
    streamed = STREAMED.replace("duration_s: 60", f"duration_s: {streamed_s}")
    (study / "study.yaml").write_text(text.rstrip("\n") + streamed)
    (study / "published.csv").unlink(missing_ok=True)
    given = (repository_root() / "config" / "config.yaml").read_text()
    (config / "config.yaml").write_text(given.replace("study: sharma2006", "study: dumbbell"))
    return Workspace(config, results)


def told_badly(status: int, said: str, word: str) -> list[str]:
    """Faults of a call that had to end in one message with a word about the disk."""
    faults = []
    if status != 1:
        faults.append(f"exit status {status}")
    if "Traceback" in said:
        faults.append("a traceback")
    if said.count("error: ") != 1 or word not in said:
        faults.append(f"no word that it is {word}, or more than one message")
    return [f"{each}: {said}" for each in faults]
