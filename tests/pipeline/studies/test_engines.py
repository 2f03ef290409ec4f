"""Runs of ns-3: what its program gets, their ids, and what is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.plan import PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.studies import ns3_program
from bdpbench.studies.engines import COUNTERPARTS, engine_remarks
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

WriteStudy = Callable[[str, str], Path]
OLD = '  Reno: {label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}\n'


def _plan(path: Path, *, protocols: str = "Reno, NewReno") -> list[PlannedRun]:
    """Runs of ns-3 of the study of conftest.py, with these protocols."""
    text = path.read_text().replace("[Reno, NewReno]", f"[{protocols}]")
    path.write_text(text.replace("packet_bytes: 1000", "packet_bytes: 1000\n      engine: ns3"))
    return _as_given(path)


def _as_given(path: Path) -> list[PlannedRun]:
    return expand_tier(load_study(path.parent.name), "quick")


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
    ids = {run["run_id"] for run in _as_given(path)}
    now = {run["run_id"] for run in _plan(path)}
    assert not ids & now
    monkeypatch.setattr(ns3_program, "NS3_VERSION", "3.99")
    assert not now & {run["run_id"] for run in _as_given(path)}


def test_a_sweep_may_be_over_the_engine(study_file: WriteStudy) -> None:
    path = study_file(OLD, _sender(""))
    path.write_text(
        path.read_text().replace("    sweep:\n", "    sweep:\n      engine: [ns2, ns3]\n")
    )
    labels = [run["label"] for run in _as_given(path)]
    assert sum("engine ns2" in label for label in labels) == 2
    assert sum("engine ns3" in label for label in labels) == 2


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


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    sweep:\n", "    parameters: {trace: packets}\n    sweep:\n", "trace: packets"),
        (
            *(
                "    sweep:\n",
                "    network: network_tmix.tcl\n    arguments: [packet_bytes]\n    sweep:\n",
            ),
            "packet_bytes of network_tmix.tcl",
        ),
        ("stagger_s: 1", "stagger_s: 1, stop_s: 4", "stop_s of a flow"),
        (
            "    sweep:\n",
            "    parameters: {access_buffer_pkts: 9}\n    sweep:\n",
            "access_buffer_pkts of a flow",
        ),
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
        _plan(study_file(old, new), protocols="NewReno")
    assert f"ns-3 cannot simulate this run as it is: {says}" in str(caught.value)


def _queued(study_file: WriteStudy, queue: str, more: str = "") -> dict[str, str]:
    """Arguments of the first run over a queue declared so; ``more`` are parameters."""
    path = study_file(OLD, _sender(""))
    text = path.read_text().replace("topologies:", f"queues: {{Q: {{{queue}}}}}\ntopologies:")
    path.write_text(
        text.replace("    sweep:\n", f"    parameters: {{queue: Q{more}}}\n    sweep:\n")
    )
    return _arguments(_plan(path)[0])


def _of_queue(given: dict[str, str]) -> dict[str, str]:
    prefix = "-link.0.queue."
    return {key.removeprefix(prefix): given[key] for key in given if key.startswith(prefix)}


def test_red_has_the_same_thresholds_and_weights(study_file: WriteStudy) -> None:
    given = _queued(
        study_file,
        "kind: RED, settings: {min_th_pkts: 5, max_p: 0.02, weight: 0.01, gentle: 0}",
    )
    assert given["-link.0.queue"] == "RedQueueDisc"
    assert _of_queue(given) == {
        "UseEcn": "false",
        "MaxSize": "25p",
        "MinTh": "5",
        "MaxTh": "15",
        "LInterm": "50",
        "QW": "0.01",
        "Gentle": "false",
        "Wait": "true",
        "MeanPktSize": "1040",
        "LinkBandwidth": "10Mbps",
        "LinkDelay": "18ms",
        "UseHardDrop": "true",
    }
    assert given["-flow.0.socket.UseEcn"] == "Off"


@pytest.mark.parametrize(
    ("settings", "drops_above"),
    [
        ("mark_below_p: 2", "false"),
        ("mark_below_p: 1", "true"),
        ("mark_below_p: 0.1, gentle: 0", "true"),
    ],
)
def test_red_marks_where_ns2s_does(study_file: WriteStudy, settings: str, drops_above: str) -> None:
    queue = f"kind: RED, settings: {{min_th_pkts: 5, {settings}}}"
    given = _queued(study_file, queue, ', ecn: "on"')
    of_queue = _of_queue(given)
    assert (of_queue["UseEcn"], of_queue["UseHardDrop"]) == ("true", drops_above)
    assert given["-flow.0.socket.UseEcn"] == "On"


def test_red_has_no_table_of_its_average(study_file: WriteStudy) -> None:
    path = study_file(OLD, _sender(""))
    text = path.read_text().replace(
        "topologies:", "queues: {Q: {kind: RED, settings: {min_th_pkts: 5}}}\ntopologies:"
    )
    path.write_text(text.replace("    sweep:\n", "    parameters: {queue: Q}\n    sweep:\n"))
    tables = [{out["table"] for out in run["outputs"]} for run in _plan(path)]
    assert all("red" not in each and "queue" in each for each in tables)


def test_codel_fq_codel_and_pie_get_their_parameters(study_file: WriteStudy) -> None:
    given = _queued(study_file, "kind: CoDel, settings: {target_s: 0.01, packet_bytes: 500}")
    expected = {"Target": "0.01s", "Interval": "0.1s", "MaxSize": "25p", "UseEcn": "false"}
    # ns-2's CoDel never drops from at most so many bytes, ns-3's from less than so many.
    assert _of_queue(given) == {**expected, "MinBytes": "501"}
    given = _queued(study_file, "kind: FqCoDel, settings: {target_s: 0.01, quantum_bytes: 300}")
    assert _of_queue(given) == expected
    assert given["-link.0.quantum_bytes"] == "300"
    assert given["-default.CoDelQueueDisc.MinBytes"] == "1041"
    given = _queued(study_file, "kind: PIE, settings: {alpha_hz: 0.25}", ', ecn: "on"')
    assert _of_queue(given) == {
        "UseEcn": "true",
        "MaxSize": "25p",
        "QueueDelayReference": "0.015s",
        "Tupdate": "0.015s",
        "MaxBurstAllowance": "0.15s",
        "A": "0.25",
        "B": "1.25",
        "MeanPktSize": "1040",
        "MarkEcnThreshold": "0.1",
        "UseDequeueRateEstimator": "true",
        "UseDerandomization": "false",
    }


@pytest.mark.parametrize(
    ("queue", "says"),
    [
        ("kind: RED, settings: {min_th_pkts: 5}", "mark_below_p of a queue of kind RED: ns-3's"),
        (
            "kind: RED, settings: {min_th_pkts: 5, mark_below_p: 2, counts_bytes: 1}",
            "counts_bytes of a queue of kind RED: ns-3's RedQueueDisc has 0",
        ),
        (
            "kind: PIE, settings: {packet_bytes: 500}",
            "packet_bytes of a queue of kind PIE: ns-3's PieQueueDisc has 1040",
        ),
        ("kind: DropTail, settings: {drop_front: 1}", "drop_front of a queue"),
        ("kind: ARED, settings: {min_th_pkts: 5}", "a queue of kind ARED: it has Dr"),
    ],
)
def test_settings_that_a_queue_of_ns3_has_not_are_refused_with_their_line(
    study_file: WriteStudy, queue: str, says: str
) -> None:
    more = "" if "DropTail" in queue else ', ecn: "on"'
    with pytest.raises(BdpbenchError) as caught:
        _queued(study_file, queue, more)
    assert f"ns-3 cannot simulate this run as it is: {says}" in str(caught.value)
    assert "parameters.queue" in str(caught.value)


def test_flows_lose_the_same_packets(study_file: WriteStudy) -> None:
    path = study_file("stagger_s: 1", "stagger_s: 1, arguments: {loses: [7, 50]}")
    text = path.read_text()
    path.write_text(text.replace("    flows:", "    network: network_tmix.tcl\n    flows:"))
    given = _arguments(_plan(path, protocols="NewReno")[0])
    assert (given["-flow.0.loses"], given["-flow.1.loses"]) == ("7 50", "7 50")


def test_ns3s_other_version_of_bbr_is_told(study_file: WriteStudy) -> None:
    reno, _ = _plan(study_file(OLD, _sender("")))
    bbr: PlannedRun = {**reno, "argv": [*reno["argv"], "-flow.1.sender", "TcpBbr"]}
    said = "TcpBbr: ns-3 simulates version 1 of BBR, ns-2 version 3"
    assert (engine_remarks([reno]), engine_remarks([reno, bbr])) == ([], [said])
    assert [key for key, each in COUNTERPARTS.items() if each.differs] == ["folder bbr"]
