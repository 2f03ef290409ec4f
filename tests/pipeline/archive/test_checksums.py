"""The manifest has the format that ``sha256sum`` writes and checks."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.archive.checksums import format_checksums, parse_checksums


def test_sha256sum_checks_an_unpacked_archive(
    make_archive: Callable[..., Path], tmp_path: Path
) -> None:
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
