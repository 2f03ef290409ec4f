"""There is only one way to write the zip: names and contents determine every byte."""

from __future__ import annotations

import contextlib
import hashlib
import stat
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bdpbench.archive import write_archive


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
