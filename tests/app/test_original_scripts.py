"""A foreign script replaces bdpbench's own and runs through the whole workflow."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import relative

Run = Callable[..., "subprocess.CompletedProcess[str]"]

STUDY = """\
schema_version: 1
key: mine
title: A script from outside
protocols:
  HS: {label: HS-TCP, colour: "#336699"}
topologies:
  small:
    parameters:
      bottleneck_mbps: 8
      bottleneck_delay_ms: 9
      access_mbps: 100
      access_delay_ms: 0
      receiver_delay_ms: 1
      buffer_pkts: 20
      packet_bytes: 1000
      sample_s: 0.1
      queue_sample_s: 0.1
      substream: 1
output_sets:
  one: [{file: util.out, table: utilization, link: bottleneck}]
scenarios:
  flow:
    title: One flow
    topology: small
    script: sharma2006/single_flow.tcl
    arguments:
      [bottleneck_mbps, bottleneck_delay_ms, access_mbps, receiver_delay_ms, buffer_pkts, sample_s,
       queue_sample_s, substream]
    parameters: {protocol: HS}
    defaults: {Agent/TCP: {packetSize_: $packet_bytes}}
    flows: [{}]
    original:
      script: single_flow.tcl
      arguments: %s
      fixed: {bottleneck_mbps: 8, buffer_pkts: 20, packet_bytes: 1000%s}
      implied:
        bottleneck_delay_ms: its only link has 9 ms
        access_mbps: it has no access links
        access_delay_ms: it has no access links
        receiver_delay_ms: it has no access links
        sample_s: it records no cwnd
        queue_sample_s: it records no queue
        substream: it draws no random numbers
    outputs: one
    tiers:
      quick: [{duration_s: 2}]
"""

# Like the appendices: it sources utils.tcl from the working directory and has no path of its own.
SCRIPT = """\
set endtime [lindex $argv 0]
set flow_type [lindex $argv 1]
set DATADIR [lindex $argv 2]
source utils.tcl
set bandwidth 8
set ns [new Simulator]
set frep [open $DATADIR/report.txt w]
set urep [open $DATADIR/util.out w]
set qfp [open $DATADIR/queue.out w]
set n1 [$ns node]
set n2 [$ns node]
$ns duplex-link $n1 $n2 8Mb 9ms DropTail
$ns queue-limit $n1 $n2 20
set qmon [$ns monitor-queue $n1 $n2 ""]
set fmon2 [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $n2 $n1] $fmon2
set hstcp [$ns create-connection TCP/Sack1 $n1 TCPSink/Sack1 $n2 0]
puts $frep "minrto [$hstcp set minrto_] s"
set ftp [$hstcp attach-app FTP]
$ns at 0 "$ftp start"
set cfp_hs [open $DATADIR/cwnd.out w]
set tput_hs [open $DATADIR/tput.out w]
$ns at 0.1 "print-util 0.1 0"
$ns at $endtime finish
$ns run
"""


@pytest.fixture
def study(workspace: Path) -> Callable[[str], Path]:
    """A study of one scenario, and a folder with a script for it."""

    def write(arguments: str = "[duration_s, protocol, DATADIR]", fixed: str = "") -> Path:
        path = workspace / "config" / "studies" / "mine" / "study.yaml"
        path.parent.mkdir()
        path.write_text(STUDY % (arguments, fixed))
        folder = workspace / "originals"
        folder.mkdir()
        (folder / "single_flow.tcl").write_text(SCRIPT)
        return folder

    return write


def _record(workspace: Path) -> dict[str, object]:
    (path,) = (workspace / "results" / "runs").glob("*/*/run.json")
    record = json.loads(path.read_text())
    assert isinstance(record, dict)
    return record


def _simulate(workspace: Path, bdpbench: Run, folder: Path) -> subprocess.CompletedProcess[str]:
    """Simulate the study's only run, without the later stages."""
    planned = bdpbench("plan", "mine", "--scripts", str(folder))
    assert planned.returncode == 0, planned.stdout + planned.stderr
    (run_dir,) = (workspace / "results" / "runs").glob("*/*")
    return bdpbench("simulate", str(run_dir))


def test_scripts_of_the_command_line_are_run(
    workspace: Path, bdpbench: Run, study: Callable[..., Path]
) -> None:
    folder = study()
    done = bdpbench("run", "mine", "--backend", "native", "--scripts", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    record = _record(workspace)
    assert record["script"]["path"] == relative(folder / "single_flow.tcl")  # type: ignore[index]
    # ns-2.27's smallest timeout, which tcl/original.tcl sets; ns-2.35's is 0.2 s.
    assert "minrto 1 s" in str(record["ns2_report"])
    (run_dir,) = (workspace / "results" / "runs").glob("*/*")
    assert sha256_of(run_dir / "scripts" / "single_flow.tcl") == sha256_of(
        folder / "single_flow.tcl"
    )
    # Twenty bins of 0.1 s, from a flow that fills 8 Mbit/s within the first second.
    lines = (run_dir / "out" / "util.out").read_text().splitlines()
    assert len(lines) == 20
    assert float(lines[-1].split()[1]) == pytest.approx(8, abs=0.1)


def test_a_script_that_writes_into_a_folder_named_like_the_protocol(
    workspace: Path, bdpbench: Run, study: Callable[..., Path]
) -> None:
    folder = study("[protocol]", ", duration_s: 2")
    script = folder / "single_flow.tcl"
    text = SCRIPT.replace("[lindex $argv 0]", "2", 1).replace("$argv 1", "$argv 0")
    script.write_text(text.replace("[lindex $argv 2]", "$flow_type"))
    done = _simulate(workspace, bdpbench, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "out/util.out" in _record(workspace)["outputs"]  # type: ignore[operator]


def test_a_script_that_fails_is_named(
    workspace: Path, bdpbench: Run, study: Callable[..., Path]
) -> None:
    folder = study()
    (folder / "single_flow.tcl").write_text(SCRIPT.replace("makeflowmon", "makeflowmn"))
    done = _simulate(workspace, bdpbench, folder)
    assert done.returncode == 1
    assert "makeflowmn" in done.stdout + done.stderr
    assert f"the script is {folder / 'single_flow.tcl'}" in done.stdout + done.stderr


def test_scenarios_that_keep_their_script_are_told(
    workspace: Path, bdpbench: Run, study: Callable[..., Path]
) -> None:
    folder = study()
    path = workspace / "config" / "studies" / "mine" / "study.yaml"
    other = path.read_text().split("scenarios:\n")[1].replace("  flow:", "  other:")
    path.write_text(path.read_text() + other.replace("script: single_flow", "script: rtt"))
    done = bdpbench("run", "mine", "-n", "--scripts", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"other keeps its script: no script {folder / 'rtt.tcl'}" in done.stdout
    assert "flow keeps" not in done.stdout
