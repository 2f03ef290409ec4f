"""The window laws, compiled without ns-2; a C++ program checks each of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.compiled import compiled

HERE = Path(__file__).resolve().parent
LAWS = HERE.parent.parent / "ns2" / "laws"
PROGRAMS = sorted(HERE.glob("*_test.cc"))

# The language that ns-2 is compiled as. The only include folder is laws/, so a law that needs one
# of ns-2's headers does not compile. isfinite and NAN in the checks are C99's, which GNU's C++98
# has.
COMPILE = ["g++", "-std=gnu++98", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off"]


@pytest.fixture(scope="session")
def objects(made_once: Callable[..., Path]) -> list[Path]:
    """Every law, compiled once."""

    def compile_all(folder: Path) -> None:
        for law in LAWS.glob("*.cc"):
            compiled([*COMPILE, f"-I{LAWS}", "-c", law], folder / f"{law.stem}.o")

    return sorted(made_once("laws", compile_all).glob("*.o"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_law(program: Path, objects: list[Path], tmp_path: Path) -> None:
    # Their checks compile faster without optimization.
    command = [*COMPILE, f"-I{LAWS}", f"-I{HERE}", "-O0", program, *objects]
    binary = compiled(command, tmp_path / program.stem)
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_law_has_a_test_program() -> None:
    assert {f"{law.stem}_test" for law in LAWS.glob("*.cc")} <= {each.stem for each in PROGRAMS}
