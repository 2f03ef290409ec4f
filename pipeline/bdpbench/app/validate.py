"""Checks: ns-2's own validation suite, a tier's scorecard, and bdpbench's tests.

The result of each subset of the suite is stored in
``.bdpbench/validation/<build id>/<subset>.json``, so that a second call runs only what is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bdpbench.app.planning import Paths
from bdpbench.app.totals import totals_lines
from bdpbench.contracts.documents import read_json, write_json_atomically
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import checkout_root, home_dir, results_dir
from bdpbench.contracts.scorecard import SCORECARD_NAME, read_scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import Ns2Build, current_build_id, require_build
from bdpbench.simulation.validation import (
    QUICK_SUBSETS,
    Judgement,
    KeptSubset,
    Limits,
    SubsetResult,
    Suite,
    judge,
    open_suite,
    read_known_differences,
    run_subset,
)
from bdpbench.simulation.validation.tables import (
    Row,
    as_csv,
    as_json,
    findings,
    header,
    line,
    table_row,
    totals,
)
from bdpbench.studies.config import load_config
from bdpbench.studies.load import find_study

RESULT_VERSION = 1

TESTED_VARIANT = "fast"
"""The variant that is tested, whichever runs use; tests compare others with it."""


def check_scorecard(study: str | None, tier: str | None) -> None:
    """Print the totals of a tier's scorecard.

    Raises:
        BdpbenchError: naming each number that is not reproduced and not a known miss, each known
            miss that was reproduced after all, and each claim that fails; or when nothing was run.
    """
    config = load_config()
    key = find_study(study or config.study).name
    paths = Paths(results_dir(config.results), key, tier or config.tier)
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


@dataclass(frozen=True)
class _Runner:
    """Runs subsets on builds, or returns their stored results."""

    suite: Suite
    limits: Limits
    again: bool

    def result(self, subset: str, build: Ns2Build) -> SubsetResult:
        """The result of a subset on a build, which is stored if the subset ran to its end."""
        folder = home_dir() / "validation" / build.build_id
        kept = None if self.again else _read_result(folder / f"{subset}.json")
        if kept is not None:
            return kept
        log = folder / f"{subset}.log"
        result = run_subset(self.suite, subset, build.binary, self.limits, log)
        if result.whole:
            data = {"schema_version": RESULT_VERSION, **result.to_json()}
            write_json_atomically(folder / f"{subset}.json", data)
        return result


def validate(request: ValidationRequest) -> bool:
    """Run the suite and print the table; returns whether everything is as expected.

    Raises:
        BdpbenchError: for wrong input, or for something missing on the machine.
    """
    _check(request)
    reasons = read_known_differences()
    suite = open_suite(request.source)
    subsets = suite.choose(request.subsets or (QUICK_SUBSETS if request.quick else ()))
    builds = [
        _built(variant, request.source)
        for variant in (request.variant, request.compare)
        if variant is not None
    ]
    runner = _Runner(suite, Limits(request.time_limit_s), request.again)
    rows, results = _run_all(runner, subsets, builds, request)
    print(line(totals(rows)))
    chosen = {key: reason for key, reason in reasons.items() if key[0] in subsets}
    judgement = judge(results[0], chosen, results[1] if request.compare else None)
    _conclude(request, judgement)
    if request.output is not None:
        _write(request.output, request, builds, rows, results)
    return judgement.good


def _check(request: ValidationRequest) -> None:
    if request.compare == request.variant:
        raise BdpbenchError(
            f"is the variant {request.variant}, which is validated", where="--compare"
        )
    if request.output is not None and request.output.suffix not in (".json", ".csv"):
        raise BdpbenchError(f"{request.output} must end in .json or .csv", where="-o/--output")


def _built(variant: str, source: Path | None) -> Ns2Build:
    backend = NativeBackend(current_build_id(variant), variant)
    backend.build(source)
    return require_build(backend.build_id)


def _run_all(
    runner: _Runner,
    subsets: Sequence[str],
    builds: Sequence[Ns2Build],
    request: ValidationRequest,
) -> tuple[list[Row], list[list[SubsetResult]]]:
    """Run every subset on every build, printing a line for each; results are by build."""
    rows: list[Row] = []
    results: list[list[SubsetResult]] = []
    with ThreadPoolExecutor(request.jobs or len(os.sched_getaffinity(0))) as pool:
        try:
            print(header(request.variant, request.compare), flush=True)
            tasks = [
                [pool.submit(runner.result, name, each) for each in builds] for name in subsets
            ]
            for of_subset in tasks:
                results.append([task.result() for task in of_subset])
                rows.append(table_row(*results[-1]))
                print(line(rows[-1]), flush=True)
        except BaseException:
            runner.limits.stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return rows, [list(of_build) for of_build in zip(*results, strict=True)]


def _read_result(path: Path) -> SubsetResult | None:
    if not path.is_file():
        return None
    what = "a result of `bdpbench ns2 validate`"
    kept = read_json(path, what=what, schema_version=RESULT_VERSION)
    return SubsetResult.from_json(cast("KeptSubset", kept))


def _conclude(request: ValidationRequest, judgement: Judgement) -> None:
    for text in findings(judgement, request.compare):
        print(text)
    if judgement.good and request.compare is not None:
        print(f"{request.variant} and {request.compare}: every output has the same bytes")
    print("all as expected" if judgement.good else "NOT as expected, see above")


def _write(
    output: Path,
    request: ValidationRequest,
    builds: Sequence[Ns2Build],
    rows: Sequence[Row],
    results: Sequence[Sequence[SubsetResult]],
) -> None:
    about = {
        "variant": request.variant,
        "compare": request.compare,
        "builds": [build.build_id for build in builds],
    }
    text = as_csv(rows) if output.suffix == ".csv" else as_json(about, rows, results[0])
    write_text_atomically(output, text)
