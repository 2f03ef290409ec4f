"""The work of a call as batches on disk; `contracts.plan` describes the files."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from bdpbench.app.exclusive import exclusive
from bdpbench.app.machine import Machine
from bdpbench.app.planning import Paths, Prepared, is_finished, prepare
from bdpbench.app.stages import values_path
from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.plan import (
    JOBS_NAME,
    JOBS_VERSION,
    Job,
    Jobs,
    Plan,
    PlannedRun,
    batch_path,
    write_plan_document,
)
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.batches import LEAST_S, make_batches
from bdpbench.studies.cost import MEASURE_S, batch_memory_mb
from bdpbench.studies.runs import Selection

# Time requested from a cluster beyond the expected one: the start, and a factor of three.
_RUNTIME_MIN = 10
_RUNTIME_FACTOR = 3


def write_batches(prepared: Prepared, cores: int, *, least_s: float = LEAST_S) -> Jobs:
    """Make batches of the missing work, and write them in place of those of the last call.

    Finished runs without values are included if they are many, in order to be measured in parallel;
    a few are left to the report.
    """
    paths, machine = prepared.paths, Machine(prepared.paths.results)
    costs_s = {run["run_id"]: machine.run_cpu_s(run) for run in prepared.missing}
    unmeasured = {each: MEASURE_S * machine.own_factor for each in _unmeasured(prepared)}
    if costs_s or sum(unmeasured.values()) > LEAST_S:
        costs_s |= unmeasured
    shutil.rmtree(paths.batches, ignore_errors=True)
    places: dict[str, list[PlannedRun]] = {}
    for run in prepared.runs:
        if run["run_id"] in costs_s:
            places.setdefault(run["run_id"], []).append(run)
    jobs = {}
    for number, run_ids in enumerate(make_batches(costs_s, cores, least_s=least_s)):
        path = batch_path(paths.batches, number)
        batch: Plan = {**prepared.plan, "runs": [run for each in run_ids for run in places[each]]}
        write_plan_document(path, batch)
        jobs[path.stem] = _job(batch, sum(costs_s[each] for each in run_ids))
    found: Jobs = {
        "schema_version": JOBS_VERSION,
        "study": prepared.plan["study"],
        "tier": prepared.plan["tier"],
        "ns2_build_id": prepared.plan["ns2_build_id"],
        "planned": len({run["run_id"] for run in prepared.runs}),
        "jobs": jobs,
    }
    write_json_atomically(paths.batches / JOBS_NAME, found)
    return found


def plan_batches(
    study: str,
    tier: str,
    selection: Selection,
    results: Path,
    scripts: Path | None,
    cores: int | None,
) -> Paths:
    """Write the plan of a tier, and specs and batches for users who run them themselves.

    Raises:
        BdpbenchError: as for ``prepare``.
    """
    with exclusive(results, lambda text: print(text, file=sys.stderr)):
        prepared = prepare(study, tier, selection, current_build_id(), results, scripts=scripts)
        write_batches(prepared, cores or len(os.sched_getaffinity(0)))
    return prepared.paths


def _unmeasured(prepared: Prepared) -> Iterator[str]:
    """Finished runs that have no values for one of their places in the plan."""
    paths, study = prepared.paths, prepared.plan["study"]
    for run in prepared.runs:
        values = values_path(paths.run(run["run_id"]), study, run["scenario"])
        if not values.is_file() and is_finished(paths, run):
            yield run["run_id"]


def _job(batch: Plan, cpu_s: float) -> Job:
    return {
        "runs": len({run["run_id"] for run in batch["runs"]}),
        "cpu_s": round(cpu_s, 1),
        "runtime_min": _RUNTIME_MIN + math.ceil(_RUNTIME_FACTOR * cpu_s / 60),
        "mem_mb": max(map(batch_memory_mb, batch["runs"])),
    }
