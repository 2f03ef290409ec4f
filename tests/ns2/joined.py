"""What the preprocessor makes of ns-2's files has to be the same when they are compiled as one.

    PYTHONPATH=$PWD/pipeline:$PWD .bdpbench/venv/bin/python tests/ns2/joined.py [stock]

A macro of one file can change another one that is compiled behind it, and the compiler says
nothing. Call this after a change of `patches/`, `agents/`, `laws/` or `speed/`. It prepares the
sources as `ns2/build.sh` does, and ends with 1 where a file, or a header that it includes, becomes
another text; such a file belongs in `ALONE` of build.sh. It takes a minute.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PREPARE = """
. ns2/build.sh
parse_options --variant "$2"
WORK=$1 LOG=$1/log
fetch; unpack; apply_patches; add_own_sources; configure_tree; choose_sources; join_files
make_ns --dry-run --silent ns | grep -- ' -c ' >"$1/commands"
"""
INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)
# Declarations that may be repeated.
REPEATED = re.compile(r"(?:class|struct) \w+;|")


def texts_of(command: str, file: str, tree: Path) -> dict[str, list[str]]:
    """Source or header -> its lines behind the preprocessor, without those that mean nothing."""
    words = command.partition(" -o ")[0].replace(" -c ", " -E ")
    done = subprocess.run(
        f"{words} {file}", shell=True, cwd=tree, capture_output=True, text=True, check=True
    )
    texts: dict[str, list[str]] = defaultdict(list)
    name = ""
    for line in done.stdout.splitlines():
        if marker := re.match(r'# \d+ "(.*?)"', line):
            name = os.path.normpath(marker[1])
        elif not REPEATED.fullmatch(line.strip()):
            texts[name].append(re.sub(r"\brcsid_\d+\b", "rcsid", " ".join(line.split())))
    return texts


def differences(command: str, tree: Path) -> list[str]:
    """The files of a joined one that become another text in it, each with what differs."""
    joined = command.split()[-1]
    together = texts_of(command, joined, tree)
    return [
        f"{file}: {name} differs"
        for file in INCLUDED.findall((tree / joined).read_text())
        for name, lines in texts_of(command, file, tree).items()
        if not name.startswith(("/usr/", "<")) and lines != together.get(name, [])
    ]


def main() -> int:
    """Compare all joined files; returns whether any becomes another text."""
    with tempfile.TemporaryDirectory() as work:
        command = ["bash", "-euc", PREPARE, "bash", work, *(sys.argv[1:] or ["fast"])]
        subprocess.run(command, cwd=ROOT, check=True)
        commands = Path(work, "commands").read_text().splitlines()
        joined = [each for each in commands if "/joined_" in f"/{each.split()[-1]}"]
        with ThreadPoolExecutor() as pool:
            found = list(pool.map(differences, joined, [Path(work, "ns-2.35")] * len(joined)))
    told = [each for every in found for each in every]
    print("\n".join([*told, f"{len(joined)} joined files, {len(told)} differences"]))
    return int(bool(told) or not joined)


if __name__ == "__main__":
    sys.exit(main())
