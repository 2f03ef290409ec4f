"""The variant fast-pgo: what it is trained with, how it is compiled, and that its outputs are the
same."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import digests_of

from bdpbench.simulation.build import build_prefix, current_build_id

_DATA = data_of(__file__)
MAKEFILE = _DATA["makefile"]
MAIN = _DATA["main"]
COMPILE = _DATA["compile"]

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "ns2" / "build.sh"
TRAINING = ROOT / "ns2" / "training.tcl"
CASES = re.findall(r"(?m)^proc train-(\w+)", TRAINING.read_text())
# Share of the simulated time of a case: some seconds, in which flows lose packets.
SHARE = 0.15

Outputs = Callable[[Path, list[str], Path], dict[str, str]]

GENERATOR = """\
#include <stdio.h>
int main() { puts("int even(int i) { return i % 2 == 0; }"); return 0; }
"""


@pytest.fixture
def tree() -> Iterator[Path]:
    """A source tree that is compiled within seconds, in a path that make takes: without a blank."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield _tree_in(Path(folder))


def _tree_in(folder: Path) -> Path:
    files = {"Makefile": MAKEFILE, "main.cc": MAIN, "common/ptypes2tcl.cc": GENERATOR}
    (folder / "tree" / "gen").mkdir(parents=True)
    for name, text in files.items():
        path = folder / "tree" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder / "tree"


def compile_trained(tree: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", COMPILE, "bash", str(BUILD)],
        cwd=tree.parent,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def counts(tree: Path) -> list[str]:
    """Files of the tree with counts of branches."""
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*.gcda"))


def test_it_is_compiled_with_the_counts_of_its_training(tree: Path) -> None:
    # The counts belong to the tree wherever the user's environment puts those of other programs.
    done = compile_trained(tree, GCOV_PREFIX=str(tree.parent / "elsewhere"))
    assert done.returncode == 0, done.stderr
    log = (tree.parent / "log").read_text()
    assert [f"found 500 for {case}" in log for case in CASES] == [True] * len(CASES)
    compiled = [line for line in log.splitlines() if " -o main.o" in line]
    assert [re.findall(r"-fprofile-(generate|use)", line) for line in compiled] == [
        ["generate"],
        ["use"],
    ]
    # The generator of a source does not count, nor does the result.
    assert counts(tree) == ["gen/ptypes.gcda", "main.gcda"]
    for path in tree.rglob("*.gcda"):
        path.unlink()
    subprocess.run([tree / "ns", "training.tcl", "again"], capture_output=True, check=True)
    assert counts(tree) == []


def test_a_training_run_that_fails_ends_the_build(tree: Path) -> None:
    (tree / "main.cc").write_text(MAIN.replace("argc == 4", "argc == 3"))
    done = compile_trained(tree)
    assert done.returncode == 5
    assert f"the training run {CASES[0]} failed" in done.stderr
    assert f"found 500 for {CASES[0]}" in done.stderr


def test_every_case_is_trained() -> None:
    listed = re.search(r"(?m)^TRAINING=\((.*?)\)", BUILD.read_text())
    assert listed is not None
    assert listed[1].split() == CASES
    described = re.findall(r"(?m)^#   (\w+)  +\S", TRAINING.read_text())
    assert described == CASES


def test_it_uses_nothing_that_the_build_id_does_not_cover() -> None:
    assert not re.findall(r"(?m)^\s*(?:source|load|package)\s", TRAINING.read_text())


@pytest.mark.parametrize("case", CASES)
def test_every_output_is_that_of_stock(
    case: str, same_outputs: Callable[..., Path], outputs: Outputs, tmp_path: Path
) -> None:
    command = [str(TRAINING), case, str(SHARE)]
    folder = same_outputs(command)
    made = digests_of(folder)
    assert {"queue.out", "flows.out", "cwnd.0.out"} <= set(made)
    # Two compilations take too long for a test, but a build that is there must give the same.
    with_profile = build_prefix() / current_build_id("fast-pgo") / "ns"
    if with_profile.is_file():
        assert outputs(with_profile, command, tmp_path / "fast-pgo") == made
