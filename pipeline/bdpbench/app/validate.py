"""Checks: a tier's scorecard, and bdpbench's tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from bdpbench.app.planning import Wanted
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.paths import checkout_root
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import current_build_id, require_build

TESTED_VARIANT = "fast"
"""The variant that is tested, whichever runs use; tests compare others with it."""


def check_scorecard(study: str | None, tier: str | None) -> None:
    """Print the totals of a tier's scorecard, and that all is as expected.

    Raises:
        BdpbenchError: naming each number that is not reproduced and not a known miss, each known
            miss that was reproduced after all, each statement that fails, and each that holds and
            has a cause of failure; or when nothing was judged.
    """
    paths = Wanted(study, tier).paths()
    if not paths.report.exists():
        hint = f"`./bdpbench run {paths.study} --tier {paths.tier}` makes them"
        raise BdpbenchError("there are no results", where=str(paths.folder), hint=hint)
    scorecard = read_scorecard(paths.folder / SCORECARD_NAME)
    print(totals_sentence(scorecard).replace("**", ""))
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
    holding = {each["id"] for each in scorecard["claims"] if each["verdict"] == "holds"}
    problems += [
        f"{claim}: holds, but causes.yaml says why it fails ({cause['cause']})"
        for cause in scorecard.get("causes", [])
        for claim in cause["of"]
        if claim in holding
    ]
    judged = [each["verdict"] for each in (*scorecard["numbers"], *scorecard["claims"])]
    if set(judged) <= {"not_run"}:
        problems.append("no number and no statement of the study was judged")
    if problems:
        raise BdpbenchError("\n  ".join(["unexpected:", *problems]), where=str(paths.folder))
    print("as expected: whatever is not reproduced or fails is a known miss")


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
