"""Running the Tcl scripts in the real ns-2 and reading what they wrote."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def tcl_root() -> Path:
    return Path(__file__).resolve().parent.parent.parent / "tcl"


@pytest.fixture
def run_ns(ns_binary: Path, tcl_root: Path, tmp_path: Path) -> Run:
    """Run a script in tmp_path; a relative path is one below tcl/."""

    def run(script: str | Path, *args: object) -> subprocess.CompletedProcess[str]:
        command = [str(ns_binary), str(tcl_root / script), *map(str, args)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture
def run_ok(run_ns: Run, tmp_path: Path) -> Callable[..., Path]:
    """Run a script that must succeed; its DATADIR, tmp_path/<out>, is made here and returned."""

    def run(script: str | Path, *args: object, out: str = "out") -> Path:
        (tmp_path / out).mkdir(exist_ok=True)
        done = run_ns(script, *args)
        assert done.returncode == 0, done.stderr
        return tmp_path / out

    return run


@pytest.fixture
def built(ns_binary: Path, tcl_root: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Let a script build its network, ask it a question in Tcl instead of running it.

    Returns the lines that the question printed. Nodes are 0 and 1 (the routers), then each
    flow's sender and receiver.
    """

    def ask(question: str, script: str, *args: object) -> list[str]:
        driver = tmp_path / "driver.tcl"
        driver.write_text(
            f"""
            Simulator instproc run {{}} {{
                set ns $self
                {question}
                exit 0
            }}
            source "{tcl_root / script}"
            """
        )
        (tmp_path / "out").mkdir(exist_ok=True)
        command = [str(ns_binary), str(driver), *map(str, args)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return ask


@pytest.fixture(scope="session")
def columns() -> Callable[[Path], list[list[float]]]:
    """Read an output file as rows of numbers."""

    def read(path: Path) -> list[list[float]]:
        return [[float(word) for word in line.split()] for line in path.read_text().splitlines()]

    return read


@pytest.fixture(scope="session")
def facts() -> Callable[[Path], dict[str, tuple[float, str]]]:
    """Read the facts of a report.txt: key -> (value, unit); remarks are left out."""

    def read(path: Path) -> dict[str, tuple[float, str]]:
        found = {}
        for line in path.read_text().splitlines():
            words = line.split()
            if len(words) == 3 and words[1].replace(".", "", 1).isdigit():
                found[words[0]] = (float(words[1]), words[2])
        return found

    return read
