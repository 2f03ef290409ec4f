from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

PATH_ARGUMENTS = (
    "[bottleneck_mbps, bottleneck_delay_ms, access_mbps, receiver_delay_ms, buffer_pkts]"
)

STUDY = """\
schema_version: 1
key: mine
title: A study of my own
protocols:
  Reno: {label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}
  NewReno: {label: NewReno, colour: "#993366", agent: TCP/Newreno, sink: TCPSink}
topologies:
  small:
    parameters:
      bottleneck_mbps: 10
      bottleneck_delay_ms: 18
      access_mbps: 100
      access_delay_ms: 1
      receiver_delay_ms: 1
      buffer_pkts: 50
      packet_bytes: 1000
scenarios:
  buffers:
    title: Two buffers
    topology: small
    sweep:
      protocol: [Reno, NewReno]
      buffer_pkts: [25, 50]
    flows:
      - {count: 2, stagger_s: 1}
    tiers:
      quick:
        - {duration_s: 5, only: {buffer_pkts: [25]}}
      paper:
        - {duration_s: 10}
"""


@pytest.fixture
def study_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Write the study with one text replaced, into a configuration folder of its own."""
    monkeypatch.setenv("BDPBENCH_CONFIG", str(tmp_path))

    def write(old: str = "", new: str = "") -> Path:
        assert old in STUDY
        path = tmp_path / "studies" / "mine" / "study.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUDY.replace(old, new, 1) if old else STUDY)
        return path

    return write


@pytest.fixture
def own_script(study_file: Callable[[str, str], Path]) -> Callable[..., Path]:
    """Write the study with a script of its own, ``tcl/own.tcl``, and more keys in its scenario."""

    def write(*lines: str, declared: str = "", **keys: str) -> Path:
        path = study_file("", "")
        head = path.read_text().split("    sweep:")[0]
        head = head.replace(
            "scenarios:",
            "output_sets:\n"
            "  one: [{file: a.out, table: cwnd, flow: 0}]\n"
            "  traced:\n"
            "    - {file: a.out, table: cwnd, flow: 0}\n"
            "    - {file: t.out, table: packets}\n"
            "scenarios:",
        )
        if declared:
            head = head.replace("protocols:", f"{declared}\nprotocols:", 1)
        given = {
            "script": "own.tcl",
            "arguments": PATH_ARGUMENTS,
            "parameters": "{protocol: Reno}",
            "defaults": "{Agent/TCP: {packetSize_: $packet_bytes}}",
            "flows": "[{}]",
            "outputs": "one",
            "tiers": "{quick: [{duration_s: 5}]}",
            **keys,
        }
        body = [f"    {key}: {value}" for key, value in given.items() if value]
        path.write_text("\n".join([head.rstrip(), *body, *lines]) + "\n")
        (path.parent / "tcl").mkdir(exist_ok=True)
        (path.parent / "tcl" / "own.tcl").write_text("puts hello\n")
        return path

    return write
