"""Planning refuses, with file and line, whatever would be refused after the simulation.

What it refuses in each file of expectations is a table beside the tests of ``score``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from bdpbench.app import planning
from bdpbench.app.planning import Wanted, prepare
from bdpbench.contracts.paths import relative
from bdpbench.errors import BdpbenchError

STUDY = """\
schema_version: 1
key: mine
title: Two buffers
protocols:
  Reno: {label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}
topologies:
  path:
    parameters: {bottleneck_mbps: 10, bottleneck_delay_ms: 18, access_mbps: 100,
                 access_delay_ms: 1, receiver_delay_ms: 1, packet_bytes: 1000}
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
ROW = "a,,T,1,buffers,{},utilization,link:bottleneck,90,89,91,%,stated,chosen on,full,a digit,,\n"
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
CHANGE = {"date": "2026-11-21", "what": "bounds", "published": True}
CHANGE |= {"before": "more", "after": "less", "why": "it can fail"}
MATRIX = """\
matrices:
  - scenario: bufers
    metric: utilization
    rows: {parameter: protocol, title: of}
    columns: {parameter: buffer_pkts, title: over}
    ends: [0, 100]
    caption: Utilization.
"""


def _history(*of: str) -> str:
    return str(yaml.safe_dump([{"of": list(of), **CHANGE}], sort_keys=False))


def _study(summary: str) -> str:
    return STUDY.replace("[utilization]", summary)


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., None]:
    """Plan the study in ``tmp_path/mine``, which lies outside any checkout, with more files."""
    folder = tmp_path / "mine"
    folder.mkdir()

    def call(**files: str) -> None:
        for name, text in {"study_yaml": STUDY, "claims_yaml": CLAIM, **files}.items():
            (folder / name.replace("_", ".")).write_text(text)
        wanted = Wanted(str(folder), "quick", results=tmp_path / "results", build_id="0" * 16)
        prepared = prepare(wanted)
        assert len(prepared.missing) == 2
        assert prepared.plan["folder"] == relative(folder)
        made_by = planning.evaluation_checksum(folder)
        assert prepared.plan["evaluation_sha256"] == made_by

    return call


def test_a_study_that_expects_what_it_runs_is_planned(plan: Callable[..., None]) -> None:
    plan(published_csv=HEADER + ROW.format("buffer_pkts=25"), history_yaml=_history("f*"))


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("study.yaml", _study("[utilisation]"), 14, "did you mean 'utilization'"),
        ("study.yaml", _study("[]\n    tradeoffs: [[utilization, goodputt]]"), 15, "'goodput'"),
        ("study.yaml", _study("[]\n    tradeoffs: [[utilization]]"), 15, "at least 2 items"),
        ("study.yaml", _study("[]\n    tradeoffs: [[goodput, goodput]]"), 15, "against itself"),
        (
            "study.yaml",
            _study("[]\n    tradeoffs: [[goodput, utilization], [goodput, utilization]]"),
            15,
            "utilization against goodput is given twice",
        ),
        (
            "study.yaml",
            _study("[]\n    tradeoffs: [[p95_flow_completion_time, utilization]]"),
            15,
            "no run of buffers has p95_flow_completion_time",
        ),
        ("published.csv", HEADER + ROW.format("buffer_pkts=26"), 2, "26"),
        ("claims.yaml", CLAIM.replace("buffer_pkts", "buffer_pkt"), 7, "'buffer_pkts'"),
        ("history.yaml", _history("fall"), 1, "did you mean 'full'?"),
        ("matrices.yaml", MATRIX, 2, "'buffers'"),
    ],
)
def test_what_no_run_can_show_is_told_with_its_line(
    plan: Callable[..., None], tmp_path: Path, name: str, text: str, line: int, said: str
) -> None:
    with pytest.raises(BdpbenchError) as caught:
        plan(**{name.replace(".", "_"): text})
    assert f"{tmp_path / 'mine' / name}:{line}: " in str(caught.value)
    assert said in str(caught.value)
    assert not (tmp_path / "results").exists()


def test_a_plan_changes_with_what_the_report_is_made_by_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stages after the simulation then run again."""
    for name in ("repository_root", "package_dir", "config_dir"):
        monkeypatch.setattr(planning, name, lambda folder=tmp_path / name: folder)
    reports, study = tmp_path / "repository_root" / "reports", tmp_path / "mine"
    telling = (
        tmp_path / "package_dir" / "metrics" / "flows.py",
        tmp_path / "config_dir" / "atlas.yaml",
        *(reports / name for name in ("captions.yaml", "templates/report.html", "static/a.js")),
        *(study / name for name in ("NOTES.md", "published.csv", "claims.yaml", "metrics.py")),
    )
    others = (
        tmp_path / "config_dir" / "studies" / "other" / "NOTES.md",
        tmp_path / "repository_root" / "tcl" / "network.tcl",
        reports / "published" / "mine" / "README.md",
    )
    for path in (*telling, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1\n")
    found = {planning.evaluation_checksum(study)}
    for count, path in enumerate(telling, start=2):
        path.write_text("1\n# A remark.\n")
        found.add(planning.evaluation_checksum(study))
        assert len(found) == count, path
    for path in others:
        path.write_text("1\n# A remark.\n")
        assert planning.evaluation_checksum(study) in found
