"""YAML is read by libyaml with the results of ruamel.yaml; errors are reported alike."""

from __future__ import annotations

import contextlib
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import MOST_DEPTH, YamlFile, _read_slowly
from bdpbench.errors import BdpbenchError

ROOT = repository_root()
FILES = [
    path
    for folder in ("config", "reports", "ns2", "tests/data")
    for path in sorted((ROOT / folder).rglob("*.yaml"))
]
# YAML 1.2: "no" and "12:30" are strings, a leading 0 is decimal, 1e-7 is a number.
SCALARS = """
no on yes ~ null true TRUE 010 0o17 0x1F 1_000 +7 -0x1F 1e-7 1.5e3 .inf -.5 1. 12:30 08 0.1_5
2006-08-01
"""


def _plain(node: Any) -> Any:
    """Values without the types in which ruamel.yaml remembers how they were written."""
    if isinstance(node, dict):
        return {_plain(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if isinstance(node, bool) or node is None:
        return node
    return next((kind(node) for kind in (int, float, str) if isinstance(node, kind)), node)


# The slow reader takes a second for 60 kB.
LONG = 5_000


def _samples(text: str) -> list[str]:
    """A short text; of a long one, its beginning up to a top-level item, and its plain scalars."""
    if len(text) <= LONG:
        return [text]
    lines = text[:LONG].splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line[0] not in " #\n")
    tokens = yaml.scan(text, Loader=yaml.CLoader)
    words = {each.value for each in tokens if isinstance(each, yaml.ScalarToken) and each.plain}
    return ["".join(lines[:last]), "".join(f"- {word}\n" for word in sorted(words))]


def test_both_readers_find_the_same(tmp_path: Path) -> None:
    sample = tmp_path / "sample.yaml"
    for path in FILES:
        for text in _samples(path.read_text(encoding="utf-8")):
            sample.write_text(text, encoding="utf-8")
            assert repr(_plain(YamlFile(sample).data)) == repr(_plain(_read_slowly(sample))), path


@pytest.mark.parametrize("scalar", SCALARS.split())
def test_words_and_numbers_are_those_of_yaml_1_2(tmp_path: Path, scalar: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"a: {scalar}\n")
    assert repr(YamlFile(path).data) == repr(_plain(_read_slowly(path)))


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


def test_an_anchor_may_be_defined_anew_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "anchors.yaml"
    path.write_text("a: &x 1\nb: &x 2\nc: *x\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert YamlFile(path).data == {"a": 1, "b": 2, "c": 2}


# ---------------------------------------------------------------- hostile files

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
        (b"a: 1\nb: 2\na: 3\n", 3, "not valid YAML: found duplicate key"),
        (b"a: !x {}\nb: @\n", 2, "not valid YAML: found character '@'"),
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


@examples(60)
@given(content=st.binary(max_size=60) | st.text("[]{}:,-&*!|>'\"% \n\tab1", max_size=40))
def test_no_bytes_end_in_a_traceback(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with contextlib.suppress(BdpbenchError):
        YamlFile(path)
