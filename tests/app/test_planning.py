"""Planning refuses, with file and line, whatever would be refused after the simulation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.app.planning import Wanted, prepare
from bdpbench.contracts.paths import relative
from bdpbench.errors import BdpbenchError

BUILD = "0123456789abcdef"
STUDY = """\
schema_version: 1
key: mine
title: Two buffers
protocols:
  Reno: {label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}
topologies:
  path:
    parameters:
      bottleneck_mbps: 10
      bottleneck_delay_ms: 18
      access_mbps: 100
      access_delay_ms: 1
      receiver_delay_ms: 1
      packet_bytes: 1000
scenarios:
  buffers:
    title: Two buffers
    topology: path
    summary: [utilization]
    parameters: {protocol: Reno}
    sweep: {buffer_pkts: [25, 50]}
    flows: [{}]
    tiers: {quick: [{duration_s: 5}]}
"""
HEADER = (
    "id,part_of,where,page,scenario,select,metric,subject,value,lower,upper,unit,how,found,chosen_on,"
    "why,known_miss,note\n"
)
ROW = (
    "a,,Table 1,1,buffers,{select},{metric},link:bottleneck,90,89,91,%,stated,chosen on,full,"
    "a digit,,\n"
)
CLAIM = """\
- id: full
  where: Section 1
  found: chosen on
  chosen_on: [full]
  statement: The link is full.
  kind: compare
  left: {scenario: buffers, select: {buffer_pkts: 25}, metric: utilization}
  op: ">"
  right: 90
"""
HISTORY = """\
- date: 2026-11-21
  commit: 0123abc
  what: bounds
  published: true
  of: [fall]
  before: 90 % or more
  after: more than 90 %
  why: so that it can fail
"""
MATRIX = """\
matrices:
  - scenario: bufers
    metric: utilization
    rows: {parameter: protocol, title: of}
    columns: {parameter: buffer_pkts, title: over}
    ends: [0, 100]
    caption: Utilization.
"""


@pytest.fixture
def plan(tmp_path: Path) -> Callable[[], None]:
    """Plan the study in ``tmp_path/mine``, which lies outside any checkout."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "study.yaml").write_text(STUDY)

    def call() -> None:
        folder = str(tmp_path / "mine")
        prepared = prepare(Wanted(folder, "quick", results=tmp_path / "results", build_id=BUILD))
        assert len(prepared.missing) == 2
        assert prepared.plan["folder"] == relative(Path(folder))

    return call


def _write(folder: Path, name: str, text: str) -> None:
    (folder / "mine" / name).write_text(text)


def test_a_study_that_expects_what_it_runs_is_planned(
    plan: Callable[[], None], tmp_path: Path
) -> None:
    row = ROW.format(select="buffer_pkts=25", metric="utilization")
    _write(tmp_path, "published.csv", HEADER + row)
    _write(tmp_path, "claims.yaml", CLAIM)
    _write(tmp_path, "history.yaml", HISTORY.replace("fall", "f*"))
    plan()


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        (
            "study.yaml",
            STUDY.replace("[utilization]", "[utilisation]"),
            19,
            "did you mean 'utilization'",
        ),
        (
            "study.yaml",
            STUDY.replace("[utilization]", "[]\n    tradeoffs: [[utilization, goodputt]]"),
            20,
            "did you mean 'goodput'",
        ),
        (
            "study.yaml",
            STUDY.replace("[utilization]", "[]\n    tradeoffs: [[utilization]]"),
            20,
            "at least 2 items",
        ),
        (
            "study.yaml",
            STUDY.replace("[utilization]", "[]\n    tradeoffs: [[goodput, goodput]]"),
            20,
            "goodput cannot be drawn against itself",
        ),
        (
            "study.yaml",
            STUDY.replace(
                "[utilization]",
                "[]\n    tradeoffs: [[goodput, utilization], [goodput, utilization]]",
            ),
            20,
            "utilization against goodput is given twice",
        ),
        (
            "study.yaml",
            STUDY.replace(
                "[utilization]", "[]\n    tradeoffs: [[p95_flow_completion_time, utilization]]"
            ),
            20,
            "no run of buffers has p95_flow_completion_time",
        ),
        (
            "published.csv",
            HEADER + ROW.format(select="buffer_pkts=26", metric="utilization"),
            2,
            "26",
        ),
        ("claims.yaml", CLAIM.replace("buffer_pkts", "buffer_pkt"), 7, "'buffer_pkts'"),
        (
            "claims.yaml",
            CLAIM.replace("[full]", "[fall]"),
            4,
            "no number or statement is called 'fall'\n  hint: did you mean 'full'?",
        ),
        ("history.yaml", HISTORY, 5, "no number or statement is called 'fall'"),
        (
            "matrices.yaml",
            MATRIX,
            2,
            "'buffers'",
        ),
    ],
)
def test_what_no_run_can_show_is_told_with_its_line(
    plan: Callable[[], None], tmp_path: Path, name: str, text: str, line: int, said: str
) -> None:
    _write(tmp_path, "claims.yaml", CLAIM)
    _write(tmp_path, name, text)
    with pytest.raises(BdpbenchError) as caught:
        plan()
    assert f"{tmp_path / 'mine' / name}:{line}: " in str(caught.value)
    assert said in str(caught.value)
    assert not (tmp_path / "results").exists()
