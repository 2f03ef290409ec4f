"""Results are written whole or not at all, and files of foreign versions are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bdpbench.contracts.documents import read_json, write_json_atomically
from bdpbench.contracts.files import sha256_of, write_atomically, write_bytes_atomically
from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json_atomically(path, {"schema_version": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json_atomically(path, {"schema_version": 1, "value": float("nan")})
    assert read_json(path, what="a file", schema_version=1) == {"schema_version": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 2}', '{"a": 1}'])
def test_a_file_of_another_kind_or_version_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(BdpbenchError, match="a plan"):
        read_json(path, what="a plan", schema_version=1)


def test_sha256_of_a_known_text(tmp_path: Path) -> None:
    # FIPS 180-2, appendix B.1: the digest of "abc".
    path = tmp_path / "abc"
    path.write_text("abc")
    assert sha256_of(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_what_a_killed_writer_has_left_goes_with_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    killed = (
        "import os, pathlib; from bdpbench.contracts.files import write_atomically; "
        f"write_atomically(pathlib.Path({str(path)!r}), "
        "lambda made: [made.touch(), os.kill(os.getpid(), 9)])"
    )
    environment = {**os.environ, "PYTHONPATH": str(repository_root() / "pipeline")}
    done = subprocess.run([sys.executable, "-c", killed], env=environment, check=False)
    assert done.returncode == -9
    (left,) = tmp_path.iterdir()
    os.utime(left, (0, 0))
    (tmp_path / ".archive.zip.mine").write_text("")

    def write(made: Path) -> None:
        write_bytes_atomically(path, b"of another writer")
        made.write_bytes(b"first")

    write_atomically(path, write)
    assert path.read_bytes() == b"first"
    assert {each.name for each in tmp_path.iterdir()} == {"archive.zip", ".archive.zip.mine"}
