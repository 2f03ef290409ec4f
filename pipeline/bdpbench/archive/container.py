"""The zip of an archive: names and contents determine its bytes, and its manifest checks them.

The manifest lists the SHA-256 of all other files, as ``sha256sum -c`` reads it.
"""

from __future__ import annotations

import hashlib
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.files import sha256_of, write_atomically
from bdpbench.errors import BdpbenchError

CHECKSUMS_NAME = "manifest-sha256.txt"

# The earliest date that a zip can hold: dates of files say nothing about a result.
_DATE = (1980, 1, 1, 0, 0, 0)
_FILE_MODE = stat.S_IFREG | 0o644
_SCRIPT_MODE = stat.S_IFREG | 0o755
_COMPRESSION_LEVEL = 9


def write_archive(path: Path, entries: Mapping[str, bytes]) -> str:
    """Write, atomically, a zip of files and of their manifest.

    Order, dates, permissions and compression are fixed: files that start with ``#!`` may be
    executed, dates are 1980-01-01. The deflated bytes depend on the zlib of Python.

    Args:
        path: file to write.
        entries: path inside → content.

    Returns:
        SHA-256 of the file.
    """
    lines = (f"{_sha256(entries[name])}  {name}\n" for name in sorted(entries))
    entries = {**entries, CHECKSUMS_NAME: "".join(lines).encode()}
    sha256 = ""

    def write(scratch: Path) -> None:
        nonlocal sha256
        with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(entries.items()):
                info = zipfile.ZipInfo(name, _DATE)
                mode = _SCRIPT_MODE if content.startswith(b"#!") else _FILE_MODE
                info.external_attr = mode << 16
                archive.writestr(info, content, zipfile.ZIP_DEFLATED, _COMPRESSION_LEVEL)
        sha256 = sha256_of(scratch)

    write_atomically(path, write)
    return sha256


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class Verification:
    """The findings: the archive is intact if there are no ``problems``.

    Attributes:
        sha256: SHA-256 of the archive itself.
        files: number of its files.
        unpacked_bytes: their total size, unpacked.
        problems: one line each, with the file concerned.
    """

    sha256: str
    files: int
    unpacked_bytes: int
    problems: tuple[str, ...]


def verify_archive(path: Path) -> Verification:
    """Check an archive without unpacking it, and without a network.

    Matching checksums show that nothing was changed by accident. To detect tampering, compare the
    SHA-256 of the archive with the one that its author published.

    Raises:
        BdpbenchError: for a folder.
    """
    if path.is_dir():
        hint = "`./bdpbench archive STUDY` writes one; `compare` and `metrics` read folders"
        raise BdpbenchError(
            "is a folder: expected the zip of an archive", where=str(path), hint=hint
        )
    if not path.is_file():
        return Verification("", 0, 0, ("there is no such file",))
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            problems = [*_unsafe(infos), *_differences(archive)]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        return Verification(sha256_of(path), 0, 0, (f"is not a zip file, or damaged ({error})",))
    size = sum(info.file_size for info in infos)
    return Verification(sha256_of(path), len(infos), size, tuple(problems))


def _unsafe(infos: list[zipfile.ZipInfo]) -> Iterator[str]:
    """Files that are not safe to unpack: paths that lead outside, links, names that occur twice."""
    for info in infos:
        name = info.orig_filename
        if name.startswith("/") or ".." in name.split("/") or set(name) & set(":\\\0"):
            yield f"path that leads outside: {name!r}"
        elif not stat.S_ISREG(info.external_attr >> 16):
            yield f"is not a regular file: {name}"
    counts = Counter(info.filename for info in infos)
    yield from (f"occurs twice: {name}" for name, count in counts.items() if count > 1)


def _differences(archive: zipfile.ZipFile) -> Iterator[str]:
    """Files that are damaged, missing, altered or additional by the manifest."""
    names = set(archive.namelist())
    if CHECKSUMS_NAME not in names:
        yield f"missing: {CHECKSUMS_NAME}"
        return
    found: dict[str, str] = {}
    for name in sorted(names):
        try:
            with archive.open(name) as stream:
                found[name] = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        except Exception as error:  # zipfile lets exceptions of its decompressors through
            yield f"damaged: {name} ({type(error).__name__}: {error})"
    if CHECKSUMS_NAME not in found:
        return
    lines = archive.read(CHECKSUMS_NAME).decode(errors="replace").splitlines()
    told = {name: sha256 for sha256, _, name in (line.partition("  ") for line in lines)}
    yield from (f"missing: {name}" for name in sorted(told.keys() - names))
    for name in sorted(found.keys() - {CHECKSUMS_NAME}):
        if name not in told:
            yield f"additional: {name}"
        elif told[name] != found[name]:
            yield f"altered: {name}"
