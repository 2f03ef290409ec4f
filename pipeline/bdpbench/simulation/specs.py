"""``spec.json``: written for planned runs, and checked before one is simulated here.

Each of the many batch processes uses it, so nothing here imports the models of a study, which would
take most of a batch's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bdpbench.contracts.documents import write_record_atomically
from bdpbench.contracts.files import known_sha256_of, write_bytes_atomically
from bdpbench.contracts.paths import relative, resolved, run_folder, tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import (
    SCRIPTS_FOLDER,
    SPEC_NAME,
    SPEC_VERSION,
    ScriptRecord,
    Spec,
    read_spec,
)
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import Backend
from bdpbench.studies.identity import (
    ORIGINAL_RUNNER,
    original_files,
    outside_files,
    run_id,
    tcl_digest,
    tcl_files,
)


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
    for name, path in outside_files(folder, script).items():
        write_bytes_atomically(kept / name, path.read_bytes())


def read_own_spec(run_dir: Path, backend: Backend) -> Spec:
    """What is to be run in ``run_dir``, checked against the id that is the folder's name.

    Raises:
        BdpbenchError: when ``spec.json`` is missing or damaged, is not of this run, or was planned
            with another ns-2 or another script than this checkout has.
    """
    spec = read_spec(run_dir)
    reason = _mismatch(spec, run_dir, backend)
    if reason:
        hint = "call `./bdpbench run` again, which makes a new plan"
        raise BdpbenchError(reason, where=str(run_dir / SPEC_NAME), hint=hint)
    return spec


def _mismatch(spec: Spec, run_dir: Path, backend: Backend) -> str:
    """Why the plan of a run does not apply here, or ""."""
    if not run_dir.name == spec["run_id"] == run_id(spec["identity"]):
        return "has been changed: its content does not match its run id"
    planned = spec["ns2_build_id"]
    if planned != backend.build_id:
        return f"was planned for ns-2 build {planned}, the checkout is now at {backend.build_id}"
    if tcl_digest(script_files(spec, run_dir)) != spec["identity"]["tcl"]:
        return f"{spec['script']} or a file that it sources has changed since this was planned"
    return ""


def script_path(spec: Spec) -> Path:
    """The path that ns-2 runs: under ``tcl/``, or in the folder of a study outside the checkout."""
    if "scripts" in spec:
        return tcl_dir() / ORIGINAL_RUNNER
    return resolved(spec["script"], tcl_dir())


def script_name(spec: Spec) -> str:
    """The script of a run for readers, from the checkout."""
    if "scripts" in spec:
        return str(Path(spec["scripts"]) / Path(spec["script"]).name)
    return relative(script_path(spec))


def script_record(spec: Spec, run_dir: Path) -> ScriptRecord:
    """The script of a run, and the checksum of every Tcl file that it needs."""
    files = {_name(path, run_dir): path for path in script_files(spec, run_dir)}
    return {
        "path": script_name(spec),
        "files": {name: known_sha256_of(path) for name, path in sorted(files.items())},
    }


def script_files(spec: Spec, run_dir: Path) -> list[Path]:
    """All Tcl files that ns-2 reads, in the order of the run's identity."""
    if "scripts" in spec:
        return original_files(run_dir / SCRIPTS_FOLDER, spec["script"])
    return tcl_files(script_path(spec))


def _name(path: Path, run_dir: Path) -> str:
    """Name of a file in the record: in the run's folder, or from the checkout."""
    return relative(path, run_dir if path.is_relative_to(run_dir) else None)
