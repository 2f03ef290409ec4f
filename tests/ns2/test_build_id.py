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


def other_archive(ns2: Path) -> None:
    lock = ns2 / "SOURCE.lock"
    lock.write_text(re.sub(r"(?m)^sha256=.*$", "sha256=" + "0" * 64, lock.read_text()))


def other_order(ns2: Path) -> None:
    series = ns2 / "patches" / "series"
    series.write_text("\n".join(reversed(series.read_text().splitlines())))


def remarks(ns2: Path) -> None:
    append(ns2 / "SOURCE.lock", "# a remark\n")
    append(ns2 / "patches" / "series", "# a remark\n")
    (ns2 / "laws" / "README").write_text("not compiled")


CHANGES: dict[str, tuple[Callable[[Path], object], bool]] = {
    **{name: (lambda ns2, n=name: append(ns2 / n, "\n# a line\n"), True) for name in INGREDIENTS},
    "archive": (other_archive, True),
    "order of patches": (other_order, True),
    "new law": (lambda ns2: (ns2 / "laws" / "new_law.cc").write_text(""), True),
    "remarks, and files that are not built": (remarks, False),
    "nothing": (lambda ns2: None, False),
}


@pytest.mark.parametrize(("change", "another"), CHANGES.values(), ids=CHANGES.keys())
def test_changes_with_each_ingredient_and_with_nothing_else(
    change: Callable[[Path], object], another: bool, print_id: Callable[[], str], scratch: Path
) -> None:
    before = print_id()
    assert re.fullmatch(r"[0-9a-f]{16}", before)
    change(scratch)
    assert (print_id() != before) == another


def test_stock_is_another_build_without_what_makes_it_faster(build: Build, scratch: Path) -> None:
    fast, stock = build("--print-id").stdout, build("--variant", "stock", "--print-id").stdout
    append(scratch / "speed" / "lane_scheduler.cc", "// a remark\n")
    append(scratch / "patches" / "speed" / "lanes.patch", "a remark\n")
    assert build("--print-id").stdout not in (fast, stock)
    assert build("--print-id", "--variant", "stock").stdout == stock


def test_names_a_missing_patch(build: Build, scratch: Path) -> None:
    (scratch / "patches" / "variants" / "window-laws.patch").unlink()
    done = build("--print-id")
    assert (done.returncode != 0, done.stdout) == (True, "")
    assert "patches/variants/window-laws.patch" in done.stderr
