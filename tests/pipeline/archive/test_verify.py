"""Any change to an archive is noticed, and nothing in it escapes its folder."""

from __future__ import annotations

import hashlib
import json
import stat
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bdpbench.archive import verify_archive

Make = Callable[..., Path]


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


def _rezip(path: Path, infos: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of duplicate names
        with zipfile.ZipFile(path, "a") as archive:
            for info, content in infos:
                archive.writestr(info, content)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "../escape",
        "a/../../escape",
        "/etc/passwd",
        "C:/windows",
        "back\\slash",
        "./dot",
        "a//b",
        "folder/",
        "line\nbreak",
    ],
)
def test_paths_that_lead_outside_are_refused(make_archive: Make, name: str) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    assert "leads outside" in _problems(_rezip(make_archive(), [(info, b"x")]))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_links_folders_and_devices_are_refused(make_archive: Make, kind: int) -> None:
    info = zipfile.ZipInfo("link")
    info.create_system = 3
    info.external_attr = (kind | 0o644) << 16
    assert "is not a regular file: link" in _problems(
        _rezip(make_archive(), [(info, b"/etc/passwd")])
    )


@pytest.mark.parametrize("name", ["metrics.parquet", "METRICS.parquet"])
def test_a_name_that_comes_twice_is_refused(make_archive: Make, name: str) -> None:
    assert "occurs twice" in _problems(_rezip(make_archive(), [(name, b"x")]))


def test_what_unpacks_to_more_than_the_limit_is_not_unpacked(make_archive: Make) -> None:
    bomb = make_archive(lambda entries: entries.update({"bomb": bytes(50_000_000)}))
    assert bomb.stat().st_size < 100_000
    assert "unpacks to 0.1 GB, more than the limit" in _problems(bomb, most_bytes=10_000_000)


def test_a_file_that_declares_less_than_it_unpacks_to_is_refused(make_archive: Make) -> None:
    path = make_archive(lambda entries: entries.update({"bomb": bytes(5_000_000)}))
    content = path.read_bytes()
    # Both headers of the bomb are changed to claim 4 bytes instead of 5,000,000.
    forged = content.replace((5_000_000).to_bytes(4, "little"), (4).to_bytes(4, "little"))
    assert forged.count((4).to_bytes(4, "little")) >= 2
    path.write_bytes(forged)
    assert "damaged: bomb" in _problems(path)


def test_an_encrypted_file_is_told(make_archive: Make) -> None:
    path = make_archive()
    content = bytearray(path.read_bytes())
    directory = content.index(b"PK\x01\x02")
    content[6] |= 1  # bit 0 of the flags, APPNOTE section 4.4.4
    content[directory + 8] |= 1
    path.write_bytes(content)
    assert "is encrypted: CITATION.cff" in _problems(path)


def test_a_truncated_archive_is_told(make_archive: Make) -> None:
    path = make_archive()
    content = path.read_bytes()
    for length in (0, 1, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        problems = _problems(path)
        assert "is empty" in problems if length == 0 else "is not a zip file" in problems, length


@pytest.mark.parametrize("place", ["before", "after", "comment"])
def test_bytes_that_belong_to_no_file_are_told(make_archive: Make, place: str) -> None:
    path = make_archive()
    if place == "comment":
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = b"hidden"
    else:
        content = path.read_bytes()
        path.write_bytes(b"hidden" + content if place == "before" else content + b"hidden")
    assert verify_archive(path).problems


def test_what_is_no_archive_at_all_is_told(tmp_path: Path) -> None:
    assert _problems(tmp_path / "none.zip") == "there is no such file"
    (tmp_path / "text.zip").write_text("no zip")
    assert "is not a zip file" in _problems(tmp_path / "text.zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a", "b")
    assert "missing: manifest-sha256.txt" in _problems(tmp_path / "other.zip") or _problems(
        tmp_path / "other.zip"
    )


def _meaning(path: Path) -> dict[str, tuple[bytes, int]]:
    """The result of unpacking: name → content and mode."""
    with zipfile.ZipFile(path) as archive:
        return {
            info.filename: (archive.read(info), info.external_attr >> 16)
            for info in archive.infolist()
        }


def _is_noticed_or_immaterial(path: Path, original: bytes, meaning: object) -> bool:
    return bool(verify_archive(path).problems) or _meaning(path) == meaning


def test_every_byte_counts_or_means_nothing(make_archive: Make) -> None:
    path = make_archive()
    original, meaning = path.read_bytes(), _meaning(path)
    noticed = 0
    # Every second byte is enough, since the fields of a ZIP header have at least two bytes.
    for offset in range(0, len(original), 2):
        flipped = bytearray(original)
        flipped[offset] ^= 0xFF
        path.write_bytes(flipped)
        found = bool(verify_archive(path).problems)
        noticed += found
        assert found or _meaning(path) == meaning, f"byte {offset} went unnoticed"
    # Dates, versions and DOS attributes are immaterial: some 20 bytes in the two headers of each
    # file, of which this archive has 15.
    assert len(original) / 2 - noticed < 25 * 15 / 2


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_flipped_bits_are_noticed_or_mean_nothing(
    make_archive: Make, data: st.DataObject
) -> None:
    path = make_archive()
    original, meaning = path.read_bytes(), _meaning(path)
    flipped = bytearray(original)
    flipped[data.draw(st.integers(0, len(original) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(flipped)
    assert _is_noticed_or_immaterial(path, original, meaning)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=400), start=st.booleans())
def test_no_bytes_at_all_make_it_fail_otherwise(
    tmp_path: Path, content: bytes, start: bool
) -> None:
    path = tmp_path / "any.zip"
    path.write_bytes((b"PK\x05\x06" if start else b"") + content)
    assert verify_archive(path).problems


def test_the_metadata_may_hold_anything(make_archive: Make) -> None:
    for graph in (None, [], {}, [1], [{"@id": []}], [{"@id": "x", "sha256": 1}]):
        content = json.dumps({"@graph": graph}).encode()
        path = make_archive(
            lambda entries, content=content: entries.update({"ro-crate-metadata.json": content})
        )
        assert "ro-crate-metadata.json" in _problems(path)
