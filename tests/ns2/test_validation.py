"""What is read from the output of a validation, and the result that follows from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.ns2 import validation, validation_recorder
from tests.ns2.validate import counts_of, finding_lines, header, line_of, totals
from tests.ns2.validation import (
    Finding,
    SubsetResult,
    Suite,
    ValidationTest,
    join,
    judge,
    keep_result,
    kept_result,
    not_same,
    outcomes,
    read_known_differences,
)

from bdpbench.errors import BdpbenchError

# As ns-2.35's test-all-template1 prints it; the third test leaves an unfinished line.
LOG = """\
Tests: one two three four five
Running test one:
../../ns test-suite-x.tcl one QUIET
Test output agrees with reference output
Running test two:
../../ns test-suite-x.tcl two QUIET
Test output differs from reference output
Diagnose with: diff test-output-x/two.test test-output-x/two
Running test three:
../../ns test-suite-x.tcl three QUIET
0.5 1.5 Test output agrees with reference output
Running test four:
../../ns test-suite-x.tcl four QUIET
Test not implemented
Running test five:
../../ns test-suite-x.tcl five QUIET
Segmentation fault
Some test failed.
"""


def result(subset: str, *outcomes_of: tuple[str, str], whole: bool = True) -> SubsetResult:
    tests = tuple(ValidationTest(n, o, 1.0, {"temp.rands": "aa"}) for n, o in outcomes_of)
    return SubsetResult(subset, tests, whole)


def test_outcomes_of_a_drivers_output() -> None:
    assert outcomes(LOG) == [
        ("one", "agree"),
        ("two", "differ"),
        ("three", "agree"),
        ("four", "not implemented"),
        ("five", "no output"),
    ]
    assert outcomes("no saved test output.  do cvs update -d\n") == []


def test_a_test_that_was_stopped_has_no_outputs() -> None:
    record = {"exit_status": 1, "cpu_s": 0.5, "said": "bb", "files": {"temp.rands": "aa"}}
    one, two = join([("one", "differ"), ("two", "no output")], [record])
    assert one.outputs == {"(exit status)": "1", "(screen)": "bb", "temp.rands": "aa"}
    assert (two.cpu_s, two.outputs) == (0.0, {})


def test_results_are_read_back_as_they_were(tmp_path: Path) -> None:
    one = result("x", ("one", "agree"), ("two", "differ"), whole=False)
    keep_result(tmp_path, one)
    assert kept_result(tmp_path, "x") == one
    assert kept_result(tmp_path, "y") is None


def test_known_and_unknown_differences() -> None:
    results = [result("x", ("one", "agree"), ("two", "differ"), ("three", "differ"))]
    reasons = {("x", "two"): "a reason", ("y", "one"): "another"}
    known = Finding("known", "x", "two", "a reason")
    assert judge(results, reasons) == [known, Finding("unknown", "x", "three")]
    known_too = Finding("known", "x", "three", "a reason")
    found = judge(results, {**reasons, ("x", "three"): "a reason"})
    assert found == [known, known_too]
    assert list(finding_lines(found, None)) == ["differ as expected: x two, three\n    a reason"]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            result("x", ("one", "agree")),
            "AGREES, but is listed in ns2/known_differences.yaml: x one",
        ),
        (result("x", ("one", "no output")), "WROTE NOTHING to compare: x one"),
        (result("x", ("two", "agree"), whole=False), "STOPPED at the time limit: x"),
        (result("x"), "RAN NO TEST: x"),
        (result("x", ("two", "differ")), "DIFFERS UNEXPECTEDLY: x two"),
    ],
)
def test_what_is_not_as_expected_is_told(one: SubsetResult, said: str) -> None:
    found = judge([one], {("x", "one"): "a reason"})
    assert [each.kind == "known" for each in found] == [False]
    assert list(finding_lines(found, None)) == [said]


def test_outputs_that_are_not_the_same_are_named() -> None:
    one = SubsetResult(
        "x", (ValidationTest("a", "agree", 1.0, {"temp.rands": "aa", "all.tr": "bb"}),)
    )
    other = SubsetResult(
        "x", (ValidationTest("a", "agree", 2.0, {"temp.rands": "aa", "all.q": "bb"}),)
    )
    assert not_same(one, one) == []
    assert not_same(one, other) == [("a", ("all.q", "all.tr"))]
    assert not_same(one, SubsetResult("x", ())) == [("a", ("(not run)",))]
    found = judge([one], {}, [other])
    said = "NOT THE SAME as stock: x a: all.q, all.tr"
    assert list(finding_lines(found, "stock")) == [said]


def test_a_failing_test_with_the_same_bytes_is_the_same() -> None:
    one = result("x", ("a", "differ"))
    assert [each.kind for each in judge([one], {("x", "a"): "a reason"}, [one])] == ["known"]


def test_table_and_its_totals() -> None:
    first = counts_of(result("x", ("a", "agree"), ("b", "differ"), ("c", "not implemented")))
    second = counts_of(result("y", ("a", "agree")))
    assert list(totals([first, second]).values()) == [4, 2, 1, 1, 4.0]
    assert len(line_of("x", first)) == len(header("fast", None))


def test_known_differences_of_this_repository_have_their_reasons() -> None:
    assert all(len(reason) > 20 for reason in read_known_differences().values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {subset: x, tests: [a]}\n", "1: 0.reason: this key is missing"),
        ("- subset: x\n  tests: [a]\n  reason: b\n  reasons: c\n", "did you mean 'reason'?"),
        ("- {subset: x, tests: [], reason: b}\n", "0.tests: "),
        (
            "- {subset: x, tests: [a], reason: b}\n- {subset: x, tests: [a], reason: c}\n",
            "2: 1.tests: a of x is listed twice",
        ),
        ("subset: x\n", "expected a list of {subset, tests, reason}"),
        ("- [\n", "not valid YAML"),
    ],
)
def test_wrong_known_differences_are_told_with_their_line(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "known_differences.yaml"
    path.write_text(text)
    with pytest.raises(BdpbenchError, match=r"known_differences\.yaml") as caught:
        read_known_differences(path)
    assert said in str(caught.value)


def test_subsets_of_a_suite_are_chosen_by_name(tmp_path: Path) -> None:
    (tmp_path / "tcl" / "test").mkdir(parents=True)
    for name in ("tcp", "red"):
        (tmp_path / "tcl" / "test" / f"test-all-{name}").touch()
    (tmp_path / "validate").write_text("for i in \\\nred \\\ntcp \\\n# old ones\ndo\n")
    suite = Suite(tmp_path)
    assert suite.choose(()) == ["red", "tcp"]
    assert suite.choose(("tcp", "tcp")) == ["tcp"]
    with pytest.raises(BdpbenchError, match="no subset 'rad'") as caught:
        suite.choose(("rad",))
    assert caught.value.hint == "did you mean 'red'?"
    (tmp_path / "validate").write_text("nothing\n")
    with pytest.raises(BdpbenchError, match="/validate: lists no subsets"):
        suite.choose(())


def test_a_call_is_recorded_and_ends_as_a_shell_would_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ns, records, log = (tmp_path / name for name in ("ns", "records", "log"))
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    log.write_text("")
    ends = {"exit 3": (3, 3), "echo x > out; kill -TERM $$": (-15, 143)}
    for body, (_, told) in ends.items():
        ns.write_text(f"#!/bin/sh\n{body}\n")
        ns.chmod(0o755)
        assert validation_recorder.main(str(ns), str(records), str(log), ["test.tcl"]) == told
    found = [json.loads(line) for line in records.read_text().splitlines()]
    assert [each["exit_status"] for each in found] == [status for status, _ in ends.values()]
    assert [list(each["files"]) for each in found] == [[], ["out"]]


@pytest.mark.parametrize("status", [0, 1, 2])
def test_perl_needs_what_it_no_longer_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    for name in validation._PROGRAMS:
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if status == 0:
        validation._require_programs()
        return
    with pytest.raises(BdpbenchError, match="packages: libperl4-corelibs-perl\n"):
        validation._require_programs()
