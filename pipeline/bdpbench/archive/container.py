"""The zip file of an archive: written deterministically, and read without trust.

Its manifest lists the SHA-256 of all other files, as ``sha256sum`` writes and checks it.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from bdpbench.archive.crate import (
    DEPOSIT_NAME,
    METADATA_NAME,
    Crate,
    crate_json,
    crate_problems,
    deposit_json,
    deposit_problems,
)
from bdpbench.contracts.evaluation import CELLS_NAME, EVALUATION_NAME
from bdpbench.contracts.files import sha256_of, write_atomically
from bdpbench.contracts.plan import PLAN_NAME
from bdpbench.contracts.reports import KEPT_RUNS_NAME, PROVENANCE_NAME, REPORT_NAME, SUMMARY_NAME
from bdpbench.contracts.runs import METRICS_NAME
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.errors import BdpbenchError

Entry: TypeAlias = "bytes | Path"
"""The content of a file in a zip, or a file that holds it."""

CHECKSUMS_NAME = "manifest-sha256.txt"

MOST_BYTES = 8_000_000_000
"""Limit of the unpacked size of an archive; with the tables of 246 runs an archive takes 0.5 GB."""

_OF_ALL = (CHECKSUMS_NAME, METADATA_NAME, "CITATION.cff", "LICENSE", SUMMARY_NAME)

# Without these a zip is not an archive of a tier; their absence is always reported.
REQUIRED = (
    *_OF_ALL,
    METRICS_NAME,
    PLAN_NAME,
    PROVENANCE_NAME,
    REPORT_NAME,
    KEPT_RUNS_NAME,
    SCORECARD_NAME,
)

REQUIRED_OF_EVALUATION = (*_OF_ALL, EVALUATION_NAME, CELLS_NAME)
"""The same of an archive of an evaluation, which is one if it has the first that others lack."""

# The earliest date that a zip can hold: dates of files say nothing about a result.
_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_FILE_MODE = stat.S_IFREG | 0o644
_SCRIPT_MODE = stat.S_IFREG | 0o755
_COMPRESSION_LEVEL = 9
# Already compressed: compressing again would take time and save nothing.
_STORED = (".parquet", ".png", ".pdf", ".xz", ".gz", ".zst")
_BLOCK = 1 << 20
_CHECKSUM_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")

# Size of a file's header and of its entry in the zip's directory, without names, in bytes (PKWARE's
# APPNOTE 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16).
_LOCAL_HEADER = struct.Struct("<4s2B4HL2L2H")
_ENTRY_BYTES = 46
_END_BYTES = 22
_END64_BYTES = 56 + 20 + 22
_ENCRYPTED = 0x1


def format_checksums(checksums: Mapping[str, str]) -> str:
    """Path → SHA-256 as a manifest: a line ``<SHA-256>  <path>`` for each file, sorted by path.

    >>> format_checksums({"b": "1" * 64, "a": "0" * 64}).splitlines()[0][-3:]
    '  a'
    """
    return "".join(f"{checksums[path]}  {path}\n" for path in sorted(checksums))


def parse_checksums(text: str) -> dict[str, str]:
    """Path → SHA-256 of a manifest.

    Raises:
        ValueError: naming the invalid line, or the path that occurs twice.
    """
    checksums: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _CHECKSUM_LINE.fullmatch(line)
        if found is None:
            raise ValueError(f"line {number} is not '<SHA-256>  <path>'")
        if found[2] in checksums:
            raise ValueError(f"line {number}: {found[2]} occurs twice")
        checksums[found[2]] = found[1]
    return checksums


def sealed(entries: Mapping[str, Entry], crate: Crate) -> dict[str, Entry]:
    """Entries with the metadata and the manifest, which cover everything else."""
    entries = {**entries, DEPOSIT_NAME: deposit_json(crate).encode()}
    files = {name: _facts(entry) for name, entry in entries.items()}
    metadata = crate_json(crate, files).encode()
    checksums = {name: sha256 for name, (sha256, _) in files.items()}
    checksums[METADATA_NAME] = hashlib.sha256(metadata).hexdigest()
    manifest = format_checksums(checksums).encode()
    return {**entries, METADATA_NAME: metadata, CHECKSUMS_NAME: manifest}


def _facts(entry: Entry) -> tuple[str, int]:
    """SHA-256 and size of a file."""
    if isinstance(entry, bytes):
        return hashlib.sha256(entry).hexdigest(), len(entry)
    return sha256_of(entry), entry.stat().st_size


def write_archive(path: Path, entries: Mapping[str, Entry]) -> str:
    """Write, atomically, a zip whose bytes depend only on names and contents.

    Order, dates, permissions and compression are fixed: files that start with ``#!`` may be
    executed, dates are 1980-01-01. The deflated bytes depend on the zlib of Python.

    Args:
        path: file to write.
        entries: path inside → bytes, or a file that holds them.

    Returns:
        SHA-256 of the file.
    """
    sha256 = ""

    def write(scratch: Path) -> None:
        nonlocal sha256
        with zipfile.ZipFile(scratch, "w") as archive:
            for name in sorted(entries):
                _write_entry(archive, name, entries[name])
        sha256 = sha256_of(scratch)

    write_atomically(path, write)
    return sha256


def _write_entry(archive: zipfile.ZipFile, name: str, entry: Entry) -> None:
    content = entry if isinstance(entry, bytes) else entry.read_bytes()
    info = zipfile.ZipInfo(name, _DATE)
    info.create_system = _UNIX
    mode = _SCRIPT_MODE if content.startswith(b"#!") else _FILE_MODE
    info.external_attr = mode << 16
    stored = name.endswith(_STORED)
    info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    archive.writestr(info, content, compresslevel=None if stored else _COMPRESSION_LEVEL)


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


def verify_archive(path: Path, most_bytes: int = MOST_BYTES) -> Verification:
    """Check an archive without unpacking it, and without a network.

    Matching checksums show that nothing was changed by accident. To detect tampering, compare the
    SHA-256 of the archive with the one that its author published.

    Args:
        path: the zip.
        most_bytes: limit of the unpacked size of its files.

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
    sha256 = sha256_of(path)
    try:
        with _open_archive(path) as archive:
            infos = archive.infolist()
            sizes = {info.filename: info.file_size for info in infos}
            outer = [*_name_problems(archive), *_layout_problems(path, archive, most_bytes)]
            # If anything is wrong with the zip itself, none of it is unpacked.
            problems = outer or list(_content_problems(archive, sizes))
    except _DamagedError as error:
        return Verification(sha256, 0, 0, (str(error),))
    unpacked_bytes = sum(info.file_size for info in infos)
    return Verification(sha256, len(infos), unpacked_bytes, tuple(problems))


