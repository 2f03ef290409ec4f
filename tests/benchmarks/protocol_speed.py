"""How fast a protocol that is a folder is, beside the same law linked into ns-2.

    PYTHONPATH=pipeline:. python tests/benchmarks/protocol_speed.py --rounds 5

Builds an ns-2 into which AIMD of config/protocols is linked, and runs the same simulation with both
in turn; the ratio is that of processor times. Then it edits a copy of the folder and measures the
time until a run of one simulated second has ended, which is later than its first packet.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bdpbench.contracts.paths import repository_root
from bdpbench.simulation.build import current_build_id, libraries_dir, require_build
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.folders import ProtocolFolder

ROOT = repository_root()
AIMD = ROOT / "config" / "protocols" / "aimd"
SCRIPT = """
lassign $argv class duration_s
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 622Mb 25ms DropTail
$ns queue-limit $a $b 2000
set tcp [new Agent/$class]
$tcp set window_ 100000
set sink [new Agent/TCPSink/Sack1]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0 "$ftp start"
$ns at $duration_s {exit 0}
$ns run
"""
LOAD = "void ProtocolTcpAgent::load()\n{\n"
STUDY = """
schema_version: 1
key: study
title: The first packet
protocols: {Mine: {folder: ../mine}}
topologies:
  path:
    parameters: {bottleneck_mbps: 10, bottleneck_delay_ms: 10, access_mbps: 100, rtt_ms: 40,
      buffer_bdp: 1, protocol: Mine}
scenarios:
  one: {title: One, topology: path, flows: [{}], tiers: {quick: [{duration_s: 1}]}}
"""


def with_the_law_inside(folder: Path) -> Path:
    """An ns-2 whose protocols are all AIMD, which is compiled into it."""
    shutil.copytree(ROOT / "ns2", folder / "ns2")
    agent = folder / "ns2" / "agents" / "protocol_agent.cc"
    text = agent.read_text()
    law = (AIMD / "law.cc").read_text()
    text = text.replace(LOAD, f"{LOAD}\tmake_ = bdpbench_protocol;\n\treturn;\n")
    start = text.rindex("/**", 0, text.index("class ProtocolTcpAgent"))
    agent.write_text(text[:start] + law + text[start:])
    script = ["bash", str(folder / "ns2" / "build.sh"), "--prefix", str(folder / "builds")]
    done = subprocess.run(script, check=True, capture_output=True, text=True)
    return Path(
        done.stdout.split()[-1] if done.stdout.strip() else next(folder.glob("builds/*/ns"))
    )


def cpu_s(ns2: Path, duration_s: int, folder: Path) -> float:
    """Processor time of a simulation, s."""
    agent = ProtocolFolder(AIMD).agent
    script = folder / "path.tcl"
    script.write_text(SCRIPT)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(
        [str(ns2), str(script), agent, str(duration_s)],
        check=True,
        capture_output=True,
        cwd=folder,
        env={**os.environ, "BDPBENCH_LIBRARIES": str(libraries_dir())},
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def to_the_end_of_a_run_s(folder: Path, number: int) -> float:
    """Time from saving the law until one second has been simulated with it, s."""
    law = folder / "mine" / "law.cc"
    text = (AIMD / "law.cc").read_text()
    law.write_text(f"{text}\nint edit() {{ return {number}; }}\n")
    saved = time.monotonic()
    command = [sys.executable, "-m", "bdpbench", "run", "--json", "--backend", "native"]
    process = subprocess.Popen(
        [*command, str(folder / "study")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "BDPBENCH_RESULTS": str(folder / "results")},
    )
    assert process.stdout is not None
    took_s = 0.0
    for line in process.stdout:
        if line.startswith("{") and json.loads(line)["event"] == "run_ended":
            took_s = time.monotonic() - saved
    process.wait()
    return took_s


def main() -> int:
    """Print both figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--duration", type=int, default=30, help="simulated seconds")
    given = parser.parse_args()
    compile_folder(ProtocolFolder(AIMD))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inside, loaded = with_the_law_inside(folder), require_build(current_build_id()).binary
        ratios = []
        for _ in range(given.rounds):
            built_in = cpu_s(inside, given.duration, folder)
            ratios.append(built_in / cpu_s(loaded, given.duration, folder))
            print(f"built in {built_in:.2f} s, a folder {ratios[-1]:.3f} times as fast", flush=True)
        print(f"median: {statistics.median(ratios):.3f} times as fast as built in")
        shutil.copytree(AIMD, folder / "mine")
        (folder / "study").mkdir()
        (folder / "study" / "study.yaml").write_text(STUDY)
        took = [to_the_end_of_a_run_s(folder, number) for number in range(given.rounds)]
        print(f"from saving to the end of a run of 1 s: {statistics.median(took):.1f} s (median)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
