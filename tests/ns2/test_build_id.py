"""The build id depends on everything that the binary depends on, and on nothing else."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data_of import data_of

_DATA = data_of(__file__)
INGREDIENTS = _DATA["ingredients"]

Build = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def print_id(build: Build) -> Callable[[], str]:
    def ask() -> str:
        done = build("--print-id")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return ask


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_is_sixteen_hex_digits(print_id: Callable[[], str]) -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", print_id())


def test_is_the_same_for_the_same_sources(print_id: Callable[[], str]) -> None:
    assert print_id() == print_id()


@pytest.mark.parametrize("ingredient", INGREDIENTS)
def test_changes_with_each_ingredient(
    ingredient: str, print_id: Callable[[], str], scratch: Path
) -> None:
    before = print_id()
    append(scratch / ingredient, "\n# one more line\n")
    assert print_id() != before


def test_changes_with_the_source_archive(print_id: Callable[[], str], scratch: Path) -> None:
    before = print_id()
    lock = scratch / "SOURCE.lock"
    lock.write_text(re.sub(r"(?m)^sha256=.*$", "sha256=" + "0" * 64, lock.read_text()))
    assert print_id() != before


def test_changes_with_the_order_of_the_patches(print_id: Callable[[], str], scratch: Path) -> None:
    before = print_id()
    series = scratch / "patches" / "series"
    series.write_text("\n".join(reversed(series.read_text().splitlines())))
    assert print_id() != before


def test_changes_with_a_new_law(print_id: Callable[[], str], scratch: Path) -> None:
    before = print_id()
    (scratch / "laws" / "new_law.cc").write_text("")
    assert print_id() != before


def test_ignores_remarks_and_files_that_are_not_built(
    print_id: Callable[[], str], scratch: Path
) -> None:
    before = print_id()
    append(scratch / "SOURCE.lock", "# a remark\n")
    append(scratch / "patches" / "series", "# a remark\n")
    (scratch / "laws" / "README").write_text("not compiled")
    assert print_id() == before


def test_stock_is_another_build_without_what_makes_it_faster(build: Build, scratch: Path) -> None:
    fast, stock = build("--print-id").stdout, build("--variant", "stock", "--print-id").stdout
    append(scratch / "speed" / "lane_scheduler.cc", "// a remark\n")
    append(scratch / "patches" / "speed" / "lanes.patch", "a remark\n")
    assert build("--print-id").stdout not in (fast, stock)
    assert build("--print-id", "--variant", "stock").stdout == stock


def test_names_an_unknown_variant(build: Build) -> None:
    done = build("--variant", "quick", "--print-id")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--variant is quick, not fast or stock" in done.stderr


def test_names_a_missing_patch(build: Build, scratch: Path) -> None:
    (scratch / "patches" / "variants" / "window-laws.patch").unlink()
    done = build("--print-id")
    assert done.returncode != 0
    assert "patches/variants/window-laws.patch" in done.stderr
    assert done.stdout == ""
