"""Run ns-2's own validation suite on a build of ns-2.

    PYTHONPATH=$PWD/pipeline:$PWD .bdpbench/venv/bin/python tests/ns2/validate.py [--compare stock]

It fails if a test differs from its reference and is not listed in ``ns2/known_differences.yaml``,
if a listed test agrees, and, with ``--compare``, if any output differs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.ns2.validation import (
    QUICK_SUBSETS,
    Limits,
    SubsetResult,
    Suite,
    judge,
    not_same,
    open_suite,
    read_known_differences,
    run_subset,
)

from bdpbench.errors import BdpbenchError
from bdpbench.processes import end_with_call
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import Ns2Build, current_build_id, require_build

LIMIT_S = 1800.0
COLUMNS = ("tests", "agree", "differ", "neither", "same", "not same", "CPU s")


def results_of(
    suite: Suite, subsets: Sequence[str], builds: Sequence[Ns2Build]
) -> Iterator[list[SubsetResult]]:
    """The results of each subset on all builds, in order; several subsets run at a time."""
    limits = Limits(LIMIT_S)

    def results(subset: str) -> list[SubsetResult]:
        return [run_subset(suite, subset, each.binary, limits) for each in builds]

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        try:
            yield from pool.map(results, subsets)
        except BaseException:
            limits.stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def built(variant: str) -> Ns2Build:
    """The build of a variant, which is made if it is missing."""
    backend = NativeBackend(current_build_id(variant), variant)
    backend.build()
    return require_build(backend.build_id)


def row_of(one: SubsetResult, other: SubsetResult | None = None) -> list[float]:
    """The numbers of a subset, as COLUMNS names them."""
    agree, differ = len(one.named("agree")), len(one.named("differ"))
    neither = len(one.tests) - agree - differ
    changed = len(not_same(one, other)) if other else 0
    same = max(len(one.tests), len(other.tests)) - changed if other else 0
    return [len(one.tests), agree, differ, neither, same, changed, round(one.cpu_s, 1)]


def line_of(name: str, cells: Sequence[object]) -> str:
    """One line of the table as aligned text."""
    return "  ".join([f"{name:28s}", *(f"{cell!s:>8s}" for cell in cells)])


def validate(given: argparse.Namespace) -> bool:
    """Run the suite and print the table; returns whether everything is as expected.

    Raises:
        BdpbenchError: for an unknown subset, or for something missing on the machine.
    """
    suite = open_suite()
    subsets = suite.choose(given.subsets or (QUICK_SUBSETS if given.quick else ()))
    builds = [built(variant) for variant in ("fast", given.compare) if variant]
    print(line_of("subset", COLUMNS), flush=True)
    found = []
    totals: list[float] = [0] * len(COLUMNS)
    for results in results_of(suite, subsets, builds):
        row = row_of(*results)
        totals = [round(a + b, 1) for a, b in zip(totals, row, strict=True)]
        print(line_of(results[0].subset, row), flush=True)
        found.append(results)
    print(line_of("total", totals))
    reasons = {key: why for key, why in read_known_differences().items() if key[0] in subsets}
    ours, *theirs = map(list, zip(*found, strict=True))
    expected, faults = judge(ours, reasons, *theirs, left_out={*subsets} - {*suite.subsets()})
    for line in (*expected, *faults):
        print(line)
    if theirs and not faults:
        print("fast and stock: every output has the same bytes")
    print("NOT as expected, see above" if faults else "all as expected")
    return not faults


def main(words: Sequence[str] | None = None) -> int:
    """Run ns-2's own validation suite on the build; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compare", choices=["stock"], help="compare all outputs with this one's")
    parser.add_argument("--subset", dest="subsets", action="append", help="may be repeated")
    parser.add_argument("--quick", action="store_true", help="wired TCP, queues and traces")
    given = parser.parse_args(words)
    end_with_call()
    try:
        return 0 if validate(given) else 1
    except BdpbenchError as error:
        print(f"error: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
