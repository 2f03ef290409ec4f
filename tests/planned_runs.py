"""The planned runs of all studies, expanded only once for all workers of a test run."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path

from bdpbench.contracts.plan import PlannedRun
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import load_study, study_keys
from bdpbench.studies.plan import tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.study import Study


@cache
def loaded_study(key: str) -> Study:
    """A study from the checkout."""
    return load_study(key)


@cache
def _identities() -> Identities:
    return Identities()


MadeOnce = Callable[[str, Callable[[Path], None]], Path]

_made_once: list[MadeOnce] = []


def share(made_once: MadeOnce) -> None:
    """From now on, all workers share what one of them has planned."""
    _made_once[:] = [made_once]


@cache
def runs_of(key: str, tier: str) -> tuple[PlannedRun, ...]:
    """The runs of a study's tier, if it exists. They must not be changed."""
    if tier not in tiers_of(loaded_study(key)):
        return ()
    if not _made_once:
        return _expanded(key, tier)

    def keep(folder: Path) -> None:
        (folder / "runs").write_bytes(pickle.dumps(_expanded(key, tier)))

    folder = _made_once[0](f"planned-{key}-{tier}", keep)
    runs: tuple[PlannedRun, ...] = pickle.loads((folder / "runs").read_bytes())
    return runs


def _expanded(key: str, tier: str) -> tuple[PlannedRun, ...]:
    return tuple(expand_tier(loaded_study(key), tier, _identities()))


def agents_of(run: PlannedRun) -> set[tuple[str, ...]]:
    """The agent of each flow with its law, as passed to the script."""
    agents: dict[str, tuple[str, ...]] = {}
    for name, value in zip(run["argv"][::2], run["argv"][1::2], strict=True):
        if name.endswith((".agent", ".linux", ".windowOption_")):
            flow = name.rpartition(".")[0].removesuffix(".set")
            agents[flow] = (*agents.get(flow, ()), value)
    return set(agents.values())


def small(argv: list[str]) -> list[str]:
    """Arguments of a script with five hosts of each kind, and as many sessions between them.

    A thousand hosts take long to build, and as many sessions create thousands of senders.
    """
    given = dict(zip(argv[::2], argv[1::2], strict=True))
    given |= {key: "5" for key in given if key.endswith((".servers", ".clients", ".sessions"))}
    return [word for pair in given.items() for word in pair]


@cache
def all_runs() -> tuple[tuple[Study, PlannedRun], ...]:
    """Every run of every study, with its study; runs in several tiers occur only once."""
    found = {}
    for key in study_keys():
        for tier in tiers_of(loaded_study(key)):
            for run in runs_of(key, tier):
                found[key, run["scenario"], run["run_id"]] = loaded_study(key), run
    return tuple(found.values())
