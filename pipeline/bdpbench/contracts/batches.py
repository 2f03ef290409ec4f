"""The jobs of a call: batches of runs, each taken on by one process, and what they tell meanwhile.

All lie in ``<study>/<tier>/batches/``, which a call empties before it fills it: ``jobs.json`` is
what a scheduler has to know, ``<name>.json`` the plan of a batch, ``<name>.log`` what its process
says, ``<name>.told`` a line for each run that begins or ends, ``<name>.done`` written last.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypedDict, cast, get_args

from bdpbench.contracts.files import read_json
from bdpbench.contracts.shapes import shaped

BATCHES_FOLDER = "batches"
JOBS_NAME = "jobs.json"
JOBS_VERSION = 2
DONE_VERSION = 1
STOP_NAME = "stop"
"""A batch of which a run has failed makes this file, at which the other batches begin no more."""

RunEvent = Literal["begun", "finished", "failed"]
_EVENTS = get_args(RunEvent)


class Job(TypedDict):
    """What a scheduler has to know of a batch.

    ``cpu_s``: expected CPU time on this machine, s. ``runtime_min`` and ``mem_mb`` are what a
    cluster is asked for, with room to spare.
    """

    runs: int
    cpu_s: float
    runtime_min: int
    mem_mb: int


class Jobs(TypedDict):
    """Content of ``jobs.json``: the batches of a call, those that take longest first.

    ``planned``: runs of the plan, those that are finished included.
    """

    schema_version: int
    study: str
    tier: str
    ns2_build_id: str
    planned: int
    jobs: dict[str, Job]


class Done(TypedDict):
    """Content of ``<name>.done``: runs that were simulated, and the CPU time beside ns-2, s."""

    schema_version: int
    simulated: int
    own_cpu_s: float


def batch_path(folder: Path, number: int) -> Path:
    """The plan of a batch in the folder of batches, by its number."""
    return folder / f"{number:04d}.json"


def read_jobs(folder: Path) -> Jobs:
    """Read ``jobs.json`` of a folder of batches.

    Raises:
        BdpbenchError: when it is missing, broken or of another version.
    """
    path, what = folder / JOBS_NAME, "the jobs of `bdpbench plan`"
    return shaped(read_json(path, what=what, schema_version=JOBS_VERSION), Jobs, path, what)


def read_done(path: Path) -> Done:
    """Read what a batch left when all of its runs had ended.

    Raises:
        BdpbenchError: when it is missing, broken or of another version.
    """
    what = "the last word of a batch"
    return shaped(read_json(path, what=what, schema_version=DONE_VERSION), Done, path, what)


def tell(told: Path, event: RunEvent, run_id: str) -> None:
    """Add a line to what a batch tells."""
    with told.open("a", encoding="ascii") as stream:
        stream.write(f"{event} {run_id}\n")


def events_in(text: str) -> Iterator[tuple[RunEvent, str]]:
    """The complete lines that a batch has reported: event and run id."""
    for line in text.splitlines(keepends=True):
        event, _, run_id = line.rstrip("\n").partition(" ")
        if line.endswith("\n") and event in _EVENTS:
            yield cast("RunEvent", event), run_id
