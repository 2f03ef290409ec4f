"""What is kept is what was written, or absent: each damage to each form of it is noticed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bdpbench.contracts.documents import json_of, write_record_atomically
from bdpbench.contracts.kept import LIST_NAME, difference, keep, read_kept, seal, sealed
from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError


def damages(whole: bytes) -> Iterator[bytes]:
    """A bit of each byte flipped, some lengths from none on, and a byte more."""
    for place in range(len(whole)):
        if place % 3 == 0:
            yield whole[:place]
        yield whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]
    yield whole + b"\n"


def test_a_text_is_what_was_kept_or_absent(tmp_path: Path) -> None:
    path, text = tmp_path / "values.txt", "[1.5, 2]\r\nü\n"
    keep(path, "tables 1", text)
    assert read_kept(path, "tables 1") == text
    assert read_kept(path, "tables 2") is None
    for damaged_text in damages(path.read_bytes()):
        path.write_bytes(damaged_text)
        assert read_kept(path, "tables 1") is None


def test_a_list_vouches_for_what_was_written(tmp_path: Path) -> None:
    listing, files = tmp_path / "list", [tmp_path / "a  b.parquet", tmp_path / "more" / "ü.so"]
    (tmp_path / "more").mkdir()
    for path in files:
        path.write_bytes(b"PAR1 " + path.name.encode())
    seal(listing, files, "plan")
    command = ["sha256sum", "--check", "--strict", "list"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    assert sealed(listing, "plan").keys() == {"a  b.parquet", "more/ü.so"}
    assert not sealed(listing, "another plan")
    assert [difference(listing, name) for name in sealed(listing)] == ["", ""]
    for content in damages(files[0].read_bytes()):
        files[0].write_bytes(content)
        assert "its SHA-256 differs" in difference(listing, files[0].name)
        assert not difference(listing, "more/ü.so")
    files[0].unlink()
    assert difference(listing, files[0].name) == "is gone"
    seal(listing, files[1:], "plan")
    whole, vouched = listing.read_bytes(), sealed(listing, "plan")
    assert "does not vouch" in difference(listing, "list")
    for content in damages(whole):
        listing.write_bytes(content)
        assert not sealed(listing, "plan")
        assert sealed(listing) in ({}, vouched)  # what they were made of may be what is damaged


def test_a_record_is_what_was_written_or_refused(tmp_path: Path) -> None:
    path, record = tmp_path / "run.json", {"schema_version": 2, "cpu_s": 1.5, "argv": ["-a", "ü"]}
    write_record_atomically(path, record)
    assert json_of(path, "a run") == record
    assert json.loads(path.read_text()).keys() == {"sha256", *record}
    whole = path.read_bytes()
    for content in damages(whole):
        path.write_bytes(content)
        try:
            found = json_of(path, "a run")
        except BdpbenchError:
            continue
        # The checksum itself is damaged, or what follows the record is white space.
        assert record.items() <= found.items()


def test_each_published_folder_is_what_was_published() -> None:
    for folder in (repository_root() / "reports" / "published").iterdir():
        listing = folder / LIST_NAME
        found = {path for path in folder.rglob("*") if path.is_file()}
        assert {folder / name for name in sealed(listing, "published")} == found - {listing}
        assert not any(difference(listing, name) for name in sealed(listing))


@pytest.mark.parametrize("content", [b"", b"no list", b"# plan\n", b"\xff\n"])
def test_another_file_vouches_for_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "list").write_bytes(content)
    assert not sealed(tmp_path / "list")
    assert read_kept(tmp_path / "list", "plan") is None
