"""CPU time that bdpbench takes beside ns-2: a run, a call, planning; and how well it is predicted.

`python tests/benchmarks/orchestration.py --runs 400 --runs 1000`, after `./bdpbench ns2 build`: a
study of so many tiny runs is planned, run, and run again. ns-2's own CPU time, which each record
has, is taken off. What the largest takes more than the smallest, divided by the difference, is the
cost of one more run. `--plan 24000` plans a study and simulates nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUDY = """\
schema_version: 1
key: tiny
title: Tiny runs
protocols:
  Reno: {{label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}}
topologies:
  small:
    parameters: {{bottleneck_mbps: 5, bottleneck_delay_ms: 8, access_mbps: 50, access_delay_ms: 1,
                  receiver_delay_ms: 1, packet_bytes: 1000}}
scenarios:
  tiny:
    title: Tiny
    topology: small
    parameters: {{protocol: Reno}}
    sweep:
      buffer_pkts: [10, 15, 20, 25, 30, 35, 40, 45, 50, 55]
      substream: {substreams}
    flows: [{{}}]
    tiers: {{quick: [{{duration_s: 2}}]}}
"""
_BUFFERS = 10


@dataclass(frozen=True)
class Took:
    """A call as a child: CPU and wall time, s, peak memory, MB, and what it said."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    said: str


@dataclass(frozen=True)
class Measured:
    """A study that was run: CPU time, s, of the whole call and of ns-2 in it, and of a second call.

    ``expected_s`` and ``wall_s``: how long it was said to take, and took.
    """

    runs: int
    cpu_s: float
    ns2_s: float
    again_s: float
    expected_s: float
    wall_s: float
    report_mb: float

    @property
    def own_s(self) -> float:
        """CPU time beside ns-2, s."""
        return self.cpu_s - self.ns2_s


def make_study(folder: Path, runs: int) -> dict[str, str]:
    """A study of so many runs; the environment of calls that run it."""
    study = folder / "config" / "studies" / "tiny" / "study.yaml"
    study.parent.mkdir(parents=True)
    study.write_text(STUDY.format(substreams=list(range(1, runs // _BUFFERS + 1))))
    config = (ROOT / "config" / "config.yaml").read_text().replace("sharma2006", "tiny")
    (folder / "config" / "config.yaml").write_text(config)
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "pipeline"),
        "BDPBENCH_CONFIG": str(folder / "config"),
        "BDPBENCH_RESULTS": str(folder / "results"),
    }


def call(environment: dict[str, str], *arguments: str) -> Took:
    """A call of bdpbench, with all that it starts."""
    before, began = _children_cpu_s(), time.monotonic()
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "bdpbench", *arguments],
            env=environment,
            stdout=said,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise RuntimeError(f"{arguments} ended with status {child.returncode}")
        said.seek(0)
        text = said.read()
    # What the child waited for counts as well.
    cpu_s = _children_cpu_s() - before
    return Took(cpu_s, time.monotonic() - began, used.ru_maxrss / 1e3, text)


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(runs: int) -> Measured:
    """Run a study of so many runs, and run it again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = make_study(folder, runs)
        first = call(environment, "run", "--backend", "native", "--json")
        again = call(environment, "run", "--backend", "native", "--quiet")
        records = list((folder / "results" / "runs").glob("*/run.json"))
        if len(records) != runs:
            raise RuntimeError(f"{len(records)} of {runs} runs have finished")
        ns2_s = sum(json.loads(path.read_text())["cpu_s"] for path in records)
        expected_s = float(json.loads(first.said.splitlines()[0])["expected_s"])
        report = folder / "results" / "tiny" / "quick" / "report.html"
        return Measured(
            runs,
            first.cpu_s,
            ns2_s,
            again.cpu_s,
            expected_s,
            first.wall_s,
            report.stat().st_size / 1e6,
        )


def planned(runs: int) -> Took:
    """Plan a study of so many runs, as `run` does."""
    with tempfile.TemporaryDirectory() as name:
        environment = make_study(Path(name), runs)
        return call(environment, "run", "--dry-run", "--backend", "native", "--json")


def help_s() -> float:
    """Median time of `./bdpbench --help`, s."""
    times = []
    for _ in range(7):
        began = time.perf_counter()
        subprocess.run([str(ROOT / "bdpbench"), "--help"], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]


def tell(found: Sequence[Measured]) -> None:
    """Print what was measured, and the cost of one more run."""
    for each in found:
        print(
            f"{each.runs} runs: {each.own_s:.1f} s of CPU beside the {each.ns2_s:.1f} s of ns-2, "
            f"{each.own_s / each.runs:.3f} s a run; wall {each.wall_s:.0f} s, expected "
            f"{each.expected_s:.0f} s; again {each.again_s:.1f} s; report {each.report_mb:.1f} MB",
            flush=True,
        )
    if len(found) > 1:
        least, most = found[0], found[-1]
        slope_s = (most.own_s - least.own_s) / (most.runs - least.runs)
        print(f"one more run: {slope_s:.3f} s of CPU beside ns-2")
        print(f"a call without runs: {least.own_s - least.runs * slope_s:.2f} s")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, action="append", help="runs of a study: tens")
    parser.add_argument("--plan", type=int, action="append", help="runs of a study to plan")
    given = parser.parse_args()
    tell([measured(runs) for runs in sorted(given.runs or ([] if given.plan else [10, 400]))])
    for runs in given.plan or ():
        took = planned(runs)
        told = re.search(r'"runs": (\d+)', took.said)
        print(
            f"planning {told[1] if told else '?'} runs: {took.cpu_s:.1f} s of CPU, "
            f"{took.peak_mb:.0f} MB"
        )
    print(f"./bdpbench --help, median of 7: {help_s():.3f} s")


if __name__ == "__main__":
    main()
