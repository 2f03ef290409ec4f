"""The wrapper script changes only its own environment, and loads only its own modules."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bdpbench.contracts.paths import repository_root


def _wrapper(cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(repository_root() / "bdpbench"), "--version"],
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
    done = _wrapper(BDPBENCH_VENV=str(foreign), BDPBENCH_HOME=str(tmp_path / "home"))
    assert done.returncode == 1
    assert f"{foreign} exists, but bdpbench did not make it" in done.stderr
    assert [path.name for path in foreign.iterdir()] == ["mine"]


def test_a_machine_without_a_python_is_told(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "readlink", "cmp", "mkdir", "flock", "env", "id"):
        found = next(
            Path(folder) / name for folder in ("/usr/bin", "/bin") if (Path(folder) / name).exists()
        )
        (tools / name).symlink_to(found)
    done = _wrapper(
        PATH=str(tools),
        BDPBENCH_VENV=str(tmp_path / "venv"),
        BDPBENCH_HOME=str(tmp_path / "home"),
    )
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr


def test_modules_of_the_current_folder_are_not_its_own(tmp_path: Path) -> None:
    for name in ("click", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not mine')\n")
    done = _wrapper(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "bdpbench" in done.stdout
