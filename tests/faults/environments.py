"""A call of `run` without many things that a developer's machine has (needs root).

    BDPBENCH_HOME=.bdpbench PYTHONPATH=$PWD/pipeline:$PWD python tests/faults/environments.py

An ordinary user without sudo or a home folder runs two studies at the same time, into the same
results, from a checkout that cannot be written, without a network, without compilers, with LANG=C,
and with odd names of all folders. Then he runs a study in results of root, and is told.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.disturb import STREAMED

from bdpbench.contracts.paths import home_dir, repository_root

NOBODY = 65534
ODD_NAME = "a 'b' \"c\" $HOME {y} ü #%s=1"
SYSTEM = "/usr/bin:/bin:/usr/sbin:/sbin"
CHECKOUT = ("bdpbench", "Snakefile", "config", "ns2", "pipeline", "reports", "tcl", "workflow")
# Names of compilers, assemblers and linkers, possibly with a version or a target machine.
BUILDING = re.compile(r"(^|-)(cc|c\+\+|gcc|g\+\+|cpp|clang|clang\+\+|tcc|as|ld|make|c89|c99)(\b|-)")
# Root may write anywhere except on a disk that is mounted read-only.
MOUNTED = """
    PATH={system}
    mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"
"""


def make(folder: Path) -> Path:
    """Copy what git tracks and a run needs, without programs that build; returns the place."""
    place, tools = folder / ODD_NAME, folder / "tools"
    for each in (place / "results", place / "checkout", tools):
        each.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", "published")
    for name in CHECKOUT:
        source, copy = repository_root() / name, place / "checkout" / name
        if source.is_dir():
            shutil.copytree(source, copy, ignore=ignored)
        else:
            shutil.copy2(source, copy)
    text = (repository_root() / "tests" / "data" / "dumbbell" / "study.yaml").read_text()
    for number, study in enumerate(("mine", "yours")):
        (place / study).mkdir()
        own = text.rstrip("\n").replace("key: dumbbell", f"key: {study}") + STREAMED
        own = re.sub(r"duration_s: \d+", f"duration_s: {20 + number}", own)
        (place / study / "study.yaml").write_text(own)
    for path in (each for name in SYSTEM.split(":") for each in Path(name).iterdir()):
        if not BUILDING.search(path.name) and not (tools / path.name).is_symlink():
            (tools / path.name).symlink_to(path)
    return place


def start(place: Path, study: str) -> subprocess.Popen[str]:
    """Start a run of a study."""
    unset = ("PYTHONPATH", "BDPBENCH_CONFIG", "BDPBENCH_ROOT", "BDPBENCH_NS", "LC_CTYPE")
    environment = {name: value for name, value in os.environ.items() if name not in unset} | {
        **dict(BDPBENCH_RESULTS=str(place / "results"), BDPBENCH_HOME=str(home_dir())),
        **dict(HOME="/nonexistent", LANG="C", LC_ALL="C", PATH=str(place.parent / "tools")),
    }
    # The user may read Python in root's private folder, and nothing more.
    parents = (
        each for path in (Path(sys.executable).resolve(), home_dir()) for each in path.parents
    )
    closed = any(not folder.stat().st_mode & 0o001 for folder in parents)
    rights = "-all,+dac_read_search" if closed else "-all"
    command = [
        *(tool("unshare"), "--net", "--mount", tool("bash"), "-c", MOUNTED.format(system=SYSTEM)),
        *("bash", str(place / "checkout"), tool("env"), f"PATH={place.parent / 'tools'}"),
        *(tool("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *("--no-new-privs", *(f"--{kind}={rights}" for kind in
                              ("inh-caps", "ambient-caps", "bounding-set"))),
        *(str(place / "checkout" / "bdpbench"), "run", str(place / study), "--backend", "native"),
    ]  # fmt: skip
    return subprocess.Popen(
        command,
        cwd=place / "results",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def tool(name: str) -> str:
    """Path of a program of the system."""
    return str(shutil.which(name, path=SYSTEM))


def faults(place: Path) -> list[str]:
    """What is wrong with the calls."""
    found = list[str]()
    # Results of root.
    said, _ = (call := start(place, "mine")).communicate(timeout=600)
    told = said.count("error: ") == 1 and "this user has no permission" in said
    if not told or call.returncode != 1 or "Traceback" in said:
        found.append(f"results of another user: {said}")
    os.chown(place / "results", NOBODY, NOBODY)
    for study, call in [(each, start(place, each)) for each in ("mine", "yours")]:
        said, _ = call.communicate(timeout=600)
        report = place / "results" / study / "quick" / "report.html"
        if call.returncode != 0 or "Traceback" in said:
            found.append(f"{study}: exit status {call.returncode}: {said}")
        elif not report.is_file() or f"report: {report}" not in said:
            found.append(f"{study}: no report, or not told where: {said}")
    if list((place / "checkout").rglob("__pycache__")):
        found.append("something was written into the checkout")
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)
        wrong = faults(make(Path(scratch)))
    print("\n".join(wrong) or "no fault")
    sys.exit(bool(wrong))
