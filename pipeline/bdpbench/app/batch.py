"""One batch of runs in one process: each simulated, parsed and measured, unless already done."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from bdpbench.app.stages import measure_runs, parse_runs
from bdpbench.contracts.paths import run_folder, runs_folder
from bdpbench.contracts.plan import (
    BATCHES_FOLDER,
    STOP_NAME,
    Plan,
    RunEvent,
    read_jobs,
    read_plan,
    tell,
)
from bdpbench.contracts.runs import RUN_NAME, read_run, reduced_file
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import named_backend
from bdpbench.simulation.ns3_backend import Ns3Backend
from bdpbench.simulation.simulate import simulate
from bdpbench.studies.ns3_program import is_ns3

SERIES_BIN_S = 1.0
"""Width of the bins of the series kept of a streamed trace, s: that of a run's throughputs."""


class Batch:
    """The runs of a plan that one process handles, one after the other.

    Args:
        path: path of the batch's plan, ``<study>/<tier>/batches/<name>.json``.
        runs_dir: folder of all runs.
        backend: where ns-2 runs, docker or native; the plan's build must be there.
        keep_going: whether to continue with other runs if one fails.
    """

    def __init__(self, path: Path, runs_dir: Path, backend: str, *, keep_going: bool) -> None:
        self._path, self._runs_dir, self._plan = path, runs_dir, read_plan(path)
        self._backend = named_backend(backend, self._plan["ns2_build_id"])
        self._keep_going = keep_going
        self._stop = path.with_name(STOP_NAME)
        self._errors: list[BdpbenchError] = []

    def run(self) -> None:
        """Handle all runs; finished work is kept.

        The beginning and end of each run is reported.

        Raises:
            BdpbenchError: the error of the first run that failed. With ``keep_going`` the others
                are still handled; otherwise no other run begins, in this batch or in parallel ones.
        """
        for places in self._plans():
            if not self._keep_going and (self._errors or self._stop.exists()):
                break
            self._take_on(places)
        if self._errors:
            raise self._errors[0]
        if self._stop.exists() and not self._keep_going:
            raise BdpbenchError("a run of another batch has failed", where=str(self._path))

    def _plans(self) -> list[Plan]:
        """A plan for each run, with all its places in the study."""
        places: dict[str, Plan] = {}
        for run in self._plan["runs"]:
            places.setdefault(run["run_id"], {**self._plan, "runs": []})["runs"].append(run)
        return list(places.values())

    def _take_on(self, places: Plan) -> None:
        run = places["runs"][0]
        run_id, run_dir = run["run_id"], run_folder(self._runs_dir, run["run_id"])
        is_new = not (run_dir / RUN_NAME).is_file()
        try:
            if read_run(run_dir) is None:
                is_new = True
                self._tell("begun", run_id)
                backend = Ns3Backend() if is_ns3(run["script"]) else self._backend
                simulate(run, run_dir, backend, reduce_stream)
            parse_runs([run_dir], places)
            measure_runs(places, self._runs_dir, [run_id], bins=self._bins)
        except BdpbenchError as error:
            self._errors.append(error)
            if not self._keep_going:
                with suppress(OSError):
                    self._stop.touch()
        if not (run_dir / RUN_NAME).is_file():  # nobody could simulate or read it
            self._tell("failed", run_id)
        elif is_new:
            self._tell("finished", run_id)

    @cached_property
    def _bins(self) -> int:
        """Intervals of time that the report's series will have."""
        from bdpbench.pages.series import bins_for

        return bins_for(read_jobs(self._path.parent)["planned"])

    def _tell(self, event: RunEvent, run_id: str) -> None:
        with suppress(OSError):  # a full disk is reported where it matters
            tell(self._path.with_suffix(".told"), event, run_id)


def run_batch(path: Path, backend: str, *, keep_going: bool) -> None:
    """Handle the batch with the plan ``path``, in the results folder that contains it.

    Raises:
        BdpbenchError: as for ``Batch.run``, and for a batch that is in no results folder.
    """
    if path.parent.name != BATCHES_FOLDER or len(path.parents) < 4:
        raise BdpbenchError(
            "is not among the batches of a results folder",
            where=str(path),
            hint=f"`bdpbench plan` writes them to results/STUDY/TIER/{BATCHES_FOLDER}/",
        )
    runs_dir = runs_folder(path.parents[3])
    Batch(path, runs_dir, backend, keep_going=keep_going).run()


def one_thread_for_tables() -> None:
    """Limit polars, before its import, to one thread: each core has a batch of its own."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


def reduce_stream(pipe: Path) -> None:
    """Read a packet trace to its end and write, beside the pipe, the tables it is reduced to.

    Raises:
        BdpbenchError: for a line that is not of a packet trace, with its number.
    """
    from bdpbench.metrics.packets import COLUMNS, PacketMeter
    from bdpbench.trace import open_trace

    meter = PacketMeter(bin_s=SERIES_BIN_S)
    open_trace(pipe, kind="packets").sum_into(meter, COLUMNS)
    for name, table in meter.result().tables().items():
        table.write_parquet(pipe.with_name(reduced_file(pipe.name, name)), compression="zstd")
