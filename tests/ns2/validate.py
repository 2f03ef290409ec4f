"""Run ns-2's own validation suite on a build of ns-2.

    PYTHONPATH=pipeline:. .bdpbench/venv/bin/python tests/ns2/validate.py [--compare stock]

It fails if a test differs from its reference and is not listed in ``ns2/known_differences.yaml``,
if a listed test agrees, and, with ``--compare``, if any output differs. The result of each subset
is kept in ``.bdpbench/validation/<build id>/<subset>.json``, so that a second call runs only what
is missing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import click
from tests.ns2.validation import (
    QUICK_SUBSETS,
    Finding,
    Limits,
    SubsetResult,
    Suite,
    judge,
    keep_result,
    kept_result,
    not_same,
    open_suite,
    read_known_differences,
    run_subset,
)

from bdpbench.contracts.paths import home_dir
from bdpbench.errors import BdpbenchError
from bdpbench.processes import end_with_call
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import Ns2Build, current_build_id, require_build


@dataclass(frozen=True)
class ValidationRequest:
    """What to validate.

    Attributes:
        variant: the build; compare: another one, all of whose outputs must be the same.
        subsets: names; empty for all, or with ``quick`` for those of a first check.
        jobs: subsets at once; None for one per processor.
        time_limit_s: time after which a subset is stopped, s.
        again: repeat finished subsets.
    """

    variant: str = "fast"
    compare: str | None = None
    subsets: tuple[str, ...] = ()
    quick: bool = False
    jobs: int | None = None
    time_limit_s: float = 1800.0
    again: bool = False


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
    if request.compare == request.variant:
        said = f"is the variant {request.variant}, which is validated"
        raise BdpbenchError(said, where="--compare")
    reasons = read_known_differences()
    suite = open_suite()
    subsets = suite.choose(request.subsets or (QUICK_SUBSETS if request.quick else ()))
    variants = [each for each in (request.variant, request.compare) if each is not None]
    builds = [_built(each) for each in variants]
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


def _built(variant: str) -> Ns2Build:
    backend = NativeBackend(current_build_id(variant), variant)
    backend.build()
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


_VARIANT = click.Choice(["fast", "stock"])


@click.command()
@click.option("--variant", type=_VARIANT, default="fast", show_default=True)
@click.option(
    "--compare",
    type=_VARIANT,
    help="Also run this variant and compare every output byte by byte.",
)
@click.option("--subset", "subsets", multiple=True, help="Only this subset; may be repeated.")
@click.option(
    "--quick", is_flag=True, help="Wired TCP, queues and traces: a first check of a machine."
)
@click.option("-j", "--jobs", type=click.IntRange(1), help="Subsets at once.")
@click.option(
    "--time-limit",
    "time_limit_s",
    type=click.FloatRange(min=0, min_open=True),
    default=1800.0,
    show_default=True,
    help="Time limit of a subset, s.",
)
@click.option(
    "--again", is_flag=True, help="Repeat subsets that have already been run on this build."
)
def main(**asked: Any) -> None:
    """Run ns-2's own validation suite on the build."""
    end_with_call()
    try:
        sys.exit(0 if validate(ValidationRequest(**asked)) else 1)
    except BdpbenchError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("error: interrupted; what was finished is kept, and the same command resumes")


if __name__ == "__main__":
    main()
