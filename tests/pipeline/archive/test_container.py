"""There is only one way to write the zip; any change is noticed, and nothing leads outside."""

from __future__ import annotations

import contextlib
import hashlib
import json
import stat
import subprocess
import warnings
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pipeline.archive.conftest import CRATE
from tests.random_examples import examples

from bdpbench.archive.container import (
    Entry,
    format_checksums,
    parse_checksums,
    verify_archive,
    write_archive,
)
from bdpbench.archive.crate import deposit_json
from bdpbench.errors import BdpbenchError

Make = Callable[..., Path]


def test_bytes_follow_from_names_and_contents_alone(tmp_path: Path) -> None:
    (tmp_path / "table.parquet").write_bytes(b"PAR1")
    entries = {"b": b"two" * 50, "a/c": b"#!/bin/sh\n", "t.parquet": tmp_path / "table.parquet"}
    write_archive(tmp_path / "1.zip", entries)
    write_archive(tmp_path / "2.zip", dict(reversed(entries.items())))
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()

    with zipfile.ZipFile(tmp_path / "1.zip") as archive:
        infos = archive.infolist()
        assert [info.filename for info in infos] == ["a/c", "b", "t.parquet"]
        assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
        modes = [stat.S_IMODE(info.external_attr >> 16) for info in infos]
        assert modes == [0o755, 0o644, 0o644]
        methods = [info.compress_type for info in infos]
        assert methods == [zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        write_archive(tmp_path / "1.zip", {"a": tmp_path / "missing"})
    assert list(tmp_path.iterdir()) == []


def test_writers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    contents = [{"a": bytes([each]) * 1_000_000} for each in range(4)]
    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda entries: write_archive(path, entries), contents))
    assert hashlib.sha256(path.read_bytes()).hexdigest() in written
    assert len(set(written)) == 4
    assert [each.name for each in tmp_path.iterdir()] == ["a.zip"]


