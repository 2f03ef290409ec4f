"""Runs of ns-3: what its program gets, their ids, and what is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.plan import PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.studies import ns3_program
from bdpbench.studies.load import load_study
from bdpbench.studies.plan import Selection
from bdpbench.studies.runs import expand_tier

WriteStudy = Callable[[str, str], Path]
OLD = '  Reno: {label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}\n'


def _plan(
    path: Path, *, engine: str | None = "ns3", **selected: tuple[str, ...]
) -> list[PlannedRun]:
    study = load_study(path.parent.name)
    selection = Selection(**selected)
    return expand_tier(study, "quick", engine=engine, selection=selection)


def _arguments(run: PlannedRun) -> dict[str, str]:
    return dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))


def _sender(more: str, agent: str = "TCP/Sack1", sink: str = "TCPSink/Sack1") -> str:
    return f'  Reno: {{label: R, colour: "#336699", agent: {agent}, sink: {sink}{more}}}\n'


def test_a_run_gets_the_same_path_and_the_counterpart_of_its_sender(study_file: WriteStudy) -> None:
    more = ", settings: {windowOption_: 15, smooth_bic_max_increment_: 16, windowInit_: 4}"
    path = study_file(OLD, _sender(more, sink="TCPSink/Sack1/DelAck"))
    run, newreno = _plan(path)
    given = _arguments(run)
    assert given["-link.0.holds_pkts"] == "25"
    assert (given["-link.0.mbps"], given["-link.0.delay_ms"]) == ("10", "18")
    assert (given["-flow.1.start_s"], given["-flow.1.access_delay_ms"]) == ("1", "1")
    assert given["-flow.0.sender"] == "TcpBic"
    assert (given["-flow.0.set.MaxIncr"], given["-flow.0.set.LowWnd"]) == ("16", "38")
    sockets = ("Sack", "DelAckCount", "InitialCwnd")
    assert [given[f"-flow.0.socket.{name}"] for name in sockets] == ["true", "2", "4"]
    assert _arguments(newreno)["-flow.0.socket.Sack"] == "false"
    assert given["-packet_bytes"] == "1000"
    assert run["label"].endswith("engine ns3, 5 s")


def test_the_engine_is_part_of_the_id_and_so_is_its_program(
    study_file: WriteStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study_file(OLD, _sender(""))
    ids = {run["run_id"] for run in _plan(path, engine=None)}
    now = {run["run_id"] for run in _plan(path)}
    assert not ids & now
    monkeypatch.setattr(ns3_program, "NS3_VERSION", "3.99")
    assert not now & {run["run_id"] for run in _plan(path)}


def test_a_sweep_may_be_over_the_engine(study_file: WriteStudy) -> None:
    path = study_file(OLD, _sender(""))
    path.write_text(
        path.read_text().replace("    sweep:\n", "    sweep:\n      engine: [ns2, ns3]\n")
    )
    labels = [run["label"] for run in _plan(path, engine=None)]
    assert sum("engine ns2" in label for label in labels) == 2
    assert sum("engine ns3" in label for label in labels) == 2
    with pytest.raises(BdpbenchError, match="so that --engine ns3 would have no effect"):
        _plan(path)


@pytest.mark.parametrize(
    ("sender", "says"),
    [
        (_sender("", agent="TCP/Reno"), "Reno (TCP/Reno, TCP/Reno): ns-3 has no counterpart"),
        (_sender(", settings: {overhead_: 0.1}"), "overhead_ of Reno"),
        (
            _sender(", settings: {windowOption_: 9}"),
            "scalable_lwnd_ of Reno: ns-3's TcpScalable has 100",
        ),
        (
            _sender(", settings: {windowOption_: 8, low_window_: 31}"),
            "low_window_ of Reno: ns-3's TcpHighSpeed has 38",
        ),
        (_sender(", record: [ssthresh_]"), "record: ['ssthresh_']"),
        (
            _sender(", linux: cubic, linux_parameters: {beta: 717}", agent="TCP/Linux"),
            "parameters of Linux's modules",
        ),
    ],
)
def test_a_sender_that_ns3_has_not_is_refused_with_its_line(
    study_file: WriteStudy, sender: str, says: str
) -> None:
    path = study_file(OLD, sender)
    with pytest.raises(BdpbenchError) as caught:
        _plan(path)
    assert says in str(caught.value)
    assert f"{path}:5: protocols.Reno" in str(caught.value)
    assert [run["protocols"] for run in _plan(path, protocols=("NewReno",))] == [["NewReno"]]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    sweep:\n", "    parameters: {queue: CoDel}\n    sweep:\n", "a queue of kind CoDel"),
        ("    sweep:\n", "    parameters: {trace: packets}\n    sweep:\n", "trace: packets"),
        ("    sweep:\n", "    parameters: {reverse_mbps: 1}\n    sweep:\n", "reverse_mbps"),
        ("    sweep:\n", "    parameters: {measured_from_s: 1}\n    sweep:\n", "measured_from_s"),
        ("stagger_s: 1", "stagger_s: 1, stop_s: 4", "stop_s of a flow"),
        ("stagger_s: 1", "stagger_s: 1, access_buffer_pkts: 9", "access_buffer_pkts of a flow"),
        ("stagger_s: 1", "stagger_s: 1, loses: [3]", "loses of a flow"),
        ("stagger_s: 1", "stagger_s: 1, milestones: true", "milestones of a flow"),
        (
            "    flows:",
            "    changes: [{at_s: 1, bottleneck_mbps: 5}]\n    flows:",
            "changes of its",
        ),
        (
            "topologies:",
            "defaults: {Agent/TCP: {overhead_: 0.1}}\ntopologies:",
            "overhead_ of NewReno",
        ),
    ],
)
def test_what_the_program_cannot_do_is_refused(
    study_file: WriteStudy, old: str, new: str, says: str
) -> None:
    with pytest.raises(BdpbenchError) as caught:
        _plan(study_file(old, new), protocols=("NewReno",))
    assert f"ns-3 cannot simulate this run as it is: {says}" in str(caught.value)
