"""What pip builds from the repository: a complete wheel, and a bdpbench that needs no clone.

The wheel is unpacked, not installed, and uses the required packages of the test environment:
installing those takes a minute.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from tests.needs import leave_out

from bdpbench import __version__
from bdpbench.contracts.paths import home_dir, repository_root

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
STUDY = """
schema_version: 1
key: tiny
title: Two seconds of one flow
protocols:
  Reno: {label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}
topologies:
  path:
    parameters: {bottleneck_mbps: 2, bottleneck_delay_ms: 8, access_mbps: 10, rtt_ms: 20}
scenarios:
  alone:
    title: One flow
    topology: path
    parameters: {protocol: Reno, buffer_pkts: 10}
    flows: [{}]
    tiers:
      quick: [{duration_s: 2}]
"""


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


@pytest.fixture(scope="module")
def site(made_once: MadeOnce, wheel: Path) -> Path:
    """A folder that contains the unpacked wheel and nothing else."""

    def install(folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-compile", "--quiet"]
        subprocess.run([*command, "--target", str(folder / "site"), str(wheel)], check=True)
        _compile(folder / "site" / "bdpbench")

    return made_once("installed", install) / "site"


def _compile(package: Path) -> None:
    """Reuse the modules that Python has compiled here; compiling them all takes seconds."""
    for path in package.rglob("*.py"):
        source = ROOT / "pipeline" / "bdpbench" / path.relative_to(package)
        compiled = Path(cache_from_source(source))
        if compiled.is_file() and source.read_bytes() == path.read_bytes():
            about = source.stat()
            os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
            target = Path(cache_from_source(path))
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(compiled, target)


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


def _call(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the installed command in a folder; its cache folder holds the ns-2 under test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BDPBENCH_")}
    environment = kept | {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(folder.parent / "cache")}
    return subprocess.run(
        [str(site / "bin" / "bdpbench"), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """An empty folder; its siblings are the folder of a study and a cache."""
    folder = tmp_path / "somewhere"
    folder.mkdir()
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "study.yaml").write_text(STUDY)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "bdpbench").symlink_to(home_dir())
    return folder


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_it_runs_a_study_from_an_empty_folder(site: Path, empty: Path, ns_binary: Path) -> None:
    before = {path for path in _files(site) if path.suffix != ".pyc"}
    done = _call(site, empty, "run", "../tiny", "--backend", "native")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in empty.iterdir()] == ["results"]
    report = empty / "results" / "tiny" / "quick" / "report.html"
    assert f"report: {report}" in done.stdout
    assert len(list(empty.glob("results/runs/*/*/run.json"))) == 1
    # Builds go into the cache folder, and the installed package gains nothing but modules that
    # Python has compiled.
    binary = re.findall(
        r'"build_id": "(\w+)"', next(empty.glob("results/runs/*/*/run.json")).read_text()
    )
    assert (empty.parent / "cache" / "bdpbench" / "ns2" / binary[0] / "ns").is_file()
    assert {path for path in _files(site) if path.suffix != ".pyc"} == before


def test_it_lists_the_studies_that_it_brings_along(site: Path, empty: Path) -> None:
    done = _call(site, empty, "list", "sharma2006")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sharma2006: ")
    assert list(empty.iterdir()) == []


def test_what_works_on_a_clone_alone_says_so(site: Path, empty: Path) -> None:
    done = _call(site, empty, "test")
    assert done.returncode == 1
    assert "this one was installed with pip" in done.stderr
    assert "-o" in done.stderr


def test_hints_name_the_command_as_it_is_called(site: Path, empty: Path) -> None:
    done = _call(site, empty, "report", "../tiny")
    assert done.returncode == 1
    assert "hint: `bdpbench run tiny --tier quick` simulates them" in done.stderr
