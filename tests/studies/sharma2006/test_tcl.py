"""The thesis's experiments: topology, settings and output files, checked by hand arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from tests.planned_runs import runs_of
from tests.studies.sharma2006.networks import (
    SETTINGS,
    SINGLE_FLOW,
    STANDARD_TCP,
    TWO_FLOWS,
    single_flow,
    standard_tcp,
    two_flows,
    two_rtts,
)
from tests.tcl.conftest import (
    Arguments,
    Built,
    Columns,
    Facts,
    Outputs,
    RunOk,
    argv,
)

from bdpbench.contracts.plan import Parameters

# On the wire: 1,000 bytes of data, 40 of headers, 10 of the timestamp option.
PACKET_BYTES = 1050
FILES = {"report.txt", "queue.out", "util.out"}

QUEUE_LIMIT = "puts [[[$ns link [$ns get-node-by-id 0] [$ns get-node-by-id 1]] queue] set limit_]"
# RTTs of flows 0 and 1, s: access link, bottleneck and receiver's link in both directions.
RTTS = """
proc delay {ns a b} {
    return [[[$ns link [$ns get-node-by-id $a] [$ns get-node-by-id $b]] link] set delay_]
}
foreach {sender receiver} {2 3 4 5} {
    puts [expr {[delay $ns $sender 0] + [delay $ns 0 1] + [delay $ns 1 $receiver]
        + [delay $ns $receiver 1] + [delay $ns 1 0] + [delay $ns 0 $sender]}]
}
"""
# Limits of the four queues of the access links of one flow.
ACCESS_LIMITS = """
foreach {a b} {2 0 0 2 1 3 3 1} {
    puts [[[$ns link [$ns get-node-by-id $a] [$ns get-node-by-id $b]] queue] set limit_]
}
"""


def variables(agent: str, names: list[str]) -> str:
    """A query for variables of all agents of a class, in the order of their flows."""
    return f"""
    foreach agent [lsort -dictionary [Agent/{agent} info instances]] {{
        puts [lmap name {{{" ".join(names)}}} {{$agent set $name}}]
    }}
    """


def test_one_flow_writes_the_files_of_the_appendices(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok(SINGLE_FLOW, *argv(single_flow("HS", 3)))
    assert {path.name for path in out.iterdir()} == FILES | {"cwnd_hstcp.out", "tput_hstcp.out"}
    # From 0 to 3 s inclusive, at the intervals of the appendix: 0.01 s, 0.01 s, 1 s, 0.1 s.
    cwnd, queue = columns(out / "cwnd_hstcp.out"), columns(out / "queue.out")
    assert [row[0] for row in cwnd] == [i / 100 for i in range(301)]
    assert [row[0] for row in queue] == [i / 100 for i in range(301)]
    assert [row[0] for row in columns(out / "tput_hstcp.out")] == [1, 2, 3]
    assert [row[0] for row in columns(out / "util.out")] == [i / 10 for i in range(1, 31)]
    assert {len(row) for row in cwnd} == {2}
    assert {len(row) for row in queue} == {3}
    assert (out / "cwnd_hstcp.out").read_text().startswith("0.00 1 \n0.01 1 \n")


def test_single_drop_loses_packet_20000(run_ok: RunOk, columns: Columns, facts: Facts) -> None:
    out = run_ok(SINGLE_FLOW, *argv(single_flow("HS", 4, drop_packet=20000)))
    report = facts(out / "report.txt")
    assert report["link.bottleneck.total_drops"] == (1, "packets")
    assert report["flow.0.total_drops"] == (1, "packets")
    dropped_at = next(row[0] for row in columns(out / "queue.out") if row[2] == 1)
    bins = columns(out / "util.out")
    before = sum(mbps for time, mbps in bins if time <= dropped_at) * 0.1e6 / 8 / PACKET_BYTES
    in_bin = next(mbps for time, mbps in bins if time > dropped_at) * 0.1e6 / 8 / PACKET_BYTES
    # 19,999 packets were sent before it, and all except those in the queue had left; util.out has
    # the resolution of one bin.
    assert before - 1 <= 19999 <= before + in_bin + 1
    # The sender halves cwnd once: this is the first cut of the run.
    cwnd = [row[1] for row in columns(out / "cwnd_hstcp.out")]
    falls = [after / before for before, after in itertools.pairwise(cwnd) if after < before]
    assert len(falls) == 1
    # One half, apart from growth between the two samples (0.01 s of an RTT of 0.1 s).
    assert falls[0] == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("packets", [40, 1555, 7776])
def test_the_bottleneck_alone_can_lose_packets(built: Built, packets: int) -> None:
    arguments = argv(single_flow("HS", 1, buffer_pkts=packets))
    assert built(QUEUE_LIMIT, SINGLE_FLOW, *arguments) == [str(packets)]
    # As large as the largest possible window.
    assert built(ACCESS_LIMITS, SINGLE_FLOW, *arguments) == ["67000"] * 4


@pytest.mark.parametrize(
    ("delays_ms", "rtts_ms"),
    [  # RTTs of the thesis's Table 2: 2 (access delay + 6 + 1) ms
        ((1, 74), (16, 162)),
        ((74, 34), (162, 82)),
        ((74, 77), (162, 168)),
        ((7.5, 74), (29, 162)),  # not in the thesis: odd values are exact, too
    ],
)
def test_rtts_of_two_flows(
    built: Built, delays_ms: tuple[float, float], rtts_ms: tuple[int, int]
) -> None:
    seconds = [float(line) for line in built(RTTS, TWO_FLOWS, *argv(two_rtts("HS", 2, delays_ms)))]
    # Six delays in whole or half ms have the right sum, up to double precision.
    assert seconds == pytest.approx([rtt / 1000 for rtt in rtts_ms], abs=1e-9)


@pytest.mark.parametrize("protocol", [name for name in SETTINGS if name != "FAST"])
def test_each_flow_has_its_own_settings(built: Built, protocol: str) -> None:
    # Unlike in the appendices, the second flow must not inherit settings of the first.
    names = ["windowOption_", "low_window_", "max_ssthresh_", "window_", "packetSize_"]
    arguments = argv(two_flows("HS", protocol, 2))
    lines = built(variables("TCP/Sack1", names), TWO_FLOWS, *arguments)
    defaults = {"max_ssthresh_": 100, "window_": 67000, "packetSize_": 1000}
    own = {**defaults, **SETTINGS[protocol]}
    assert [[float(word) for word in line.split()] for line in lines] == [
        [8, 38, 100, 67000, 1000],
        [own[name] for name in names],
    ]


def test_standard_tcp_traces_every_packet(run_ok: RunOk, columns: Columns) -> None:
    out = run_ok(STANDARD_TCP, *argv(standard_tcp("SACK", 10)))
    assert {path.name for path in out.iterdir()} == {"cwnd.out", "tput.out", "pckts.trq"}
    trace = [line.split() for line in (out / "pckts.trq").read_text().splitlines()]
    assert {len(row) for row in trace} == {12}
    # tput.out's lines for 2 to 9 s are the departures ("-") from router 0 to router 1 in (1, 9] s,
    # in Mbit/s, each rounded to 0.01.
    sent = sum(int(r[5]) for r in trace if r[0] == "-" and r[2] == "0" and 1 < float(r[1]) <= 9)
    tput = [mbps for time, mbps in columns(out / "tput.out") if 2 <= time <= 9]
    assert sum(tput) == pytest.approx(sent * 8 / 1e6, abs=8 * 0.005)
    # The capacity of 5 Mbit/s is used fully after slow start until the next loss (here near 8 s); a
    # second may contain a whole packet of 0.0084 Mbit more or less.
    assert tput[2:6] == pytest.approx([5] * 4, abs=0.0084 + 0.005)


def test_network_repeats_the_experiment_with_one_flow(outputs: Outputs) -> None:
    arguments = single_flow("HS", 4)
    study = outputs(SINGLE_FLOW, *argv(arguments))
    names = {"bottleneck_mbps": "link.0.mbps", "bottleneck_delay_ms": "link.0.delay_ms",
             "buffer_pkts": "link.0.queue.limit_", "access_mbps": "flow.0.access_mbps",
             "receiver_delay_ms": "flow.0.receiver_delay_ms"}  # fmt: skip
    given = {names.get(name, name): value for name, value in arguments.items()}
    other = outputs("network.tcl", *argv(given, {"links": 1, "link.0.queue": "DropTail"}))
    for kind in ("cwnd", "tput"):
        assert other[f"{kind}_hstcp0.out"] == study[f"{kind}_hstcp.out"]
    for name in ("queue.out", "util.out"):
        assert other[name] == study[name]


# Scenario -> arguments by which the thesis's appendices make each run, given its parameters.
PLANNED: dict[str, Callable[[Parameters], Arguments]] = {
    "standard_tcp_low_bdp": lambda run: standard_tcp("SACK", 50),
    "standard_tcp_high_bdp": lambda run: standard_tcp(
        "SACK", 150, bottleneck_mbps=622, buffer_pkts=7775
    ),
    "single_flow": lambda run: single_flow(str(run["protocol"]), 500),
    "single_drop": lambda run: single_flow(str(run["protocol"]), 500, drop_packet=20000),
    "buffer_size": lambda run: single_flow(
        str(run["protocol"]), 500, buffer_pkts=run["buffer_pkts"], queue_sample_s=0.1
    ),
    # One fifth of 622e6 * 2 delay / 8 / 1000, in whole packets.
    "rtt": lambda run: single_flow(
        str(run["protocol"]),
        500,
        bottleneck_delay_ms=run["bottleneck_delay_ms"],
        buffer_pkts=int(622 * 2 * float(run["bottleneck_delay_ms"]) / 8 / 5),
    ),
    "two_flows_rtt": lambda run: {
        **two_rtts(str(run["protocol_1"]), 500, (74, float(run["rtt_2_ms"]) / 2 - 7)),
        "flow.1.start_s": 50,
    },
    "two_flows_short_rtt_first": lambda run: {
        **two_rtts(str(run["protocol_1"]), 500, (float(run["rtt_1_ms"]) / 2 - 7, 74)),
        "flow.1.start_s": 50,
    },
    "inter_protocol": lambda run: two_flows(
        str(run["protocol_1"]), str(run["protocol_2"]), 500, 50
    ),
}


@pytest.mark.parametrize("scenario", PLANNED)
def test_the_study_says_what_the_appendices_say(scenario: str) -> None:
    runs = [run for run in runs_of("sharma2006", "full") if run["scenario"] == scenario]
    assert runs
    for run in runs:
        planned = dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))
        expected = argv(PLANNED[scenario](run["parameters"]))
        assert comparable(planned) == comparable(
            dict(zip(expected[::2], expected[1::2], strict=True))
        ), run["label"]


def comparable(pairs: dict[str, str]) -> dict[str, float | str]:
    """Arguments with numbers parsed, so that 8e-06 equals 0.000008."""

    def value(word: str) -> float | str:
        try:
            return float(word)
        except ValueError:
            return word

    return {key: value(word) for key, word in pairs.items() if key != "-datadir"}
