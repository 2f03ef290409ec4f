"""CPU time that bdpbench adds to ns-2's, for runs, calls and planning, and how well it predicts it.

`PYTHONPATH=pipeline:. python tests/benchmarks/orchestration.py --runs 400 --runs 1000`, after
`./bdpbench ns2 build`, plans and runs a study of so many tiny runs, and runs it again. ns-2's own
CPU time, which each record contains, is subtracted. The cost of one more run is the difference
between the largest and the smallest study, divided by the difference in runs. `--plan 24000` plans
a study and simulates nothing. `--write` puts the table into docs/promises.md; durations of calls
and their predictions mean something only on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.calls import ROOT, Cost, cost_of, replace_in_docs

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
# CPU time without ns-2's, s, and the factor by which predicted and actual time may differ.
GOAL_S = 0.15
WITHIN = 1.3


@dataclass(frozen=True)
class Measured:
    """A study that was run: CPU time, s, of the whole call and its parts, and of a second call.

    Attributes:
        ns2_s: CPU time of ns-2 in the call, s.
        batches_s: CPU time of the batches without ns-2, s.
        planned: a call that only plans.
        expected_s: the duration that the call predicted, s.
        files: number of files in the results folder.
    """

    runs: int
    call: Cost
    ns2_s: float
    batches_s: float
    planned: Cost
    again_s: float
    expected_s: float
    report_mb: float
    files: int

    @property
    def own_s(self) -> float:
        """CPU time without ns-2's, s."""
        return self.call.cpu_s - self.ns2_s


def make_study(folder: Path, runs: int) -> dict[str, str]:
    """Write a study of so many runs; returns the environment for calls that run it."""
    study = folder / "config" / "studies" / "tiny" / "study.yaml"
    study.parent.mkdir(parents=True)
    study.write_text(STUDY.format(substreams=list(range(1, runs // _BUFFERS + 1))))
    config = (ROOT / "config" / "config.yaml").read_text().replace("sharma2006", "tiny")
    (folder / "config" / "config.yaml").write_text(config)
    return {
        "PYTHONPATH": str(ROOT / "pipeline"),
        "BDPBENCH_CONFIG": str(folder / "config"),
        "BDPBENCH_RESULTS": str(folder / "results"),
    }


def call(environment: dict[str, str], *arguments: str) -> tuple[Cost, str]:
    """Call bdpbench and measure it with all processes that it starts."""
    return cost_of([sys.executable, "-m", "bdpbench", *arguments], environment)


def measured(runs: int) -> Measured:
    """Plan a study of so many runs, run it, and run it again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = make_study(folder, runs)
        plan, _ = call(environment, "run", "--dry-run", "--backend", "native", "--json")
        first, said = call(environment, "run", "--backend", "native", "--json")
        results = folder / "results"
        batches = (results / "tiny" / "quick" / "batches").glob("*.done")
        batches_s = sum(json.loads(path.read_text())["own_cpu_s"] for path in batches)
        again, _ = call(environment, "run", "--backend", "native", "--quiet")
        records = list((results / "runs").rglob("run.json"))
        if len(records) != runs:
            raise RuntimeError(f"{len(records)} of {runs} runs have finished")
        return Measured(
            runs=runs,
            call=first,
            ns2_s=sum(json.loads(path.read_text())["cpu_s"] for path in records),
            batches_s=batches_s,
            planned=plan,
            again_s=again.cpu_s,
            expected_s=float(json.loads(said.splitlines()[0])["expected_s"]),
            report_mb=_report_bytes(results / "tiny" / "quick") / 1e6,
            files=sum(1 for _ in results.rglob("*")),
        )


def _report_bytes(folder: Path) -> int:
    beside = (folder / "report-data").glob("*")
    return sum(path.stat().st_size for path in (folder / "report.html", *beside))


def planned(runs: int) -> tuple[Cost, str]:
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


HEAD = (
    "runs",
    "planning",
    "ns-2",
    "beside ns-2, a run",
    "of it in batches",
    "predicted",
    "actual",
    "predicted / actual",
    "again",
    "peak memory",
    "files",
    "report",
)


def table(found: Sequence[Measured]) -> list[str]:
    """The results as a table in Markdown; times are CPU times, except predicted and actual."""
    rows = [
        (
            f"{each.runs:,}",
            f"{each.planned.cpu_s:.1f} s",
            f"{each.ns2_s:.1f} s",
            f"**{each.own_s / each.runs:.3f} s**",
            f"{each.batches_s / each.runs:.3f} s",
            f"{each.expected_s:.0f} s",
            f"{each.call.wall_s:.0f} s",
            f"{each.expected_s / each.call.wall_s:.2f}",
            f"{each.again_s:.1f} s",
            f"{each.call.peak_mb:.0f} MB",
            f"{each.files:,}",
            f"{each.report_mb:.1f} MB",
        )
        for each in found
    ]
    rule = ["---:"] * len(HEAD)
    return ["| " + " | ".join(row) + " |" for row in (HEAD, rule, *rows)]


def tell(found: Sequence[Measured]) -> None:
    """Print what was measured, and the cost of one more run."""
    print("\n".join(table(found)), flush=True)
    for each in found:
        if each.own_s / each.runs > GOAL_S:
            print(f"{each.runs} runs: more than {GOAL_S} CPU s per run beside ns-2")
        if not 1 / WITHIN <= each.expected_s / each.call.wall_s <= WITHIN:
            print(f"{each.runs} runs: the prediction is off by more than a factor of {WITHIN}")
    if len(found) > 1:
        least, most = found[0], found[-1]
        slope_s = (most.own_s - least.own_s) / (most.runs - least.runs)
        print(f"one more run: {slope_s:.3f} CPU s beside ns-2")
        print(f"a call without runs: {least.own_s - least.runs * slope_s:.2f} s")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, action="append", help="runs of a study, in tens")
    parser.add_argument("--plan", type=int, action="append", help="runs of a study to plan")
    parser.add_argument("--write", action="store_true", help="put the table into docs/promises.md")
    given = parser.parse_args()
    found = [measured(runs) for runs in sorted(given.runs or ([] if given.plan else [10, 400]))]
    if found:
        tell(found)
    if found and given.write:
        replace_in_docs("promises.md", "orchestration", table(found))
    for runs in given.plan or ():
        took, said = planned(runs)
        told = re.search(r'"runs": (\d+)', said)
        print(
            f"planning {told[1] if told else '?'} runs: {took.cpu_s:.1f} s of CPU, "
            f"{took.peak_mb:.0f} MB"
        )
    print(f"./bdpbench --help, median of 7: {help_s():.3f} s")


if __name__ == "__main__":
    main()
