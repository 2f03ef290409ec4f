"""The pipeline's C code: compiled at first use and loaded by ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from pathlib import Path

from bdpbench.contracts.kept import difference
from bdpbench.contracts.paths import home_dir
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run

_BUILD = Path(__file__).with_name("build.sh")
_MOST_COMPILING_S = 600.0


def load_library(source: Path) -> ctypes.CDLL:
    """The library of a source, compiled if necessary.

    Raises:
        BdpbenchError: when it can be neither found nor compiled.
    """
    path = library_path(source)
    said = ""
    try:
        if difference(path.with_suffix(".sha256"), path.name):
            path.unlink(missing_ok=True)
            command = ["bash", str(_BUILD), str(path.parent), str(source)]
            said = run(command, _MOST_COMPILING_S).stderr
        return ctypes.CDLL(str(path))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(
            f"cannot be compiled: {(said.strip() or str(error)).splitlines()[-1]}",
            where=source.name,
            hint="packet traces are summed in C: install a compiler, by `apt install g++`",
        ) from None


def library_path(source: Path) -> Path:
    """Where build.sh puts the library, whose name contains a hash of what it is built from."""
    digest = hashlib.sha256(_BUILD.read_bytes() + source.read_bytes()).hexdigest()[:16]
    return home_dir() / "compiled" / f"{source.stem}-{digest}.so"
