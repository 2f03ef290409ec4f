"""How well the estimate of a run's CPU time fits the published runs.

`PYTHONPATH=pipeline python tests/benchmarks/cost_model.py` prints estimated / measured CPU time for
each published study and simulator, and how much longer than necessary its runs would take on some
cores if the estimates alone made the batches (`pipeline/bdpbench/studies/cost.py`).
"""

from __future__ import annotations

import heapq
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.reports import KEPT_RUNS_NAME, KeptRun, read_kept_runs
from bdpbench.studies.cost import OWN_S, estimated_cpu_s, make_batches
from bdpbench.studies.ns3_program import is_ns3

CORES = (2, 16)
BATCH_S = 1.5
"""CPU time of a batch until it reaches its first run, s."""

HEAD = ("study", "engine", "runs", "CPU time, h", "all", "median", "10 %", "90 %")


def main() -> None:
    """Print a line for each published study and simulator."""
    print("estimated / measured, and wall time / what the best batches take")
    print(*(f"{name:>16s}" for name in (*HEAD, *(f"{cores} cores" for cores in CORES))))
    for path in sorted((repository_root() / "reports" / "published").glob(f"*/{KEPT_RUNS_NAME}")):
        runs = [run for run in read_kept_runs(path.read_bytes(), path) if run["cpu_s"]]
        for engine in ("ns-2", "ns-3"):
            of_engine = [run for run in runs if is_ns3(_script(run)) == (engine == "ns-3")]
            if of_engine:
                print_row(path.parent, engine, of_engine)


def print_row(study: Path, engine: str, runs: Sequence[KeptRun]) -> None:
    """Print how well the estimates of some runs fit."""
    measured_s = {run["run_id"]: float(run["cpu_s"] or 0) for run in runs}
    estimated_s = {run["run_id"]: estimate_s(run) for run in runs}
    ratios = sorted(estimated_s[run_id] / each for run_id, each in measured_s.items())
    ratio = sum(estimated_s.values()) / sum(measured_s.values())
    low, high = (ratios[round(q * (len(ratios) - 1))] for q in (0.1, 0.9))
    cells = [study.name, engine, str(len(runs)), f"{sum(measured_s.values()) / 3600:.2f}"]
    cells += [f"{each:.2f}" for each in (ratio, statistics.median(ratios), low, high)]
    for cores in CORES:
        best_s = wall_s(measured_s, measured_s, cores)
        cells.append(f"{wall_s(estimated_s, measured_s, cores) / best_s:.3f}")
    print(*(f"{cell:>16s}" for cell in cells))


def estimate_s(run: KeptRun) -> float:
    """The estimate of a run, whose number of flows its arguments give."""
    given = dict(zip(run["argv"][::2], run["argv"][1::2], strict=False))
    flows = int(given.get("-flows") or run["parameters"].get("flows") or 2)
    return estimated_cpu_s(run["parameters"], flows, ns3=is_ns3(_script(run)))


def _script(run: KeptRun) -> str:
    return run["script"]["path"]


def wall_s(costs_s: Mapping[str, float], took_s: Mapping[str, float], cores: int) -> float:
    """Wall time of batches made by these costs, of which each goes to the first free core, s."""
    free_s = [0.0] * cores
    for batch in make_batches(costs_s, cores):
        began_s = heapq.heappop(free_s)
        heapq.heappush(free_s, began_s + BATCH_S + sum(took_s[run] + OWN_S for run in batch))
    return max(free_s)


if __name__ == "__main__":
    main()
