"""CPU time that bdpbench adds to each run of ns-2, and the start-up of its command line.

`python tests/benchmarks/orchestration.py`, after `./bdpbench ns2 build`. Two studies of tiny runs
that differ only in their number are run; what the larger takes more, less what ns-2 itself takes,
divided by the difference, is the cost of one more run. Fixed costs (the planning, Snakemake's own
start, the report's charting) cancel out.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMALL, LARGE = 20, 60
STUDY = """\
schema_version: 1
key: tiny
title: Tiny runs
protocols:
  Reno: {{label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}}
topologies:
  small:
    parameters: {{bottleneck_mbps: 5, bottleneck_delay_ms: 8, access_mbps: 50, access_delay_ms: 1,
                  receiver_delay_ms: 1, buffer_pkts: 20, packet_bytes: 1000}}
scenarios:
  tiny:
    title: Tiny
    topology: small
    parameters: {{protocol: Reno}}
    sweep: {{substream: {runs}}}
    flows: [{{}}]
    tiers: {{quick: [{{duration_s: 2}}]}}
"""


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "pipeline"),
        "BDPBENCH_CONFIG": str(folder / "config"),
        "BDPBENCH_RESULTS": str(folder / "results"),
    }


def _cpu_beyond_ns2_s(runs: int) -> float:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = folder / "config" / "studies" / "tiny" / "study.yaml"
        study.parent.mkdir(parents=True)
        study.write_text(STUDY.format(runs=list(range(1, runs + 1))))
        config = (ROOT / "config" / "config.yaml").read_text().replace("sharma2006", "tiny")
        (folder / "config" / "config.yaml").write_text(config)
        before = _children_cpu_s()
        subprocess.run(
            [sys.executable, "-m", "bdpbench", "run", "--backend", "native"],
            env=_environment(folder),
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        total = _children_cpu_s() - before
        records = list((folder / "results" / "runs").glob("*/run.json"))
        assert len(records) == runs
        return total - sum(json.loads(path.read_text())["cpu_s"] for path in records)


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _startup_s() -> float:
    times = []
    for _ in range(7):
        began = time.perf_counter()
        subprocess.run([str(ROOT / "bdpbench"), "--help"], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]


def main() -> None:
    """Print both figures."""
    small, large = _cpu_beyond_ns2_s(SMALL), _cpu_beyond_ns2_s(LARGE)
    print(f"CPU beyond ns-2, one more run: {(large - small) / (LARGE - SMALL):.3f} s")
    print(f"CPU beyond ns-2, fixed: {small - SMALL * (large - small) / (LARGE - SMALL):.2f} s")
    print(f"./bdpbench --help, median of 7: {_startup_s():.3f} s")


if __name__ == "__main__":
    main()
