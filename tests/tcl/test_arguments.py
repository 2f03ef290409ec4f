"""A wrong argument ends a script with status 1 and a line that says what it should be."""

from __future__ import annotations

import pytest
from tests.tcl.conftest import NETWORK, Arguments, Refused, argv, network_flows

BASE: Arguments = {**NETWORK, **network_flows({})}
TWO: Arguments = {**BASE, **network_flows({}, {})}

WRONG = [
    ([*argv(BASE), "-trace"], "-trace has no value: arguments are pairs -key value"),
    ([*argv(BASE), "-flows", "1"], "-flows is given twice"),
    ([*argv(BASE), "trace", "1"], "'trace' is not a key: arguments are pairs -key value"),
    (argv(BASE, {"duration_s": "soon"}), "-duration_s is 'soon', expected a number above 0 (s)"),
    (argv(BASE, {"duration_s": -5}), "-duration_s is '-5', expected a number above 0 (s)"),
    (argv(BASE, {"duration_s": "1e999"}), "-duration_s is '1e999', expected a number above 0 (s)"),
    (argv(BASE, {"duration_s": "010"}), "-duration_s is '010', expected a number above 0 (s)"),
    (argv(BASE, {"duration_s": "[exit 3]"}), "expected a number above 0 (s)"),
    (argv(BASE, {"link.0.mbps": 0}), "expected a number above 0 (Mbit/s)"),
    (argv(BASE, {"link.0.delay_ms": "-1"}), "expected a number of 0 or more (ms)"),
    (argv(BASE, {"links": 1.5}), "expected an integer from 1 to 1000000000"),
    (argv(BASE, {"substream": 0}), "-substream is '0', expected an integer from 1 to 1000000"),
    (argv(BASE, {"trace": 2}), "-trace is '2', expected 0 or 1"),
    (argv(BASE, {"sample_s": 0.015}), "-sample_s is '0.015', expected a multiple of 0.01 (s)"),
    (argv(BASE, {"sample_s": 0}), "-sample_s is '0', expected a multiple of 0.01 (s)"),
    (argv(BASE, {"datadir": "absent"}), "-datadir is 'absent', expected an existing, writable"),
    (argv(BASE, {"flows": -1}), "-flows is '-1', expected an integer of 0 or more"),
    (argv(NETWORK, {"flows": 0}), "-flows and -backgrounds are 0: nothing would be sent"),
    (argv(BASE, {"flows": 2}), "-flow.1.agent is missing"),
    # Flows.
    (argv(BASE, {"flow.0.agent": "TCP/[exit 3]"}), "expected the name of an ns-2 agent"),
    (argv(BASE, {"flow.0.agent": "TCP/Cubic2050"}), "this ns-2 has no Agent/TCP/Cubic2050"),
    (argv(BASE, {"flow.0.agent": "UDP"}), "-flow.0.agent is 'UDP', expected a kind of Agent/TCP"),
    (argv(BASE, {"flow.0.agent": "TCP/FullTcp"}), "needs a peer or packet headers"),
    (argv(BASE, {"flow.0.sink": "TCP"}), "-flow.0.sink is 'TCP', expected a kind of Agent/TCPSink"),
    (argv(BASE, {"flow.0.start_s": -1}), "-flow.0.start_s is '-1', expected a number of 0 or more"),
    (argv(TWO, {"flow.1.start_s": 4}), "-flow.1.start_s is '4', expected less than -duration_s, 4"),
    (argv(BASE, {"flow.0.linux": "cubic"}), "-flow.0.linux needs -flow.0.agent TCP/Linux"),
    # Variables of agents.
    (
        argv(BASE, {"flow.0.set.nosuch_": 1}),
        "-flow.0.set.nosuch_: Agent/TCP/Sack1 of this ns-2 has no variable 'nosuch_'",
    ),
    (
        argv(BASE, {"flow.0.set.alpha_": 1}),  # of Agent/TCP/Fast
        "-flow.0.set.alpha_: Agent/TCP/Sack1 of this ns-2 has no variable 'alpha_'",
    ),
    (argv(BASE, {"flow.0.set.window": 1}), "'window' is not a variable that can be set"),
    (argv(BASE, {"flow.0.set.fid_": 7}), "'fid_' is not a variable that can be set"),
    (argv(BASE, {"flow.0.set.window_": "[exit 3]"}), "is '[exit 3]', expected a number"),
    (argv(BASE, {"flow.0.record": "[exit 3]"}), "expected names of variables between blanks"),
    (
        argv(TWO, {"flow.1.record": "ssthresh_ nosuch_"}),
        "-flow.1.record: Agent/TCP/Sack1 of this ns-2 has no variable 'nosuch_'",
    ),
    # Class defaults.
    (
        argv(BASE, {"default.Agent/TCP/Cubic2050.window_": 1}),
        "-default.Agent/TCP/Cubic2050.window_: this ns-2 has no class 'Agent/TCP/Cubic2050'",
    ),
    (argv(BASE, {"default.exit.window_": 1}), "this ns-2 has no class 'exit'"),
    (
        argv(BASE, {"default.Agent/TCP.windows_": 1}),
        "-default.Agent/TCP.windows_: Agent/TCP of this ns-2 has no variable 'windows_'",
    ),
    (
        argv(BASE, {"default.Agent/TCP/Vegas.v_alpha_": 1}),
        "-default.Agent/TCP/Vegas.v_alpha_: nothing in this run is a kind of Agent/TCP/Vegas",
    ),
    (argv(BASE, {"default.Agent/TCP.fid_": 1}), "'fid_' is not a variable that can be set"),
    (argv(BASE, {"default.Agent/TCP.window_": "x"}), "is 'x', expected a number"),
    (
        argv(BASE, {"default.window_": 1}),
        "unknown key -default.window_, expected -default.<class>.<variable_>",
    ),
]


