"""Checks: a tier's scorecard, and bdpbench's tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

from bdpbench.app.planning import Wanted
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.paths import checkout_root
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME, ScoredClaim, ScoredNumber
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import current_build_id, require_build

TESTED_VARIANT = "fast"
"""The variant that is tested, whichever runs use; tests compare others with it."""


def check_scorecard(study: str | None, tier: str | None, *, as_json: bool = False) -> None:
    """Print the totals of a tier's scorecard, and that all is as expected.

    As JSON, each number and statement is an object: id, verdict, known_miss, is_expected.

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
    causes = {claim: each["cause"] for each in scorecard.get("causes", []) for claim in each["of"]}
    found: list[tuple[ScoredNumber | ScoredClaim, str]] = [
        *((each, _unexpected_number(each)) for each in scorecard["numbers"]),
        *((each, _unexpected_claim(each, causes.get(each["id"]))) for each in scorecard["claims"]),
    ]
    if as_json:
        for each, why in found:
            facts = {"id": each["id"], "verdict": each["verdict"], "known_miss": each["known_miss"]}
            print(json.dumps({**facts, "is_expected": not why}))
    else:
        print(totals_sentence(scorecard).replace("**", ""))
    problems = [f"{each['id']}: {why}" for each, why in found if why]
    if {each["verdict"] for each, _ in found} <= {"not_run"}:
        problems.append("no number and no statement of the study was judged")
    if problems:
        raise BdpbenchError("\n  ".join(["unexpected:", *problems]), where=str(paths.folder))
    if not as_json:
        print("as expected: whatever is not reproduced or fails is a known miss")


def _unexpected_number(number: ScoredNumber) -> str:
    """What is not as expected of a number; empty if nothing is."""
    if number["verdict"] == "not_reproduced" and not number["known_miss"]:
        return f"published {number['published']:g}, measured {number['measured']}"
    if number["verdict"] == "reproduced" and number["known_miss"]:
        return "is a known miss, but was reproduced: correct published.csv"
    return ""


def _unexpected_claim(claim: ScoredClaim, cause: str | None) -> str:
    """What is not as expected of a statement, and of its cause of failure; empty if nothing is."""
    if claim["verdict"] == "holds" and cause:
        return f"holds, but causes.yaml says why it fails ({cause})"
    fails = claim["verdict"] == "fails" and not claim["known_miss"]
    return claim["explanation"] if fails else ""


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
