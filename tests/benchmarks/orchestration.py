"""CPU time that bdpbench adds to ns-2's, for runs, calls and planning.

`PYTHONPATH=pipeline:. python tests/benchmarks/orchestration.py --runs 400 --runs 1000`, after
`./bdpbench ns2 build`, plans and runs a study of so many tiny runs, and runs it again. ns-2's own
CPU time, which each record contains, is subtracted. The cost of one more run is the difference
between the largest and the smallest study, divided by the difference in runs. `--write` puts the
table into docs/promises.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
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
HEAD = ("runs", "planning", "ns-2", "beside ns-2, a run", "again", "peak memory", "files", "report")


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


def measured(runs: int) -> tuple[list[str], float]:
    """Plan a study of so many runs, run it, and run it again: a row, and CPU s beside ns-2."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = make_study(folder, runs)

        def call(*options: str) -> Cost:
            command = [sys.executable, "-m", "bdpbench", "run", "--backend", "native", *options]
            return cost_of(command, environment)[0]

        plan, first, again = call("--dry-run"), call("--json"), call("--quiet")
        results = folder / "results"
        records = list((results / "runs").rglob("run.json"))
        if len(records) != runs:
            raise SystemExit(f"{len(records)} of {runs} runs have finished")
        ns2_s = sum(json.loads(path.read_text())["cpu_s"] for path in records)
        tier = results / "tiny" / "quick"
        pages = (tier / "report.html", *(tier / "report-data").glob("*"))
        row = [
            f"{runs:,}",
            f"{plan.cpu_s:.1f} s",
            f"{ns2_s:.1f} s",
            f"**{(first.cpu_s - ns2_s) / runs:.3f} s**",
            f"{again.cpu_s:.1f} s",
            f"{first.peak_mb:.0f} MB",
            f"{sum(1 for _ in results.rglob('*')):,}",
            f"{sum(path.stat().st_size for path in pages) / 1e6:.1f} MB",
        ]
        return row, first.cpu_s - ns2_s


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, action="append", help="runs of a study, in tens")
    parser.add_argument("--write", action="store_true", help="put the table into docs/promises.md")
    given = parser.parse_args()
    sizes = sorted(given.runs or [10, 400])
    rows, own_s = zip(*map(measured, sizes), strict=True)
    lines = ["| " + " | ".join(row) + " |" for row in (HEAD, ["---:"] * len(HEAD), *rows)]
    print("\n".join(lines))
    if len(sizes) > 1:
        slope_s = (own_s[-1] - own_s[0]) / (sizes[-1] - sizes[0])
        print(f"one more run: {slope_s:.3f} CPU s beside ns-2")
        print(f"a call without runs: {own_s[0] - sizes[0] * slope_s:.2f} s")
    if given.write:
        replace_in_docs("promises.md", "orchestration", lines)


if __name__ == "__main__":
    main()
