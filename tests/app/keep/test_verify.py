"""There is only one way to write the zip; what changes its contents is named."""

from __future__ import annotations

import hashlib
import io
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
from tests.random_examples import examples

from bdpbench.app.keep.archive import CHECKSUMS_NAME, verify_archive, write_archive
from bdpbench.errors import BdpbenchError


def test_bytes_follow_from_names_and_contents_alone(tmp_path: Path) -> None:
    entries = {"b": b"two" * 50, "a/c": b"#!/bin/sh\n"}
    write_archive(tmp_path / "1.zip", entries)
    write_archive(tmp_path / "2.zip", dict(reversed(entries.items())))
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()

    with zipfile.ZipFile(tmp_path / "1.zip") as archive:
        infos = archive.infolist()
        assert [info.filename for info in infos] == ["a/c", "b", CHECKSUMS_NAME]
        assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
        modes = [stat.S_IMODE(info.external_attr >> 16) for info in infos]
        assert modes == [0o755, 0o644, 0o644]
        assert {info.compress_type for info in infos} == {zipfile.ZIP_DEFLATED}


def test_writers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    contents = [{"a": bytes([each]) * 1_000_000} for each in range(4)]
    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda entries: write_archive(path, entries), contents))
    assert hashlib.sha256(path.read_bytes()).hexdigest() in written
    assert len(set(written)) == 4
    assert [each.name for each in tmp_path.iterdir()] == ["a.zip"]


def test_sha256sum_checks_an_unpacked_archive(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(small) as archive:
        archive.extractall(folder)
    command = ["sha256sum", "-c", "--strict", "manifest-sha256.txt"]
    assert subprocess.run(command, cwd=folder, check=False).returncode == 0
    (folder / "metrics.parquet").write_text("altered")
    assert subprocess.run(command, cwd=folder, check=False).returncode == 1


def _changed(path: Path, change: Callable[[dict[str, bytes]], object]) -> list[str]:
    """The problems of a zip whose files were changed, but not its manifest."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    change(contents)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content)
    return verify_archive(path)


def _unlisted(contents: dict[str, bytes]) -> None:
    lines = contents[CHECKSUMS_NAME].splitlines(keepends=True)
    contents[CHECKSUMS_NAME] = b"".join(line for line in lines if b"report.html" not in line)


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (lambda contents: None, []),
        (lambda contents: contents.update({"report.html": b"x"}), ["altered: report.html"]),
        (lambda contents: contents.pop("source/bdpbench"), ["missing: source/bdpbench"]),
        (_unlisted, ["additional: report.html"]),
        (lambda contents: contents.pop(CHECKSUMS_NAME), [f"missing: {CHECKSUMS_NAME}"]),
    ],
)
def test_what_differs_from_the_manifest_is_named(
    small: Path, change: Callable[[dict[str, bytes]], object], problems: list[str]
) -> None:
    assert _changed(small, change) == problems


@pytest.mark.parametrize("content", [b"\xff", b"abc", b"\n\n", b"0  a\n0  a\n"])
def test_the_manifest_may_hold_anything(small: Path, content: bytes) -> None:
    found = _changed(small, lambda contents: contents.update({CHECKSUMS_NAME: content}))
    assert "additional: report.html" in found


REGULAR = stat.S_IFREG | 0o644


@pytest.mark.parametrize(
    ("name", "mode", "said"),
    [
        *(
            (name, REGULAR, f"path that leads outside: {name!r}")
            for name in ("../escape", "a/../../escape", "/etc/passwd", "C:/windows", "back\\slash")
        ),
        *(
            ("link", kind | 0o644, "is not a regular file: link")
            for kind in (stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR)
        ),
        ("metrics.parquet", REGULAR, "occurs twice: metrics.parquet"),
    ],
)
def test_names_and_kinds_of_files_that_unpacking_is_not_safe_with_are_refused(
    small: Path, name: str, mode: int, said: str
) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    info.create_system, info.external_attr = 3, mode << 16
    with warnings.catch_warnings(), zipfile.ZipFile(small, "a") as archive:
        warnings.simplefilter("ignore")  # zipfile warns of duplicate names
        archive.writestr(info, b"x")
    assert said in verify_archive(small)


def _encrypted(content: bytes) -> bytes:
    """With the flag of encryption in both headers of the first file (APPNOTE section 4.4.4)."""
    changed = bytearray(content)
    changed[6] |= 1
    changed[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


@pytest.mark.parametrize("kept", [0, 100, 0.5, -1])
def test_a_zip_that_is_cut_is_none(small: Path, kept: float) -> None:
    content = small.read_bytes()
    small.write_bytes(content[: len(content) // 2 if kept == 0.5 else int(kept)])
    assert [each.partition(" file")[0] for each in verify_archive(small)] == ["is not a zip"]


def test_an_encrypted_file_is_damaged(small: Path) -> None:
    small.write_bytes(_encrypted(small.read_bytes()))
    assert any(each.startswith("damaged: CITATION.cff") for each in verify_archive(small))


def test_a_file_that_unpacks_to_more_than_it_says_is_damaged(tmp_path: Path) -> None:
    path, size = tmp_path / "a.zip", 5_000_000
    write_archive(path, {"bomb": bytes(size)})
    forged = path.read_bytes().replace(size.to_bytes(4, "little"), (4).to_bytes(4, "little"))
    path.write_bytes(forged)
    assert any(each.startswith("damaged: bomb") for each in verify_archive(path))


def test_what_is_no_archive_at_all_is_told(tmp_path: Path) -> None:
    assert verify_archive(tmp_path / "none.zip") == ["there is no such file"]
    with pytest.raises(BdpbenchError, match="is a folder: expected the zip of an archive"):
        verify_archive(tmp_path)


def _contents(content: bytes) -> dict[str, bytes]:
    """The result of unpacking: name → content."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


STRIDE = 5


def test_a_byte_that_changes_contents_does_not_go_unnoticed(small: Path) -> None:
    original = small.read_bytes()
    contents = _contents(original)
    # A stride that is prime to the sizes of fields reaches all of them in some file or other.
    for offset in range(0, len(original), STRIDE):
        flipped = bytearray(original)
        flipped[offset] ^= 0xFF
        small.write_bytes(flipped)
        assert verify_archive(small) or _contents(bytes(flipped)) == contents, f"byte {offset}"


@examples(100)
@given(content=st.binary(max_size=400), start=st.booleans())
def test_no_bytes_at_all_make_it_fail_otherwise(
    tmp_path: Path, content: bytes, start: bool
) -> None:
    path = tmp_path / "any.zip"
    path.write_bytes((b"PK\x05\x06" if start else b"") + content)
    assert verify_archive(path)
