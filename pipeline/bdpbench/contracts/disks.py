"""Full or read-only disks: how much is free, and an ``OSError`` in words that help."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from bdpbench.errors import BdpbenchError

RESUME_HINT = "finished runs are kept; the same command resumes"
# What stands where another file or folder belongs.
_IN_THE_PLACE = {
    errno.EISDIR: "is a folder, and a file belongs here",
    errno.ENOTDIR: "needs a folder, and a file is in its place",
    errno.EEXIST: "is a file or a link to nothing, and a folder belongs here",
    errno.ELOOP: "is a link that leads back to itself",
}
_OS_ERROR = re.compile(r"\(os error (\d+)\)")


def free_bytes(folder: Path) -> int:
    """Bytes that an ordinary user can still write into ``folder``."""
    facts = os.statvfs(folder)
    return facts.f_bavail * facts.f_frsize


def no_inodes_left(folder: Path) -> bool:
    """Whether ``folder`` is on a disk that can hold no further file, however small."""
    facts = os.statvfs(folder)
    return facts.f_files > 0 and facts.f_favail == 0  # some file systems do not count them


def size_text(size_bytes: float) -> str:
    """A size in readable units: ``0.4 MiB``, ``812 MiB``, ``2.5 GiB``.

    >>> size_text(400_000), size_text(851_000_000), size_text(2.7e9)
    ('0.4 MiB', '812 MiB', '2.5 GiB')
    """
    mib = size_bytes / 2**20
    if mib >= 1024:
        return f"{mib / 1024:.1f} GiB"
    return f"{mib:.0f} MiB" if mib >= 10 else f"{mib:.1f} MiB"


def disk_error(error: OSError, where: Path | None = None) -> BdpbenchError | None:
    """The error to show when a disk refuses a file or a folder; None for any other ``OSError``.

    ``where`` replaces the file named by the error, because libraries do not always name one.
    """
    target = error.filename2 or error.filename  # a file that is renamed, and its new name
    named = target if isinstance(target, (str, os.PathLike)) else None
    place = where or (Path(named) if named is not None else None)
    number = _number(error)
    if number in (errno.ENOSPC, errno.EDQUOT):
        return full_disk(place, number)
    if number == errno.EROFS:
        said, hint = "the disk is read-only", "set BDPBENCH_RESULTS to a folder that can be written"
        return BdpbenchError(f"cannot be written: {said}", where=str(place or "."), hint=hint)
    if number in (errno.EACCES, errno.EPERM):
        said = f"no permission for user {os.geteuid()}{_owner(place)}"
        hint = "give this user the right, or set BDPBENCH_RESULTS to a folder of its own"
        return BdpbenchError(f"cannot be used: {said}", where=str(place or "."), hint=hint)
    if number in _IN_THE_PLACE and place is not None:
        hint = "remove it, or move it elsewhere; the same command then makes what belongs here"
        return BdpbenchError(_IN_THE_PLACE[number], where=str(place), hint=hint)
    return None


def _number(error: OSError) -> int | None:
    """The ``errno`` of an error; polars gives it only in words."""
    told = _OS_ERROR.search(str(error))
    return error.errno if error.errno is not None else int(told.group(1)) if told else None


def full_disk(place: Path | None, number: int | None = errno.ENOSPC) -> BdpbenchError:
    """The error to show when a place, by default the current folder, has no room for more."""
    folder = _existing(place or Path.cwd())
    hint = f"make room; {RESUME_HINT}"
    if number == errno.EDQUOT:
        what = "the quota is exhausted"
    elif no_inodes_left(folder):
        what, hint = "no inodes are left", f"remove files (`df -i` counts them); {RESUME_HINT}"
    else:
        what = "the disk is full"
    return BdpbenchError(
        f"cannot be written: {what}, {size_text(free_bytes(folder))} are free in {folder}",
        where=str(place or folder),
        hint=hint,
    )


def _existing(path: Path) -> Path:
    """The nearest existing folder above ``path``."""
    path = path.absolute()
    return next((each for each in (path, *path.parents) if each.is_dir()), Path("/"))


def _owner(place: Path | None) -> str:
    """The owner of a place, if it is another user."""
    if place is None:
        return ""
    try:
        owner = _existing(place).stat().st_uid
    except OSError:
        return ""
    return f", it belongs to user {owner}" if owner != os.geteuid() else ""
