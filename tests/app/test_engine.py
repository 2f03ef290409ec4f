"""What ``engine: ns3`` simulated is reported and archived as what it is."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from tests.app.conftest import call_here, said_by
from tests.needs import leave_out

from bdpbench.errors import BdpbenchError
from bdpbench.simulation import ns3_backend

STUDY = """
schema_version: 1
key: engines
title: One flow
protocols:
  Reno: {label: Reno, colour: "#6b7280", agent: TCP/Sack1, settings: {windowOption_: 1}}
topologies:
  path:
    parameters: {engine: ns3, bottleneck_mbps: 1, bottleneck_delay_ms: 2, access_mbps: 100,
                 rtt_ms: 20, buffer_bdp: 2, protocol: Reno}
scenarios:
  one: {title: One, topology: path, flows: [{}], summary: [goodput],
        tiers: {quick: [{duration_s: 1}]}}
"""


def test_an_archive_names_the_simulator_of_its_runs(tmp_path: Path) -> None:
    try:
        ns3_backend.require_ns3()
    except BdpbenchError:
        leave_out("no ns-3.37", ns3_backend.NS3_PACKAGES)
    folder = tmp_path / "engines"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY)
    environment = {**os.environ, "BDPBENCH_RESULTS": str(tmp_path / "results")}
    said_by(call_here(environment, "run", str(folder), "--quiet"))
    said_by(call_here(environment, "archive", str(folder)))
    archive = tmp_path / "results" / "engines" / "quick" / "engines-quick.zip"
    said_by(call_here({}, "verify", str(archive)))
    with zipfile.ZipFile(archive) as files:
        assert "run engines --tier quick" in files.read("README.md").decode()
        assert "ns-2.35 build" not in files.read("exports/captions.json").decode()
        assert "engines with ns-3.37, quick" in files.read("ro-crate-metadata.json").decode()