@pytest.mark.parametrize(("args", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_wrong_argument_is_named(refused: Refused, args: list[str], said: str) -> None:
    assert said in refused("network.tcl", *args)


CBR = {
    "backgrounds": 1,
    "background.0.kind": "cbr",
    "background.0.start_s": 0,
    "background.0.access_mbps": 10,
    "background.0.rate_mbps": 1,
    "background.0.packet_bytes": 500,
}
PARETO = {**CBR, "background.0.kind": "pareto", "background.0.burst_s": 1, "background.0.idle_s": 1}
CHANGE = {"changes": 1, "change.0.at_s": 1, "change.0.link": 0, "change.0.mbps": 4}
OF_NETWORKS: list[tuple[Arguments, str]] = [
    ({"links": 2}, "-link.1.mbps is missing"),
    ({"link.0.queue": "RUD"}, "-link.0.queue is 'RUD': this ns-2 has no Queue/RUD"),
    ({"link.0.queue.thresh_": 5}, "Queue/DropTail of this ns-2 has no variable 'thresh_'"),
    ({"link.0.loss_rate": 1}, "-link.0.loss_rate is '1', expected a share"),
    (
        {"link.0.loss_rate": 0.5, "link.0.loss_burst_pkts": 2},
        "-link.0.loss_burst_pkts is '2', expected more than 2, the mean of independent losses",
    ),
    ({"flow.0.within_s": 4}, "-flow.0.within_s is '4', expected less than the time"),
    ({"flow.0.start_s": 1, "flow.0.stop_s": 1}, "expected more than 1, its latest start"),
    ({"flow.0.stop_s": 2, "flow.0.packets": 9}, "a transfer ends when it is done"),
    ({"flow.0.leaves": 1}, "-flow.0.leaves is '1', and there are 1 links"),
    ({"flow.0.linux.beta": 7}, "-flow.0.linux.beta needs -flow.0.linux"),
    ({**CBR, "background.0.kind": "udp"}, "expected one of cbr, exponential, pareto, web"),
    ({**CBR, "background.0.burst_s": 1}, "unknown key -background.0.burst_s"),
    ({**CBR, "background.0.rate_mbps": None}, "-background.0.rate_mbps is missing"),
    ({**PARETO, "background.0.shape": 1}, "-background.0.shape is '1', expected more than 1"),
    ({**CHANGE, "change.0.at_s": 4}, "-change.0.at_s is '4', expected less than -duration_s"),
    ({**CHANGE, "change.0.link": 1}, "-change.0.link is '1', and there are 1 links"),
    ({**CHANGE, "change.0.mbps": None}, "-change.0 changes nothing"),
    ({**CHANGE, "change.1.at_s": 1}, "unknown key -change.1.at_s"),
]


@pytest.mark.parametrize(("change", "said"), OF_NETWORKS, ids=[said for _, said in OF_NETWORKS])
def test_a_network_that_cannot_be_is_refused(
    refused: Refused, change: Arguments, said: str
) -> None:
    assert said in refused("network.tcl", *argv(BASE, change))
