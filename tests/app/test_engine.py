"""What `run --engine ns3` simulated is reported, checked, archived and published as selected."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.app.conftest import call_here, check_refused, said_by
from tests.needs import leave_out

from bdpbench.errors import BdpbenchError
from bdpbench.simulation import ns3_backend
from bdpbench.studies.plan import Selection

STUDY = """
schema_version: 1
key: engines
title: What one engine has and another has not
protocols:
  Reno: {label: Reno, colour: "#6b7280", agent: TCP/Sack1, settings: {windowOption_: 1}}
  FAST: {label: FAST, colour: "#0b66c3", agent: TCP/Fast}
topologies:
  path:
    parameters:
      {bottleneck_mbps: 1, bottleneck_delay_ms: 2, access_mbps: 100, rtt_ms: 20, buffer_bdp: 2}
scenarios:
  one: {title: One, topology: path, sweep: &all {protocol: [Reno, FAST]}, flows: [{}],
        summary: [goodput], tiers: &second {quick: [{duration_s: 1}]}}
  two: {title: Two, topology: path, sweep: *all, flows: [{}, {}],
        summary: [goodput], tiers: *second}
"""


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., str]:
    """Calls a command about the study, and returns what it prints."""
    try:
        ns3_backend.require_ns3()
    except BdpbenchError:
        leave_out("no ns-3.37", ns3_backend.NS3_PACKAGES)
    folder = tmp_path / "engines"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY)
    environment = {**os.environ, "BDPBENCH_RESULTS": str(tmp_path / "results")}

    def command(name: str, *arguments: str) -> str:
        done = call_here(environment, name, str(folder), "--engine", "ns3", *arguments)
        return said_by(done) if done.returncode == 0 else done.stderr

    return command


def test_what_was_run_with_an_engine_is_kept_as_it_was_selected(
    call: Callable[..., str], tmp_path: Path
) -> None:
    assert "nothing of the tier was run with --engine ns3" in call("report")
    assert "nothing of the tier was run with --engine ns3" in call("check")
    call("run", "--quiet", "--scenario", "one", "--protocol", "Reno")
    call("run", "--quiet", "--scenario", "two", "--protocol", "Reno")
    assert "no counterpart" in (refused := call("run")) or "ns-3 cannot simulate" in refused
    tier = tmp_path / "results" / "engines" / "quick-ns3"
    page = (tier / "report.html").read_bytes()
    call("report")
    assert (tier / "report.html").read_bytes() == page
    assert "no number of the study was run" in call("check")  # as of ns-2: it prints none

    call("archive")
    archive = tier / "engines-quick-ns3.zip"
    said_by(call_here({}, "verify", str(archive)))
    with zipfile.ZipFile(archive) as files:
        words = "run engines --tier quick --engine ns3 --scenario one --scenario two"
        assert words in files.read("README.md").decode()
        assert "ns-2.35 build" not in files.read("exports/captions.md").decode()
        assert "engines with ns-3.37, quick" in files.read("ro-crate-metadata.json").decode()
        plan = json.loads(files.read("plan.json"))
    assert [(run["scenario"], *run["protocols"]) for run in plan["runs"]] == [
        ("one", "Reno"),
        ("two", "Reno"),
    ]

    out = tmp_path / "published"
    call("publish", "-o", str(out))
    kept = out / "engines-ns3"
    provenance = json.loads((kept / "provenance.json").read_text())
    assert provenance["engine"] == "ns3"
    assert provenance["groups"] == [["one", "Reno"], ["two", "Reno"]]
    published = (kept / "report.html").read_bytes()
    shutil.rmtree(tmp_path / "results")
    call("publish", "-o", str(out))
    assert (kept / "report.html").read_bytes() == published
    refused = call_here({}, "report", str(kept), "--engine", "ns3", "--export", str(tmp_path / "e"))
    check_refused(refused, "what is published knows its engine")


def test_a_selection_of_groups_wants_nothing_else() -> None:
    selection = Selection(groups=(("one", "Reno"), ("two", "CUBIC", "Reno")))
    assert selection.wants_group(("two", "CUBIC", "Reno"))
    assert not selection.wants_group(("one", "CUBIC"))
    assert selection.wants_scenario("one")
    assert not selection.wants_scenario("three")
    assert Selection(("one",), ("Reno",)).wants_group(("one", "CUBIC", "Reno"))
    assert not Selection(("one",), ("Reno",)).wants_group(("one", "CUBIC"))
