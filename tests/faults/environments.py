"""Calls of `run` without many things that a developer's machine has (needs root).

    BDPBENCH_HOME=.bdpbench PYTHONPATH=pipeline:. python tests/faults/environments.py

tests each of CONDITIONS alone. Conditions named on the command line are tested together, with two
studies that use the same results folder at the same time. Finally, a user runs a study in another
user's results folder, and has to be told that this is not possible.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from tests.faults.disturb import STREAMED

from bdpbench.contracts.paths import home_dir, repository_root

NOBODY = 65534
_SYSTEM = "/usr/bin:/bin:/usr/sbin:/sbin"
ODD_NAME = "a 'b' \"c\" $HOME {y} ü #%s=1"
CONDITIONS = {
    "user": "an ordinary user without sudo",
    "read-only": "a checkout that cannot be written",
    "no network": "no network after set-up",
    "no compiler": "no compiler after the build",
    "LANG=C": "LANG=C, LC_ALL=C",
    "odd paths": f"checkout, study and results in folders with the name {ODD_NAME}",
}
_CHECKOUT = ("bdpbench", "Snakefile", "config", "ns2", "pipeline", "reports", "tcl", "workflow")
# Names of compilers, assemblers and linkers, possibly with a version or a target machine.
_BUILDING = re.compile(
    r"(^|-)(cc|c\+\+|gcc|g\+\+|cpp|clang|clang\+\+|tcc|as|ld|make|c89|c99)(\b|-)"
)


@dataclass(frozen=True)
class Environment:
    """A copy of the checkout and an empty results folder, under some of CONDITIONS."""

    folder: Path
    conditions: Set[str]

    @property
    def place(self) -> Path:
        """The folder that contains the checkout, the studies and the results."""
        return self.folder / (ODD_NAME if "odd paths" in self.conditions else "plain")

    def make(self, *studies: str, owner: int = NOBODY) -> None:
        """Copy what git tracks and a run needs, and add small studies with a streamed run each."""
        (self.place / "results").mkdir(parents=True)
        (self.place / "checkout").mkdir()
        ignored = shutil.ignore_patterns("__pycache__", "published")
        for name in _CHECKOUT:
            source, copy = repository_root() / name, self.place / "checkout" / name
            if source.is_dir():
                shutil.copytree(source, copy, ignore=ignored)
            else:
                shutil.copy2(source, copy)
        if "user" in self.conditions:
            os.chown(self.place / "results", owner, owner)
        text = (repository_root() / "tests" / "data" / "dumbbell" / "study.yaml").read_text()
        text = text.rstrip("\n") + STREAMED
        for number, study in enumerate(studies):
            (self.place / study).mkdir()
            own = text.replace("key: dumbbell", f"key: {study}")
            own = re.sub(r"duration_s: \d+", f"duration_s: {20 + number}", own)
            (self.place / study / "study.yaml").write_text(own)

    def start(self, study: str) -> subprocess.Popen[str]:
        """Start a run of a study."""
        results = self.place / "results"
        environment = {**os.environ, "BDPBENCH_RESULTS": str(results)}
        environment |= {"BDPBENCH_HOME": str(home_dir()), "HOME": "/nonexistent"}
        for name in ("PYTHONPATH", "BDPBENCH_CONFIG", "BDPBENCH_ROOT", "BDPBENCH_NS", "LC_CTYPE"):
            environment.pop(name, None)
        if "LANG=C" in self.conditions:
            environment |= {"LANG": "C", "LC_ALL": "C"}
        if "no compiler" in self.conditions:
            environment["PATH"] = str(self._tools())
        program = str(self.place / "checkout" / "bdpbench")
        return subprocess.Popen(
            [*self._wrapped(), program, "run", str(self.place / study), "--backend", "native"],
            cwd=results if "user" in self.conditions else self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _tools(self) -> Path:
        """A folder with all programs of the system except those that build others."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        for path in (each for folder in _SYSTEM.split(":") for each in Path(folder).iterdir()):
            link = tools / path.name
            if not _BUILDING.search(path.name) and not link.is_symlink():
                link.symlink_to(path)
        return tools

    def _wrapped(self) -> list[str]:
        words: list[str] = []
        if "no network" in self.conditions:
            words += [_program("unshare"), "--net"]
        if "read-only" in self.conditions:
            # Root may write anywhere except on a disk that is mounted read-only.
            mount = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
            words += [_program("unshare"), "--mount", _program("bash"), "-c"]
            words += [f'PATH={_SYSTEM}; {mount}', "bash"]  # fmt: skip
            path = str(self._tools()) if "no compiler" in self.conditions else os.environ["PATH"]
            words += [str(self.place / "checkout"), _program("env"), f"PATH={path}"]
        if "user" in self.conditions:
            words += [_program("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}"]
            words += ["--clear-groups", "--no-new-privs", *_readable()]
        return words


def _program(name: str) -> str:
    found = shutil.which(name, path=_SYSTEM)
    if found is None:
        raise FileNotFoundError(name)
    return found


def _readable() -> list[str]:
    """Options that let the user read Python in root's private folder, and nothing more."""
    closed = [
        folder
        for path in (Path(sys.executable).resolve(), home_dir())
        for folder in path.parents
        if not folder.stat().st_mode & 0o001
    ]
    given = "-all,+dac_read_search" if closed else "-all"
    return [f"--inh-caps={given}", f"--ambient-caps={given}", f"--bounding-set={given}"]


def faults_of(environment: Environment, *studies: str) -> list[str]:
    """Faults of whole calls under the conditions, one for each study, all at the same time."""
    environment.make(*studies)
    faults: list[str] = []
    for study, call in [(study, environment.start(study)) for study in studies]:
        said, _ = call.communicate(timeout=600)
        report = environment.place / "results" / study / "quick" / "report.html"
        if call.returncode != 0 or "Traceback" in said:
            faults.append(f"{study}: exit status {call.returncode}: {said}")
        elif not report.is_file() or f"report: {report}" not in said:
            faults.append(f"{study}: no report, or not told where: {said}")
    written = list((environment.place / "checkout").rglob("__pycache__"))
    if "read-only" in environment.conditions and written:
        faults.append("something was written into the checkout")
    return faults


def faults_of_anothers_results(environment: Environment) -> list[str]:
    """Faults of a call by a user who does not own the results."""
    environment.make("mine", owner=0)
    call = environment.start("mine")
    said, _ = call.communicate(timeout=600)
    told = said.count("error: ") == 1 and "this user has no permission" in said
    return [] if told and call.returncode == 1 and "Traceback" not in said else [said]


def main() -> int:
    """Test each condition alone, or those on the command line together; returns the faults."""
    wanted = [sys.argv[1:]] if sys.argv[1:] else [[each] for each in CONDITIONS]
    wrong = 0
    for names in (*wanted, None):
        with tempfile.TemporaryDirectory() as name:
            Path(name).chmod(0o755)
            if names is None:
                told, environment = "results of another user", Environment(Path(name), {"user"})
                faults = faults_of_anothers_results(environment)
            else:
                studies = ("mine", "yours")[: 2 if len(names) > 1 else 1]
                told = ", ".join(names)
                faults = faults_of(Environment(Path(name), {*names}), *studies)
        wrong += bool(faults)
        print(f"{told}: {'; '.join(faults) or 'no fault'}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(), 1))
