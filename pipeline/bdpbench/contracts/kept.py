"""What is kept and read again: each is written whole and has a SHA-256, and what differs is absent.

A text of our own begins with a line that vouches for the rest (``keep``). Files that others read as
well stay as they are, and a list beside them vouches for them (``seal``): it is written last, and
``sha256sum -c`` reads it.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from bdpbench.contracts.files import sha256_of, write_text_atomically

LIST_NAME = "SHA256SUMS"
"""The list of a folder."""


def keep(path: Path, made_of: str, text: str) -> None:
    """Write a text, whose first line says from what it was made, and which checksum it has.

    Raises:
        OSError: as ``write_atomically``.
    """
    write_text_atomically(path, f"{made_of} {_sha256(text)}\n{text}")


def read_kept(path: Path, made_of: str | None) -> str | None:
    """The text that ``keep`` wrote and that was made of this; None if it is damaged or missing.

    ``made_of``: None takes what was made of anything.
    """
    with contextlib.suppress(OSError, ValueError):
        head, _, text = path.read_bytes().decode().partition("\n")
        found, _, sha256 = head.rpartition(" ")
        if made_of in (found, None) and sha256 == _sha256(text):
            return text
    return None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def seal(listing: Path, files: Iterable[Path], made_of: str = "") -> None:
    """Vouch for files beside or below a list, and say from what they were made.

    Raises:
        OSError: as ``write_atomically``, and if one of the files cannot be read.
    """
    names = sorted(each.relative_to(listing.parent).as_posix() for each in files)
    lines = (f"{sha256_of(listing.parent / name)}  {name}\n" for name in names)
    keep(listing, f"# {made_of}", "".join(lines))


def sealed(listing: Path, made_of: str | None = None) -> Mapping[str, str]:
    """Name → SHA-256 of what a list vouches for.

    It is empty if the list is damaged or missing, or its files were made of something else.
    """
    text = read_kept(listing, None if made_of is None else f"# {made_of}") or ""
    return {
        name: sha256 for sha256, _, name in (each.partition("  ") for each in text.splitlines())
    }


def difference(listing: Path, name: str, made_of: str | None = None) -> str:
    """How a file differs from the one that a list vouches for; "" if it does not."""
    path, sha256 = listing.parent / name, sealed(listing, made_of).get(name)
    if not path.is_file():
        return "is not a file" if path.exists() else "is gone"
    if sha256 is None:
        return f"is not what was written: {listing.name} does not vouch for it"
    return "" if sha256_of(path) == sha256 else "is not what was written: its SHA-256 differs"
