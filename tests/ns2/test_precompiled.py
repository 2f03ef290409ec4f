"""Precompiled headers: the machine code is the same with and without them, and compilers need not
have them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shlex import quote

import pytest
from tests.data_of import data_of

_DATA = data_of(__file__)
MAKEFILE = _DATA["makefile"]
LAW = _DATA["law"]
BEGIN = _DATA["begin"]

ROOT = Path(__file__).resolve().parent.parent.parent


def compiled(folder: Path, commands: str, compiler: str = "") -> tuple[bytes, str]:
    """The object of LAW and the messages, after commands that know the functions of build.sh.

    ``compiler``: lines of a shell script in front of g++.
    """
    tree, programs = folder / "tree", folder / "bin"
    tree.mkdir(parents=True)
    programs.mkdir()
    (tree / "Makefile").write_text(MAKEFILE)
    (tree / "law.cc").write_text(LAW)
    # A compiler's cache in PATH looks for the compiler there, and must not find this script.
    path = os.environ["PATH"]
    (programs / "g++").write_text(f'#!/bin/sh\n{compiler}\nPATH={quote(path)} exec g++ "$@"\n')
    (programs / "g++").chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", f"{BEGIN}{commands}\nmake_ns law.o", "bash", str(ROOT / "ns2" / "build.sh")],
        cwd=folder,
        env=os.environ | {"PATH": f"{programs}:{path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return (tree / "law.o").read_bytes(), done.stderr


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The object without precompiled headers."""
    return compiled(tmp_path_factory.mktemp("without"), "")[0]


def test_they_are_read_and_change_no_machine_code(tmp_path: Path, without: bytes) -> None:
    # GCC reads a header that is precompiled, and so does not see what becomes of it.
    gone = 'precompile\necho "#error not precompiled" >"$TREE/$PRECOMPILED"'
    assert compiled(tmp_path, gone)[0] == without


def test_a_compiler_that_cannot_precompile_does_without(tmp_path: Path, without: bytes) -> None:
    fails = 'case "$*" in *c++-header*) echo out of space >&2; : >precompiled.h.gch; exit 1 ;; esac'
    made, messages = compiled(tmp_path, "precompile", fails)
    assert made == without
    assert "cannot precompile headers" in messages
    assert "out of space" in (tmp_path / "log").read_text()
    assert not (tmp_path / "tree" / "precompiled.h.gch").exists()


def test_only_gcc_is_asked_to(tmp_path: Path, without: bytes) -> None:
    other = 'case "$*" in *-dM*) echo "#define __clang__ 1"; exit ;; *c++-header*) exit 1 ;; esac'
    made, messages = compiled(tmp_path, "precompile", other)
    assert made == without
    assert "cannot precompile" not in messages
