"""One subset of ns-2's validation suite: run it, and find the outcome of each test."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypedDict, cast

from bdpbench.simulation.processes import dying_with_parent
from bdpbench.simulation.validation.suite import Suite

_POLL_S = 0.2
_STARTED = re.compile(r"^Running test (\S+):$", re.MULTILINE)
# What a driver prints at the end of a test, possibly after an unfinished line of the test's output.
_OUTCOMES = {
    "agree": "Test output agrees with reference output",
    "differ": "Test output differs from reference output",
    "not implemented": "Test not implemented",
    "no reference": "saving output for future validation",
}
NO_OUTPUT = "no output"


@dataclass(frozen=True)
class Limits:
    """When to stop a subset: after ``seconds``, or when ``stop`` is set."""

    seconds: float
    stop: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class TestResult:
    """One test.

    Attributes:
        name: as the subset calls it; a subset may run one name several times.
        outcome: "agree" or "differ" (with the reference output), "not implemented",
            "no reference", or "no output".
        cpu_s: CPU time of ns-2 and of the programs that it called, s.
        outputs: what it wrote: name of the file, or "(exit status)" and "(screen)", → SHA-256.
    """

    __test__ = False  # this class is no test of pytest

    name: str
    outcome: str
    cpu_s: float
    outputs: dict[str, str]


class KeptTest(TypedDict):
    """A test of a finished subset as JSON."""

    name: str
    outcome: str
    cpu_s: float
    outputs: dict[str, str]


class KeptSubset(TypedDict):
    """A finished subset as JSON."""

    subset: str
    tests: list[KeptTest]
    whole: bool


@dataclass(frozen=True)
class SubsetResult:
    """All tests of a subset that were run, in order; ``whole`` unless the subset was stopped."""

    subset: str
    tests: tuple[TestResult, ...]
    whole: bool = True

    @property
    def cpu_s(self) -> float:
        """CPU time of all tests, s."""
        return sum(test.cpu_s for test in self.tests)

    def named(self, outcome: str) -> list[str]:
        """Names of the tests with an outcome."""
        return [test.name for test in self.tests if test.outcome == outcome]

    def to_json(self) -> KeptSubset:
        """The result as ``from_json`` takes it."""
        return cast("KeptSubset", asdict(self))

    @classmethod
    def from_json(cls, data: KeptSubset) -> SubsetResult:
        """The result that ``to_json`` wrote."""
        tests = tuple(TestResult(**each) for each in data["tests"])
        return cls(data["subset"], tests, data["whole"])


def run_subset(
    suite: Suite, subset: str, binary: Path, limits: Limits, log: Path | None = None
) -> SubsetResult:
    """Run a subset on an ``ns`` in a folder of its own; its driver's output is kept as ``log``."""
    with tempfile.TemporaryDirectory(prefix="bdpbench-validate.") as name:
        folder = Path(name)
        tests = suite.prepare(subset, binary, folder)
        (folder / "log.txt").touch()
        (folder / "records.jsonl").touch()
        whole = _drive(subset, folder, tests, limits)
        text = (folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "log.txt", log)
    return SubsetResult(subset, join(outcomes(text), [json.loads(line) for line in lines]), whole)


def _drive(subset: str, folder: Path, tests: Path, limits: Limits) -> bool:
    """Run the driver until it ends; False if it and its children had to be stopped."""
    clean = {name: value for name, value in os.environ.items() if name not in ("NS", "DISPLAY")}
    environment = {**clean, "PATH": f"{folder / 'path'}:{clean['PATH']}", "LC_ALL": "C"}
    with (folder / "log.txt").open("ab") as stream:
        child = subprocess.Popen(
            [f"./test-all-{subset}", "quiet"],
            cwd=tests,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            preexec_fn=dying_with_parent(),
        )
        deadline = time.monotonic() + limits.seconds
        while True:
            try:
                child.wait(_POLL_S)
            except subprocess.TimeoutExpired:
                if time.monotonic() < deadline and not limits.stop.is_set():
                    continue
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                return False
            return True


def outcomes(log: str) -> list[tuple[str, str]]:
    r"""Name and outcome of each test that a driver's output reports, in order.

    >>> outcomes("Running test a:\nTest not implemented\nRunning test b:\n")
    [('a', 'not implemented'), ('b', 'no output')]
    """
    _, *parts = _STARTED.split(log)
    return [(name, _outcome(text)) for name, text in zip(parts[0::2], parts[1::2], strict=True)]


def _outcome(text: str) -> str:
    found = [outcome for outcome, phrase in _OUTCOMES.items() if phrase in text]
    return found[0] if found else NO_OUTPUT


class Record(TypedDict):
    """A line of the recorder (``recorder.py``): what one call of ns-2 wrote; checksums in hex."""

    arguments: list[str]
    exit_status: int
    cpu_s: float
    said: str
    files: dict[str, str]


def join(told: list[tuple[str, str]], records: list[Record]) -> tuple[TestResult, ...]:
    """The outcome of each test with what the recorder noted about it.

    The drivers call ns-2 once per test; a test that was stopped has only an outcome.
    """
    results = []
    for i, (name, outcome) in enumerate(told):
        record = records[i] if i < len(records) else None
        outputs = _outputs(record) if record else {}
        results.append(TestResult(name, outcome, record["cpu_s"] if record else 0.0, outputs))
    return tuple(results)


def _outputs(record: Record) -> dict[str, str]:
    own = {"(exit status)": str(record["exit_status"]), "(screen)": record["said"]}
    return {**own, **record["files"]}
