"""The machine's package sources as source-package entries, in both formats that apt supports."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.data_of import data_of

_DATA = data_of(__file__)
ONE_LINE = _DATA["one_line"]
DEB822 = _DATA["deb822"]

ROOT = Path(__file__).resolve().parent.parent.parent

EXPECTED = {
    "Types: deb-src",
    "URIs: https://mirror.example/linux",
    "Suites: noble",
    "Components: main universe",
    "Signed-By: /keys/example.gpg",
}


def entries(apt: Path) -> list[set[str]]:
    """Every entry as a set of lines."""
    done = subprocess.run(
        ["bash", "-c", '. ns2/build.sh; apt_source_entries "$1" noble', "bash", str(apt)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [set(entry.splitlines()) for entry in done.stdout.strip().split("\n\n") if entry]


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"sources.list": ONE_LINE}, 1),
        ({"sources.list.d/example.sources": DEB822}, 1),
        ({"sources.list.d/example.list": ONE_LINE, "sources.list.d/example.sources": DEB822}, 2),
        ({}, 0),
    ],
)
def test_entries_of_both_formats_are_found(
    tmp_path: Path, files: dict[str, str], count: int
) -> None:
    (tmp_path / "sources.list.d").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert entries(tmp_path) == [EXPECTED] * count
