"""Short subsets of ns-2's own validation suite, with the real ns-2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.needs import validation_suite
from tests.ns2 import validation
from tests.ns2.validate import main
from tests.ns2.validation import (
    QUICK_SUBSETS,
    Finding,
    Limits,
    SubsetResult,
    Suite,
    judge,
    not_same,
    open_suite,
    read_known_differences,
    run_subset,
)
from tests.waiting import HANGS_S

from bdpbench.contracts.paths import repository_root

LIMITS = Limits(seconds=120)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return validation_suite()


def test_the_suite_is_unpacked_once_for_calls_that_find_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, calls = tmp_path / "ns.tar.xz", 4
    with tarfile.open(archive, "w:xz") as tar:
        for name in ("ns-2.35/tcl/test/a", "ns-2.35/bin/b", "ns-2.35/validate"):
            tar.addfile(tarfile.TarInfo(name))
    all_found_none = threading.Barrier(calls)

    unpack, unpacked = validation._unpack, []

    def found() -> Path:
        all_found_none.wait(HANGS_S)
        return archive

    def counted(*arguments: Path) -> None:
        unpacked.append(arguments)
        unpack(*arguments)

    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(validation, "_require_programs", lambda: None)  # nothing is run here
    monkeypatch.setattr(validation, "_archive", found)
    monkeypatch.setattr(validation, "_unpack", counted)
    with ThreadPoolExecutor(calls) as pool:
        opened = list(pool.map(lambda _: open_suite().root, range(calls)))
    assert len(unpacked) == 1
    folders = {tmp_path / "home" / "validation" / "suite"}
    assert set(opened) == folders == {path for path in opened[0].parent.iterdir() if path.is_dir()}


def test_the_suite_lists_its_subsets(suite: Suite) -> None:
    subsets = suite.choose(())
    # The first and last subset in the list of ns-2.35's own `validate`.
    assert (subsets[0], subsets[-1]) == ("simple", "wireless-tdma")
    assert set(QUICK_SUBSETS) < set(subsets)


@pytest.fixture(scope="module")
def schedule(suite: Suite, ns_binary: Path) -> SubsetResult:
    return run_subset(suite, "schedule", ns_binary, LIMITS)


def test_subsets_end_as_the_references_or_as_is_known(
    suite: Suite, schedule: SubsetResult, ns_binary: Path
) -> None:
    results = [schedule, run_subset(suite, "mpls", ns_binary, LIMITS)]
    # `grep -c '^Class Test/'` in their scripts.
    assert [len(each.tests) for each in results] == [6, 4]
    known = {key: why for key, why in read_known_differences().items() if key[0] == "mpls"}
    assert {each.kind for each in judge(results, known)} == {"known"}


def test_a_subset_that_ignores_ns_in_the_environment_runs_on_the_build_all_the_same(
    suite: Suite, ns_binary: Path
) -> None:
    result = run_subset(suite, "simultaneous", ns_binary, LIMITS)
    assert [test.name for test in result.tests] == ["List", "Calendar", "Heap", "Splay", "Map"]
    assert {test.outcome for test in result.tests} == {"agree"}
    assert all(test.outputs["(exit status)"] == "0" for test in result.tests)


def test_an_ns_that_writes_something_else_is_found_out(
    suite: Suite, schedule: SubsetResult, ns_binary: Path, tmp_path: Path
) -> None:
    other = tmp_path / "ns"
    other.write_text(f'#!/bin/sh\n"{ns_binary}" "$@" && echo more >>temp.rands\n')
    other.chmod(0o755)
    bad = run_subset(suite, "schedule", other, LIMITS)
    assert [test.outcome for test in bad.tests] == ["differ"] * 6
    assert [each.kind for each in judge([bad], {})] == ["unknown"] * 6
    assert [outputs for _, outputs in not_same(schedule, bad)] == [("(outcome)", "temp.rands")] * 6


def test_a_subset_is_stopped_at_its_time_limit(suite: Suite, tmp_path: Path) -> None:
    hanging = tmp_path / "ns"
    mark = f"/bin/sleep 98.76{os.getpid()}"
    hanging.write_text(f"#!/bin/sh\nexec {mark}\n")
    hanging.chmod(0o755)
    result = run_subset(suite, "schedule", hanging, Limits(seconds=1))
    assert not result.whole
    assert Finding("stopped", "schedule") in judge([result], {})
    assert mark not in _commands()


def _commands() -> set[str]:
    """The command lines of all processes."""
    commands = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            commands.add(path.read_text(errors="replace").rstrip("\0").replace("\0", " "))
    return commands


@pytest.fixture
def called() -> Callable[..., Result]:
    """Call the program."""
    return lambda *arguments: CliRunner().invoke(main, arguments)


def test_the_program_prints_its_table_and_keeps_its_results(
    suite: Suite, called: Callable[..., Result]
) -> None:
    subsets = ("--subset", "monitor", "--subset", "LimTransmit")
    done = called(*subsets, "--again")
    assert done.exit_code == 0, done.output
    rows = [line.split()[:3] for line in done.stdout.splitlines()[1:4]]
    assert rows == [["monitor", "2", "2"], ["LimTransmit", "4", "4"], ["total", "6", "6"]]
    # The kept results are printed: the CPU times are those of the first call.
    assert called(*subsets).stdout == done.stdout


def test_differences_of_a_subset_that_validate_leaves_out_are_expected(
    suite: Suite, called: Callable[..., Result]
) -> None:
    done = called("--subset", "nixvec")
    *_, test, reason, whole = done.stdout.splitlines()
    assert (done.exit_code, test) == (0, "differ as expected: nixvec NixVec")
    assert (reason.strip(), whole) == (
        "ns-2's own validate leaves out this subset",
        "all as expected",
    )


def test_an_interrupted_validation_says_how_to_resume(suite: Suite, tmp_path: Path) -> None:
    # More than a minute of work; the first line of the table shows that it has begun.
    program = str(Path(__file__).with_name("validate.py"))
    command = [sys.executable, program, "--quick", "--again", "--jobs", "1"]
    root = repository_root()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{root / 'pipeline'}:{root}"},
        cwd=tmp_path,
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=HANGS_S)
    assert child.returncode == 1
    assert "interrupted; what was finished is kept" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--subset", "simultanous"], "did you mean 'simultaneous'?"),
        (["--compare", "fast"], "--compare: is the variant fast, which is validated"),
    ],
)
def test_wrong_use_is_told(
    suite: Suite, called: Callable[..., Result], arguments: list[str], said: str
) -> None:
    done = called(*arguments)
    assert done.exit_code == 1
    assert said in done.output
