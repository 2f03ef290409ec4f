"""YAML that makes no sense as a study gives one error of ours, with its place, in a moment."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bdpbench.contracts.yaml_files import MOST_DEPTH, YamlFile
from bdpbench.errors import BdpbenchError

BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        (b"a: 1\nb: \0\n", 2, "U+0000"),
        (b"a: 1\nb: \x07\n", 2, "U+0007"),
        (b'a: 1\nb: "x\\0y"\n', 2, "NUL"),
        (b'a: 1\nb: "\\ud800"\n', 2, "surrogate"),
        (b'a: 1\n"\\ud800": 1\n', 2, "surrogate"),
        (b"a: 1\nb: [1, 2\n", 3, "not valid YAML"),
        (b"a: 1\na: 2\n", 2, "duplicate"),
        (b"a: !!python/object:os.system {}\nb: [\n", 3, "not valid YAML"),
    ],
)
def test_the_error_names_line_and_fault(
    tmp_path: Path, content: bytes, line: int, told: str
) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(content)
    with pytest.raises(BdpbenchError) as caught:
        YamlFile(path)
    assert caught.value.where == f"{path}:{line}"
    assert told in str(caught.value)


@pytest.mark.parametrize("levels", [MOST_DEPTH + 1, 3_000, 100_000])
def test_deep_nesting_is_refused(tmp_path: Path, levels: int) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("a: " + "[" * levels + "]" * levels + "\n")
    with pytest.raises(BdpbenchError, match="nested deeper than"):
        YamlFile(path)


def test_aliases_of_aliases_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(BOMB)  # would expand to 10^9 values
    began_s = time.process_time()
    with pytest.raises(BdpbenchError, match="values"):
        YamlFile(path)
    assert (
        time.process_time() - began_s < 30
    )  # it ends after 200,000 values; unbounded it takes hours


def test_a_folder_and_a_missing_file_are_told(tmp_path: Path) -> None:
    for path, told in ((tmp_path, "cannot be read"), (tmp_path / "none.yaml", "no such file")):
        with pytest.raises(BdpbenchError, match=told):
            YamlFile(path)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=60) | st.text("[]{}:,-&*!|>'\"% \n\tab1", max_size=40))
def test_no_bytes_end_in_a_traceback(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with contextlib.suppress(BdpbenchError):
        YamlFile(path)