def _content_problems(archive: zipfile.ZipFile, sizes: Mapping[str, int]) -> Iterator[str]:
    """Files that are damaged, missing or additional, or not as manifest and metadata say."""
    actual: dict[str, str] = {}
    for info in archive.infolist():
        try:
            actual[info.filename] = _checksum_of(archive, info)
        except _DamagedError as error:
            yield f"damaged: {info.filename} ({error})"
    required = REQUIRED_OF_EVALUATION if EVALUATION_NAME in sizes else REQUIRED
    yield from (f"missing: {name}" for name in required if name not in sizes)
    if CHECKSUMS_NAME in actual:
        try:
            expected = parse_checksums(archive.read(CHECKSUMS_NAME).decode())
            told = {
                name: expected[name] for name in expected if name in sizes or name not in required
            }
            yield from _checksum_problems(told, actual, set(sizes))
        except ValueError as error:
            yield f"altered: {CHECKSUMS_NAME} ({error})"
    if DEPOSIT_NAME in actual:  # the manifest tells if it is missing
        yield from deposit_problems(archive.read(DEPOSIT_NAME))
    if METADATA_NAME in actual:
        try:
            yield from crate_problems(json.loads(archive.read(METADATA_NAME)), actual, sizes)
        except ValueError as error:
            yield f"altered: {METADATA_NAME} is not JSON ({error})"


def _checksum_problems(
    expected: Mapping[str, str], actual: Mapping[str, str], names: set[str]
) -> Iterator[str]:
    yield from (f"missing: {name}" for name in sorted(expected.keys() - names))
    for name in sorted(actual.keys() & expected.keys()):
        if actual[name] != expected[name]:
            yield f"altered: {name}"
    yield from (
        f"additional: {name}" for name in sorted(names - expected.keys() - {CHECKSUMS_NAME})
    )


