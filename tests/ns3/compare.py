"""Compares the protocols of config/protocols with those of ns-3 on the same paths.

Run ``PYTHONPATH=pipeline:. python tests/ns3/compare.py`` after ``./bdpbench ns2 build``; it prints
the table of docs/protocols.md. It needs libns3-dev (Debian; 3.37 was used), and some six minutes of
processor time for the whole table, nearly all of it ns-3's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bdpbench.simulation.build import current_build_id, libraries_dir, require_build
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.folders import ProtocolFolder

HERE = Path(__file__).resolve().parent
PROTOCOLS = HERE.parent.parent / "config" / "protocols"
LIBRARIES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")

Found = dict[tuple[str, int], float]


@dataclass(frozen=True)
class Cell:
    """A path, and the protocol that two simulators have in common."""

    title: str
    folder: str
    ns3: str
    mbps: float
    rtt_ms: float
    buffer_pkts: int
    flows: int
    duration_s: float
    mark_pkts: int = 0
    hystart: bool = False


def cells() -> Iterator[Cell]:
    """What is compared."""
    for mbps in (20, 100):
        bdp_pkts = int(mbps * 50 / 8)
        for flows in (1, 2):
            yield Cell("CUBIC", "cubic", "TcpCubic", mbps, 50, bdp_pkts, flows, 60)
        yield Cell("CUBIC, HyStart", "cubic", "TcpCubic", mbps, 50, bdp_pkts, 1, 60, hystart=True)
    for mbps in (20, 100):
        for flows in (1, 2):
            yield Cell("DCTCP", "dctcp", "TcpDctcp", mbps, 10, 1000, flows, 20, mark_pkts=20)
    for mbps in (20, 100):
        yield Cell("BBR", "bbr", "TcpBbr", mbps, 50, int(mbps * 50 / 2), 1, 30)


def compiled_for_ns3(folder: Path) -> Path:
    """The program of path.cc."""
    program = folder / "path"
    libraries = [f"-lns3-{name}" for name in LIBRARIES]
    subprocess.run(
        ["g++", "-O2", "-std=c++17", str(HERE / "path.cc"), "-o", str(program), *libraries],
        check=True,
    )
    return program


def numbers(said: str) -> Found:
    """Lines ``name flow value``."""
    lines = (line.split() for line in said.splitlines())
    return {(line[0], int(line[1])): float(line[2]) for line in lines}


def in_ns3(program: Path, cell: Cell) -> Found:
    """What ns-3 finds on a path."""
    given = {
        "protocol": cell.ns3,
        "mbps": cell.mbps,
        "rtt_ms": cell.rtt_ms,
        "buffer_pkts": cell.buffer_pkts,
        "flows": cell.flows,
        "duration_s": cell.duration_s,
        "mark_pkts": cell.mark_pkts,
        "hystart": int(cell.hystart),
    }
    words = [f"--{name}={value}" for name, value in given.items()]
    done = subprocess.run([str(program), *words], check=True, capture_output=True, text=True)
    return numbers(done.stdout)


def in_ns2(ns2: Path, cell: Cell, folder: Path) -> Found:
    """What ns-2 finds on the same path."""
    protocol = ProtocolFolder(PROTOCOLS / cell.folder)
    compile_folder(protocol)
    settings = {"hystart_": float(cell.hystart)} if cell.folder == "cubic" else {}
    words = [str(word) for pair in (protocol.file.settings | settings).items() for word in pair]
    path = (cell.mbps, cell.rtt_ms, cell.buffer_pkts, cell.flows, cell.duration_s, cell.mark_pkts)
    done = subprocess.run(
        [str(ns2), str(HERE / "path.tcl"), *map(str, path), protocol.agent, *words],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "BDPBENCH_LIBRARIES": str(libraries_dir())},
    )
    found = numbers(done.stdout)
    for flow in range(cell.flows):
        cuts = list(cuts_of(folder / f"cwnd.{flow}", cell.duration_s / 3))
        found["cuts", flow] = len(cuts)
        found["kept", flow] = sum(cuts) / len(cuts) if cuts else 1
    return found


def cuts_of(traced: Path, from_s: float) -> Iterator[float]:
    """The share of cwnd that each cut leaves."""
    last = 0.0
    for line in traced.read_text().splitlines():
        time_s, *_, now = line.split()
        if float(time_s) > from_s and float(now) < last:
            yield float(now) / last
        last = float(now)


def row(cell: Cell, found: Found) -> list[str]:
    """Goodput, Jain's index, queue, cuts and the share that they leave."""
    goodputs = [found["goodput_mbps", flow] for flow in range(cell.flows)]
    jain = sum(goodputs) ** 2 / (cell.flows * sum(each**2 for each in goodputs))
    # BBR's states lower cwnd, too.
    counted = range(0 if cell.folder == "bbr" else cell.flows)
    cuts = sum(found["cuts", flow] for flow in counted)
    kept = sum(found["kept", flow] * found["cuts", flow] for flow in counted)
    return [
        f"{sum(goodputs):.1f}",
        f"{jain:.3f}" if cell.flows > 1 else "",
        f"{found['queue_pkts', 0]:.1f}",
        f"{cuts:.0f}" if counted else "",
        f"{kept / cuts:.3f}" if cuts else "",
    ]


def main() -> int:
    """Simulate all paths in both, and print what they find as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="protocols whose title begins so")
    given = parser.parse_args()
    os.nice(10)
    print("| protocol | Mbit/s | flows | simulator | goodput | Jain | queue | cuts | kept |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        program = compiled_for_ns3(Path(name))
        ns2 = require_build(current_build_id()).binary
        for cell in cells():
            if not cell.title.startswith(given.only):
                continue
            for simulator, found in (
                ("ns-3", in_ns3(program, cell)),
                ("ns-2", in_ns2(ns2, cell, Path(name))),
            ):
                where = [cell.title, f"{cell.mbps:g}", str(cell.flows), simulator]
                print(f"| {' | '.join([*where, *row(cell, found)])} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
