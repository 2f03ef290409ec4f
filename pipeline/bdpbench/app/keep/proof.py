"""Whether published runs have the same bytes under new ids, shown by simulating a sample of them.

A change to a script or a law gives the runs that it affects new ids. A published folder has the
checksums of their outputs, so simulations of a sample can show that the bytes have not changed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bdpbench.app.keep.bundle import Portable
from bdpbench.app.planning import Prepared, exclusive, is_finished
from bdpbench.app.progress import make_view
from bdpbench.app.run import Call, execution_of, ready, simulate_missing
from bdpbench.contracts.plan import PlannedRun, study_folder, write_plan_document
from bdpbench.contracts.reports import KeptRun
from bdpbench.contracts.runs import TakenOver, differences, read_run
from bdpbench.errors import BdpbenchError
from bdpbench.processes import signals_interrupt
from bdpbench.simulation.simulate import script_record
from bdpbench.studies.config import load_config
from bdpbench.units import several

Say = Callable[[str], None]

_SHOWN = 3


@dataclass(frozen=True)
class Pair:
    """A published run and the run that is planned in its place today."""

    kept: KeptRun
    today: PlannedRun

    @property
    def name(self) -> str:
        """The run for readers."""
        return f"{self.today['scenario']}: {self.today['label']}"


def prove(kept: Sequence[KeptRun], prepared: Prepared, size: int, say: Say) -> list[KeptRun]:
    """Published runs with the ids that are planned today, which the outputs of a sample confirm.

    Runs whose ids are still the same need no proof. Values, outputs, times and builds stay as
    published, and so do the parameters, with which the metrics were computed. Each run with a new
    id names the sample of its kind under ``taken_over``.

    Args:
        kept: all runs of the folder.
        prepared: the tier as it is planned today.
        size: runs of each kind that are simulated, besides one of each scenario; at least 1.
        say: prints a line for the user.

    Raises:
        BdpbenchError: when a published run has no counterpart with the same parameters, when a run
            of the sample fails, or when one of its outputs differs.
    """
    pairs = _pairs(kept, prepared.runs)
    changed = [pair for pair in pairs if pair.kept["run_id"] != pair.today["run_id"]]
    write_plan_document(prepared.paths.plan, prepared.plan)
    kinds = _kinds(changed)
    samples = [sample_of(kind, size) for kind in kinds]
    sampled = {pair.today["run_id"]: pair for sample in samples for pair in sample}
    say(
        f"{len(changed)} of {len(pairs)} published runs with new ids, "
        f"{several(len(kinds), 'kind')}: simulating {several(len(sampled), 'run')} again"
    )
    _simulate([pair.today for pair in sampled.values()], prepared, say)
    wrong = [line for pair in sampled.values() for line in _differences(pair, prepared)]
    if wrong:
        shown = "; ".join(wrong[:_SHOWN]) + ("; …" if len(wrong) > _SHOWN else "")
        raise BdpbenchError(
            f"these runs are not what was published: {shown}",
            where=prepared.plan["study"],
            hint="simulate the tier with `./bdpbench run` and publish it anew",
        )
    renamed = {
        pair.kept["run_id"]: _renamed(pair, sample, prepared)
        for kind, sample in zip(kinds, samples, strict=True)
        for pair in kind
    }
    return [renamed.get(run["run_id"], run) for run in kept]


def _pairs(kept: Sequence[KeptRun], planned: Sequence[PlannedRun]) -> list[Pair]:
    """Each published run with the planned run of the same scenario and label.

    Raises:
        BdpbenchError: naming published runs that are planned with other parameters, at places that
            belong to different runs now, or not at all.
    """
    today = {(run["scenario"], run["label"]): run for run in planned}
    pairs, lacking = [], []
    for run in kept:
        places = [today.get((place["scenario"], place["label"])) for place in run["places"]]
        first, label = places[0], run["places"][0]["label"]
        if first is None or any(
            each is None or each["run_id"] != first["run_id"] for each in places
        ):
            lacking.append(label)
        elif unlike := _unlike(run, first):
            lacking.append(f"{label} ({unlike})")
        else:
            pairs.append(Pair(run, first))
    if lacking or len({pair.today["run_id"] for pair in pairs}) < len(pairs):
        shown = ", ".join(lacking[:_SHOWN]) or "one run takes the place of several"
        raise BdpbenchError(
            f"{len(lacking) or len(kept)} published runs are not planned any more: {shown}",
            hint="publish from the runs instead",
        )
    return pairs


def _unlike(kept: KeptRun, today: PlannedRun) -> str:
    """The parameters that both runs have with different values; "" if there are none."""
    return ", ".join(
        f"{name} was {kept['parameters'][name]}, is {value}"
        for name, value in today["parameters"].items()
        if kept["parameters"].get(name, value) != value
    )


def _kinds(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Runs that take the same way through the same code: equal scripts, parts of ns-2, senders."""
    kinds: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        run, parts = pair.today, pair.today["identity"]
        key = (run["script"], parts["tcl"], parts["ns2"], *sorted(run["protocols"]))
        kinds.setdefault(key, []).append(pair)
    return list(kinds.values())


def sample_of(kind: Sequence[Pair], size: int) -> list[Pair]:
    """The cheapest run of a kind, others chosen at random, and one of each scenario."""
    by_cost = sorted(kind, key=lambda pair: pair.today["estimated_cpu_s"])
    others = by_cost[1:]
    # A fixed seed, so that an interrupted call resumes with the same sample.
    random.Random(by_cost[0].name).shuffle(others)  # noqa: S311 - a choice, not a secret
    chosen = [by_cost[0], *others][:size]
    scenarios = {pair.today["scenario"] for pair in chosen}
    for pair in others:
        if pair.today["scenario"] not in scenarios:
            scenarios.add(pair.today["scenario"])
            chosen.append(pair)
    return chosen


def _simulate(sample: Sequence[PlannedRun], prepared: Prepared, say: Say) -> None:
    """Simulate the runs of a sample that are not finished, as `run` does."""
    with (
        make_view(quiet=False, as_json=False) as view,
        signals_interrupt(),
        exclusive(prepared.paths.results, say),
    ):
        execution = ready(execution_of(Call(), load_config()), sample)
        missing = [run for run in sample if not is_finished(prepared.paths, run)]
        failed = simulate_missing(replace(prepared, missing=missing), execution, view)
        if failed is not None:
            raise failed


def _differences(pair: Pair, prepared: Prepared) -> Iterator[str]:
    """What the outputs of a simulated run have otherwise than those of the published one."""
    record = read_run(prepared.paths.run(pair.today["run_id"]))
    for line in differences(pair.kept["outputs"], record["outputs"] if record else {}):
        yield f"{pair.name}: {line}"


def _renamed(pair: Pair, sample: Sequence[Pair], prepared: Prepared) -> KeptRun:
    """A published run with the id, the arguments and the script of today."""
    kept, today = pair.kept, pair.today
    source: TakenOver = {
        "run_id": kept["run_id"],
        "build_id": kept["ns2"]["build_id"],
        "sample": [each.today["run_id"] for each in sample],
    }
    portable = Portable(prepared.plan["study"], study_folder(prepared.plan))
    return {
        **kept,
        "run_id": today["run_id"],
        "identity": today["identity"],
        "argv": today["identity"]["argv"],
        "script": portable.script(script_record(today)),
        "taken_over": source,
    }
