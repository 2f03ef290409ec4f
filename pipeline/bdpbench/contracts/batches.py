"""The jobs of a call: batches of runs, one process for each, and the progress they report.

All files are in ``<study>/<tier>/batches/``, which a call empties first: ``jobs.json`` is for the
scheduler, ``<name>.json`` is the plan of a batch, ``<name>.log`` the output of its process,
``<name>.told`` has a line for each run that begins or ends, and ``<name>.done`` is written last.
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
"""A batch with a failed run creates this file, and batches that have not begun then do not
begin."""

RunEvent = Literal["begun", "finished", "failed"]
_EVENTS = get_args(RunEvent)


class Job(TypedDict):
    """What a scheduler has to know about a batch.

    ``cpu_s``: expected CPU time on this machine, s. ``runtime_min`` and ``mem_mb`` are requested
    from a cluster, with a margin.
    """

    runs: int
    cpu_s: float
    runtime_min: int
    mem_mb: int


class Jobs(TypedDict):
    """Content of ``jobs.json``: the batches of a call, longest first.

    ``planned``: number of runs in the plan, including finished ones.
    """

    schema_version: int
    study: str
    tier: str
    ns2_build_id: str
    planned: int
    jobs: dict[str, Job]


class Done(TypedDict):
    """Content of ``<name>.done``: number of runs simulated, and CPU time not spent in ns-2, s."""

    schema_version: int
    simulated: int
    own_cpu_s: float


def batch_path(folder: Path, number: int) -> Path:
    """Path of the plan of a batch, by its number, in the folder of batches."""
    return folder / f"{number:04d}.json"


def read_jobs(folder: Path) -> Jobs:
    """Read ``jobs.json`` of a folder of batches.

    Raises:
        BdpbenchError: when it is missing, damaged or of another version.
    """
    path, what = folder / JOBS_NAME, "the jobs of `bdpbench plan`"
    return shaped(read_json(path, what=what, schema_version=JOBS_VERSION), Jobs, path, what)


def read_done(path: Path) -> Done:
    """Read the ``.done`` file of a batch, all of whose runs have ended.

    Raises:
        BdpbenchError: when it is missing, damaged or of another version.
    """
    what = "the end record of a batch"
    return shaped(read_json(path, what=what, schema_version=DONE_VERSION), Done, path, what)


def tell(told: Path, event: RunEvent, run_id: str) -> None:
    """Append a line to the progress file of a batch."""
    with told.open("a", encoding="ascii") as stream:
        stream.write(f"{event} {run_id}\n")


def events_in(text: str) -> Iterator[tuple[RunEvent, str]]:
    """The complete lines that a batch has reported: event and run id."""
    for line in text.splitlines(keepends=True):
        event, _, run_id = line.rstrip("\n").partition(" ")
        if line.endswith("\n") and event in _EVENTS:
            yield cast("RunEvent", event), run_id
