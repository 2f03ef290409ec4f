"""What a study names of ns-2 is checked in the real ns-2; errors give file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.needs import leave_out

from bdpbench.app.planning import Wanted, prepare
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import Ns2Build, current_build_id, find_build, unknown_to_ns2
from bdpbench.studies.load import declared_by, load_study, study_keys

STUDY = """\
schema_version: 1
key: mine
title: A study of my own
defaults: {Agent/TCP: {window_: 1000}}
protocols:
  Reno:
    label: Reno
    colour: "#336699"
    agent: TCP/Reno
    sink: TCPSink
    settings: {maxburst_: 2}
    record: [ssthresh_]
  Cubic:
    label: CUBIC of Linux
    colour: "#993366"
    agent: TCP/Linux
    sink: TCPSink/Sack1
    linux: cubic
    linux_parameters: {beta: 717}
queues:
  Mine: {kind: RED, settings: {min_th_pkts: 5}}
topologies:
  path:
    parameters:
      bottleneck_mbps: 20
      bottleneck_delay_ms: 28
      access_mbps: 100
      access_delay_ms: 1
      receiver_delay_ms: 1
      buffer_pkts: 60
      packet_bytes: 1000
scenarios:
  shared:
    title: One flow
    topology: path
    sweep: {protocol: [Reno, Cubic]}
    flows: [{}]
    tiers: {quick: [{duration_s: 3}]}
"""


@pytest.fixture
def build(ns_binary: Path) -> Ns2Build:
    found = find_build(current_build_id())
    return found or Ns2Build("given", ns_binary, {})


def _study(folder: Path, old: str, new: str) -> Path:
    assert old in STUDY
    path = folder / "mine" / "study.yaml"
    path.parent.mkdir()
    path.write_text(STUDY.replace(old, new, 1))
    return path


@pytest.mark.parametrize("key", study_keys())
def test_ns2_has_all_that_a_study_names(key: str, build: Ns2Build) -> None:
    declared = declared_by(load_study(key))
    assert {"agent", "sink", "variable"} <= {each.kind for each in declared}
    assert unknown_to_ns2(build, declared) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("maxburst_: 2", "maxbust_: 2", 11, "Agent/TCP/Reno of this ns-2 has no variable"),
        ("[ssthresh_]", "[ssthres_]", 12, "Agent/TCP/Reno of this ns-2 has no variable"),
        ("agent: TCP/Reno", "agent: TCP/Rino", 9, "this ns-2 has no Agent/TCP/Rino"),
        ("agent: TCP/Reno", "agent: TCPSink", 9, "expected a kind of Agent/TCP"),
        ("sink: TCPSink\n", "sink: TCP/Reno\n", 10, "expected a kind of Agent/TCPSink"),
        ("linux: cubic", "linux: qbic", 18, "no congestion control 'qbic'"),
        ("{beta: 717}", "{bta: 717}", 19, "cubic of this ns-2 has no parameter 'bta'"),
        ("window_: 1000", "windows_: 1000", 4, "Agent/TCP of this ns-2 has no variable"),
    ],
)
def test_what_ns2_lacks_is_refused_at_planning(
    tmp_path: Path, build: Ns2Build, old: str, new: str, line: int, told: str
) -> None:
    if build.build_id == "given":
        leave_out("planning asks for the build of this checkout", "unset BDPBENCH_NS")
    path = _study(tmp_path, old, new)
    with pytest.raises(BdpbenchError, match=told) as caught:
        prepare(Wanted(str(path.parent), "quick", results=tmp_path, build_id=build.build_id))
    assert caught.value.where == f"{path}:{line}"


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("linux: cubic\n    linux_parameters: {beta: 717}", "linux: bbr", "protocols/bbr}"),
        ("agent: TCP/Reno", "agent: TCP/DCTCP", "protocols/dctcp}"),
        ("agent: TCP/Reno", "agent: MPTCP", "docs/elsewhere.md"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(
    tmp_path: Path, build: Ns2Build, old: str, new: str, hint: str
) -> None:
    if build.build_id == "given":
        leave_out("planning asks for the build of this checkout", "unset BDPBENCH_NS")
    path = _study(tmp_path, old, new)
    with pytest.raises(BdpbenchError) as caught:
        prepare(Wanted(str(path.parent), "quick", results=tmp_path, build_id=build.build_id))
    assert hint in caught.value.hint


def test_a_congestion_control_may_have_an_underscore(tmp_path: Path, build: Ns2Build) -> None:
    path = _study(tmp_path, "linux: cubic\n    linux_parameters: {beta: 717}", "linux: naive_reno")
    assert unknown_to_ns2(build, declared_by(load_study(str(path.parent)))) == []


def test_an_ns2_that_does_not_answer_is_told(tmp_path: Path) -> None:
    binary = tmp_path / "ns"
    binary.write_text("#!/bin/sh\nexit 3\n")
    binary.chmod(0o755)
    with pytest.raises(BdpbenchError, match="does not answer"):
        unknown_to_ns2(Ns2Build("broken", binary, {}), declared_by(load_study(study_keys()[0])))
