"""How fast this machine is, learned from the runs that it has finished.

``results/machine.json`` keeps measured / predicted CPU time of the latest runs; their median is the
factor by which every prediction is multiplied. The factor is 1, the reference machine's, until
three runs are known.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from bdpbench.contracts.files import write_json_atomically
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import read_run
from bdpbench.errors import BdpbenchError

FILE_NAME = "machine.json"
# Enough to even out what else the machine did, few enough to follow another build of ns-2.
_KEPT = 100
_FEWEST = 3
# Shorter runs tell the start of ns-2 and the machine's unrest.
_SHORTEST_S = 0.5
_VERSION = 1


def machine_factor(results: Path) -> float:
    """CPU time of a run on this machine in times of the prediction for the reference machine."""
    ratios = _known(results)
    return statistics.median(ratios) if len(ratios) >= _FEWEST else 1.0


def expected_cpu_s(runs: Iterable[PlannedRun], factor: float) -> float:
    """CPU time that ns-2 will take for these runs on this machine, s."""
    return factor * sum(run["estimated_cpu_s"] for run in runs)


def learn(results: Path, runs: Iterable[PlannedRun]) -> None:
    """Take what runs took that have just been simulated; the clock of a container counts not.

    It is a memory only: where it cannot be kept, as on a full disk, nothing is said, so that
    nothing hides what matters.
    """
    found = [ratio for run in runs if (ratio := _ratio(results, run)) is not None]
    if found:
        ratios = [*_known(results), *found][-_KEPT:]
        data = {"schema_version": _VERSION, "measured_by_predicted": ratios}
        with suppress(OSError):
            write_json_atomically(results / FILE_NAME, data)


def _ratio(results: Path, run: PlannedRun) -> float | None:
    """Measured by predicted CPU time; None where that tells nothing."""
    if run["estimated_cpu_s"] < _SHORTEST_S:
        return None
    try:
        record = read_run(results / "runs" / run["run_id"])
    except (OSError, BdpbenchError):
        return None
    if record is None or not record["cpu_s"]:
        return None
    return round(record["cpu_s"] / run["estimated_cpu_s"], 3)


def _known(results: Path) -> list[float]:
    """What is kept; nothing where the file is not of this version, for it is only a memory."""
    try:
        data = json.loads((results / FILE_NAME).read_text(encoding="utf-8"))
        current = data["schema_version"] == _VERSION
        return [float(ratio) for ratio in data["measured_by_predicted"]] if current else []
    except (OSError, ValueError, TypeError, KeyError):
        return []
