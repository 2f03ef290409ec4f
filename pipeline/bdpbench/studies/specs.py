"""Writes ``spec.json``, a planned run as `bdpbench simulate` gets it.

Each of the many batch processes writes specs, so nothing here imports the models of a study, which
would take most of a batch's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bdpbench.contracts.documents import write_record_atomically
from bdpbench.contracts.files import write_bytes_atomically
from bdpbench.contracts.paths import resolved, run_folder
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import SCRIPTS_FOLDER, SPEC_NAME, SPEC_VERSION, Spec, read_spec
from bdpbench.errors import BdpbenchError


def write_specs(runs: Iterable[PlannedRun], ns2_build_id: str, runs_dir: Path) -> None:
    """Write ``<run id>/spec.json``, all that `bdpbench simulate` needs, for each run.

    A file with other content, because it was damaged, changed, or planned for another build of
    ns-2, is rewritten.
    """
    for run in runs:
        folder = run_folder(runs_dir, run["run_id"])
        spec: Spec = {
            "schema_version": SPEC_VERSION,
            "run_id": run["run_id"],
            "identity": run["identity"],
            "label": run["label"],
            "script": run["script"],
            "parameters": run["parameters"],
            "outputs": run["outputs"],
            "ns2_build_id": ns2_build_id,
            "estimated_cpu_s": run["estimated_cpu_s"],
        }
        if run["scripts"] is not None:
            spec["scripts"] = run["scripts"]
        if _found(folder) == spec:
            continue
        if run["scripts"] is not None:
            _keep_scripts(folder / SCRIPTS_FOLDER, resolved(run["scripts"]), run["script"])
        write_record_atomically(folder / SPEC_NAME, spec)


def _found(folder: Path) -> Spec | None:
    """The spec in a run's folder; None if there is none that can be read."""
    try:
        return read_spec(folder)
    except BdpbenchError:
        return None


def _keep_scripts(kept: Path, folder: Path, script: str) -> None:
    """Copy an outside script into its run's folder: it may change before the run starts."""
    from bdpbench.studies.scripts import outside_files

    for name, path in outside_files(folder, script).items():
        write_bytes_atomically(kept / name, path.read_bytes())
