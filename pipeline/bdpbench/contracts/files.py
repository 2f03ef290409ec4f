"""Atomic files and checksums, shared by every stage that writes a result."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from bdpbench.contracts.disks import disk_error
from bdpbench.errors import CONTROL_CHARACTER, BdpbenchError

TEMPORARY_SUFFIX = ".tmp"

# A backslash in JSON, with the code of a character that is not to be printed.
_ESCAPE = re.compile(
    r"\\(?:\\|u(00(?:[01][0-9a-f]|7f|[89][0-9a-f])|061c|200[ef]|202[89a-e]|206[6-9a-f]|fff[9ab]))?"
)
# An argument of renameat2(2).
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


def write_record_atomically(path: Path, data: Mapping[str, Any], *, durable: bool = False) -> None:
    """Write a file that every run has: JSON with one line for each key of ``data``, atomically.

    Python takes ten times as long to indent JSON, which counts in a study of many runs. NaN and inf
    are refused.
    """
    encode = json.JSONEncoder(allow_nan=False).encode
    lines = ",\n ".join(f"{encode(key)}: {encode(value)}" for key, value in data.items())
    write_bytes_atomically(path, f"{{\n {lines}\n}}\n".encode(), durable=durable)


def write_atomically(path: Path, write: Callable[[Path], object], *, durable: bool = False) -> None:
    """Let ``write`` create a temporary file beside ``path``, then rename it to ``path``.

    A reader sees either the old file or the complete new one, and an interrupted write leaves the
    old one. The temporary name is unique, so two writers never write to the same file.

    Args:
        path: path of the final file.
        write: writes to the path that it is given, where an empty file exists already.
        durable: whether the file is to survive a crash of the machine right after the rename.

    Raises:
        OSError: when the disk is full or the folder is not writable; ``disk_error`` puts it in
            words.
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
    """Wait until the content of a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_temporaries(folder: Path) -> None:
    """Remove the files of writers that were killed; call it only when nobody can be writing."""
    for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)


def utf8_text(path: Path) -> str:
    """The text of a file that has to be UTF-8; line ends stay as they are.

    Raises:
        BdpbenchError: naming line and byte, when it is not UTF-8.
    """
    content = path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise BdpbenchError(
            f"is not UTF-8 text: byte 0x{content[error.start]:02X} in column {column}",
            where=f"{path}:{line}",
            hint="save the file as UTF-8",
        ) from None


def read_text(path: Path) -> str:
    """Read a text file that a person wrote.

    Raises:
        BdpbenchError: naming the line, when it is not UTF-8 or contains characters that control a
            terminal.
    """
    text = utf8_text(path)
    found = CONTROL_CHARACTER.search(text)
    if found:
        raise BdpbenchError(
            f"the character U+{ord(found.group()):04X} is not allowed in text",
            where=f"{path}:{text.count(chr(10), 0, found.start()) + 1}",
        )
    return text


def read_json(path: Path, *, what: str, schema_version: int) -> dict[str, Any]:
    """Read a JSON file of bdpbench, refusing one that is missing, damaged or of another version.

    Raises:
        BdpbenchError: naming the file, what it should contain, and how to recreate it.
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


def _json_of(path: Path, what: str) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        found = None if text.isascii() else CONTROL_CHARACTER.search(text)
        codes = (each[1] for each in _ESCAPE.finditer(text) if each[1])
        if code := next(codes, "" if found is None else f"{ord(found.group()):04x}"):
            raise ValueError(f"it has the character U+{code.upper()} in a text")
        return json.loads(text)
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
    """Replace a folder by another on the same disk, and remove the old one.

    A reader sees one or the other. If the file system cannot exchange two names atomically, there
    is a moment with neither, and an error at that moment is undone.

    Raises:
        OSError: when the disk refuses; the old folder is then still in its place.
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
    """Exchange the names of two folders in one step (renameat2(2), RENAME_EXCHANGE)."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "renameat2"):
        return False
    names = os.fsencode(first.absolute()), os.fsencode(second.absolute())
    status: int = library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    return status == 0


FolderState: TypeAlias = tuple[tuple[str, int, int], ...]
"""Path, time of last modification (ns) and size of each file."""


def state_of(folder: Path) -> FolderState:
    """The state of all files below a folder: as long as it is unchanged, derived data is valid."""
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


def known_sha256_of(path: Path) -> str:
    """SHA-256 of a file that is asked for often; it is read again when it has changed.

    Raises:
        OSError: when it cannot be read.
    """
    about = path.stat()
    return _sha256_at(path, about.st_ino, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=4096)
def _sha256_at(path: Path, inode: int, changed_ns: int, size: int) -> str:
    return sha256_of(path)
