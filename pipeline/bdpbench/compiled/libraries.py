"""C sources → loaded libraries."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from pathlib import Path

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import home_dir

_BUILD = Path(__file__).parent / "build.sh"


def load_library(source: Path) -> ctypes.CDLL | None:
    """The library of a source, compiled if necessary.

    None if it can be neither found nor compiled, because a compiler or disk space is missing.
    """
    path = library_path(source)
    try:
        if not _is_whole(path):
            path.unlink(missing_ok=True)
            command = ["bash", str(_BUILD), str(path.parent), str(source)]
            subprocess.run(command, check=True, capture_output=True)
        return ctypes.CDLL(str(path))
    except (OSError, subprocess.CalledProcessError):
        return None


def _is_whole(path: Path) -> bool:
    """Whether a library is what build.sh has compiled."""
    try:
        return sha256_of(path) == path.with_suffix(".sha256").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False


def library_path(source: Path) -> Path:
    """Where build.sh puts the library, whose name contains a hash of what it is built from."""
    digest = hashlib.sha256(_BUILD.read_bytes() + source.read_bytes()).hexdigest()[:16]
    return home_dir() / "compiled" / f"{source.stem}-{digest}.so"
