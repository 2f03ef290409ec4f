"""The window laws, compiled without ns-2 and checked by one C++ program each."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LAWS = HERE.parent.parent / "ns2" / "laws"
PROGRAMS = sorted(HERE.glob("*_test.cc"))

# The language that ns-2 is compiled in. The only folder of headers is laws/: a law that needs one
# of ns-2's does not compile. The checks' own isfinite and NAN are C99's, which GNU's C++98 has.
COMPILE = ["g++", "-std=gnu++98", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_law(program: Path, tmp_path: Path) -> None:
    binary = tmp_path / program.stem
    sources = [str(program), *map(str, sorted(LAWS.glob("*.cc")))]
    subprocess.run([*COMPILE, f"-I{LAWS}", f"-I{HERE}", *sources, "-o", str(binary)], check=True)
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("law", sorted(LAWS.glob("*.cc")), ids=lambda path: path.stem)
def test_every_law_has_a_test_program(law: Path) -> None:
    assert HERE / f"{law.stem}_test.cc" in PROGRAMS
