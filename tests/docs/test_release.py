"""The version is defined in one place, has a release note, and is the one in the citation."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml
from click.testing import CliRunner

from bdpbench.cli import cli
from bdpbench.contracts.paths import repository_root

ROOT = repository_root()
# Enough characters for what users have to know before the list of changes.
LEAST_SUMMARY = 100


@pytest.fixture
def version() -> str:
    """The version that pyproject.toml tells hatch to read."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    text = (ROOT / project["tool"]["hatch"]["version"]["path"]).read_text()
    (found,) = re.findall(r'^__version__ = "(\d+\.\d+\.\d+)"$', text, re.M)
    return str(found)


def test_the_command_line_tells_it(version: str) -> None:
    assert CliRunner().invoke(cli, ["--version"]).output == f"bdpbench, version {version}\n"


def test_the_changelog_names_as_versions_what_was_released(version: str) -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, *sections = re.split(r"^## ", text.split("\n## ", 1)[1], flags=re.M)
    assert unreleased.startswith("[Unreleased]\n")
    assert version in unreleased or sections[0].startswith(f"[{version}] - ")
    for section in sections:
        summary = section.split("\n", 1)[1].split("###")[0].strip()
        assert len(summary) > LEAST_SUMMARY, f"no release note: {section.splitlines()[0]}"


def test_it_is_cited_with_its_date(version: str) -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == version
    released = re.findall(
        rf"^## \[{re.escape(version)}\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
    dates = [str(citation[key]) for key in ("date-released",) if key in citation]
    assert dates == released
