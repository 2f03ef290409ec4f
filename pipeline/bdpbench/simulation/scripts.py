"""The script of a run: where it lies, what a reader calls it, and the Tcl files that it takes."""

from __future__ import annotations

from pathlib import Path

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.runs import SCRIPTS_FOLDER, ScriptRecord, Spec
from bdpbench.studies.identity import tcl_files


def script_path(spec: Spec) -> Path:
    """What ns-2 is to run: under ``tcl/``, or in the folder of a study outside the checkout."""
    if "scripts" in spec:
        from bdpbench.studies.scripts import ORIGINAL_RUNNER

        return tcl_dir() / ORIGINAL_RUNNER
    return tcl_dir() / spec["script"]


def script_name(spec: Spec) -> str:
    """The script of a run as a reader finds it; no path of the machine for one under ``tcl/``."""
    if "scripts" in spec:
        return str(Path(spec["scripts"]) / Path(spec["script"]).name)
    return _name(tcl_dir() / spec["script"])


def script_record(spec: Spec, run_dir: Path) -> ScriptRecord:
    """The script of a run, and the checksum of every Tcl file that it takes."""
    files = {_name(path, run_dir): path for path in script_files(spec, run_dir)}
    return {
        "path": script_name(spec),
        "files": {name: sha256_of(path) for name, path in sorted(files.items())},
    }


def script_files(spec: Spec, run_dir: Path) -> list[Path]:
    """All Tcl files that ns-2 reads, in the order that the run's identity has."""
    if "scripts" in spec:
        from bdpbench.studies.scripts import original_files

        return original_files(run_dir / SCRIPTS_FOLDER, spec["script"])
    return tcl_files(script_path(spec))


def _name(path: Path, run_dir: Path | None = None) -> str:
    """A file as the record calls it: under ``tcl/``, in the run's folder, or where it lies."""
    if path.is_relative_to(tcl_dir()):
        return f"tcl/{path.relative_to(tcl_dir()).as_posix()}"
    if run_dir is not None and path.is_relative_to(run_dir):
        return path.relative_to(run_dir).as_posix()
    return str(path)
