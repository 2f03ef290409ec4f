"""The script of a run: where it lies, what a reader calls it, and the Tcl files that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.runs import SCRIPTS_FOLDER, ScriptRecord, Spec
from bdpbench.studies.identity import tcl_files

ORIGINAL_SCRIPT = "original.tcl"
"""Under ``tcl/``: runs a script that was recovered from a thesis, as if by ns-2.27."""


def script_path(spec: Spec) -> Path:
    """What ns-2 is to run: under ``tcl/``, or in the folder of a study outside the checkout."""
    return tcl_dir() / (ORIGINAL_SCRIPT if "scripts" in spec else spec["script"])


def script_name(spec: Spec) -> str:
    """The script of a run as a reader finds it; no path of the machine for one under ``tcl/``."""
    if "scripts" in spec:
        return str(Path(spec["scripts"]) / Path(spec["script"]).name)
    return _name(tcl_dir() / spec["script"])


def script_record(spec: Spec, run_dir: Path) -> ScriptRecord:
    """The script of a run, and the checksum of every Tcl file that it takes."""
    if "scripts" in spec:
        files = _files_of_original(run_dir)
    else:
        files = {_name(path): path for path in tcl_files(script_path(spec))}
    return {
        "path": script_name(spec),
        "files": {name: sha256_of(path) for name, path in sorted(files.items())},
    }


def _files_of_original(run_dir: Path) -> Mapping[str, Path]:
    """The copies in the run's folder, and what runs them."""
    kept = (run_dir / SCRIPTS_FOLDER).iterdir()
    library = (tcl_dir() / ORIGINAL_SCRIPT, tcl_dir() / "lib" / "agents.tcl")
    return {
        **{f"{SCRIPTS_FOLDER}/{path.name}": path for path in kept},
        **{_name(path): path for path in library},
    }


def _name(path: Path) -> str:
    if path.is_relative_to(tcl_dir()):
        return f"tcl/{path.relative_to(tcl_dir()).as_posix()}"
    return str(path)