class _DamagedError(Exception):
    """An archive cannot be read any further; the message says why."""


def _open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip.

    Raises:
        _DamagedError: when it is not a zip, or its end is missing.
    """
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        size = path.stat().st_size if path.is_file() else 0
        reason = "is empty" if size == 0 else "is not a zip file, or is truncated"
        raise _DamagedError(f"{reason} ({error})") from None


def _name_problems(archive: zipfile.ZipFile) -> Iterator[str]:
    """Errors in names and kinds of files: paths that lead outside, links, duplicates."""
    seen: set[str] = set()
    for info in archive.infolist():
        name = info.filename
        if info.orig_filename != name or not _is_inside(name):
            yield f"path that leads outside, or that some systems refuse: {info.orig_filename!r}"
        elif _is_special(info):
            yield f"is not a regular file: {name}"
        if info.flag_bits & _ENCRYPTED:
            yield f"is encrypted: {name}"
        folded = name.casefold()
        if folded in seen:
            yield f"occurs twice, or differs only in case: {name}"
        seen.add(folded)


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return (
        all(part not in ("", ".", "..") for part in parts)
        and not any(mark in name for mark in '\\:*?"<>|')
        and name.isprintable()
    )


def _is_special(info: zipfile.ZipInfo) -> bool:
    """A link, a folder, a device: anything but a plain file that its owner may read."""
    mode = info.external_attr >> 16
    return info.create_system != _UNIX or mode not in (_FILE_MODE, _SCRIPT_MODE)


def _layout_problems(path: Path, archive: zipfile.ZipFile, most_bytes: int) -> Iterator[str]:
    """More than ``most_bytes`` unpacked, bytes of no file, and headers against the directory."""
    total = sum(info.file_size for info in archive.infolist())
    if total > most_bytes:
        yield f"unpacks to {total / 1e9:.1f} GB, more than the limit of {most_bytes / 1e9:.1f} GB"
    if archive.comment:
        yield "carries a comment, which is part of no file"
    end = 0
    with path.open("rb") as stream:
        for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
            if info.header_offset != end:
                yield f"bytes that belong to no file, or to two files, before {info.filename}"
                return
            length = _local_length(stream, info)
            if length is None:
                yield f"header contradicts the directory: {info.filename}"
                return
            end = info.header_offset + length + info.compress_size
    directory = sum(
        _ENTRY_BYTES + len(info.orig_filename.encode()) + len(info.extra) + len(info.comment)
        for info in archive.infolist()
    )
    rest = path.stat().st_size - archive.start_dir - directory
    if archive.start_dir != end or rest not in (_END_BYTES, _END64_BYTES):
        yield "bytes that belong to no file, around its directory"


def _local_length(stream: IO[bytes], info: zipfile.ZipInfo) -> int | None:
    """Size of the header before a file, or None if it contradicts the directory, bytes."""
    stream.seek(info.header_offset)
    fixed = stream.read(_LOCAL_HEADER.size)
    if len(fixed) < _LOCAL_HEADER.size:
        return None
    mark, _, _, flags, method, _, _, crc, packed, size, name_bytes, extra_bytes = (
        _LOCAL_HEADER.unpack(fixed)
    )
    name = stream.read(name_bytes)
    same = (
        mark == b"PK\x03\x04"
        and name == info.orig_filename.encode()
        and (flags, method, crc) == (info.flag_bits, info.compress_type, info.CRC)
        and (packed, size) == (info.compress_size, info.file_size)
        and extra_bytes == len(info.extra) == 0
    )
    return len(fixed) + name_bytes if same else None


def _checksum_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    """SHA-256 of a file in a zip, read in blocks and never beyond its declared size.

    Raises:
        _DamagedError: when its bytes cannot be unpacked, or do not match their CRC or size.
    """
    digest, count = hashlib.sha256(), 0
    try:
        with archive.open(info) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
                count += len(block)
    except Exception as error:  # zipfile lets exceptions of its decompressors through
        raise _DamagedError(f"{type(error).__name__}: {error}") from None
    if count != info.file_size:
        raise _DamagedError(f"has {count} bytes, not {info.file_size}")
    return digest.hexdigest()
