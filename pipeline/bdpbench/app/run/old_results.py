"""Results with run ids of an older bdpbench: their runs, and the matching current runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

from bdpbench.contracts.files import read_json
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PLAN_NAME, Parameters, PlannedRun
from bdpbench.contracts.runs import RUN_NAME, Ns2Record, OutputFile
from bdpbench.errors import BdpbenchError

OLD_VERSION = 1
"""Version of ``plan.json`` and ``run.json`` in which ids covered comments and the whole build."""

_RENAMED = {"run": "substream"}


class OldPlannedRun(TypedDict):
    """The part of a run in an old plan that is read."""

    run_id: str
    scenario: str
    label: str
    script: str
    parameters: Parameters


class OldRecord(TypedDict):
    """The part of an old ``run.json`` that is read; the fields are those of ``RunRecord``."""

    run_id: str
    outputs: dict[str, OutputFile]
    ns2: Ns2Record
    started: str
    wall_s: float
    cpu_s: float | None
    max_rss_kib: int | None


@dataclass(frozen=True)
class OldRun:
    """A finished run of old results: its plan, its record and the folder of its files."""

    planned: OldPlannedRun
    record: OldRecord
    folder: Path


FinishedRun = Callable[[OldPlannedRun], OldRun | None]
"""Finds what an old run left; None if it was not finished."""


@dataclass(frozen=True)
class Pair:
    """A run of the current plan, and the matching old run."""

    new: PlannedRun
    old: OldRun


@dataclass
class Matching:
    """Old and new runs of a tier side by side.

    Attributes:
        pairs: finished old runs with the matching current runs.
        unlike: new runs whose namesake has other parameters → these parameters.
        unknown: new runs without a namesake.
        unfinished: new runs whose namesake was not simulated.
    """

    pairs: list[Pair] = field(default_factory=list)
    unlike: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)


def old_plans(results: Path, study: str | None, tier: str | None) -> list[tuple[str, str]]:
    """(study, tier) of all old plans in a results folder, or of those with the given names.

    Raises:
        BdpbenchError: when there is none.
    """
    paths = sorted(results.glob(f"{study or '*'}/{tier or '*'}/{PLAN_NAME}"))
    if not paths:
        wanted = " ".join(each for each in (study, tier) if each)
        raise BdpbenchError(
            f"has no {PLAN_NAME}" + (f" of {wanted}" if wanted else ""),
            where=str(results),
            hint="name the folder that contains runs/ and the plans by study and tier",
        )
    return [(path.parts[-3], path.parts[-2]) for path in paths]


def read_old_plan(results: Path, study: str, tier: str) -> list[OldPlannedRun]:
    """The runs of an old plan.

    Raises:
        BdpbenchError: when it is damaged or of another version.
    """
    path = results / study / tier / PLAN_NAME
    plan = read_json(path, what="a plan with the old run ids", schema_version=OLD_VERSION)
    return cast("list[OldPlannedRun]", plan["runs"])


def finished_in(runs: Path) -> FinishedRun:
    """A finder, for ``match``, of the finished runs in a folder of old runs."""

    def find(run: OldPlannedRun) -> OldRun | None:
        folder = run_folder(runs, run["run_id"])
        record = _read_record(folder)
        return OldRun(run, record, folder) if record else None

    return find


def match(
    old: Sequence[OldPlannedRun], new: Sequence[PlannedRun], finished: FinishedRun
) -> Matching:
    """Find each new run among the old ones, by scenario and label."""
    named = {(each["scenario"], each["label"]): each for each in old}
    found = Matching()
    for run in new:
        name = f"{run['scenario']}: {run['label']}"
        namesake = named.get((run["scenario"], run["label"]))
        if namesake is None:
            found.unknown.append(name)
        elif unlike := _unlike(namesake["parameters"], run["parameters"]):
            found.unlike[name] = unlike
        elif (same := finished(namesake)) is None:
            found.unfinished.append(name)
        else:
            found.pairs.append(Pair(run, same))
    return found


def _unlike(old: Parameters, new: Parameters) -> str:
    """The parameters that both runs have, with different values; "" if there are none."""
    renamed = {_RENAMED.get(name, name): value for name, value in old.items()}
    return ", ".join(
        f"{name} was {renamed[name]}, is {value}"
        for name, value in new.items()
        if name in renamed and renamed[name] != value
    )


def _read_record(folder: Path) -> OldRecord | None:
    """``run.json`` of an old run; None if the run was not finished."""
    if not (folder / RUN_NAME).is_file():
        return None
    what = "a finished run with an old id"
    return cast("OldRecord", read_json(folder / RUN_NAME, what=what, schema_version=OLD_VERSION))


def published_outputs(path: Path) -> dict[tuple[str, str], dict[str, OutputFile]]:
    """(scenario, label) → outputs in a published ``runs.json`` of any version; {} without one."""
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    return {
        (place["scenario"], place["label"]): run["outputs"]
        for run in content["runs"]
        for place in run["places"]
    }


def differences(
    old: dict[str, OutputFile], new: dict[str, OutputFile], *, whose: str = "now"
) -> list[str]:
    """Differences between the outputs of two runs, one line for each file."""
    lines = []
    for name in sorted({*old, *new}):
        if name not in new:
            lines.append(f"{name} was written, and is not {whose}")
        elif name not in old:
            lines.append(f"{name} was not written, and is {whose}")
        elif old[name]["sha256"] != new[name]["sha256"]:
            sizes = f"{old[name]['bytes']} and {new[name]['bytes']} bytes"
            sums = f"{old[name]['sha256'][:12]}, {whose} {new[name]['sha256'][:12]}"
            lines.append(f"{name} differs: {sums} ({sizes})")
    return lines
