"""Atomic files and checksums, shared by every stage that writes a result."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from bdpbench.errors import BdpbenchError


def write_text_atomically(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, as ``write_bytes_atomically`` does."""
    write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` under a temporary name beside ``path`` and rename it there.

    A reader sees the old file or the whole new one, and an interrupted write leaves the old one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        # mkstemp makes files private; results are meant to be read by others.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_json_atomically(path: Path, data: Any) -> None:
    """Write ``data`` as indented JSON, keys in their order, atomically; NaN and inf are refused."""
    text = json.dumps(data, indent=1, allow_nan=False)
    write_text_atomically(path, text + "\n")


def read_json(path: Path, *, what: str, schema_version: int) -> dict[str, Any]:
    """Read a JSON file of bdpbench, refusing one that is missing, broken or of another version.

    Raises:
        BdpbenchError: naming the file, what it should be, and how to make it anew.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BdpbenchError(f"no such file: expected {what}", where=str(path)) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BdpbenchError(
            f"is not valid JSON ({error}): expected {what}", where=str(path)
        ) from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != schema_version:
        raise BdpbenchError(
            f"has schema version {version!r}; this bdpbench reads version {schema_version}"
            f" of {what}",
            where=str(path),
            hint="remove the file and run again",
        )
    return dict(data)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hex, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
