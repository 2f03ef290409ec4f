"""`bdpbench adopt` on a published folder: its runs get the current ids if a sample confirms it.

A published folder has only checksums, metrics and pages, so its runs cannot become current results.
But if current simulations give the published checksums, the current ids stand for the published
bytes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from bdpbench.app.keep.relabelling import NewIds, relabel
from bdpbench.app.run.adopting import (
    AdoptRequest,
    Group,
    Say,
    adopting,
    is_taken_over,
    tell_unmatched,
)
from bdpbench.app.run.old_published import OldPublished, read_published
from bdpbench.app.run.old_results import Matching, Pair, differences, match
from bdpbench.app.run.planning import Prepared, prepare
from bdpbench.app.run.simulations import Simulations
from bdpbench.contracts.paths import results_dir, run_folder
from bdpbench.contracts.runs import RunRecord, read_run
from bdpbench.errors import BdpbenchError
from bdpbench.studies.config import load_config
from bdpbench.studies.runs import Selection


@dataclass(frozen=True)
class _Kind:
    """Runs that take the same path through the same code, and those of them simulated again."""

    group: Group
    sample: list[Pair]


def adopt_published(request: AdoptRequest, say: Say) -> bool:
    """Give the runs of a published folder the current ids, all of them or none.

    Returns:
        Whether the folder now has the current ids.

    Raises:
        BdpbenchError: when one of its files is damaged, or its study is not in the checkout.
    """
    published = read_published(request.results)
    if request.study not in (None, published.study) or request.tier not in (None, published.tier):
        is_of = f"is of {published.study}, tier {published.tier}"
        raise BdpbenchError(is_of, where=str(request.results))
    today = results_dir(load_config().results)
    with adopting(request, today, say) as simulations:
        backend = simulations.backend
        prepared = prepare(published.study, published.tier, Selection(), backend.build_id, today)
        found = match(published.planned(), prepared.runs, published.finished())
        say(f"{published.study}, tier {published.tier}: {len(published.runs)} published runs")
        tell_unmatched(found, say)
        if not _is_whole(published, found, say):
            return False
        if all(pair.new["run_id"] == pair.old.planned["run_id"] for pair in found.pairs):
            say("  their ids are the current ones")
            return True
        return _adopt(published, prepared, found.pairs, simulations, request, say)


def _is_whole(published: OldPublished, found: Matching, say: Say) -> bool:
    """Whether published runs and current runs correspond one to one."""
    ids = {(pair.old.planned["run_id"], pair.new["run_id"]) for pair in found.pairs}
    places = len(published.planned())
    if len(found.pairs) < places:
        say(f"  {places - len(found.pairs)} published runs are not planned: nothing is changed")
        return False
    olds, news = {old for old, _ in ids}, {new for _, new in ids}
    if len(olds) < len(ids) or len(news) < len(ids):
        say("  one run then is two runs now, or the reverse: nothing is changed")
        return False
    return True


def _adopt(
    published: OldPublished,
    prepared: Prepared,
    pairs: Sequence[Pair],
    simulations: Simulations,
    request: AdoptRequest,
    say: Say,
) -> bool:
    kinds = choose_kinds(pairs, _records(pairs, simulations), request.sample, request.seed)
    waiting = [
        [(pair, simulations.start(pair.new["run_id"])) for pair in kind.sample] for kind in kinds
    ]
    shown = [
        _judge(kind, each, simulations, say) for kind, each in zip(kinds, waiting, strict=True)
    ]
    if not all(shown):
        say("  nothing is changed")
        return False
    samples = {
        pair.new["run_id"]: [each.new["run_id"] for each in kind.sample]
        for kind in kinds
        for pair in kind.group.pairs
    }
    today = {pair.old.planned["run_id"]: pair.new for pair in pairs}
    relabel(published, NewIds(prepared.plan, simulations.runs, today, samples))
    again = len({run_id for sample in samples.values() for run_id in sample})
    say(f"  {len(today)} runs have the current ids: {again} were simulated again and are equal")
    say(f"  (seed {request.seed}), {len(today) - again} were not simulated again")
    return True


def _records(pairs: Sequence[Pair], simulations: Simulations) -> dict[str, RunRecord]:
    """Run id → record, for the finished runs of the current results."""
    found = {
        pair.new["run_id"]: read_run(run_folder(simulations.runs, pair.new["run_id"]))
        for pair in pairs
    }
    return {run_id: record for run_id, record in found.items() if record is not None}


def choose_kinds(
    pairs: Sequence[Pair], finished: dict[str, RunRecord], size: int | None, seed: int
) -> list[_Kind]:
    """Kinds of runs with their samples.

    Runs with the same script and protocols are of a kind, whatever their scenarios. A sample
    consists of the cheapest run, randomly chosen others up to ``size``, and runs already simulated;
    and of one more random run of each scenario, for what only that scenario does. A run that was
    taken over proves nothing and is never chosen.
    """
    distinct = list({pair.new["run_id"]: pair for pair in pairs}.values())
    able = [pair for pair in distinct if not is_taken_over(finished.get(pair.new["run_id"]))]
    ids = {pair.new["run_id"] for pair in able}
    chosen = ids & set(finished)
    groups = _groups(distinct)
    for group in groups:
        fit = [pair for pair in group.pairs if pair.new["run_id"] in ids]
        chosen |= _of_kind(fit, group.name, size, seed)
    if size != 0:
        chosen |= _of_scenarios(able, groups, seed)
    return [
        _Kind(group, [pair for pair in group.pairs if pair.new["run_id"] in chosen])
        for group in groups
    ]


def _groups(pairs: Sequence[Pair]) -> list[Group]:
    groups: dict[tuple[str, ...], Group] = {}
    for pair in pairs:
        new, protocols = pair.new, sorted(pair.new["protocols"])
        key = (new["script"], new["identity"]["tcl"], new["identity"]["ns2"], *protocols)
        name = f"{new['script']}, {' and '.join(protocols)}"
        groups.setdefault(key, Group(name)).pairs.append(pair)
    return list(groups.values())


def _of_kind(able: Sequence[Pair], name: str, size: int | None, seed: int) -> set[str]:
    ids = [pair.new["run_id"] for pair in sorted(able, key=_cost_s)]
    others = ids[1:]
    random.Random(f"{seed} {name}").shuffle(others)  # noqa: S311 - a choice, not a secret
    return set([*ids[:1], *others][:size])


def _of_scenarios(able: Sequence[Pair], groups: Sequence[Group], seed: int) -> set[str]:
    """One run of each scenario in addition to the cheapest of their kinds."""
    cheapest = {min(group.pairs, key=_cost_s).new["run_id"] for group in groups}
    scenarios: dict[str, list[str]] = {}
    for pair in able:
        if pair.new["run_id"] not in cheapest:
            scenarios.setdefault(pair.new["scenario"], []).append(pair.new["run_id"])
    return {
        random.Random(f"{seed} {scenario}").choice(ids)  # noqa: S311 - a choice, not a secret
        for scenario, ids in scenarios.items()
    }


def _cost_s(pair: Pair) -> float:
    return pair.new["estimated_cpu_s"]


def _judge(
    kind: _Kind,
    waiting: Sequence[tuple[Pair, Future[str]]],
    simulations: Simulations,
    say: Say,
) -> bool:
    """Whether a kind was simulated again and gave the published checksums."""
    name, count = kind.group.name, len(kind.group.pairs)
    if not waiting:
        say(f"  {name}: no run has shown yet that these are equal; --sample 1 simulates one")
        return False
    wrong = [
        line
        for pair, simulation in waiting
        for line in _shown(pair, simulation.result(), simulations)
    ]
    if wrong:
        say(f"  {name}: DIFFERENT from the published outputs")
        for line in wrong:
            say(f"    {line}")
        return False
    say(f"  {name}: {len(waiting)} simulated and equal of {count}")
    return True


def _shown(pair: Pair, failure: str, simulations: Simulations) -> list[str]:
    """Findings against a published run, one line each."""
    name = f"{pair.new['scenario']}: {pair.new['label']}"
    if failure:
        return [f"{name}: could not be simulated: {failure}"]
    record = read_run(run_folder(simulations.runs, pair.new["run_id"]))
    assert record is not None  # noqa: S101 - simulated without failure
    lines = differences(pair.old.record["outputs"], record["outputs"])
    return [f"{name}: {line}" for line in lines]
