"""Results are written whole or not at all, and files of foreign versions are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.contracts.documents import read_json, write_json_atomically
from bdpbench.contracts.files import sha256_of
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
