"""Atomic files and checksums, shared by every stage that writes a result."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from bdpbench.contracts.disks import disk_error
from bdpbench.errors import BdpbenchError

TEMPORARY_SUFFIX = ".tmp"

# All but tab and line ends: they move the cursor of a terminal, or end a text in C.
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Of renameat2(2).
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def write_text_atomically(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, as ``write_bytes_atomically`` does."""
    write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write ``content`` as ``write_atomically`` does."""
    write_atomically(path, lambda scratch: scratch.write_bytes(content), durable=durable)


def write_json_atomically(path: Path, data: Any, *, durable: bool = False) -> None:
    """Write ``data`` as indented JSON, keys in their order, atomically; NaN and inf are refused."""
    text = json.dumps(data, indent=1, allow_nan=False) + "\n"
    write_bytes_atomically(path, text.encode(), durable=durable)


def write_atomically(path: Path, write: Callable[[Path], object], *, durable: bool = False) -> None:
    """Let ``write`` make a file under a temporary name beside ``path``, and rename it there.

    A reader sees the old file or the whole new one, and an interrupted write leaves the old one.
    The temporary name is this writer's alone, so that two writers never meet in one file.

    Args:
        path: where the file shall stand.
        write: writes the file that it is given; it exists already, and is empty.
        durable: whether the file is to survive a crash of the machine right after the rename.

    Raises:
        OSError: when the disk takes no more, or the folder cannot be written to; ``disk_error``
            says it in words.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=TEMPORARY_SUFFIX
    )
    os.close(handle)
    scratch = Path(name)
    try:
        write(scratch)
        # mkstemp makes files private; results are meant to be read by others.
        umask = os.umask(0)
        os.umask(umask)
        scratch.chmod(0o666 & ~umask)
        if durable:
            flush_to_disk(scratch)
        scratch.replace(path)
        if durable:
            flush_to_disk(path.parent)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def flush_to_disk(path: Path) -> None:
    """Wait until the disk has the content of a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_temporaries(folder: Path) -> None:
    """Remove what writers left behind that were killed; only where nobody can be writing."""
    for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)


def read_text(path: Path) -> str:
    """Read a text that a person wrote.

    Raises:
        BdpbenchError: where it is not UTF-8, or has characters that control a terminal, with its
            line.
    """
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BdpbenchError("is not UTF-8 text", where=f"{path}:{line}") from None
    found = CONTROL_CHARACTER.search(text)
    if found:
        raise BdpbenchError(
            f"the character U+{ord(found.group()):04X} is not allowed in text",
            where=f"{path}:{text.count(chr(10), 0, found.start()) + 1}",
        )
    return text


def read_json(path: Path, *, what: str, schema_version: int) -> dict[str, Any]:
    """Read a JSON file of bdpbench, refusing one that is missing, broken or of another version.

    Raises:
        BdpbenchError: naming the file, what it should be, and how to make it anew.
    """
    data = _json_of(path, what)
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != schema_version:
        raise BdpbenchError(
            f"has schema version {version!r}; this bdpbench reads version {schema_version}"
            f" of {what}",
            where=str(path),
            hint="remove the file and run again",
        )
    return dict(data)


def read_any_json(path: Path, *, what: str, versions: range) -> dict[str, Any]:
    """Read a JSON file that people keep, of any version that is still read.

    Raises:
        BdpbenchError: naming the file, and what it should be.
    """
    data = _json_of(path, what)
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version not in versions:
        read = f"{versions.start} to {versions.stop - 1}"
        raise BdpbenchError(
            f"has schema version {version!r}; this bdpbench reads versions {read} of {what}",
            where=str(path),
        )
    return dict(data)


def _json_of(path: Path, what: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BdpbenchError(f"no such file: expected {what}", where=str(path)) from None
    except OSError as error:
        raise disk_error(error, path) or BdpbenchError(
            f"cannot be read: {error.strerror}", where=str(path)
        ) from None
    except RecursionError:
        raise BdpbenchError(f"is nested too deeply: expected {what}", where=str(path)) from None
    except ValueError as error:
        raise BdpbenchError(
            f"is not valid JSON ({error}): expected {what}", where=str(path)
        ) from None


def replace_folder(new: Path, old: Path) -> None:
    """Put a whole folder into the place of another on the same disk, and remove that one.

    A reader sees one or the other. Where the file system cannot exchange two names at once there
    is a moment with neither, and what goes wrong then is undone.

    Raises:
        OSError: when the disk refuses; the old folder is where it was.
    """
    if not _exchanged(new, old):
        aside = new.with_name(f"{new.name}.old")
        old.rename(aside)
        try:
            new.rename(old)
        except OSError:
            aside.rename(old)
            raise
        aside.rename(new)
    flush_to_disk(old.parent)
    shutil.rmtree(new)


def _exchanged(first: Path, second: Path) -> bool:
    """Let two folders exchange their names in one step (renameat2(2), RENAME_EXCHANGE)."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "renameat2"):
        return False
    names = os.fsencode(first.absolute()), os.fsencode(second.absolute())
    status: int = library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    return status == 0


FolderState: TypeAlias = tuple[tuple[str, int, int], ...]
"""Path, time of the last change (ns) and size of each file."""


def state_of(folder: Path) -> FolderState:
    """All files below a folder: what was made of them holds as long as their state stays."""
    facts: list[tuple[str, int, int]] = []
    for entry in os.scandir(folder):
        if entry.is_dir():
            facts += state_of(Path(entry.path))
        else:
            about = entry.stat()
            facts.append((entry.path, about.st_mtime_ns, about.st_size))
    return tuple(sorted(facts))


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hex, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
