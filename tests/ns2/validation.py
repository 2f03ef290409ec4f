"""ns-2's own validation suite (``tcl/test`` of its archive): run with a build, and judged.

Each subset of the suite runs in a folder of its own, in which ``validation_recorder.py`` stands in
for ``ns`` and records what each test wrote.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, TypedDict

import yaml  # type: ignore[import-untyped]
from tests.ns2 import validation_recorder

from bdpbench.contracts.paths import home_dir, repository_root
from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.processes import started
from bdpbench.simulation.build import build_environment, build_script

# Wired links, queues, schedulers, TCP and traces: what bdpbench's own runs use.
QUICK_SUBSETS = (
    *("simple", "tcp", "testReno", "newreno", "sack", "tcpOptions", "tcpVariants", "LimTransmit"),
    *("tcpHighspeed", "tcpLinux", "red", "cbq", "schedule", "links", "monitor", "quickstart"),
)
_DRIVER = "test-all-"
# Debian packages of the programs that the suite's scripts call.
_PROGRAMS = {"xz": "xz-utils", "perl": "perl", "gzip": "gzip", "awk": "mawk", "cmp": "diffutils"}
_POLL_S = 0.2
_STARTED = re.compile(r"^Running test (\S+):$", re.MULTILINE)
# What a driver prints at the end of a test, possibly after an unfinished line of the test's output.
_OUTCOMES = {
    "agree": "Test output agrees with reference output",
    "differ": "Test output differs from reference output",
    "not implemented": "Test not implemented",
    "no reference": "saving output for future validation",
}
_LEFT_OUT = "ns-2's own validate leaves out this subset"


@dataclass(frozen=True)
class Limits:
    """When to stop a subset: after ``seconds``, or when ``stop`` is set."""

    seconds: float
    stop: threading.Event = field(default_factory=threading.Event)


class ValidationTest(NamedTuple):
    """One test.

    Attributes:
        name: as the subset calls it; a subset may run one name several times.
        outcome: "agree" or "differ" (with the reference output), "not implemented",
            "no reference", or "no output".
        cpu_s: CPU time of ns-2 and of the programs that it called, s.
        outputs: what it wrote: name of the file, or "(exit status)" and "(screen)", → SHA-256.
    """

    name: str
    outcome: str
    cpu_s: float
    outputs: dict[str, str]


@dataclass(frozen=True)
class SubsetResult:
    """All tests of a subset that were run, in order; ``whole`` unless the subset was stopped."""

    subset: str
    tests: tuple[ValidationTest, ...]
    whole: bool = True

    @property
    def cpu_s(self) -> float:
        """CPU time of all tests, s."""
        return sum(test.cpu_s for test in self.tests)

    def named(self, outcome: str) -> list[str]:
        """Names of the tests with an outcome."""
        return [test.name for test in self.tests if test.outcome == outcome]


# ---------------------------------------------------------------- the suite


@dataclass(frozen=True)
class Suite:
    """The unpacked, read-only suite: ``root`` contains ``tcl`` and ``bin`` of the source tree."""

    root: Path

    @property
    def tests(self) -> Path:
        """The folder with a driver ``test-all-<subset>`` for each subset."""
        return self.root / "tcl" / "test"

    def subsets(self) -> list[str]:
        """The subsets that ns-2's own ``validate`` runs, in its order."""
        text = (self.root / "validate").read_text(encoding="utf-8", errors="replace")
        listed = re.search(r"^for i in \\\n(.*?)^#", text, re.MULTILINE | re.DOTALL)
        if listed is None:
            raise BdpbenchError("lists no subsets", where=str(self.root / "validate"))
        return listed.group(1).replace("\\", " ").split()

    def choose(self, names: Sequence[str]) -> list[str]:
        """``names`` without repetitions; all subsets if it is empty.

        Raises:
            BdpbenchError: for a name that the suite does not have, with a suggestion.
        """
        known = {path.name.removeprefix(_DRIVER) for path in self.tests.glob(f"{_DRIVER}*")}
        for name in names:
            if name not in known:
                raise BdpbenchError(
                    f"ns-2's validation suite has no subset {name!r}",
                    where="--subset",
                    hint=suggest(name, known),
                )
        return list(dict.fromkeys(names)) or self.subsets()

    def prepare(self, subset: str, binary: Path, folder: Path) -> Path:
        """Prepare the folder in which a subset runs, one for each, and return its ``tcl/test``.

        Files that the tests only read are linked; ``tcl/test`` is a copy with the references of
        this subset only. ``ns`` is replaced by the recorder, and ``sleep``, with which the drivers
        wait for windows that a quiet run does not open, by a program that does nothing.
        """
        wanted = self._references(subset)
        tests = folder / "tcl" / "test"
        shutil.copytree(
            self.tests,
            tests,
            ignore=lambda _, names: [
                each for each in names if each.startswith("test-output-") and each not in wanted
            ],
        )
        for path in (self.root / "tcl").iterdir():
            if path.name != "test":
                (folder / "tcl" / path.name).symlink_to(path)
        (folder / "bin").symlink_to(self.root / "bin")
        (folder / "path").mkdir()
        _write_program(folder / "path" / "sleep", "exit 0")
        command = [sys.executable, "-I", "-S", validation_recorder.__file__, str(binary)]
        command += [str(folder / "records.jsonl"), str(folder / "log.txt")]
        _write_program(folder / "ns", f'exec {shlex.join(command)} "$@"')
        return tests

    def _references(self, subset: str) -> set[str]:
        """Folders of the reference outputs of a subset, which its driver may name by a variable.

        Drivers say directory="test-output-tcp", or f="xcp" and then directory="test-output-$f".
        """
        driver = (self.tests / f"{_DRIVER}{subset}").read_text(encoding="utf-8", errors="replace")
        values = re.findall(r'^\w+="([\w-]+)"', driver, re.MULTILINE)
        return {*values, *(f"test-output-{value}" for value in values)}


