"""`ns2/versions.lock`: the version by which each file of ns-2, ns-3 and Tcl counts in ids of runs.

Usage: PYTHONPATH=$PWD/pipeline:$PWD .bdpbench/venv/bin/python tests/ns2/lock.py [--refresh | --new]

Without an option it names the files that differ from the lock, and fails if there are any.
`--refresh` simulates a sample of the published runs on which these files act. If every output has
its published SHA-256, the files keep their versions, so that no id changes; else nothing is
written. `--new` gives these files versions of their own: the runs on which they act have new ids
and have to be simulated again.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bdpbench.app.keep.results import KeptResults
from bdpbench.app.planning import Prepared, Wanted, exclusive, is_finished, prepare
from bdpbench.app.progress import make_view
from bdpbench.app.run import Call, execution_of, ready, simulate_missing
from bdpbench.contracts.files import sha256_of, write_text_atomically
from bdpbench.contracts.paths import repository_root, tcl_dir
from bdpbench.contracts.plan import PlannedRun, write_plan_document
from bdpbench.contracts.reports import KeptRun
from bdpbench.contracts.runs import read_run
from bdpbench.errors import BdpbenchError
from bdpbench.processes import signals_interrupt
from bdpbench.studies.config import load_config
from bdpbench.studies.identity import (
    LOCK_NAME,
    VERSION_DIGITS,
    ns2_names,
    read_components,
    read_lock,
)
from bdpbench.studies.ns3_program import ns3_files

HEAD = """\
# The versions by which files count in ids of runs, and what they contain: see tests/ns2/lock.py.
# A file of another content has a version of its own.
"""
PUBLISHED = Path("reports") / "published"
_SHOWN = 5


@dataclass(frozen=True)
class Pair:
    """A published run and the run that is planned in its place today."""

    kept: KeptRun
    today: PlannedRun


def main() -> None:
    """Compare the files with the lock, and write it if asked to and if it may be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--refresh", action="store_true", help="keep versions if a sample agrees")
    choice.add_argument("--new", action="store_true", help="new versions for what differs")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="of each kind (default 1)")
    given = parser.parse_args()
    today, locked = locked_files(), read_lock()
    changed = [name for name in locked if name in today and today[name] != locked[name][0]]
    for name in sorted(today.keys() ^ locked.keys() | {*changed}):
        is_now = "differs" if name in changed else "is new" if name in today else "is gone"
        print(f"{name} {is_now}")
    if given.refresh:
        prove(given.runs)
    elif not given.new:
        sys.exit(today.keys() != locked.keys() or bool(changed))
    versions = {
        name: locked[name][1]
        if name in locked and (given.refresh or name not in changed)
        else sha256[:VERSION_DIGITS]
        for name, sha256 in today.items()
    }
    lines = (f"{versions[name]} {today[name]}  {name}\n" for name in sorted(today))
    write_text_atomically(repository_root() / "ns2" / LOCK_NAME, HEAD + "".join(lines))


def locked_files() -> dict[str, str]:
    """File → its SHA-256, of all that may act on a run: from ``ns2/``, ``tcl/`` or ``ns3/`` on."""
    ns2 = repository_root() / "ns2"
    no_run = tuple(read_components().no_run)
    names = ["SOURCE.lock", *(name for each in ns2_names() for name in each)]
    found = {f"ns2/{name}": ns2 / name for name in names if not name.startswith(no_run)}
    found |= {f"tcl/{p.relative_to(tcl_dir())}": p for p in tcl_dir().rglob("*.tcl")}
    found |= {f"ns3/{path.name}": path for path in ns3_files()}
    return {name: sha256_of(path) for name, path in found.items()}


# ---------------------------------------------------------------- the sample


def prove(size: int) -> None:
    """Simulate a sample of the published runs that have other ids today, and compare outputs.

    Raises:
        BdpbenchError: when a published run is not planned any more, when a run of the sample
            fails, or when one of its outputs differs.
    """
    for folder in sorted(PUBLISHED.iterdir()):
        published = KeptResults(folder)
        of = published.provenance
        prepared = prepare(Wanted(of["study"], of["tier"]))
        pairs = [pair for pair in pairs_of(published.runs, prepared.runs) if is_changed(pair)]
        sample = [pair for kind in kinds(pairs) for pair in sample_of(kind, size)]
        print(f"{folder.name}: {len(pairs)} runs, of which {len(sample)} are simulated")
        simulate(prepared, [pair.today for pair in sample])
        if wrong := [line for pair in sample for line in differences(pair, prepared)]:
            shown = "; ".join(wrong[:_SHOWN])
            hint = "--new gives the files versions of their own; then simulate and publish anew"
            raise BdpbenchError(f"not what was published: {shown}", where=str(folder), hint=hint)


def is_changed(pair: Pair) -> bool:
    """Whether the run has another id today."""
    return pair.kept["run_id"] != pair.today["run_id"]


def pairs_of(kept: Sequence[KeptRun], planned: Sequence[PlannedRun]) -> Iterator[Pair]:
    """Each published run with the planned run of the same scenario and label."""
    today = {(run["scenario"], run["label"]): run for run in planned}
    for run in kept:
        place = run["places"][0]
        found = today.get((place["scenario"], place["label"]))
        if found is None:
            raise BdpbenchError(f"is not planned any more: {place['label']}")
        yield Pair(run, found)


def kinds(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Runs that take the same way through the same code: equal scripts, parts of ns-2, senders."""
    found: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        run, parts = pair.today, pair.today["identity"]
        key = (run["script"], parts["tcl"], parts["ns2"], *sorted(run["protocols"]))
        found.setdefault(key, []).append(pair)
    return list(found.values())


def sample_of(kind: Sequence[Pair], size: int) -> list[Pair]:
    """The cheapest run of a kind, others chosen at random, and one of each scenario."""
    first, *others = sorted(kind, key=lambda pair: pair.today["estimated_cpu_s"])
    # A fixed seed, so that an interrupted call resumes with the same sample.
    random.Random(first.today["label"]).shuffle(others)
    chosen = [first, *others][:size]
    for pair in others:
        if pair.today["scenario"] not in {each.today["scenario"] for each in chosen}:
            chosen.append(pair)
    return chosen


def simulate(prepared: Prepared, sample: Sequence[PlannedRun]) -> None:
    """Simulate the runs of a sample that are not finished, as `run` does."""
    write_plan_document(prepared.paths.plan, prepared.plan)
    with (
        make_view(quiet=False, as_json=False) as view,
        signals_interrupt(),
        exclusive(prepared.paths.results, print),
    ):
        execution = ready(execution_of(Call(), load_config()), sample)
        missing = [run for run in sample if not is_finished(prepared.paths, run)]
        failed = simulate_missing(replace(prepared, missing=missing), execution, view)
        if failed is not None:
            raise failed


def differences(pair: Pair, prepared: Prepared) -> Iterator[str]:
    """The outputs of a simulated run that are not the published ones."""
    record = read_run(prepared.paths.run(pair.today["run_id"]))
    now = record["outputs"] if record else {}
    for name, was in pair.kept["outputs"].items():
        if name not in now or now[name]["sha256"] != was["sha256"]:
            yield f"{pair.today['label']}: {name}"


if __name__ == "__main__":
    try:
        main()
    except BdpbenchError as error:
        sys.exit(f"error: {error}")
