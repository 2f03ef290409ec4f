"""`archive` and `verify`: a finished tier with everything that it was made from, in one zip.

Names and contents determine its bytes. ``manifest-sha256.txt`` has the SHA-256 of all other files,
as ``sha256sum -c`` reads it, and ``ro-crate-metadata.json`` says to other programs what they are,
by RO-Crate 1.1 (https://w3id.org/ro/crate/1.1).
"""

from __future__ import annotations

import hashlib
import json
import stat
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from bdpbench.contracts.files import sha256_of, write_atomically
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.studies.study import Citation

CHECKSUMS_NAME = "manifest-sha256.txt"
METADATA_NAME = "ro-crate-metadata.json"

# The earliest date that a zip can hold: dates of files say nothing about a result.
_DATE = (1980, 1, 1, 0, 0, 0)
_CRATE = "https://w3id.org/ro/crate/1.1"


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
    lines = (f"{hashlib.sha256(entries[name]).hexdigest()}  {name}\n" for name in sorted(entries))
    entries = {**entries, CHECKSUMS_NAME: "".join(lines).encode()}
    sha256 = ""

    def write(scratch: Path) -> None:
        nonlocal sha256
        with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, content in sorted(entries.items()):
                info = zipfile.ZipInfo(name, _DATE)
                mode = 0o755 if content.startswith(b"#!") else 0o644
                info.external_attr = (stat.S_IFREG | mode) << 16
                archive.writestr(info, content, zipfile.ZIP_DEFLATED)
        sha256 = sha256_of(scratch)

    write_atomically(path, write)
    return sha256


def check_output(path: Path) -> None:
    """Refuse a path that no archive can be written to.

    Raises:
        BdpbenchError: when it is a folder, or its folder cannot be written.
    """
    if path.is_dir():
        raise BdpbenchError("is a folder; name the file to write", where=str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise BdpbenchError(f"cannot be written ({error.strerror})", where=str(path)) from None


def verify_archive(path: Path) -> list[str]:
    """What is wrong with an archive, a line each, without unpacking it.

    Matching checksums show that nothing was changed by accident. To detect tampering, compare the
    SHA-256 of the archive with the one that its author published.

    Raises:
        BdpbenchError: for a folder.
    """
    if path.is_dir():
        hint = "`./bdpbench archive STUDY` writes one; `compare` and `metrics` read folders"
        said = "is a folder: expected the zip of an archive"
        raise BdpbenchError(said, where=str(path), hint=hint)
    if not path.is_file():
        return ["there is no such file"]
    try:
        with zipfile.ZipFile(path) as archive:
            return [*_unsafe(archive.infolist()), *_differences(archive)]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        return [f"is not a zip file, or damaged ({error})"]


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
            found[name] = hashlib.sha256(archive.read(name)).hexdigest()
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


def crate_json(
    entries: Mapping[str, bytes],
    *,
    name: str,
    description: str,
    date: str,
    paper: Citation | None = None,
) -> bytes:
    """Content of ``ro-crate-metadata.json``; authors and licence are those of ``CITATION.cff``.

    Args:
        entries: path → content, of every file except this one and the manifest.
        name: name of the archive.
        description: what it shows.
        date: day on which the last simulation ended, ISO 8601.
        paper: the paper that is reproduced.
    """
    cited = YamlFile(repository_root() / "CITATION.cff").data
    licence = f"https://spdx.org/licenses/{cited['license']}"
    others = [(licence, "CreativeWork", cited["license"])]
    for number, each in enumerate(cited["authors"], start=1):
        kind = "Organization" if "name" in each else "Person"
        told = each.get("name") or f"{each['given-names']} {each['family-names']}"
        others.append((f"#author-{number}", kind, told))
    root: dict[str, object] = {
        "@id": "./",
        "@type": "Dataset",
        "name": name,
        "description": description,
        "datePublished": date,
        "license": {"@id": licence},
        "author": [{"@id": each} for each, _, _ in others[1:]],
        "hasPart": [{"@id": path} for path in sorted(entries)],
    }
    if paper is not None:
        article = f"https://doi.org/{paper.doi}" if paper.doi else paper.url or "#paper"
        others.append((article, "ScholarlyArticle", paper.title))
        root["citation"] = {"@id": article}
    about = {"about": {"@id": "./"}, "conformsTo": {"@id": _CRATE}}
    graph: list[Mapping[str, object]] = [
        {"@id": METADATA_NAME, "@type": "CreativeWork", **about},
        root,
        *(
            {"@id": p, "@type": "File", "contentSize": str(len(entries[p]))}
            for p in sorted(entries)
        ),
        *({"@id": each, "@type": kind, "name": said} for each, kind, said in others),
    ]
    content = {"@context": f"{_CRATE}/context", "@graph": graph}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
