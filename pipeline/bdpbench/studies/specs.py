"""A planned run as ns-2 gets it: its ``spec.json``.

Batches write specs too, and are many processes: nothing here knows what a study is, whose models
take most of a batch's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bdpbench.contracts.files import write_json_atomically, write_text_atomically
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import SCRIPTS_FOLDER, SPEC_NAME, SPEC_VERSION, Spec, read_spec
from bdpbench.errors import BdpbenchError


def write_specs(runs: Iterable[PlannedRun], ns2_build_id: str, runs_dir: Path) -> None:
    """Write ``<run id>/spec.json``, all that `bdpbench simulate` needs, for each run.

    A file that says something else, because it was damaged, changed, or planned for another build
    of ns-2, is written anew.
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
            _keep_scripts(folder / SCRIPTS_FOLDER, Path(run["scripts"]), run["script"])
        write_json_atomically(folder / SPEC_NAME, spec)


def _found(folder: Path) -> Spec | None:
    """The spec that a run's folder has; None where it has none that can be read."""
    try:
        return read_spec(folder)
    except BdpbenchError:
        return None


def _keep_scripts(kept: Path, folder: Path, script: str) -> None:
    """Copy a script from outside into its run: it may be gone or changed when the run starts."""
    from bdpbench.studies.scripts import outside_files

    for name, path in outside_files(folder, script).items():
        write_text_atomically(kept / name, path.read_text(encoding="utf-8"))
