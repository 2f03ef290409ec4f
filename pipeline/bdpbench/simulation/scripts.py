"""The script of a run: its path, its name for readers, and the Tcl files that it needs."""

from __future__ import annotations

from pathlib import Path

from bdpbench.contracts.files import known_sha256_of
from bdpbench.contracts.paths import relative, resolved, tcl_dir
from bdpbench.contracts.runs import SCRIPTS_FOLDER, ScriptRecord, Spec
from bdpbench.studies.identity import tcl_files


def script_path(spec: Spec) -> Path:
    """The path that ns-2 runs: under ``tcl/``, or in the folder of a study outside the checkout."""
    if "scripts" in spec:
        from bdpbench.studies.scripts import ORIGINAL_RUNNER

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
        from bdpbench.studies.scripts import original_files

        return original_files(run_dir / SCRIPTS_FOLDER, spec["script"])
    return tcl_files(script_path(spec))


def _name(path: Path, run_dir: Path) -> str:
    """Name of a file in the record: in the run's folder, or from the checkout."""
    return relative(path, run_dir if path.is_relative_to(run_dir) else None)
