"""`bdpbench adopt`: takes over results of old run ids if a sample confirms them.

A current id covers other things than an old one, so nothing in an old folder says whether the
current scripts and ns-2 would write the same bytes. So a few runs of each kind are simulated again;
if all their outputs are equal, byte by byte, the others are taken over.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from bdpbench.app.run.exclusive import exclusive
from bdpbench.app.run.old_results import (
    Matching,
    Pair,
    differences,
    finished_in,
    match,
    old_plans,
    published_outputs,
    read_old_plan,
)
from bdpbench.app.run.planning import prepare
from bdpbench.app.run.run_study import backend_for
from bdpbench.app.run.simulations import Simulations
from bdpbench.contracts.files import sha256_of, write_record_atomically
from bdpbench.contracts.kept import KEPT_RUNS_NAME
from bdpbench.contracts.paths import repository_root, results_dir, run_folder, runs_folder
from bdpbench.contracts.runs import (
    LOG_NAME,
    OUTPUT_FOLDER,
    RUN_NAME,
    RunRecord,
    read_run,
    read_spec,
)
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import Backend
from bdpbench.simulation.ns2_process import Usage
from bdpbench.simulation.processes import signals_interrupt
from bdpbench.simulation.record import make_record
from bdpbench.simulation.simulate import SCRATCH_FOLDER, only_one
from bdpbench.studies.config import load_config
from bdpbench.studies.runs import Selection

Say = Callable[[str], None]


@dataclass(frozen=True)
class AdoptRequest:
    """The user's request.

    Attributes:
        results: folder of the old results, which is only read.
        study, tier: which plans of it; None for all.
        sample: number of runs of each group to simulate again; None for all.
        seed: seed for choosing runs after the first, which is the cheapest.
        jobs: simulations at once; None for one per processor.
        backend: where ns-2 runs; None selects that of ``config.yaml``.
    """

    results: Path
    study: str | None = None
    tier: str | None = None
    sample: int | None = 1
    seed: int = 1
    jobs: int | None = None
    backend: str | None = None


@dataclass
class Group:
    """Runs of one kind: same scenario and script, equal senders, same parts of ns-2."""

    name: str
    pairs: list[Pair] = field(default_factory=list)


def adopt(request: AdoptRequest, say: Say) -> bool:
    """Take over the runs that a sample confirms, and report the others.

    Returns:
        Whether every finished old run of the current plans is now a current result.

    Raises:
        BdpbenchError: when the old folder has no plan, or is the folder of the current results.
    """
    today = results_dir(load_config().results)
    if request.results.resolve() == today.resolve():
        raise BdpbenchError(
            "is the folder of the current results, whose plans would replace the old ones",
            where=str(request.results),
            hint="move it away first, e.g. `mv results results-old`, and name it there",
        )
    plans = old_plans(request.results, request.study, request.tier)
    with adopting(request, today, say) as simulations:
        done = [_adopt_tier(request, plan, simulations, say) for plan in plans]
    return all(done)


@contextmanager
def adopting(request: AdoptRequest, today: Path, say: Say) -> Iterator[Simulations]:
    """Lock the current results and provide the simulations; a signal ends everything.

    Raises:
        BdpbenchError: when ns-2 cannot be built.
    """
    backend = backend_for(request.backend)
    with signals_interrupt():
        backend.build()
        with exclusive(today, say), Simulations(runs_folder(today), backend, request.jobs) as each:
            yield each


def _adopt_tier(
    request: AdoptRequest, plan: tuple[str, str], simulations: Simulations, say: Say
) -> bool:
    study, tier = plan
    old = read_old_plan(request.results, study, tier)
    backend = simulations.backend
    prepared = prepare(study, tier, Selection(), backend.build_id, simulations.runs.parent)
    found = match(old, prepared.runs, finished_in(runs_folder(request.results)))
    counts = f"{len(prepared.runs)} runs planned, {len(found.pairs)} finished in the old results"
    say(f"{study}, tier {tier}: {counts}")
    if found.unfinished:
        say(f"  {len(found.unfinished)} of them are unfinished there, e.g. {found.unfinished[0]}")
    tell_unmatched(found, say)
    _tell_published(study, found.pairs, say)
    taking = Taking(prepared.paths.runs, backend, say)
    groups = make_groups(found.pairs)
    samples = [choose_sample(group, taking.runs, request.sample, request.seed) for group in groups]
    waiting = [[simulations.start(pair.new["run_id"]) for pair in each] for each in samples]
    done = [
        _judge(group, sample, each, taking)
        for group, sample, each in zip(groups, samples, waiting, strict=True)
    ]
    return all(done) and not found.unlike


def tell_unmatched(found: Matching, say: Say) -> None:
    """Report the current runs that have no old run, one line each."""
    for name, why in found.unlike.items():
        say(f"  not the same run: {name}: {why}")
    for name in found.unknown:
        say(f"  not in the old plan: {name}")


def _tell_published(study: str, pairs: Sequence[Pair], say: Say) -> None:
    """Report old results that differ from the published ones."""
    path = repository_root() / "reports" / "published" / study / KEPT_RUNS_NAME
    published = published_outputs(path)
    for pair in pairs:
        place = (pair.new["scenario"], pair.new["label"])
        if place in published:
            outputs = pair.old.record["outputs"]
            for line in differences(published[place], outputs, whose="in the old results"):
                say(f"  not as published: {': '.join(place)}: {line}")


# ---------------------------------------------------------------- groups and samples


def make_groups(pairs: Sequence[Pair]) -> list[Group]:
    """Pairs grouped by scenario, both scripts, protocols, and the parts of ns-2 that they use."""
    groups: dict[tuple[str, ...], Group] = {}
    for pair in pairs:
        new, script = pair.new, pair.old.planned["script"]
        identity = new["identity"]
        protocols = sorted(new["protocols"])
        key = (new["scenario"], script, identity["tcl"], identity["ns2"], *protocols)
        name = f"{new['scenario']} ({new['script']}), {' and '.join(protocols)}"
        groups.setdefault(key, Group(name)).pairs.append(pair)
    return list(groups.values())


def choose_sample(group: Group, runs: Path, size: int | None, seed: int) -> list[Pair]:
    """The sample of a group: runs already simulated, the cheapest run, and randomly chosen ones.

    A run that was taken over proves nothing and is never chosen.
    """
    records = {
        pair.new["run_id"]: read_run(run_folder(runs, pair.new["run_id"])) for pair in group.pairs
    }
    able = [pair for pair in group.pairs if not is_taken_over(records[pair.new["run_id"]])]
    finished = [pair for pair in able if records[pair.new["run_id"]] is not None]
    fresh = sorted(
        (pair for pair in able if records[pair.new["run_id"]] is None),
        key=lambda pair: pair.new["estimated_cpu_s"],
    )
    others = fresh[1:]
    random.Random(f"{seed} {group.name}").shuffle(others)  # noqa: S311 - a choice, not a secret
    wanted = len(able) if size is None else max(0, size - len(finished))
    return [*finished, *[*fresh[:1], *others][:wanted]]


def is_taken_over(record: RunRecord | None) -> bool:
    """Whether a run was simulated under another id, so that it proves nothing about its own."""
    return record is not None and "taken_over" in record


# ---------------------------------------------------------------- taking over


@dataclass(frozen=True)
class Taking:
    """The place to which runs are taken over."""

    runs: Path
    backend: Backend
    say: Say

    def folder(self, pair: Pair) -> Path:
        """Folder of the new run."""
        return run_folder(self.runs, pair.new["run_id"])


def _judge(
    group: Group, sample: Sequence[Pair], simulations: Sequence[Future[str]], taking: Taking
) -> bool:
    """Take over the other runs of a group if its whole sample is equal; whether all went well."""
    wrong = [
        line
        for pair, simulation in zip(sample, simulations, strict=True)
        for line in _shown(pair, simulation.result(), taking)
    ]
    open_runs = [pair for pair in group.pairs if read_run(taking.folder(pair)) is None]
    if wrong:
        taking.say(f"  {group.name}: DIFFERENT, {len(open_runs)} runs remain to be simulated")
        for line in wrong:
            taking.say(f"    {line}")
        return False
    if open_runs and not sample:
        taking.say(
            f"  {group.name}: no run has shown yet that these are equal; --sample 1 simulates one"
        )
        return False
    evidence = [pair.new["run_id"] for pair in sample]
    failed = [line for pair in open_runs for line in take_over(pair, evidence, taking)]
    taken = sum(read_run(taking.folder(pair)) is not None for pair in open_runs)
    compared = f"{len(sample)} simulated and equal" if sample else "nothing to do"
    taking.say(f"  {group.name}: {compared}, {taken} taken over of {len(group.pairs)}")
    for line in failed:
        taking.say(f"    {line}")
    return not failed


def _shown(pair: Pair, failure: str, taking: Taking) -> list[str]:
    """Findings against an old run, one line each, about its new outputs and its files."""
    label = pair.new["label"]
    if failure:
        return [f"{label}: could not be simulated: {failure}"]
    record = read_run(taking.folder(pair))
    assert record is not None  # noqa: S101 - simulated without failure
    lines = differences(pair.old.record["outputs"], record["outputs"])
    return [f"{label}: {line}" for line in [*lines, *_damage(pair)]]


def _damage(pair: Pair) -> list[str]:
    """The files of an old run that do not match its record."""
    lines = []
    for name, output in pair.old.record["outputs"].items():
        path = pair.old.folder / name
        if not path.is_file():
            lines.append(f"{path} is missing")
        elif sha256_of(path) != output["sha256"]:
            lines.append(f"{path} does not match its run.json")
    return lines


def take_over(pair: Pair, evidence: list[str], taking: Taking) -> list[str]:
    """Make an old run's files the new run's; a finished run is left alone.

    Returns:
        Why this failed, one line per finding; nothing has changed then.
    """
    folder = taking.folder(pair)
    missing = [
        f"{pair.new['label']}: the old run has no {output['file']}"
        for output in pair.new["outputs"]
        if f"{OUTPUT_FOLDER}/{output['file']}" not in pair.old.record["outputs"]
    ]
    if missing:
        return missing
    with only_one(folder):
        if read_run(folder) is not None:
            return []
        _link_files(pair, folder)
        record = _record(pair, evidence, folder, taking.backend)
        wrong = differences(pair.old.record["outputs"], record["outputs"], whose="in its folder")
        if wrong:
            shutil.rmtree(folder / OUTPUT_FOLDER)
            return [f"{pair.new['label']}: {pair.old.folder}: {line}" for line in wrong]
        write_record_atomically(folder / RUN_NAME, record, durable=True)
    return []


def _link_files(pair: Pair, folder: Path) -> None:
    """Put the old outputs into the new run in one step, as links if both are on one disk."""
    scratch = folder / SCRATCH_FOLDER
    for path in (scratch, folder / OUTPUT_FOLDER):
        shutil.rmtree(path, ignore_errors=True)
    (scratch / OUTPUT_FOLDER).mkdir(parents=True)
    for name in pair.old.record["outputs"]:
        if (pair.old.folder / name).is_file():
            _link(pair.old.folder / name, scratch / name)
    (scratch / OUTPUT_FOLDER).replace(folder / OUTPUT_FOLDER)
    if (pair.old.folder / LOG_NAME).is_file():
        shutil.copyfile(pair.old.folder / LOG_NAME, folder / LOG_NAME)
    shutil.rmtree(scratch)


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # another disk, or one without links
        shutil.copyfile(source, target)


def _record(pair: Pair, evidence: list[str], folder: Path, backend: Backend) -> RunRecord:
    """``run.json`` of a run taken over: its current identity, and who simulated it when."""
    old = pair.old.record
    usage = Usage(old["wall_s"], old["cpu_s"], old["max_rss_kib"])
    started = datetime.fromisoformat(old["started"])
    record = make_record(read_spec(folder), folder, backend, started, usage)
    record["ns2"] = old["ns2"]
    record["taken_over"] = {
        "run_id": old["run_id"],
        "build_id": old["ns2"]["build_id"],
        "sample": evidence,
    }
    return record
