"""Runs scripts in child processes of an ns-2 that was started only once.

ns-2 takes 0.07 s to start, longer than most test scripts run. So each build is started once and
forks for each script (``forking.c``, ``forks.tcl``). A script finds the same state as in a process
of its own, and its output, exit status and signals are those of a process. Only its memory
addresses are those of its siblings: a test that runs do not depend on addresses has to start ns-2
twice.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.compiled import compiled
from tests.waiting import HANGS_S

from bdpbench.simulation.build import NS2_LOCALE

HERE = Path(__file__).resolve().parent


def compile_library(folder: Path) -> None:
    """Compile ``forking.c`` to ``forking.so``, which Tcl can load."""
    compiled(["gcc", "-Wall", "-shared", "-fPIC", HERE / "forking.c"], folder / "forking.so")


class Forks:
    """An ns-2 process and its children."""

    def __init__(self, ns: Path, library: Path) -> None:
        self.library = library
        self._command = [str(ns), str(HERE / "forks.tcl"), str(library)]
        self._process: subprocess.Popen[str] | None = None

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        out: Path,
        err: Path,
        *,
        timeout_s: float = HANGS_S,
    ) -> int:
        """Run a script with its arguments in a folder; its output goes to files.

        Returns its exit status, or the negative number of the signal that killed it.

        Raises:
            subprocess.TimeoutExpired: if it takes longer; it is killed.
        """
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        request = [str(folder), str(out), str(err), *command]
        process.stdin.write(tcl_list(request) + "\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(timeout_s):
                self._kill()
                raise subprocess.TimeoutExpired(list(command), timeout_s)
        return int(process.stdout.readline())

    def completed(self, command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Do the same, and return standard output and error as text."""
        with tempfile.TemporaryDirectory() as name:
            out, err = Path(name) / "out", Path(name) / "err"
            status = self.run(command, folder, out, err)
            return subprocess.CompletedProcess(
                list(command), status, out.read_text(), err.read_text()
            )

    def close(self) -> None:
        """End the process; it must have no child left."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={k: v for k, v in os.environ.items() if k != "DISPLAY"} | NS2_LOCALE,
                start_new_session=True,  # so that it can be killed with its child
            )
        return self._process

    def _kill(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._process = None


def tcl_list(words: Sequence[str]) -> str:
    """Words as a Tcl list on one line."""
    return " ".join(f'"{"".join(map(_escaped, word))}"' for word in words)


def _escaped(character: str) -> str:
    return character if character.isascii() and character.isalnum() else f"\\u{ord(character):04x}"