def open_suite() -> Suite:
    """The suite of the archive that ``ns2/SOURCE.lock`` pins, unpacked once.

    Raises:
        BdpbenchError: when a program that it needs is missing, or the archive is not available.
    """
    _require_programs()
    final = home_dir() / "validation" / "suite"
    if not final.is_dir():
        printed = subprocess.run(
            ["bash", str(build_script()), "--print-source"],
            stdout=subprocess.PIPE,
            text=True,
            env=build_environment(),
            check=False,
        )
        if printed.returncode != 0:
            raise BdpbenchError("no source archive, see the message above", where="ns2/build.sh")
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=final.parent) as scratch:
            command = ["tar", "-C", scratch, "-xJf", printed.stdout.strip(), "--no-same-owner"]
            parts = ["ns-2.35/tcl", "ns-2.35/bin", "ns-2.35/validate"]
            subprocess.run([*command, *parts], check=True)
            with suppress(OSError):  # another call was faster
                (Path(scratch) / "ns-2.35").rename(final)
    return Suite(final)


def _require_programs() -> None:
    missing = [package for program, package in _PROGRAMS.items() if not shutil.which(program)]
    if "perl" not in missing:
        # Some scripts require this file, which Perl no longer ships.
        finds = subprocess.run(["perl", "-e", 'require "getopts.pl"'], capture_output=True)
        if finds.returncode != 0:
            missing.append("libperl4-corelibs-perl")
    if missing:
        raise BdpbenchError(
            f"ns-2's validation suite needs these system packages: {', '.join(missing)}",
            hint=f"apt-get install {' '.join(missing)}",
        )


def _write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


# ---------------------------------------------------------------- one subset


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
    records = [json.loads(line) for line in lines]
    return SubsetResult(subset, tuple(join(outcomes(text), records)), whole)


def _drive(subset: str, folder: Path, tests: Path, limits: Limits) -> bool:
    """Run the driver until it ends; False if it and its children had to be stopped."""
    clean = {name: value for name, value in os.environ.items() if name not in ("NS", "DISPLAY")}
    environment = {**clean, "PATH": f"{folder / 'path'}:{clean['PATH']}", "LC_ALL": "C"}
    command = [f"./test-all-{subset}", "quiet"]
    deadline = time.monotonic() + limits.seconds
    with (
        (folder / "log.txt").open("ab") as stream,
        started(command, 0, cwd=tests, env=environment, stdout=stream, stderr=stream) as child,
    ):
        while time.monotonic() < deadline and not limits.stop.is_set():
            with suppress(subprocess.TimeoutExpired):
                child.wait(_POLL_S)
                return True
    return False


