"""A study whose runs wait at gates, calls of `bdpbench run` on it, and the state of its jobs.

Its protocol is a folder outside the checkout.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.slurm import Slurm

from bdpbench.contracts.paths import run_folder

ROOT = Path(__file__).resolve().parents[2]
STUDY, TIER = "own_script", "quick"
GATES_VARIABLE = "BDPBENCH_TEST_GATES"
RATES = (10000, 200, 100, 50)
"""Rates of the way back, kbit/s, by which the runs are told; the cost model has them all equal."""

_TIMEOUT_S = 600.0
_POLL_S = 0.5
_GATE = """    if {[info exists ::env(%s)]} {
        while {![file exists $::env(%s)/[expr {int($back_kbps)}]]} {after 50}
    }
    new_simulator
"""


@dataclass(frozen=True)
class Workspace:
    """A configuration, a results folder, and gates: files that runs wait for."""

    folder: Path

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def tier(self) -> Path:
        return self.results / STUDY / TIER

    def make(self, **slurm: object) -> None:
        """Write the study, its protocol's folder and the settings under ``slurm:``."""
        study = self.folder / "config" / "studies" / STUDY
        shutil.copytree(ROOT / "config" / "studies" / "examples" / STUDY, study)
        shutil.copytree(ROOT / "config" / "protocols" / "aimd", self.folder / "mine")
        script = study / "tcl" / "narrow_back.tcl"
        gate = _GATE % (GATES_VARIABLE, GATES_VARIABLE)
        script.write_text(script.read_text().replace("    new_simulator\n", gate))
        text = (study / "study.yaml").read_text()
        text = text.replace("[10000, 200, 100]", str(list(RATES))).replace("30}", "5}")
        text = re.sub("  Reno: .*", f"  Reno: {{folder: {self.folder / 'mine'}}}", text)
        (study / "study.yaml").write_text(text)
        config = (ROOT / "config" / "config.yaml").read_text().partition("slurm:")[0]
        settings = json.dumps({"poll_s": 1, **slurm})
        config = config.replace("study: sharma2006", f"study: {STUDY}")
        (self.folder / "config" / "config.yaml").write_text(f"{config}slurm: {settings}\n")
        (self.folder / "gates").mkdir()

    def open(self, *rates: int) -> None:
        """Open the gates of the runs with these rates."""
        for rate in rates:
            (self.folder / "gates" / str(rate)).touch()

    def started(self, rate: int) -> bool:
        """Whether the run with this rate has started."""
        return any(run["back_kbps"] == rate for run in self.begun())

    def begun(self) -> list[dict[str, Any]]:
        """Parameters of the runs that batches have reported as started."""
        told = "".join(path.read_text() for path in sorted(self.tier.glob("batches/*.told")))
        ids = [line.split()[1] for line in told.splitlines() if line.startswith("begun")]
        return [self.parameters()[each] for each in ids]

    def parameters(self) -> dict[str, dict[str, Any]]:
        """Run id → parameters, from the plan."""
        plan = json.loads((self.tier / "plan.json").read_text())
        return {run["run_id"]: run["parameters"] for run in plan["runs"]}

    def run_folder(self, rate: int) -> Path:
        """Folder of the run with this rate."""
        ids = self.parameters()
        (found,) = (each for each in ids if ids[each]["back_kbps"] == rate)
        return run_folder(self.results / "runs", found)

    def record(self, rate: int) -> dict[str, Any]:
        """``run.json`` of the run with this rate."""
        record: dict[str, Any] = json.loads((self.run_folder(rate) / "run.json").read_text())
        return record

    def outputs(self) -> dict[str, str]:
        """Checksums of everything that the runs wrote, as recorded; tests compare them."""
        return {
            f"{rate}/{name}": output["sha256"]
            for rate in RATES
            for name, output in self.record(rate)["outputs"].items()
        }


@dataclass
class Call:
    """A call of `bdpbench run` in progress; its standard output and error go to files."""

    process: subprocess.Popen[bytes]
    said_in: Path
    events: list[dict[str, Any]] = field(default_factory=list)

    def wait_for(self, what: str, reached: Callable[[], bool]) -> None:
        """Wait until a condition holds; the call must not end before that."""
        deadline = time.monotonic() + _TIMEOUT_S
        while not reached():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"waited in vain for {what}; the call said:\n{self.said()}")
            time.sleep(_POLL_S)

    def end(self) -> int:
        """Wait for the end of the call; returns its exit status."""
        return self.process.wait(_TIMEOUT_S)

    def interrupt(self) -> int:
        """Press Ctrl-C; returns the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def said(self) -> str:
        """All of its output so far, including errors."""
        return self.said_in.read_text()

    def told(self, event: str) -> list[dict[str, Any]]:
        """The events of one kind that it has reported."""
        lines = [line for line in self.said().splitlines() if line.startswith("{")]
        return [each for each in map(json.loads, lines) if each["event"] == event]


def start(workspace: Workspace, slurm: Slurm | None, *options: str, command: str = "run") -> Call:
    """Start a call, on a cluster or on this machine; on a cluster, its runs wait at the gates."""
    environment = {
        **(slurm.environment() if slurm else os.environ),
        "PYTHONPATH": str(ROOT / "pipeline"),
        "BDPBENCH_CONFIG": str(workspace.folder / "config"),
        "BDPBENCH_RESULTS": str(workspace.results),
        **({GATES_VARIABLE: str(workspace.folder / "gates")} if slurm else {}),
    }
    profile = ("--profile", "slurm") if slurm else ("--backend", "native")
    said = workspace.folder / "said"
    with said.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "bdpbench", command, "--json", *profile, *options],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Call(process, said)


def ours(jobs: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Ids and states of the jobs that bdpbench has submitted."""
    return [(job, state) for job, state, name in jobs if name.startswith("bdpbench-")]