def test_sha256sum_checks_an_unpacked_archive(make_archive: Make, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(make_archive()) as archive:
        archive.extractall(folder)
    command = ["sha256sum", "-c", "--strict", "manifest-sha256.txt"]
    assert subprocess.run(command, cwd=folder, check=False).returncode == 0
    (folder / "metrics.parquet").write_text("altered")
    assert subprocess.run(command, cwd=folder, check=False).returncode == 1


def test_what_is_written_is_read_back() -> None:
    checksums = {"b c": "1" * 64, "a": "0" * 64}
    assert parse_checksums(format_checksums(checksums)) == checksums


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("abc  a\n", "line 1 is not"),
        (f"{'0' * 64} a\n", "line 1 is not"),
        (f"{'0' * 64}  a\n{'1' * 64}  a\n", "line 2: a occurs twice"),
    ],
)
def test_what_is_no_manifest_is_told(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_checksums(text)


def _problems(path: Path, **given: int) -> str:
    return "\n".join(verify_archive(path, **given).problems)


def test_an_archive_as_written_is_whole(make_archive: Make) -> None:
    path = make_archive()
    found = verify_archive(path)
    assert found.problems == ()
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    with zipfile.ZipFile(path) as archive:
        assert found.files == len(archive.namelist())


def test_altered_missing_and_additional_files_are_named(make_archive: Make) -> None:
    def change(entries: dict[str, bytes]) -> None:
        entries["metrics.parquet"] += b"one row more\n"
        entries["extra.txt"] = b"hello"
        del entries["exports/figures/a.png"], entries["scorecard.json"]

    problems = _problems(make_archive(change))
    assert "altered: metrics.parquet" in problems
    assert "additional: extra.txt" in problems
    assert "missing: exports/figures/a.png" in problems
    assert "missing: scorecard.json" in problems
    assert "report.html" not in problems


def test_a_manifest_that_was_made_to_fit_still_contradicts_the_metadata(
    make_archive: Make,
) -> None:
    def change(entries: dict[str, bytes]) -> None:
        old = hashlib.sha256(entries["metrics.parquet"]).hexdigest().encode()
        entries["metrics.parquet"] += b"one row more\n"
        new = hashlib.sha256(entries["metrics.parquet"]).hexdigest().encode()
        entries["manifest-sha256.txt"] = entries["manifest-sha256.txt"].replace(old, new)

    problem = "described differently in ro-crate-metadata.json: metrics.parquet"
    assert _problems(make_archive(change)) == problem


@pytest.mark.parametrize("name", ["manifest-sha256.txt", "ro-crate-metadata.json"])
def test_what_describes_the_archive_has_to_be_there_and_readable(
    make_archive: Make, name: str
) -> None:
    assert f"missing: {name}" in _problems(make_archive(lambda entries: entries.pop(name)))
    broken = make_archive(lambda entries: entries.update({name: b"\xff broken"}))
    assert f"altered: {name}" in _problems(broken)


REGULAR = stat.S_IFREG | 0o644


@pytest.mark.parametrize(
    ("name", "mode", "said"),
    [
        *(
            (name, REGULAR, "leads outside")
            for name in ("../escape", "a/../../escape", "/etc/passwd", "C:/windows", "back\\slash",
                         "./dot", "a//b", "folder/", "line\nbreak")
        ),
        *(
            ("link", kind | 0o644, "is not a regular file: link")
            for kind in (stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR)
        ),
        ("metrics.parquet", REGULAR, "occurs twice"),
        ("METRICS.parquet", REGULAR, "occurs twice"),
    ],
)  # fmt: skip
def test_names_and_kinds_of_files_that_unpacking_is_not_safe_with_are_refused(
    make_archive: Make, name: str, mode: int, said: str
) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    info.create_system, info.external_attr = 3, mode << 16
    path = make_archive()
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")  # zipfile warns of duplicate names
        archive.writestr(info, b"x")
    assert said in _problems(path)


def test_what_unpacks_to_more_than_the_limit_is_not_unpacked(make_archive: Make) -> None:
    bomb = make_archive(lambda entries: entries.update({"bomb": bytes(50_000_000)}))
    assert bomb.stat().st_size < 100_000
    assert "unpacks to 0.1 GB, more than the limit" in _problems(bomb, most_bytes=10_000_000)


def _encrypted(content: bytes) -> bytes:
    """With the flag of encryption in both headers of the first file (APPNOTE section 4.4.4)."""
    changed = bytearray(content)
    changed[6] |= 1
    changed[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


def _declaring_less(content: bytes) -> bytes:
    """With both headers of the bomb claiming 4 bytes instead of 5,000,000."""
    forged = content.replace((5_000_000).to_bytes(4, "little"), (4).to_bytes(4, "little"))
    assert forged.count((4).to_bytes(4, "little")) >= 2
    return forged


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda content: b"", "is empty"),
        (lambda content: content[:1], "is not a zip file"),
        (lambda content: content[:100], "is not a zip file"),
        (lambda content: content[: len(content) // 2], "is not a zip file"),
        (lambda content: content[:-1], "is not a zip file"),
        (lambda content: b"no zip", "is not a zip file"),
        (lambda content: b"hidden" + content, "bytes that belong to no file"),
        (lambda content: content + b"hidden", "bytes that belong to no file"),
        (lambda content: content[:-2] + b"\x06\0hidden", "carries a comment"),
        (_encrypted, "is encrypted: CITATION.cff"),
        (_declaring_less, "damaged: bomb"),
    ],
)
def test_a_zip_that_is_not_as_written_is_told(
    make_archive: Make, damage: Callable[[bytes], bytes], said: str
) -> None:
    path = make_archive(lambda entries: entries.update({"bomb": bytes(5_000_000)}))
    path.write_bytes(damage(path.read_bytes()))
    assert said in _problems(path)


def test_what_is_no_archive_at_all_is_told(tmp_path: Path) -> None:
    assert _problems(tmp_path / "none.zip") == "there is no such file"
    with pytest.raises(BdpbenchError, match="is a folder: expected the zip of an archive"):
        verify_archive(tmp_path)
    write_archive(tmp_path / "other.zip", {"a": b"b"})
    assert "missing: manifest-sha256.txt" in _problems(tmp_path / "other.zip")


def _meaning(path: Path) -> dict[str, tuple[bytes, int]]:
    """The result of unpacking: name → content and mode."""
    with zipfile.ZipFile(path) as archive:
        return {
            info.filename: (archive.read(info), info.external_attr >> 16)
            for info in archive.infolist()
        }


STRIDE = 5


def test_bytes_count_or_mean_nothing(make_archive: Make) -> None:
    path = make_archive()
    original, meaning = path.read_bytes(), _meaning(path)
    noticed = 0
    # A stride that is prime to the sizes of fields reaches all of them in some file or other.
    for offset in range(0, len(original), STRIDE):
        flipped = bytearray(original)
        flipped[offset] ^= 0xFF
        path.write_bytes(flipped)
        found = bool(verify_archive(path).problems)
        noticed += found
        assert found or _meaning(path) == meaning, f"byte {offset} went unnoticed"
    # Dates, versions and DOS attributes are immaterial: some 20 bytes in the two headers of each
    # file, of which this archive has 15.
    assert len(original) / STRIDE - noticed < 25 * 15 / STRIDE


@examples(100)
@given(content=st.binary(max_size=400), start=st.booleans())
def test_no_bytes_at_all_make_it_fail_otherwise(
    tmp_path: Path, content: bytes, start: bool
) -> None:
    path = tmp_path / "any.zip"
    path.write_bytes((b"PK\x05\x06" if start else b"") + content)
    assert verify_archive(path).problems


@pytest.mark.parametrize("graph", [None, [], {}, [1], [{"@id": []}], [{"@id": "x", "sha256": 1}]])
def test_the_metadata_may_hold_anything(make_archive: Make, graph: object) -> None:
    content = json.dumps({"@graph": graph}).encode()
    path = make_archive(lambda entries: entries.update({"ro-crate-metadata.json": content}))
    assert "ro-crate-metadata.json" in _problems(path)


def test_what_a_repository_would_refuse_is_told(make_archive: Make) -> None:
    def change(entries: dict[str, Entry]) -> None:
        deposit = json.loads(deposit_json(CRATE)) | {"creators": [], "publicationYear": "soon"}
        entries["datacite.json"] = json.dumps(deposit).encode()

    problems = _problems(make_archive(change))
    assert "datacite.json: creators: " in problems
    assert "datacite.json: publicationYear: " in problems
