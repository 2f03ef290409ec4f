"""Files of every stage: atomic writes, checksums, and what a disk refuses, in words."""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from bdpbench.contracts.paths import home_dir, package_dir
from bdpbench.errors import CONTROL_CHARACTER, BdpbenchError

TEMPORARY_SUFFIX = ".tmp"


def write_text_atomically(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, as ``write_bytes_atomically`` does."""
    write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` as ``write_atomically`` does."""
    write_atomically(path, lambda scratch: scratch.write_bytes(content))


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` create a temporary file beside ``path``, then rename it to ``path``.

    A reader sees either the old file or the complete new one, and an interrupted write leaves the
    old one. The temporary name is unique, so two writers never write to the same file.

    Raises:
        OSError: when the disk is full or the folder is not writable; ``disk_error`` puts it in
            words.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")
    try:
        write(scratch)
        scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def sources_of(*folders: Path) -> list[Path]:
    """All files that bdpbench's answers about studies depend on: its code, and those of folders."""
    found = [*package_dir().rglob("*.py")]
    for each in folders:
        for folder, _, names in os.walk(each, followlinks=True):
            found += [Path(folder, name) for name in names if not name.endswith(".pyc")]
    return found


def remembered(question: object, sources: Iterable[Path], make: Callable[[], str]) -> str:
    """A text that was made from files, made anew once the name, time or size of one changes.

    It is kept below ``cache/`` of bdpbench's home, or not at all where nothing can be written.

    Args:
        question: what the text answers; its ``repr`` tells it from others.
        sources: all files that the answer depends on.
        make: makes the text.
    """
    found = [(str(path), path.stat()) for path in sources]
    stamps = [(name, stat.st_mtime_ns, stat.st_size) for name, stat in found]
    own = {name: value for name, value in os.environ.items() if name.startswith("BDPBENCH_")}
    state = hashlib.sha256(repr((question, sorted(stamps), sorted(own.items()))).encode())
    asked = hashlib.sha256(repr(question).encode()).hexdigest()[:16]
    kept = home_dir() / "cache" / "answers" / f"{asked}.txt"
    with suppress(OSError):
        known, _, text = kept.read_text(encoding="utf-8").partition("\n")
        if known == state.hexdigest():
            return text
    text = make()
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(kept, f"{state.hexdigest()}\n{text}")
    return text


def remove_temporaries(folder: Path) -> None:
    """Remove the files of writers that were killed; call it only when nobody can be writing."""
    for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)


def utf8_text(path: Path) -> str:
    """The text of a file that has to be UTF-8; line ends stay as they are.

    Raises:
        BdpbenchError: naming line and byte, when it is not UTF-8; when it is not a file, such as a
            pipe or a device.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise BdpbenchError("is not a file", where=str(path), hint="remove it, or write a file")
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


# ---------------------------------------------------------------- disks

RESUME_HINT = "finished runs are kept; the same command resumes"
_ROOM = f"make room, by `df` or `df -i`; {RESUME_HINT}"
_RIGHT = "give this user the right, or set BDPBENCH_RESULTS to a folder of its own"
_MOVE = "remove it, or move it elsewhere; the same command then makes what belongs here"
_LIMIT = "raise the limit: `ulimit -n 1024`"
_REFUSED = {
    errno.ENOSPC: ("the disk is full", _ROOM),
    errno.EDQUOT: ("the quota is exhausted", _ROOM),
    errno.EROFS: ("the disk is read-only", "set BDPBENCH_RESULTS to a folder that can be written"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), ("this user has no permission", _RIGHT)),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), ("too many files are open", _LIMIT)),
    errno.EISDIR: ("it is a folder", _MOVE),
    errno.ENOTDIR: ("a file is in the place of a folder", _MOVE),
    errno.EEXIST: ("it is a file or a link to nothing, and no folder", _MOVE),
    errno.ELOOP: ("it is a link that leads back to itself", _MOVE),
}
_OS_ERROR = re.compile(r"\(os error (\d+)\)")

LEAST_FREE_BYTES = 4 * 2**20
"""A disk on which less is free counts as full."""


def is_full(folder: Path) -> bool:
    """Whether ``folder`` is on a disk that is full; some file systems do not tell their size."""
    facts = os.statvfs(folder)
    return facts.f_blocks > 0 and facts.f_bavail * facts.f_frsize < LEAST_FREE_BYTES


def disk_error(error: OSError, where: Path | None = None) -> BdpbenchError | None:
    """The error to show when a disk refuses a file or a folder; None for any other ``OSError``.

    ``where`` replaces the file named by the error, because libraries do not always name one, and
    polars gives the ``errno`` only in words.
    """
    target = error.filename2 or error.filename  # a file that is renamed, and its new name
    named = target if isinstance(target, (str, os.PathLike)) else "."
    told = _OS_ERROR.search(str(error))
    number = error.errno if error.errno is not None else int(told[1]) if told else 0
    if number not in _REFUSED:
        return None
    said, hint = _REFUSED[number]
    return BdpbenchError(f"cannot be used: {said}", where=str(where or named), hint=hint)


def full_disk(folder: Path) -> BdpbenchError:
    """The error to show when a folder has no room for more."""
    said, hint = _REFUSED[errno.ENOSPC]
    return BdpbenchError(f"cannot be used: {said}", where=str(folder), hint=hint)


def make_folders(folder: Path) -> None:
    """Create a folder and those above it, unless they are there.

    Raises:
        BdpbenchError: where no folder can be created, as in /proc.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError:
        raise BdpbenchError("no folder can be created there", where=str(folder)) from None