def outcomes(log: str) -> list[tuple[str, str]]:
    """Name and outcome of each test that a driver's output reports, in order."""
    _, *parts = _STARTED.split(log)
    found = []
    for name, text in zip(parts[0::2], parts[1::2], strict=True):
        told = (outcome for outcome, phrase in _OUTCOMES.items() if phrase in text)
        found.append((name, next(told, "no output")))
    return found


class Record(TypedDict):
    """A line of ``validation_recorder.py``: what one call of ns-2 wrote; checksums in hex."""

    arguments: list[str]
    exit_status: int
    cpu_s: float
    said: str
    files: dict[str, str]


def join(
    outcomes: Sequence[tuple[str, str]], records: Sequence[Record]
) -> Iterator[ValidationTest]:
    """The outcome of each test with what the recorder noted about it.

    The drivers call ns-2 once per test; a test that was stopped has only an outcome.
    """
    for (name, outcome), record in zip_longest(outcomes, records[: len(outcomes)]):
        outputs, cpu_s = dict[str, str](), 0.0
        if record:
            own = {"(exit status)": str(record["exit_status"]), "(screen)": record["said"]}
            outputs, cpu_s = own | record["files"], record["cpu_s"]
        yield ValidationTest(name, outcome, cpu_s, outputs)


# ---------------------------------------------------------------- the judgement


def read_known_differences() -> dict[tuple[str, str], str]:
    """(subset, test) → reason."""
    text = (repository_root() / "ns2" / "known_differences.yaml").read_text(encoding="utf-8")
    return {
        (each["subset"], test): each["reason"].strip()
        for each in yaml.safe_load(text)
        for test in each["tests"]
    }


def judge(
    results: Sequence[SubsetResult],
    reasons: Mapping[tuple[str, str], str],
    others: Sequence[SubsetResult] = (),
    left_out: Collection[str] = (),
) -> tuple[list[str], list[str]]:
    """What is as expected though it differs, and the faults, of all subsets.

    ``others`` are the results of another variant, whose outputs must be the same, ``reasons`` the
    known differences: (subset, test) → reason; in subsets that are ``left_out`` tests may differ.
    """
    expected, faults = [], []
    for result in results:
        subset, agree = result.subset, result.named("agree")
        differ, known = result.named("differ"), dict[str, list[str]]()
        for name in differ:
            why = reasons.get((subset, name), _LEFT_OUT if subset in left_out else "")
            known.setdefault(why, []).append(name)
        faults += [f"DIFFERS UNEXPECTEDLY: {subset} {name}" for name in known.pop("", ())]
        expected += [
            f"differ as expected: {subset} {', '.join(names)}\n    {why}"
            for why, names in known.items()
        ]
        faults += [
            f"AGREES, but is listed in ns2/known_differences.yaml: {subset} {name}"
            for of, name in reasons
            if of == subset and name in agree and name not in differ
        ]
        faults += [f"WROTE NOTHING to compare: {subset} {n}" for n in result.named("no output")]
    both = [*results, *others]
    stopped = dict.fromkeys(each.subset for each in both if not each.whole)
    faults += [f"STOPPED at the time limit: {subset}" for subset in stopped]
    empty = dict.fromkeys(each.subset for each in both if not each.tests)
    faults += [f"RAN NO TEST: {subset}" for subset in empty]
    faults += [
        f"NOT THE SAME as stock: {one.subset} {name}: {', '.join(outputs)}"
        for one, other in zip(results, others, strict=bool(others))
        for name, outputs in not_same(one, other)
    ]
    return expected, faults


def not_same(one: SubsetResult, other: SubsetResult) -> list[tuple[str, tuple[str, ...]]]:
    """Tests of a subset whose outcome or outputs differ between two variants, with the outputs."""
    found = []
    for a, b in zip_longest(one.tests, other.tests):
        if a is None or b is None:
            found.append(((a or b).name, ("(not run)",)))
            continue
        names = sorted({*a.outputs, *b.outputs})
        changed = ["(outcome)"] * (a[:2] != b[:2])
        changed += [name for name in names if a.outputs.get(name) != b.outputs.get(name)]
        if changed:
            found.append((a.name, tuple(changed)))
    return found
