"""The zip file of an archive: written deterministically, and read without trust."""

from __future__ import annotations

import hashlib
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TypeAlias

from bdpbench.contracts.files import sha256_of, write_atomically

Entry: TypeAlias = "bytes | Path"

# The earliest date that a zip can hold: dates of files say nothing about a result.
_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_FILE_MODE = stat.S_IFREG | 0o644
_SCRIPT_MODE = stat.S_IFREG | 0o755
_COMPRESSION_LEVEL = 9
# Already compressed: compressing again would take time and save nothing.
_STORED = (".parquet", ".png", ".pdf", ".xz", ".gz", ".zst")
_BLOCK = 1 << 20

# Size of a file's header and of its entry in the zip's directory, without names, in bytes (PKWARE's
# APPNOTE 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16).
_LOCAL_HEADER = struct.Struct("<4s2B4HL2L2H")
_ENTRY_BYTES = 46
_END_BYTES = 22
_END64_BYTES = 56 + 20 + 22
_ENCRYPTED = 0x1


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


class DamagedError(Exception):
    """An archive cannot be read any further; the message says why."""


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip.

    Raises:
        DamagedError: when it is not a zip, or its end is missing.
    """
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        size = path.stat().st_size if path.is_file() else 0
        reason = "is empty" if size == 0 else "is not a zip file, or is truncated"
        raise DamagedError(f"{reason} ({error})") from None


def name_problems(infos: list[zipfile.ZipInfo]) -> Iterator[str]:
    """Errors in names and kinds of files: paths that lead outside, links, duplicates."""
    seen: dict[str, str] = {}
    for info in infos:
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
        seen[folded] = name


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


def size_problems(infos: list[zipfile.ZipInfo], limit: int) -> Iterator[str]:
    """Excessive unpacked sizes, as declared in the zip's directory."""
    total = sum(info.file_size for info in infos)
    if total > limit:
        yield f"unpacks to {total / 1e9:.1f} GB, more than the limit of {limit / 1e9:.1f} GB"


def layout_problems(path: Path, archive: zipfile.ZipFile) -> Iterator[str]:
    """Bytes of the zip that belong to no file, and headers that contradict its directory."""
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


def checksum_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    """SHA-256 of a file in a zip, read in blocks and never beyond its declared size.

    Raises:
        DamagedError: when its bytes cannot be unpacked, or do not match their CRC or size.
    """
    digest, count = hashlib.sha256(), 0
    try:
        with archive.open(info) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
                count += len(block)
    except Exception as error:  # zipfile lets exceptions of its decompressors through
        raise DamagedError(f"{type(error).__name__}: {error}") from None
    if count != info.file_size:
        raise DamagedError(f"has {count} bytes, not {info.file_size}")
    return digest.hexdigest()
