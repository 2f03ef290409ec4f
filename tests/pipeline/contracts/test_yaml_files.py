"""YAML files: what they say, where, and what no file may say."""

from __future__ import annotations

import contextlib
import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError

# YAML 1.2: "no" and "12:30" are texts, a leading 0 is decimal, 1e-7 is a number. As in YAML 1.1,
# numbers may have underscores, and days are dates.
SCALARS = {
    "no": "no",
    "yes": "yes",
    "~": None,
    "null": None,
    "": None,
    "true": True,
    "FALSE": False,
    "010": 10,
    "0o17": 15,
    "0x1F": 31,
    "-0x1F": -31,
    "1_000": 1000,
    "+7": 7,
    "1e-7": 1e-7,
    "1.5e3": 1500.0,
    ".inf": float("inf"),
    "-.5": -0.5,
    "1.": 1.0,
    "0.1_5": 0.15,
    "08": 8,
    "12:30": "12:30",
    "=": "=",
    "2006-08-01": datetime.date(2006, 8, 1),
}


@pytest.mark.parametrize(("scalar", "value"), SCALARS.items())
def test_words_and_numbers_are_those_of_yaml_1_2(
    tmp_path: Path, scalar: str, value: object
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"a: {scalar}\n")
    assert repr(YamlFile(path).data) == repr({"a": value})


def test_a_key_is_found_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("# a comment\na:\n  - b: 1\n  - b: 2\n    c: 3\n")
    assert YamlFile(path).line_of(("a", 1, "c")) == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &a {x: 1, y: 2}\nb: {z: 3, <<: *a}\n", {"z": 3, "x": 1, "y": 2}),
        ("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n", {"y": 3, "x": 1}),
        (
            "a:\n  c: &a {x: {y: 2}}\nb: {<<: *a, z: {<<: *a}}\n",
            {"z": {"x": {"y": 2}}, "x": {"y": 2}},
        ),
        ("a: &a {x: 1}\nc: &c {<<: *a, y: 2}\nb: {<<: *c}\n", {"y": 2, "x": 1}),
        ("a: &a {x: 1}\nc: &c {x: 2}\nb: {<<: [*a, *c]}\n", {"x": 1}),
    ],
)
def test_a_merged_mapping_adds_what_is_not_there(
    tmp_path: Path, text: str, expected: dict[str, object]
) -> None:
    path = tmp_path / "merged.yaml"
    path.write_text(text)
    found = YamlFile(path).data["b"]
    assert (list(found), found) == (list(expected), expected)


# ---------------------------------------------------------------- hostile files


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        (b"a: 1\nb: \0\n", 2, "#x0000"),
        ("ä: 1\nb: \x07\n".encode(), 2, "#x0007"),
        (b'a: 1\nb: "x\\0y"\n', 2, "U+0000"),
        (b'a: 1\nb: "\\ud800"\n', 2, "invalid Unicode"),
        (b'a: 1\n"\\ud800": 1\n', 2, "invalid Unicode"),
        (b"a: 1\nb: [1, 2\n", 3, "not valid YAML"),
        (b"a: 1\nb: 2\na: 3\n", 3, "not valid YAML: found duplicate key 'a'"),
        (b"a: {0x1: 1,\n 1: 2}\n", 2, "found duplicate key 1"),
        (b"a: 1\n? [b]\n: 2\n", 2, "a key is a list or a mapping"),
        (b"a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n", 4, "found duplicate key '<<'"),
        (b"a: 1\n---\nb: 2\n", 2, "a single document"),
        (b"a:\n  b: 2006-02-30\n", 2, "day is out of range"),
        (b"a: 1\nb: @\n", 2, "found character"),
        (b"a: 1\nb: !!python/object:os.system {}\n", 2, "could not determine a constructor"),
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


@pytest.mark.parametrize("levels", [3_000, 100_000])
def test_deep_nesting_is_refused(tmp_path: Path, levels: int) -> None:
    path = tmp_path / "study.yaml"
    for text in ("a: " + "[" * levels + "]" * levels, "- " * levels + "a"):
        path.write_text(f"{text}\n")
        with pytest.raises(BdpbenchError, match="nested too deeply"):
            YamlFile(path)


def test_a_folder_and_a_missing_file_are_told(tmp_path: Path) -> None:
    for path, told in ((tmp_path, "cannot be read"), (tmp_path / "none.yaml", "no such file")):
        with pytest.raises(BdpbenchError, match=told):
            YamlFile(path)


@examples(60)
@given(content=st.binary(max_size=60) | st.text("[]{}:,-&*!|>'\"% \n\tab1", max_size=40))
def test_no_bytes_end_in_a_traceback(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with contextlib.suppress(BdpbenchError):
        YamlFile(path)
