"""What runs cost: the CPU time of published runs, else an estimate; and calls, and whole tiers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import PlannedRun, distinct
from bdpbench.contracts.reports import KEPT_RUNS_NAME, PROVENANCE_NAME
from bdpbench.studies.cost import CALL_S, OWN_S, estimated_cpu_s
from bdpbench.studies.identity import Identities
from bdpbench.studies.plan import parameter_grid, tiers_of
from bdpbench.studies.runs import expand_points
from bdpbench.studies.study import Study
from bdpbench.studies.vocabulary import NS3

# `list` answers within a second: planning takes 0.4 ms a run.
_SAMPLE = 30


class TierCost(NamedTuple):
    """Runs of a tier, and the CPU time of ns-2 for all of them, s.

    Attributes:
        is_most: whether ``runs`` counts runs that scenarios share more than once.
    """

    runs: int
    cpu_s: float
    is_most: bool = False


def run_cpu_s(run: PlannedRun) -> float:
    """CPU time of a run in its batch, s: of ns-2 when it was published, else its estimate."""
    return _published_cpu_s().get(run["run_id"], run["estimated_cpu_s"]) + OWN_S


def call_wall_s(runs: Iterable[PlannedRun], cores: int) -> float:
    """Wall time of a call that simulates these runs on so many otherwise idle cores, s."""
    costs_s = [run_cpu_s(run) for run in runs]
    return CALL_S + max(sum(costs_s) / cores, max(costs_s, default=0.0))


def tier_costs(study: Study) -> dict[str, TierCost]:
    """Tier → its cost: that of all its runs, or of published ones, or as a sample of them tells.

    Raises:
        BdpbenchError: when a tier cannot be planned.
    """
    identities = Identities()
    return {tier: _tier_cost(study, tier, identities) for tier in tiers_of(study)}


def _tier_cost(study: Study, tier: str, identities: Identities) -> TierCost:
    points = [
        (key, parameters)
        for key in study.scenarios
        for parameters in parameter_grid(study, key, tier)
    ]
    every = max(1, len(points) // _SAMPLE)
    runs = distinct(expand_points(study, points[::every], identities))
    cpu_s = sum(map(run_cpu_s, runs))
    if every == 1:
        return TierCost(len(runs), cpu_s)
    published = _published_tier(study.key, tier)
    if published.keys() >= {run["run_id"] for run in runs}:
        return TierCost(len(published), sum(published.values()) + OWN_S * len(published))
    roughly_s = [estimated_cpu_s(given, 1, ns3=given.get("engine") == NS3) for _, given in points]
    sampled = sum(roughly_s[::every]) / sum(roughly_s)
    return TierCost(len(points), cpu_s / sampled, is_most=True)


def _published_tier(study: str, tier: str) -> dict[str, float]:
    """Run id → CPU time of ns-2, s, of the published tier of a study; empty if it is another."""
    folder = _published_folder() / study
    with suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads((folder / PROVENANCE_NAME).read_bytes())["tier"] == tier:
            return _cpu_s_of(folder / KEPT_RUNS_NAME)
    return {}


def _published_folder() -> Path:
    return repository_root() / "reports" / "published"


@cache
def _published_cpu_s() -> dict[str, float]:
    """Run id → CPU time of ns-2, s, of all published runs."""
    paths = sorted(_published_folder().glob(f"*/{KEPT_RUNS_NAME}"))
    return {run_id: cpu_s for path in paths for run_id, cpu_s in _cpu_s_of(path).items()}


@cache
def _cpu_s_of(path: Path) -> dict[str, float]:
    """The same of one table; empty if it cannot be read, since it only tells how long runs take."""
    import polars as pl

    try:
        frame = pl.read_parquet(path, columns=["run_id", "cpu_s"])
        told = zip(frame["run_id"], frame["cpu_s"].cast(pl.Float64, strict=False), strict=True)
        return {run_id: cpu_s for run_id, cpu_s in told if cpu_s is not None}
    except (OSError, pl.exceptions.PolarsError):
        return {}
