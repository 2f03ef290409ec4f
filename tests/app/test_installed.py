"""What pip builds from the repository is a complete wheel; tests/pip proves that it works alone."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.needs import leave_out

from bdpbench import __version__
from bdpbench.contracts.paths import repository_root

MadeOnce = Callable[[str, Callable[[Path], None]], Path]

pytestmark = pytest.mark.ci
ROOT = repository_root()
SHIPPED = "bdpbench/shipped"
# Files that neither a bdpbench without a clone nor an archive that it writes has a use for.
LEFT_OUT = re.compile(
    r"(\.ci|\.devcontainer|\.github|docs|tests)/|reports/published/[\w-]+/(?!metrics\.parquet$)"
    r"|reports/(evaluations/.+|[^/]+\.png)$|\.(gitignore|snakemake-workflow-catalog\.yml)$|mkdocs\.yml$|SECURITY\.md$"
    r"|pipeline/requirements-docs\.(in|lock)$"
)


@pytest.fixture(scope="module")
def wheel(made_once: MadeOnce) -> Path:
    """The wheel that pip builds; skips if the build backend is not available."""

    def build(folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", str(folder)]
        done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
        if done.returncode != 0 and "for hatchling" in done.stderr:
            leave_out("no build backend hatchling", "pip needs a package index")
        assert done.returncode == 0, done.stderr

    (path,) = made_once("wheel", build).glob("*.whl")
    return path


def _in_repository() -> set[str]:
    """Files of the repository that a wheel has to contain."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return {name for name in listed if not LEFT_OUT.match(name) and (ROOT / name).is_file()}


def _place(name: str) -> str:
    """The path in a wheel of a file of the repository."""
    inside = name.removeprefix("pipeline/")
    return inside if inside.startswith("bdpbench/") else f"{SHIPPED}/{name}"


def test_a_wheel_carries_everything_and_no_more(wheel: Path) -> None:
    assert wheel.name == f"bdpbench-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert found == {_place(name) for name in _in_repository()}
        for name in ("ns2/build.sh", "ns2/SOURCE.lock", "tcl/network.tcl", "Snakefile"):
            assert archive.read(f"{SHIPPED}/{name}") == (ROOT / name).read_bytes()


def test_it_needs_what_the_lock_file_pins() -> None:
    text = (ROOT / "pipeline" / "requirements.in").read_text()
    listed = {line for line in text.splitlines() if line and not line.startswith("#")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert sorted(project["dependencies"]) == sorted(listed)
