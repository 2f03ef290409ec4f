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


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_one_line_entries(apt: Path) -> None:
    (apt / "sources.list").write_text(ONE_LINE)
    assert entries(apt) == [EXPECTED]


def test_deb822_entries(apt: Path) -> None:
    (apt / "sources.list.d" / "example.sources").write_text(DEB822)
    assert entries(apt) == [EXPECTED]


def test_both_formats_together(apt: Path) -> None:
    (apt / "sources.list.d" / "example.list").write_text(ONE_LINE)
    (apt / "sources.list.d" / "example.sources").write_text(DEB822)
    assert entries(apt) == [EXPECTED, EXPECTED]


def test_no_entries(apt: Path) -> None:
    assert entries(apt) == []
