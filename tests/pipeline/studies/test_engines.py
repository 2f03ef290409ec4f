"""Runs of ns-3: what its program gets, their ids, and what is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.data_of import data_of
from tests.make import arguments

from bdpbench.contracts.plan import PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.studies import ns3_program
from bdpbench.studies.engines import COUNTERPARTS, engine_remarks
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

WriteStudy = Callable[[str, str], Path]
CASES = data_of(__file__)
OLD = '  Reno: {label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}\n'


def _plan(path: Path, *, protocols: str = "Reno, NewReno") -> list[PlannedRun]:
    """Runs of ns-3 of the study of conftest.py, with these protocols."""
    text = path.read_text().replace("[Reno, NewReno]", f"[{protocols}]")
    path.write_text(text.replace("packet_bytes: 1000", "packet_bytes: 1000\n      engine: ns3"))
    return _as_given(path)


def _as_given(path: Path) -> list[PlannedRun]:
    return expand_tier(load_study(path.parent.name), "quick")


def _sender(more: str = "", agent: str = "TCP/Sack1", sink: str = "TCPSink/Sack1") -> str:
    return f'  Reno: {{label: R, colour: "#336699", agent: {agent}, sink: {sink}{more}}}\n'


def test_a_run_gets_the_same_path_and_the_counterpart_of_its_sender(study_file: WriteStudy) -> None:
    more = ", settings: {windowOption_: 15, smooth_bic_max_increment_: 16, windowInit_: 4}"
    path = study_file(OLD, _sender(more, sink="TCPSink/Sack1/DelAck"))
    run, newreno = _plan(path)
    given = arguments(run)
    assert given["-link.0.holds_pkts"] == "25"
    assert (given["-link.0.mbps"], given["-link.0.delay_ms"]) == ("10", "18")
    assert (given["-flow.1.start_s"], given["-flow.1.access_delay_ms"]) == ("1", "1")
    assert given["-flow.0.sender"] == "TcpBic"
    assert (given["-flow.0.set.MaxIncr"], given["-flow.0.set.LowWnd"]) == ("16", "38")
    sockets = ("Sack", "DelAckCount", "InitialCwnd")
    assert [given[f"-flow.0.socket.{name}"] for name in sockets] == ["true", "2", "4"]
    assert arguments(newreno)["-flow.0.socket.Sack"] == "false"
    assert given["-packet_bytes"] == "1000"
    assert run["label"].endswith("engine ns3, 5 s")


def test_the_engine_is_part_of_the_id_and_so_is_its_program(
    study_file: WriteStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study_file(OLD, _sender())
    ids = {run["run_id"] for run in _as_given(path)}
    now = {run["run_id"] for run in _plan(path)}
    assert not ids & now
    monkeypatch.setattr(ns3_program, "NS3_VERSION", "3.99")
    assert not now & {run["run_id"] for run in _as_given(path)}


def test_a_sweep_may_be_over_the_engine(study_file: WriteStudy) -> None:
    path = study_file(OLD, _sender())
    path.write_text(
        path.read_text().replace("    sweep:\n", "    sweep:\n      engine: [ns2, ns3]\n")
    )
    labels = [run["label"] for run in _as_given(path)]
    assert sum("engine ns2" in label for label in labels) == 2
    assert sum("engine ns3" in label for label in labels) == 2


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: str(case["says"]))
def test_what_ns3_cannot_do_is_refused_with_its_line(
    study_file: WriteStudy, case: dict[str, Any]
) -> None:
    path, where = study_file("", ""), case.get("where", "")
    text = path.read_text()
    if "sender" in case:
        text = text.replace(OLD, _sender(**case["sender"]))
        where = "5: protocols.Reno"
    elif "queue" in case:
        ecn = "" if "DropTail" in case["queue"] else ', ecn: "on"'
        text, where = _with_queue(text, case["queue"], ecn), "parameters.queue"
    else:
        assert case["old"] in text
        text = text.replace(case["old"], case["new"])
    path.write_text(text)
    with pytest.raises(BdpbenchError) as caught:
        _plan(path, protocols="NewReno" if "old" in case else "Reno, NewReno")
    assert f"ns-3 cannot simulate this run as it is: {case['says']}" in str(caught.value)
    assert where in str(caught.value)


def _with_queue(text: str, queue: str, more: str = "") -> str:
    """The study over a queue declared so; ``more`` are parameters."""
    text = text.replace(OLD, _sender())
    text = text.replace("topologies:", f"queues: {{Q: {{{queue}}}}}\ntopologies:")
    return text.replace("    sweep:\n", f"    parameters: {{queue: Q{more}}}\n    sweep:\n")


@pytest.mark.parametrize("case", CASES["queues"], ids=lambda case: str(case["queue"]))
def test_a_queue_of_ns3_gets_the_same_parameters(
    study_file: WriteStudy, case: dict[str, Any]
) -> None:
    path, ecn = study_file("", ""), case.get("ecn", "off")
    path.write_text(_with_queue(path.read_text(), case["queue"], f', ecn: "{ecn}"'))
    run = _plan(path)[0]
    given, prefix = arguments(run), "-link.0.queue."
    found = {key.removeprefix(prefix): given[key] for key in given if key.startswith(prefix)}
    told = found if case.get("whole") else {name: found.get(name) for name in case["gets"]}
    assert told == case["gets"]
    assert given["-flow.0.socket.UseEcn"] == {"on": "On", "off": "Off"}[ecn]
    assert {key: given[key] for key in case.get("beside", {})} == case.get("beside", {})
    tables = {out["table"] for out in run["outputs"]}
    assert "queue" in tables
    assert "red" not in tables  # ns-3 tells no average


def test_flows_lose_the_same_packets(study_file: WriteStudy) -> None:
    path = study_file("stagger_s: 1", "stagger_s: 1, arguments: {loses: [7, 50]}")
    text = path.read_text()
    path.write_text(text.replace("    flows:", "    network: network_tmix.tcl\n    flows:"))
    given = arguments(_plan(path, protocols="NewReno")[0])
    assert (given["-flow.0.loses"], given["-flow.1.loses"]) == ("7 50", "7 50")


def test_ns3s_other_version_of_bbr_is_told(study_file: WriteStudy) -> None:
    reno, _ = _plan(study_file(OLD, _sender()))
    bbr: PlannedRun = {**reno, "argv": [*reno["argv"], "-flow.1.sender", "TcpBbr"]}
    said = "TcpBbr: ns-3 simulates version 1 of BBR, ns-2 version 3"
    assert (engine_remarks([reno]), engine_remarks([reno, bbr])) == ([], [said])
    assert [key for key, each in COUNTERPARTS.items() if each.differs] == ["folder bbr"]
