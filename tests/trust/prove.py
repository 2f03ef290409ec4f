#!/usr/bin/env python3
"""Prove that ``./bdpbench test`` never fails by chance: ten whole runs, each in a clone of its own.

Runs 1 to 5 are five conditions on a machine that should do nothing else; runs 6 to 10 are the same
with all processors loaded by programs that this script starts and ends. The commit is cloned.
ns-2 and the Python packages are copied from this checkout if they exist; all else is made anew.
Temporary files are beside the clone. What a run leaves running is ended, and counts as a fault.

Usage: prove.py [RUN...] [-- ARGUMENTS OF pytest...]; needs root, to give the host a name.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
FAR = "Pacific/Kiritimati"
if not Path("/usr/share/zoneinfo", FAR).exists():
    FAR = "<+14>-14"
# Folder of the clone, mask of files, name of the host, variables; {} is the number of the run.
CONDITIONS: list[tuple[str, int, str, dict[str, str]]] = [
    ("plain", 0o022, "", {}),
    ("a b", 0o022, "", {"BDPBENCH_TEST_ORDER": "{}"}),
    ("ü", 0o022, "", {"BDPBENCH_TEST_ORDER": "reversed", "LC_ALL": "C"}),
    ("plain", 0o077, "debian", {"TZ": FAR}),
    ("ü b", 0o077, "debian", {"BDPBENCH_TEST_ORDER": "{}", "LC_ALL": "C", "TZ": FAR}),
]
RUNS = range(1, 2 * len(CONDITIONS) + 1)
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(1_000_000))"
CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: what loses its parent becomes a child of this process


def end_children(grace_s: float = 0) -> int:
    """End all that this process has started, directly or not, and that does not end by itself.

    Returns how many processes that were.
    """
    running, deadline = 0, time.monotonic() + grace_s
    while children := CHILDREN.read_text().split():
        late = time.monotonic() >= deadline
        for child in map(int, children):
            if os.waitpid(child, os.WNOHANG) == (0, 0) and late:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                running += 1
        time.sleep(0.1)
    return running


def clone(place: Path) -> Path:
    """Clone the commit, and copy what takes minutes to make."""
    checkout = place / "clone"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, checkout], check=True)
    home = checkout / ".bdpbench"
    home.mkdir()
    for made in (ROOT / ".bdpbench" / "venv", ROOT / ".bdpbench" / "ns2"):
        if made.is_dir():
            subprocess.run(["cp", "-a", made, home], check=True)
    return checkout


def prove(run: int, arguments: list[str], work: Path) -> tuple[bool, str]:
    """Call the tests once; returns whether they passed, and a row of the table."""
    name, mask, host, variables = CONDITIONS[(run - 1) % len(CONDITIONS)]
    variables = {key: value.format(run) for key, value in variables.items()}
    loaded = run > len(CONDITIONS)
    os.umask(mask)
    place = work / name
    (place / "tmp").mkdir(parents=True)
    command = [str(clone(place) / "bdpbench"), "test", *arguments]
    if host:
        command = ["unshare", "--uts", "sh", "-c", f'hostname {host} && exec "$@"', "sh", *command]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("BDPBENCH_")}
    environment = kept | {"TMPDIR": str(place / "tmp")} | variables
    processors = os.sched_getaffinity(0) if loaded else ()
    load = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in processors]
    log, began = place / "log", time.monotonic()
    with log.open("wb") as stream:
        tests = subprocess.run(command, env=environment, stdout=stream, stderr=stream, check=False)
    seconds = time.monotonic() - began
    for each in load:
        each.kill()
        each.wait()
    left = end_children(grace_s=20)
    said = log.read_text(errors="replace")
    failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", said, re.MULTILINE)
    failed += [f"{left} processes left behind"] * (left > 0)
    passed = tests.returncode == 0 and not failed
    if not passed:
        print(said, flush=True)
    special = [f"in {name}/", f"umask {mask:03o}", *[f"host {host}"] * bool(host)]
    special += [f"{key}={value}" for key, value in variables.items()]
    special += [f"{len(load)} busy programs"] * loaded
    row = (run, ", ".join(special), ("FAILED", "passed")[passed], f"{seconds:.0f}",
           said.strip().rpartition("\n")[2].strip("= "), "<br>".join(failed))  # fmt: skip
    shutil.rmtree(place)
    return passed, f"| {' | '.join(map(str, row))} |"


def interrupted(number: int, _frame: object) -> NoReturn:
    """End by a signal as by an error: what runs is ended, and its files are removed."""
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def main() -> int:
    """Prove each of the runs that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="*", type=int, metavar="RUN", help="1 to 10; default: all")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    asked = parser.parse_args(words[:at])
    if not set(asked.runs) <= set(RUNS):
        parser.error("runs are 1 to 10")
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, interrupted)
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    print("| run | special | result | s | tests | failed |\n|--:|---|---|--:|---|---|", flush=True)
    all_passed = True
    with tempfile.TemporaryDirectory() as work:
        try:
            for run in asked.runs or RUNS:
                passed, row = prove(run, words[at + 1 :], Path(work))
                print(row, flush=True)
                all_passed &= passed
        finally:
            end_children()
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
