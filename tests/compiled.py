"""What tests compile, kept beside the checkout's other caches as long as it is made of the same."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import home_dir
from bdpbench.simulation import libraries
from bdpbench.simulation.build import libraries_dir
from bdpbench.studies import folders


def compiled(command: Sequence[object], made: Path) -> Path:
    """Call a compiler for ``made``, unless a call on files and headers of these contents is kept.

    ``command`` has no ``-o``; its words are options, files, and folders of headers (``-IFOLDER``).
    """
    words = [str(each) for each in command]
    content = "\n".join([_version(words[0]), *map(_content, words[1:])])
    kept = home_dir() / "cache" / "tests" / hashlib.sha256(content.encode()).hexdigest()[:24]
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        own = kept.with_suffix(f".{os.getpid()}")
        subprocess.run([*words, "-o", str(own)], check=True)
        own.replace(kept)
    shutil.copy(kept, made)
    return made


def keep_libraries(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have libraries of protocols and queues kept as long as what makes them; returns where."""
    makers = [*Path(libraries.__file__).parent.glob("*.[hp]*"), Path(folders.__file__)]
    made_by = hashlib.sha256("".join(map(sha256_of, sorted(makers))).encode()).hexdigest()[:16]
    kept = home_dir() / "cache" / "tests" / f"{libraries_dir().name}-{made_by}"
    for room in ("build", "hand_tests", "libraries"):
        monkeypatch.setattr(f"bdpbench.simulation.{room}.libraries_dir", lambda: kept)
    return kept


@cache
def _version(compiler: str) -> str:
    command = [compiler, "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _content(word: str) -> str:
    path = Path(word.removeprefix("-I"))
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.suffix in (".h", ".cc", ".c"))
        return " ".join(f"{each.relative_to(path)} {sha256_of(each)}" for each in files)
    return f"{path.name} {sha256_of(path)}" if path.is_file() else word
