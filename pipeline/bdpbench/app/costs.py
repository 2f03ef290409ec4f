"""What runs and calls cost: on this machine, as it has learned, and by the plans of a study.

``results/machine.txt`` stores the ratios of measured to predicted CPU time of the latest runs of
ns-2, and of bdpbench's own work; their medians are the factors by which predictions are multiplied.
A factor is 1, that of the reference machine, until enough is known, and again after a change of
``bdpbench.studies.cost``, since a ratio says nothing of other predictions. Short runs, dominated by
the start of ns-2, have their own factor, because the start says nothing about the cost of packets.

Planning every run of every tier takes ten seconds for sixteen thousand runs, so the estimates of
the configured studies are in ``config/estimates.json``, which `bdpbench docs` writes.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from bdpbench.contracts.files import sha256_of, write_text_atomically
from bdpbench.contracts.kept import keep, read_kept
from bdpbench.contracts.paths import (
    config_dir,
    run_folder,
    runs_folder,
)
from bdpbench.contracts.plan import PlannedRun, distinct, read_done
from bdpbench.contracts.runs import read_run
from bdpbench.errors import BdpbenchError
from bdpbench.studies import cost
from bdpbench.studies.behaviour import Identities
from bdpbench.studies.cost import BATCH_S, CALL_S, REPORT_RUN_S, RUN_S, SCHEDULER_S
from bdpbench.studies.load import STUDY_NAME, load_study, studies_dir, study_keys
from bdpbench.studies.plan import tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.study import Study

FILE_NAME = "machine.txt"
# Enough to average out other load, few enough to adapt to a new build of ns-2.
_KEPT = 100
_FEWEST = 3
# In shorter runs the start of ns-2 dominates.
_SHORT_S = 0.5
_NS2, _NS2_SHORT = "measured_by_predicted", "short_measured_by_predicted"
_OWN = "own_by_predicted"
_ALL = (_NS2, _NS2_SHORT, _OWN)


class Machine:
    """The cost of runs and calls on this machine, as far as a results folder shows it.

    Attributes:
        ns2_factor: CPU time of ns-2 relative to the prediction for the reference machine.
        short_factor: the same for runs predicted to take less than half a second.
        own_factor: the same for bdpbench's own work.
    """

    def __init__(self, results: Path) -> None:
        known = _known(results)
        self.ns2_factor = _median(known[_NS2])
        self.short_factor = _median(known[_NS2_SHORT])
        self.own_factor = _median(known[_OWN])

    def run_cpu_s(self, run: PlannedRun) -> float:
        """CPU time of a run in its batch, s."""
        return self.cpu_s(run["estimated_cpu_s"])

    def cpu_s(self, estimated_s: float) -> float:
        """CPU time of a run that takes ns-2 this long on the reference machine, s."""
        factor = self.short_factor if _is_short(estimated_s) else self.ns2_factor
        return factor * estimated_s + self.own_factor * RUN_S

    def call_cpu_s(self, estimates_s: Sequence[float], batches: int, planned: int) -> float:
        """CPU time of a call of `run`, s.

        Args:
            estimates_s: CPU time of ns-2 for each simulated run on the reference machine, s.
            batches: number of batches.
            planned: number of reported runs, including finished ones.
        """
        own_s = self.own_factor * (_call_s(batches, planned) + batches * BATCH_S)
        return own_s + sum(map(self.cpu_s, estimates_s))

    def call_wall_s(
        self, runs: Sequence[PlannedRun], batches: int, planned: int, cores: int
    ) -> float:
        """Wall time of such a call on this many otherwise idle cores, s."""
        costs_s = [self.run_cpu_s(run) for run in runs]
        batch_s = self.own_factor * BATCH_S
        alongside_s = (sum(costs_s) + batches * batch_s) / max(1, min(cores, batches))
        longest_s = max(costs_s) + batch_s if costs_s else 0.0
        return self.own_factor * _call_s(batches, planned) + max(alongside_s, longest_s)


def _call_s(batches: int, planned: int) -> float:
    """CPU time of a call on the reference machine without its batches, s."""
    return CALL_S + planned * REPORT_RUN_S + (SCHEDULER_S if batches > 1 else 0.0)


def _is_short(estimated_s: float) -> bool:
    return estimated_s < _SHORT_S


def learn(results: Path, runs: Sequence[PlannedRun], batches: Path) -> None:
    """Learn from the runs and batches that have just ended, except runs in containers.

    It is only a cache: if it cannot be stored, as on a full disk, no error is raised, so that more
    important ones are not hidden.
    """
    short = [run for run in runs if _is_short(run["estimated_cpu_s"])]
    others = [run for run in runs if not _is_short(run["estimated_cpu_s"])]
    # Only the latest ratios are stored, so no more have to be read.
    found = {
        _NS2: _ratios(_ratio(results, run) for run in others[-_KEPT:]),
        _NS2_SHORT: _ratios(_ratio(results, run) for run in short[-_KEPT:]),
        _OWN: _ratios(_own_ratio(path) for path in batches.glob("*.done")),
    }
    if any(found.values()):
        known = _known(results)
        kept = {name: [*known[name], *found[name]][-_KEPT:] for name in _ALL}
        with suppress(OSError):
            keep(results / FILE_NAME, _format(), json.dumps(kept))


def _median(ratios: Sequence[float]) -> float:
    return statistics.median(ratios) if len(ratios) >= _FEWEST else 1.0


def _ratios(ratios: Iterable[float | None]) -> list[float]:
    return [each for each in ratios if each is not None]


def _ratio(results: Path, run: PlannedRun) -> float | None:
    """Measured over predicted CPU time of ns-2; None if that says nothing."""
    try:
        record = read_run(run_folder(runs_folder(results), run["run_id"]))
    except (OSError, BdpbenchError):
        return None
    if record is None or not record["cpu_s"] or not run["estimated_cpu_s"]:
        return None
    return round(record["cpu_s"] / run["estimated_cpu_s"], 3)


def _own_ratio(path: Path) -> float | None:
    """The same for the work of a batch besides ns-2."""
    try:
        done = read_done(path)
    except BdpbenchError:
        return None
    if not done["simulated"]:
        return None
    return round(done["own_cpu_s"] / (BATCH_S + done["simulated"] * RUN_S), 3)


def _format() -> str:
    """Format of the stored ratios, with a digest of what predicts."""
    return f"machine/3 {sha256_of(Path(cost.__file__))}"


def _known(results: Path) -> dict[str, list[float]]:
    """The stored values; empty if the file is damaged or missing, because it is only a cache."""
    stored = read_kept(results / FILE_NAME, _format())
    known: dict[str, list[float]] = json.loads(stored) if stored is not None else {}
    return {name: known.get(name, []) for name in _ALL}


# -------------------------------------------------------------- estimates of whole studies

ESTIMATES_NAME = "estimates.json"


class _Estimates(TypedDict):
    """Estimates of a study: SHA-256 of its ``study.yaml``; tier → CPU time, s → number of runs."""

    study_sha256: str
    tiers: dict[str, dict[str, int]]


def tier_estimates_s(study: Study) -> dict[str, list[float]]:
    """Tier → CPU time of ns-2 for each of its runs on the reference machine, s, ascending.

    Raises:
        BdpbenchError: when a tier cannot be planned.
    """
    found = _listed(study) or _planned(study)
    return {
        tier: sorted(float(each_s) for each_s, runs in counts.items() for _ in range(runs))
        for tier, counts in found["tiers"].items()
    }


def write_estimates(path: Path) -> None:
    """Write the estimates of all configured studies, one line for each."""
    planned = {key: _planned(load_study(studies_dir() / key)) for key in study_keys()}
    lines = [json.dumps({key: each})[1:-1] for key, each in planned.items()]
    write_text_atomically(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _listed(study: Study) -> _Estimates | None:
    """The estimates of a configured study, if its ``study.yaml`` is the one they were made from."""
    path = config_dir() / ESTIMATES_NAME
    if not path.is_file():
        return None
    found: dict[str, _Estimates] = json.loads(path.read_bytes())
    listed = found.get(study.key)
    same = listed and listed["study_sha256"] == sha256_of(study.folder / STUDY_NAME)
    return listed if same else None


def _planned(study: Study) -> _Estimates:
    identities = Identities()
    planned = {tier: distinct(expand_tier(study, tier, identities)) for tier in tiers_of(study)}
    return {
        "study_sha256": sha256_of(study.folder / STUDY_NAME),
        "tiers": {
            tier: Counter(str(each["estimated_cpu_s"]) for each in runs)
            for tier, runs in planned.items()
        },
    }
