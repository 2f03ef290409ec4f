"""Checks: ns-2's own validation suite, a tier's scorecard, and bdpbench's tests.

The result of each subset of the suite is kept in ``.bdpbench/validation/<build id>/<subset>.json``,
so that a second call runs only what is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bdpbench.app.planning import wanted_as_run
from bdpbench.app.totals import totals_lines
from bdpbench.contracts.documents import csv_of, write_json_atomically
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import checkout_root, home_dir
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import Ns2Build, current_build_id, require_build
from bdpbench.simulation.validation import (
    QUICK_SUBSETS,
    Finding,
    Limits,
    SubsetResult,
    Suite,
    as_document,
    judge,
    keep_result,
    kept_result,
    not_same,
    open_suite,
    read_known_differences,
    run_subset,
)

TESTED_VARIANT = "fast"
"""The variant that is tested, whichever runs use; tests compare others with it."""


def check_scorecard(study: str | None, tier: str | None, engine: str | None = None) -> None:
    """Print the totals of a tier's scorecard, or of what was run of it with an engine.

    Raises:
        BdpbenchError: naming each number that is not reproduced and not a known miss, each known
            miss that was reproduced after all, and each claim that fails; or when nothing was run.
    """
    paths = wanted_as_run(study, tier, engine).paths()
    scorecard = read_scorecard(paths.folder / SCORECARD_NAME)
    print("\n".join(totals_lines(scorecard)))
    problems = [
        f"{number['id']}: published {number['published']:g}, measured {number['measured']}"
        for number in scorecard["numbers"]
        if number["verdict"] == "not_reproduced" and not number["known_miss"]
    ]
    problems += [
        f"{number['id']}: is a known miss, but was reproduced: correct published.csv"
        for number in scorecard["numbers"]
        if number["verdict"] == "reproduced" and number["known_miss"]
    ]
    problems += [
        f"{claim['id']}: {claim['explanation']}"
        for claim in scorecard["claims"]
        if claim["verdict"] == "fails" and not claim["known_miss"]
    ]
    if not any(number["verdict"] != "not_run" for number in scorecard["numbers"]):
        problems.append("no number of the study was run")
    if problems:
        raise BdpbenchError("\n  ".join(["unexpected:", *problems]), where=str(paths.folder))


def run_tests(arguments: Sequence[str]) -> int:
    """Build ns-2 if necessary and run pytest; returns its exit status.

    Raises:
        BdpbenchError: when there is no checkout, which contains the tests.
    """
    root = checkout_root()
    build_id = current_build_id(TESTED_VARIANT)
    NativeBackend(build_id, TESTED_VARIANT).build()
    environment = {
        **os.environ,
        "BDPBENCH_NS": str(require_build(build_id).binary),
        "BDPBENCH_REQUIRE_NS2": "1",
        # The workers keep all processors busy, and tables in tests are small: more threads would
        # cost a fifth.
        "POLARS_MAX_THREADS": "1",
    }
    # Tests start hundreds of processes, each of which would compile the pipeline again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [*_pytest(), *arguments], cwd=root, env=environment, check=False
    ).returncode


def _pytest() -> list[str]:
    """Run pytest with one worker more than there are processors, because tests also wait.

    On two processors, three workers took 147 s, two 165 s, and four 152 s. Files go to the workers
    in the order of collection, so that tests/app, whose tests take longest, comes first and the
    workers end together.
    """
    workers = str(len(os.sched_getaffinity(0)) + 1)
    distribution = ["-n", workers, "--dist", "loadfile", "--no-loadscope-reorder"]
    return [sys.executable, "-m", "pytest", *distribution]


# ---------------------------------------------------------------- ns-2's own validation suite


@dataclass(frozen=True)
class ValidationRequest:
    """The user's request.

    Attributes:
        variant: build to validate; compare: another one, all of whose outputs must be the same.
        subsets: names; empty for all, or with ``quick`` for those of a first check.
        jobs: subsets at once; None for one per processor.
        time_limit_s: time after which a subset is stopped, s.
        again: repeat finished subsets.
        output: file for the table, .json or .csv.
        source: the user's own copy of the source archive.
    """

    variant: str = "fast"
    compare: str | None = None
    subsets: tuple[str, ...] = ()
    quick: bool = False
    jobs: int | None = None
    time_limit_s: float = 1800.0
    again: bool = False
    output: Path | None = None
    source: Path | None = None


Counts = dict[str, float]
"""Column of the table → number."""

_LEFT_OUT = "ns-2's own validate leaves out this subset"
_FINDINGS = {
    "unknown": "DIFFERS UNEXPECTEDLY: {subset} {test}",
    "vanished": "AGREES, but is listed in ns2/known_differences.yaml: {subset} {test}",
    "silent": "WROTE NOTHING to compare: {subset} {test}",
    "stopped": "STOPPED at the time limit: {subset}",
    "empty": "RAN NO TEST: {subset}",
    "not the same": "NOT THE SAME as {other}: {subset} {test}: {detail}",
}


def validate(request: ValidationRequest) -> bool:
    """Run the suite and print the table; returns whether everything is as expected.

    Raises:
        BdpbenchError: for wrong input, or for something missing on the machine.
    """
    _check(request)
    reasons = read_known_differences()
    suite = open_suite(request.source)
    subsets = suite.choose(request.subsets or (QUICK_SUBSETS if request.quick else ()))
    variants = [each for each in (request.variant, request.compare) if each is not None]
    builds = [_built(each, request.source) for each in variants]
    print(header(request.variant, request.compare), flush=True)
    table: dict[str, Counts] = {}
    by_build: list[list[SubsetResult]] = [[] for _ in builds]
    for of_subset in _results(request, suite, subsets, builds):
        for results, result in zip(by_build, of_subset, strict=True):
            results.append(result)
        name = of_subset[0].subset
        table[name] = counts_of(*of_subset)
        print(line_of(name, table[name]), flush=True)
    table["total"] = totals(list(table.values()))
    print(line_of("total", table["total"]))
    chosen = {key: reason for key, reason in reasons.items() if key[0] in subsets}
    left_out = {*subsets} - {*suite.subsets()}
    found = [
        each._replace(kind="known", detail=_LEFT_OUT)
        if each.kind == "unknown" and each.subset in left_out
        else each
        for each in judge(by_build[0], chosen, by_build[1] if request.compare else None)
    ]
    if request.output is not None:
        _write(request.output, request, builds, table, by_build[0])
    return _conclude(request, found)


def _results(
    request: ValidationRequest, suite: Suite, subsets: Sequence[str], builds: Sequence[Ns2Build]
) -> Iterator[list[SubsetResult]]:
    """The results of each subset on all builds, in order; several subsets run at a time."""
    limits = Limits(request.time_limit_s)

    def result(subset: str, build: Ns2Build) -> SubsetResult:
        folder = home_dir() / "validation" / build.build_id
        kept = None if request.again else kept_result(folder, subset)
        if kept is not None:
            return kept
        found = run_subset(suite, subset, build.binary, limits, folder / f"{subset}.log")
        if found.whole:
            keep_result(folder, found)
        return found

    with ThreadPoolExecutor(request.jobs or len(os.sched_getaffinity(0))) as pool:
        try:
            tasks = [[pool.submit(result, name, each) for each in builds] for name in subsets]
            for of_subset in tasks:
                yield [task.result() for task in of_subset]
        except BaseException:
            limits.stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _check(request: ValidationRequest) -> None:
    if request.compare == request.variant:
        said = f"is the variant {request.variant}, which is validated"
        raise BdpbenchError(said, where="--compare")
    if request.output is not None and request.output.suffix not in (".json", ".csv"):
        raise BdpbenchError(f"{request.output} must end in .json or .csv", where="-o/--output")


def _built(variant: str, source: Path | None) -> Ns2Build:
    backend = NativeBackend(current_build_id(variant), variant)
    backend.build(source)
    return require_build(backend.build_id)


def _conclude(request: ValidationRequest, found: Sequence[Finding]) -> bool:
    """Print the findings; returns whether everything is as expected."""
    for text in finding_lines(found, request.compare):
        print(text)
    good = all(each.kind == "known" for each in found)
    if good and request.compare is not None:
        print(f"{request.variant} and {request.compare}: every output has the same bytes")
    print("all as expected" if good else "NOT as expected, see above")
    return good


def finding_lines(found: Sequence[Finding], other: str | None) -> Iterator[str]:
    """Lines about single tests: expected differences first, then errors."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for each in found:
        if each.kind == "known":
            grouped.setdefault((each.subset, each.detail), []).append(each.test)
    for (subset, reason), tests in grouped.items():
        yield f"differ as expected: {subset} {', '.join(tests)}\n    {reason.strip()}"
    for each in found:
        if each.kind != "known":
            yield _FINDINGS[each.kind].format(**each._asdict(), other=other)


