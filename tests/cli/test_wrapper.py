"""The wrapper script changes only its own environment, and loads only its own modules."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.waiting import HANGS_S

from bdpbench.contracts.paths import repository_root


def _wrapper(
    *arguments: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(repository_root() / "bdpbench"), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_a_foreign_environment_is_refused_and_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "venv"
    foreign.mkdir()
    (foreign / "mine").write_text("precious")
    done = _wrapper("list", BDPBENCH_VENV=str(foreign), BDPBENCH_HOME=str(tmp_path / "home"))
    assert done.returncode == 1
    assert f"{foreign} exists, but bdpbench did not make it" in done.stderr
    assert [path.name for path in foreign.iterdir()] == ["mine"]


def _tools(folder: Path, *lacking: str) -> str:
    """A PATH with all commands of the system but apt-get, sudo, docker and some others."""
    folder.mkdir()
    for path in (each for place in ("/usr/bin", "/bin") for each in Path(place).iterdir()):
        lacks = path.name in ("apt-get", "sudo", "docker", *lacking)
        if not lacks and not (folder / path.name).is_symlink():
            (folder / path.name).symlink_to(path)
    (folder / "apt-cache").unlink(missing_ok=True)
    _write_program(folder / "apt-cache", "echo offers everything")
    return str(folder)


def _write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


ADMINISTRATOR = "sudo apt-get update && sudo apt-get install --no-install-recommends"


@pytest.mark.parametrize("command", ["list", "run", "evaluate", "--help"])
def test_the_first_call_names_what_any_command_needs_before_anything_is_made(
    tmp_path: Path, command: str
) -> None:
    pythons = [path.name for path in Path("/usr/bin").glob("python3*")]
    path = _tools(tmp_path / "tools", "g++", "tcl2c++", "pdftotext", *pythons)
    done = _wrapper(command, PATH=path, BDPBENCH_HOME=str(tmp_path / "home"), BDPBENCH_VENV="")
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    named = done.stderr.partition(f"hint: {ADMINISTRATOR} ")[2].split()
    assert named[:3] == ["python3-venv", "g++", "tclcl"]
    assert named[-1] == "poppler-utils"
    assert not (tmp_path / "home" / "venv").exists()


def test_docker_does_without_compilers_and_only_python_stops_the_call(tmp_path: Path) -> None:
    path = _tools(tmp_path / "tools", "g++", "pdftotext")
    _write_program(tmp_path / "tools" / "docker", "exit 0")
    foreign = tmp_path / "venv"
    foreign.mkdir()
    done = _wrapper("list", PATH=path, BDPBENCH_HOME=str(tmp_path), BDPBENCH_VENV=str(foreign))
    first, last, *_ = done.stderr.splitlines()
    assert first.startswith("bdpbench: goes on without")
    assert f"{ADMINISTRATOR} g++" in first
    assert first.endswith("poppler-utils")
    assert "bdpbench did not make it" in last


@pytest.mark.parametrize(("around", "may_read"), [("", "yes"), ("timeout 600", "no")])
def test_nothing_is_asked_of_a_terminal_that_would_stop_the_process(
    around: str, may_read: str, tmp_path: Path
) -> None:
    """`timeout` puts its command into the background, where reading the terminal stops it."""
    script = tmp_path / "asks"
    script.write_text(
        "say() { echo $*; }; source ns2/packages.sh\n"
        f"in_foreground && echo yes || echo no; watched cat '{tmp_path}/log' cat; echo ended\n"
    )
    command = ["script", "-qec", f"{around} bash '{script}'; true", "/dev/null"]
    done = subprocess.run(
        command, cwd=repository_root(), capture_output=True, text=True, check=True, timeout=HANGS_S
    )
    assert done.stdout.split() == [may_read, "ended"]


def test_modules_of_the_current_folder_are_not_its_own(tmp_path: Path) -> None:
    for name in ("click", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not mine')\n")
    done = _wrapper("--version", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "bdpbench" in done.stdout
