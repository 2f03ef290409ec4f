"""Why a run has to be simulated: it never was, or something that its bytes depend on is new."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from bdpbench.contracts.paths import run_folder, run_folders
from bdpbench.contracts.plan import Parameters, PlannedRun
from bdpbench.contracts.runs import ERROR_NAME, Identity, read_run
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.simulate import SCRATCH_FOLDER

_Changes = tuple[str, ...]


class Reasons:
    """Compares the runs to simulate with the finished runs of a results folder."""

    def __init__(self, runs_dir: Path) -> None:
        self._runs_dir = runs_dir

    def of(self, run: PlannedRun) -> str:
        """Why the run has to be simulated, in a few words."""
        folder = run_folder(self._runs_dir, run["run_id"])
        if (folder / ERROR_NAME).is_file():
            return "failed last time"
        if (folder / SCRATCH_FOLDER).is_dir():
            return "was interrupted"
        alike = self._finished.get(_key(run["parameters"]), [])
        if not alike:
            return "not simulated yet"
        nearest = min((changes(each, run["identity"]) for each in alike), key=len)
        return "changed since it was simulated: " + ", ".join(nearest)

    @cached_property
    def _finished(self) -> Mapping[str, list[Identity]]:
        """Identities of all finished runs, by their parameters."""
        found = defaultdict(list)
        for folder in run_folders(self._runs_dir):
            try:
                record = read_run(folder)
            except BdpbenchError:
                continue  # of another version, which is of no use here
            if record is not None:
                found[_key(record["parameters"])].append(record["identity"])
        return found


def changes(before: Identity, now: Identity) -> _Changes:
    """The parts of a run's identity that have changed, in words; the build of ns-2 is not one.

    >>> old = Identity(argv=["10"], tcl="aa", ns2="bb", streams=[])
    >>> changes(old, {**old, "argv": ["20"], "ns2": "cc"})
    ("the script's arguments", 'the behaviour of ns-2 towards its agents')
    """
    compared = (
        ("the script's arguments", before["argv"] == now["argv"]),
        ("the script or what it sources", before["tcl"] == now["tcl"]),
        ("the behaviour of ns-2 towards its agents", before["ns2"] == now["ns2"]),
        ("the traces that are streamed", before["streams"] == now["streams"]),
    )
    return tuple(words for words, same in compared if not same)


def _key(parameters: Parameters) -> str:
    return json.dumps(parameters, sort_keys=True)
