"""What build.sh asks of Tcl's library, and what it says of an ns that does not run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.data_of import data_of

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "ns2" / "build.sh"

# A library whose functions for memory are called as those of Tcl.
_DATA = data_of(__file__)
LIBRARY = _DATA["library"]


def called(folder: Path, function: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a function of build.sh does with ``folder`` as its work folder."""
    begin = '. "$1"; HERE="${1%/*}" WORK="$2" TREE="$2/tree" LOG="$2/log"; '
    return subprocess.run(
        ["bash", "-c", f'{begin}: >"$LOG"; {function}', "bash", str(BUILD), str(folder)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("link", "takes"), [((), True), (("-Wl,-Bsymbolic-functions",), False)], ids=["others", "own"]
)
def test_lists_of_memory_are_left_out_where_tcl_takes_no_functions_of_a_program(
    tmp_path: Path, link: tuple[str, ...], takes: bool
) -> None:
    libraries, speed = tmp_path / "farm" / "lib", tmp_path / "tree" / "speed"
    libraries.mkdir(parents=True)
    speed.mkdir(parents=True)
    (tmp_path / "farm" / "include").symlink_to("/usr/include/tcl8.6")
    (tmp_path / "tcl.c").write_text(LIBRARY)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", *link, "-o", libraries / "libtcl8.6.so", tmp_path / "tcl.c"],
        check=True,
    )
    (speed / "tcl_memory.cc").touch()
    done = called(tmp_path, "choose_sources", LD_LIBRARY_PATH=str(libraries))
    assert (done.returncode, done.stderr) == (0, "")
    assert (speed / "tcl_memory.cc").exists() == takes


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("kill -SEGV $$", "signal SEGV ended it"),
        ("exit 7", "it ends with status 7"),
        ("echo 705032704", "the new ns counts 705032704 bytes where 5000000000 passed"),
    ],
)
def test_an_ns_that_fails_is_told_with_its_end(tmp_path: Path, last: str, said: str) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "ns").write_text(f"#!/bin/sh\n{last}\n")
    (tmp_path / "tree" / "ns").chmod(0o755)
    done = called(tmp_path, "smoke_test")
    assert done.returncode != 0
    assert said in done.stderr
