"""Short subsets of ns-2's own validation suite with the real ns-2, and what their output says."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.needs import validation_suite
from tests.ns2 import validation
from tests.ns2.validate import main, row_of
from tests.ns2.validation import (
    QUICK_SUBSETS,
    Limits,
    SubsetResult,
    Suite,
    ValidationTest,
    join,
    judge,
    not_same,
    outcomes,
    read_known_differences,
    run_subset,
)

from bdpbench.errors import BdpbenchError

LIMITS = Limits(seconds=120)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return validation_suite()


@pytest.fixture(scope="module")
def schedule(suite: Suite, ns_binary: Path) -> SubsetResult:
    return run_subset(suite, "schedule", ns_binary, LIMITS)


def test_subsets_end_as_the_references_or_as_is_known(
    suite: Suite, schedule: SubsetResult, ns_binary: Path
) -> None:
    results = [schedule, run_subset(suite, "mpls", ns_binary, LIMITS)]
    # `grep -c '^Class Test/'` in their scripts.
    assert [len(each.tests) for each in results] == [6, 4]
    expected, faults = judge(results, read_known_differences())
    assert (len(expected), faults) == (1, [])


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
    assert len(judge([bad], {})[1]) == 6
    assert [outputs for _, outputs in not_same(schedule, bad)] == [("(outcome)", "temp.rands")] * 6


def test_a_subset_is_stopped_at_its_time_limit(suite: Suite, tmp_path: Path) -> None:
    hanging = tmp_path / "ns"
    mark = f"/bin/sleep 98.76{os.getpid()}"
    hanging.write_text(f"#!/bin/sh\nexec {mark}\n")
    hanging.chmod(0o755)
    result = run_subset(suite, "schedule", hanging, Limits(seconds=1))
    assert not result.whole
    assert "STOPPED at the time limit: schedule" in judge([result], {})[1]
    commands = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            commands.add(path.read_text(errors="replace").rstrip("\0").replace("\0", " "))
    assert mark not in commands


def test_the_program_prints_its_table_and_what_is_as_expected(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(QUICK_SUBSETS) < set(suite.choose(()))
    assert main(["--subset", "LimTransmit", "--subset", "nixvec"]) == 0
    *rows, _, test, reason, whole = capsys.readouterr().out.splitlines()[1:]
    assert rows[0].split()[:3] == ["LimTransmit", "4", "4"]
    # ns-2's own `validate` leaves this subset out.
    assert (test, whole) == ("differ as expected: nixvec NixVec", "all as expected")
    assert reason.strip() == "ns-2's own validate leaves out this subset"
    assert main(["--subset", "simultanous"]) == 1
    assert "did you mean 'simultaneous'?" in capsys.readouterr().err


# ---------------------------------------------------------------- what the output says

# As ns-2.35's test-all-template1 prints it; the third test leaves an unfinished line.
_DATA = data_of(__file__)
LOG = _DATA["log"]


def result(subset: str, *outcomes_of: tuple[str, str], whole: bool = True) -> SubsetResult:
    tests = tuple(ValidationTest(n, o, 1.0, {"temp.rands": "aa"}) for n, o in outcomes_of)
    return SubsetResult(subset, tests, whole)


def test_outcomes_of_a_drivers_output() -> None:
    told = ["agree", "differ", "agree", "not implemented", "no output"]
    names = ["one", "two", "three", "four", "five"]
    assert outcomes(LOG) == list(zip(names, told, strict=True))
    assert outcomes("no saved test output.  do cvs update -d\n") == []


def test_a_test_that_was_stopped_has_no_outputs() -> None:
    files = {"temp.rands": "aa"}
    (one, two) = join(
        [("one", "differ"), ("two", "no output")],
        [{"arguments": [], "exit_status": 1, "cpu_s": 0.5, "said": "bb", "files": files}],
    )
    assert one.outputs == {"(exit status)": "1", "(screen)": "bb", **files}
    assert (two.cpu_s, two.outputs) == (0.0, {})


def test_known_differences_are_told_with_their_reason() -> None:
    results = [result("x", ("one", "agree"), ("two", "differ"), ("three", "differ"))]
    reasons = {("x", "two"): "a reason", ("y", "one"): "another"}
    known = ["differ as expected: x two\n    a reason"]
    assert judge(results, reasons) == (known, ["DIFFERS UNEXPECTEDLY: x three"])
    both = ["differ as expected: x two, three\n    a reason"]
    assert judge(results, {**reasons, ("x", "three"): "a reason"}) == (both, [])
    assert judge(results, reasons, results) == judge(results, reasons)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (("one", "agree"), "AGREES, but is listed in ns2/known_differences.yaml: x one"),
        (("one", "no output"), "WROTE NOTHING to compare: x one"),
        (("two", "differ"), "DIFFERS UNEXPECTEDLY: x two"),
        (None, "RAN NO TEST: x"),
    ],
)
def test_what_is_not_as_expected_is_told(one: tuple[str, str] | None, said: str) -> None:
    found = judge([result("x", *([one] if one else []))], {("x", "one"): "a reason"})
    assert found == ([], [said])


def test_outputs_that_are_not_the_same_are_named() -> None:
    one, other = (
        SubsetResult("x", (ValidationTest("a", "agree", 1.0, {"temp.rands": "aa", name: "bb"}),))
        for name in ("all.tr", "all.q")
    )
    assert not_same(one, one) == []
    assert not_same(one, SubsetResult("x", ())) == [("a", ("(not run)",))]
    assert judge([one], {}, [other])[1] == ["NOT THE SAME as stock: x a: all.q, all.tr"]
    assert row_of(one, other) == [1, 1, 0, 0, 0, 1, 1.0]


def test_perl_needs_what_it_no_longer_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in validation._PROGRAMS:
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BdpbenchError, match="packages: libperl4-corelibs-perl\n"):
        validation._require_programs()