def counts_of(one: SubsetResult, other: SubsetResult | None = None) -> Counts:
    """One line of the table; ``same`` and ``not_same`` are for a comparison of variants."""
    agree, differ = len(one.named("agree")), len(one.named("differ"))
    counts: Counts = {
        "tests": len(one.tests),
        "agree": agree,
        "differ": differ,
        "neither": len(one.tests) - agree - differ,
    }
    if other is None:
        return {**counts, "cpu_s": round(one.cpu_s, 1)}
    changed = len(not_same(one, other))
    return {
        **counts,
        "same": max(len(one.tests), len(other.tests)) - changed,
        "not_same": changed,
        "cpu_s": round(one.cpu_s, 1),
        "other_cpu_s": round(other.cpu_s, 1),
    }


def totals(rows: Sequence[Counts]) -> Counts:
    """The sums of all columns."""
    return {name: round(sum(row[name] for row in rows), 1) for name in rows[0]}


def header(variant: str, other: str | None) -> str:
    """The heading over lines of ``line_of``."""
    names = ["tests", "agree", "differ", "neither"]
    times = [f"{variant}, s"]
    if other is not None:
        names += ["same", "not same"]
        times.append(f"{other}, s")
    return "  ".join([f"{'subset':28s}", *(f"{name:>8s}" for name in [*names, *times])])


def line_of(subset: str, counts: Counts) -> str:
    """One line of the table as aligned text."""
    return "  ".join([f"{subset:28s}", *(f"{value!s:>8s}" for value in counts.values())])


def _write(
    output: Path,
    request: ValidationRequest,
    builds: Sequence[Ns2Build],
    table: Mapping[str, Counts],
    results: Sequence[SubsetResult],
) -> None:
    """Write the table as CSV, or everything, with every test's outcome and checksums, as JSON."""
    rows = [{"subset": name, **counts} for name, counts in table.items()]
    if output.suffix == ".csv":
        write_text_atomically(output, csv_of(list(rows[0]), rows))
        return
    data = {
        "schema_version": 1,
        "variant": request.variant,
        "compare": request.compare,
        "builds": [build.build_id for build in builds],
        "subsets": rows[:-1],
        "total": rows[-1],
        "tests": [as_document(each) for each in results],
    }
    write_json_atomically(output, data)
