"""Checks that an archive is intact: its structure, every checksum, and its metadata."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bdpbench.archive.checksums import CHECKSUMS_NAME, parse_checksums
from bdpbench.archive.container import (
    DamagedError,
    checksum_of,
    layout_problems,
    name_problems,
    open_archive,
    size_problems,
)
from bdpbench.archive.crate import METADATA_NAME, crate_problems
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.plan import PLAN_NAME
from bdpbench.contracts.reports import KEPT_RUNS_NAME, PROVENANCE_NAME, REPORT_NAME, SUMMARY_NAME
from bdpbench.contracts.runs import METRICS_NAME
from bdpbench.contracts.scorecard import SCORECARD_NAME

MOST_BYTES = 8_000_000_000
"""Limit of the unpacked size of an archive; with the tables of 246 runs an archive takes 0.5 GB."""

# Without these a zip is not an archive of bdpbench; their absence is always reported.
REQUIRED = (
    CHECKSUMS_NAME,
    METADATA_NAME,
    "CITATION.cff",
    "LICENSE",
    SUMMARY_NAME,
    METRICS_NAME,
    PLAN_NAME,
    PROVENANCE_NAME,
    REPORT_NAME,
    KEPT_RUNS_NAME,
    SCORECARD_NAME,
)


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
    """
    if not path.is_file():
        return Verification("", 0, 0, ("there is no such file",))
    sha256 = sha256_of(path)
    try:
        with open_archive(path) as archive:
            infos = archive.infolist()
            problems = _problems(path, archive, most_bytes)
    except DamagedError as error:
        return Verification(sha256, 0, 0, (str(error),))
    size = sum(info.file_size for info in infos)
    return Verification(sha256, len(infos), size, tuple(problems))


def _problems(path: Path, archive: zipfile.ZipFile, most_bytes: int) -> list[str]:
    infos = archive.infolist()
    outer = [
        *name_problems(infos),
        *size_problems(infos, most_bytes),
        *layout_problems(path, archive),
    ]
    if archive.comment:
        outer.append("carries a comment, which is part of no file")
    if outer:  # none of it is unpacked
        return outer
    actual: dict[str, str] = {}
    damaged = {}
    for info in infos:
        try:
            actual[info.filename] = checksum_of(archive, info)
        except DamagedError as error:
            damaged[info.filename] = str(error)
    found = [f"damaged: {name} ({reason})" for name, reason in damaged.items()]
    sizes = {info.filename: info.file_size for info in infos}
    return [*found, *_content_problems(archive, actual, set(damaged), sizes)]


def _content_problems(
    archive: zipfile.ZipFile, actual: Mapping[str, str], damaged: set[str], sizes: dict[str, int]
) -> Iterator[str]:
    names = set(actual) | damaged
    yield from (f"missing: {name}" for name in REQUIRED if name not in names)
    if CHECKSUMS_NAME in actual:
        try:
            text = archive.read(CHECKSUMS_NAME).decode()
            yield from _checksum_problems(parse_checksums(text), actual, names)
        except ValueError as error:
            yield f"altered: {CHECKSUMS_NAME} ({error})"
    if METADATA_NAME in actual:
        try:
            crate = json.loads(archive.read(METADATA_NAME))
            yield from crate_problems(crate, actual, sizes, damaged)
        except ValueError as error:
            yield f"altered: {METADATA_NAME} is not JSON ({error})"


def _checksum_problems(
    expected: Mapping[str, str], actual: Mapping[str, str], names: set[str]
) -> Iterator[str]:
    for name in sorted(set(expected) - names):
        if name not in REQUIRED:
            yield f"missing: {name}"
    for name in sorted(set(actual) & set(expected)):
        if actual[name] != expected[name]:
            yield f"altered: {name}"
    for name in sorted(names - set(expected) - {CHECKSUMS_NAME}):
        yield f"additional: {name}"
