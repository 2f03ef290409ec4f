"""A published folder with run ids of an older bdpbench: its runs, and the checks of its file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict, TypeGuard, cast

from bdpbench.app.run.old_results import FinishedRun, OldPlannedRun, OldRecord, OldRun
from bdpbench.contracts.files import read_any_json
from bdpbench.contracts.kept import KEPT_RUNS_NAME, KEPT_VERSION, PROVENANCE_NAME, Place
from bdpbench.contracts.plan import Parameters
from bdpbench.contracts.runs import Ns2Record, OutputFile, TakenOver
from bdpbench.errors import BdpbenchError

RUN_ID = re.compile(r"[0-9a-f]{16}")
"""A run id of any version."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_VERSIONS = range(1, KEPT_VERSION + 1)


class OldScript(TypedDict):
    """The part of a script's record that is read: its path."""

    path: str


class OldKeptRun(TypedDict):
    """A run of ``runs.json`` of any version; the fields are those of ``KeptRun``."""

    run_id: str
    places: list[Place]
    parameters: Parameters
    units: dict[str, str]
    script: OldScript
    argv: list[str]
    ns2: Ns2Record
    started: str
    wall_s: float
    cpu_s: float | None
    max_rss_kib: int | None
    exit_status: int
    outputs: dict[str, OutputFile]
    ns2_report: str
    taken_over: NotRequired[TakenOver]


@dataclass(frozen=True)
class OldPublished:
    """A published folder: study, tier and runs, in order."""

    folder: Path
    study: str
    tier: str
    runs: list[OldKeptRun]

    def planned(self) -> list[OldPlannedRun]:
        """Every place of every run."""
        return [
            {
                "run_id": run["run_id"],
                "scenario": place["scenario"],
                "label": place["label"],
                "script": run["script"]["path"],
                "parameters": run["parameters"],
            }
            for run in self.runs
            for place in run["places"]
        ]

    def finished(self) -> FinishedRun:
        """A finder for its runs, all of which are finished and have no files."""
        runs = {run["run_id"]: run for run in self.runs}

        def find(planned: OldPlannedRun) -> OldRun | None:
            record = cast("OldRecord", runs[planned["run_id"]])
            return OldRun(planned, record, self.folder)

        return find


def read_published(folder: Path) -> OldPublished:
    """Read which runs were published.

    Raises:
        BdpbenchError: naming the file and what is invalid in it.
    """
    path = folder / KEPT_RUNS_NAME
    kept = read_any_json(path, what="the runs of a published study", versions=_VERSIONS)
    told = folder / PROVENANCE_NAME
    provenance = read_any_json(told, what="where published runs come from", versions=_VERSIONS)
    study, tier = provenance.get("study"), provenance.get("tier")
    if not isinstance(study, str) or not isinstance(tier, str):
        raise BdpbenchError("does not name its study and tier", where=str(told))
    runs = kept.get("runs")
    if not isinstance(runs, list) or not runs:
        raise BdpbenchError("is damaged: it lists no runs", where=str(path))
    checked = [_checked(run, f"{path}: run {index}") for index, run in enumerate(runs)]
    if len({run["run_id"] for run in checked}) < len(checked):
        raise BdpbenchError("is damaged: it has a run twice", where=str(path))
    return OldPublished(folder, study, tier, checked)


def _checked(run: object, where: str) -> OldKeptRun:
    """A run of the file, with every key that is read checked."""
    if not isinstance(run, dict):
        raise BdpbenchError("is damaged: it is not a run", where=where)
    for name, is_right in _FIELDS.items():
        if not is_right(run.get(name)):
            raise BdpbenchError(f"is damaged: {name} is not as bdpbench writes it", where=where)
    return cast("OldKeptRun", run)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and RUN_ID.fullmatch(value) is not None


def _is_dict(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _is_number_or_null(value: object) -> bool:
    return value is None or _is_number(value)


def _is_argv(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _has_places(value: object) -> bool:
    return (
        isinstance(value, list)
        and value != []
        and all(
            _is_dict(each) and _is_text(each.get("scenario")) and _is_text(each.get("label"))
            for each in value
        )
    )


def _is_script(value: object) -> bool:
    return _is_dict(value) and _is_text(value.get("path"))


def _is_ns2(value: object) -> bool:
    return _is_dict(value) and _is_text(value.get("build_id"))


def _has_outputs(value: object) -> bool:
    """Whether there are outputs to compare, all with checksums."""
    return _is_dict(value) and value != {} and all(map(_is_output, value.values()))


def _is_output(value: object) -> bool:
    if not _is_dict(value):
        return False
    sha256 = value.get("sha256")
    is_sum = isinstance(sha256, str) and _SHA256.fullmatch(sha256) is not None
    return is_sum and isinstance(value.get("bytes"), int)


_FIELDS: dict[str, Callable[[object], bool]] = {
    "run_id": _is_id,
    "places": _has_places,
    "parameters": _is_dict,
    "units": _is_dict,
    "script": _is_script,
    "argv": _is_argv,
    "ns2": _is_ns2,
    "started": _is_text,
    "wall_s": _is_number,
    "cpu_s": _is_number_or_null,
    "max_rss_kib": _is_number_or_null,
    "exit_status": _is_number,
    "outputs": _has_outputs,
    "ns2_report": _is_text,
}
