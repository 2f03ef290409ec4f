"""A wrong argument ends a script: one line that names it and what it should be, status 1."""

from __future__ import annotations

import pytest
from tests.tcl.checks import check_missing_and_unknown
from tests.tcl.conftest import PATH, Arguments, Refused, argv, flows

BASE: Arguments = {**PATH, "packet_bytes": 1000, **flows({})}
TWO: Arguments = {**BASE, **flows({}, {})}

WRONG = [
    ([*argv(BASE), "-trace"], "-trace has no value: arguments are pairs -key value"),
    ([*argv(BASE), "-flows", "1"], "-flows is given twice"),
    ([*argv(BASE), "trace", "1"], "'trace' is not a key: arguments are pairs -key value"),
    (argv(BASE, {"duration_s": "soon"}), "-duration_s is 'soon', expected a number above 0 (s)"),
    (argv(BASE, {"duration_s": -5}), "-duration_s is '-5', expected a number above 0 (s)"),
    (argv(BASE, {"duration_s": "1e999"}), "-duration_s is '1e999', expected a number above 0 (s)"),
    (argv(BASE, {"duration_s": "010"}), "-duration_s is '010', expected a number above 0 (s)"),
    (argv(BASE, {"duration_s": "[exit 3]"}), "expected a number above 0 (s)"),
    (argv(BASE, {"bottleneck_mbps": 0}), "expected a number above 0 (Mbit/s)"),
    (argv(BASE, {"bottleneck_delay_ms": "-1"}), "expected a number of 0 or more (ms)"),
    (argv(BASE, {"buffer_pkts": 1.5}), "expected an integer from 1 to 1000000000 (packets)"),
    (argv(BASE, {"substream": 0}), "-substream is '0', expected an integer from 1 to 1000000"),
    (argv(BASE, {"trace": 2}), "-trace is '2', expected 0 or 1"),
    (argv(BASE, {"sample_s": 0.015}), "-sample_s is '0.015', expected a multiple of 0.01 (s)"),
    (argv(BASE, {"sample_s": 0}), "-sample_s is '0', expected a multiple of 0.01 (s)"),
    (argv(BASE, {"datadir": "absent"}), "-datadir is 'absent', expected an existing, writable"),
    (argv(BASE, {"flows": 0}), "-flows is '0', expected an integer from 1"),
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
    assert said in refused("dumbbell.tcl", *args)


@pytest.mark.parametrize("arguments", [BASE, TWO], ids=["one flow", "two flows"])
def test_each_argument_is_needed_and_no_other_taken(refused: Refused, arguments: Arguments) -> None:
    check_missing_and_unknown(refused, "dumbbell.tcl", arguments)
