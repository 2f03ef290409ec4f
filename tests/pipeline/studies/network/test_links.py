"""The bottlenecks of study.yaml appear in traces and variables of the real ns-2."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from tests.make import arguments
from tests.pipeline.studies.network.conftest import Planned, Simulated

from bdpbench.contracts.plan import values_of
from bdpbench.errors import BdpbenchError
from bdpbench.studies.queues import QUEUE_KINDS

Run = Callable[..., Simulated]
Ask = Callable[..., list[str]]

# Two sources that together exceed the bottleneck's 8 Mbit/s, with packets of the size of the
# flows'.
FLOOD = [{"kind": "cbr", "rate_mbps": 5, "packet_bytes": 1040, "count": 2}]
# What a kind needs, with settings that make it drop nothing before it is full.
OPEN: dict[str, dict[str, float]] = {
    name: {"min_th_pkts": 5000} for name, kind in QUEUE_KINDS.items() if kind.has_average
}


def queue(kind: str, **settings: float | str) -> dict[str, Any]:
    """Keys of a scenario whose bottleneck has a queue of this kind."""
    return {"queues": {"Mine": {"kind": kind, "settings": settings}}}


def test_a_packet_takes_its_time_on_the_bottleneck(simulated: Run) -> None:
    for mbps in (8, 5):
        run = simulated(parameters={"bottleneck_mbps": mbps})
        sent = sorted(each.time_s for each in run.data("-"))
        gaps = [after - before for before, after in itertools.pairwise(sent)]
        assert min(gaps) == pytest.approx(1040 * 8 / mbps / 1e6, abs=2e-6)
        received = {each.uid: each.time_s for each in run.data("r")}
        way = {each.uid: received[each.uid] - each.time_s for each in run.data("-")
               if each.uid in received}  # fmt: skip
        assert set(map(lambda s: round(s, 5), way.values())) == {
            round(0.008 + 1040 * 8 / mbps / 1e6, 5)
        }


def test_segments_have_their_size(simulated: Run) -> None:
    run = simulated(parameters={"packet_bytes": 536}, duration_s=1)
    assert {each.size for each in run.data()} == {576}


@pytest.mark.parametrize("kind", QUEUE_KINDS)
def test_a_queue_holds_the_packets_that_are_asked_for(simulated: Run, kind: str) -> None:
    given = queue(kind, **OPEN.get(kind, {}))
    parameters = {
        "queue": "Mine", "buffer_pkts": 30, "protocol": None, "access_delay_ms": None,
        "queue_sample_s": 0.01, "trace": None, "receiver_delay_ms": None,
    }  # fmt: skip
    run = simulated(parameters=parameters, flows=[], background=FLOOD, **given)
    assert run.longest_queue() == 30


@pytest.mark.parametrize(
    ("buffer", "packets"),
    [
        ({"buffer_pkts": 1}, 1),
        ({"buffer_pkts": 7}, 7),
        # 8 Mbit/s · 26 ms / (8 · 1,040) = 25 packets.
        ({"buffer_ms": 26}, 25),
        # 8 Mbit/s · 20 ms / 8,000 = 20 packets.
        ({"buffer_bdp": 0.5}, 10),
        ({"buffer_bdp": 0.001}, 1),
    ],
)
def test_a_buffer_in_packets_time_or_share_of_the_bdp(
    simulated: Run, buffer: dict[str, float], packets: int
) -> None:
    parameters = {"buffer_pkts": None, "queue_sample_s": 0.01, **buffer}
    run = simulated(parameters=parameters, duration_s=5)
    assert run.run["parameters"]["buffer_pkts"] == packets
    assert run.longest_queue() == packets
    assert run.facts["link:bottleneck", "throughput"] > 0.5


def test_shares_that_come_to_as_many_packets_are_one_run(planned: Planned) -> None:
    # Of 20 packets, 0.01 and 0.02 are less than the minimum of one packet; 0.11 are 2.2.
    runs = planned(
        parameters={"buffer_pkts": None}, sweep={"buffer_bdp": [0.01, 0.02, 0.05, 0.1, 0.11, 0.2]}
    )
    found = [(run["parameters"]["buffer_pkts"], values_of(run, "buffer_bdp")) for run in runs]
    assert found == [(1, [0.01, 0.02, 0.05]), (2, [0.1, 0.11]), (4, [0.2])]


def test_other_runs_that_are_one_to_ns2_are_refused(planned: Planned) -> None:
    with pytest.raises(BdpbenchError, match="differ in buffer_bdp, rtt_ms, rtt_1_ms alone"):
        planned(
            parameters={"buffer_pkts": None},
            cases=[{"rtt_ms": 20, "buffer_bdp": 0.5}, {"rtt_ms": 25, "buffer_bdp": 0.4}],
        )


def other_value(kind: str, name: str) -> float:
    """A value of a setting other than its default."""
    parameter = QUEUE_KINDS[kind].parameters[name]
    for value in (0.25, 3.0, 1.0, 0.0, 2.0, 700.0, 20.0):
        default = parameter.default
        if parameter.problem(value) is None and value != default:
            return value
    raise AssertionError(name)


@pytest.mark.parametrize("kind", QUEUE_KINDS)
def test_each_setting_of_a_queue_reaches_its_variable(asked: Ask, kind: str) -> None:
    names = list(QUEUE_KINDS[kind].parameters)
    settings = {name: other_value(kind, name) for name in names}
    for smaller, larger in QUEUE_KINDS[kind].rising:
        settings[smaller], settings[larger] = 0.125, 0.75
    variables = [QUEUE_KINDS[kind].parameters[name].variable for name in names]
    question = f"""
        foreach direction {{there back}} {{
            set queue [[::chain::link_of 0 $direction] queue]
            puts "is [$queue info class] [lmap v {{{" ".join(variables)}}} {{$queue set $v}}]"
        }}
    """
    lines = asked(question, parameters={"queue": "Mine"}, **queue(kind, **settings))
    found = [line.split()[1:] for line in lines if line.startswith("is ")]
    assert len(found) == 2
    for ns2_class, *values in found:
        assert ns2_class == f"Queue/{QUEUE_KINDS[kind].ns2_class}"
        told = dict(zip(names, map(float, values), strict=True))
        # ns-2 takes 1 / max_p instead of max_p.
        expected = {n: 1 / v if n == "max_p" else v for n, v in settings.items()}
        assert told == pytest.approx(expected)


def test_red_has_no_variable_that_is_not_set(asked: Ask) -> None:
    """No default of ns-2 reaches RED, apart from the variables that RED itself counts in."""
    lines = asked(
        'puts "is [lmap name [Queue/RED info vars] {set name}]"',
        parameters={"queue": "Mine"},
        **queue("RED", min_th_pkts=5),
    )
    (names,) = (line.split()[1:] for line in lines if line.startswith("is "))
    kind = QUEUE_KINDS["RED"]
    given = set(kind.variables({"min_th_pkts": 5}, 1040, 20, False))
    counted = {"ave_", "prob1_", "curq_", "cur_max_p_", "summarystats_", "debug_"}
    # Used only by adaptive RED, or by a target without thresholds, or never read by ns-2.
    other = {"alpha_", "beta_", "interval_", "top_", "bottom_", "targetdelay_", "idle_pktsize_",
             "thresh_queue_", "maxthresh_queue_", "doubleq_", "dqthresh_"}  # fmt: skip
    assert set(names) - given - counted - other == set()


def test_red_drops_early_and_tells_its_average(simulated: Run) -> None:
    red = queue("RED", min_th_pkts=3, max_th_pkts=9, weight=0.02)
    run = simulated(parameters={"queue": "Mine"}, flows=[{"count": 3}], duration_s=6, **red)
    link = "link:bottleneck"
    assert run.facts[link, "early_drops"] > 0
    assert (
        run.facts[link, "early_drops"] + run.facts[link, "forced_drops"] == run.facts[link, "drops"]
    )
    dropped = [e for e in run.events if e.event == "d" and e.time_s > 3]
    assert len(dropped) == run.facts[link, "drops"]
    rows = [[float(word) for word in row] for row in run.rows("red.out")]
    assert {row[2] for row in rows} == {0.1}
    assert 3 < max(row[1] for row in rows) < 18
    lengths = [int(row[1]) for row in run.rows("queue.out")]
    assert sum(row[1] for row in rows) / len(rows) == pytest.approx(
        sum(lengths) / len(lengths), rel=0.2
    )


def test_adaptive_red_moves_max_p(simulated: Run) -> None:
    ared = queue("ARED", min_th_pkts=3, max_th_pkts=9, interval_s=0.2, weight=0.02)
    run = simulated(parameters={"queue": "Mine"}, flows=[{"count": 5}], duration_s=6, **ared)
    shares = {float(row[2]) for row in run.rows("red.out")}
    assert len(shares) > 5
    assert min(shares) >= 0.01 * 0.9


@pytest.mark.parametrize("kind", [name for name, kind in QUEUE_KINDS.items() if kind.ecn])
def test_ecn_marks_in_place_of_dropping(simulated: Run, kind: str) -> None:
    settings = {
        "RED": {"min_th_pkts": 3, "max_th_pkts": 30},
        "ARED": {"min_th_pkts": 3, "max_th_pkts": 30},
        "CoDel": {"target_s": 0.001, "interval_s": 0.02},
        "FqCoDel": {"target_s": 0.001, "interval_s": 0.02},
        "PIE": {"target_s": 0.002, "burst_s": 0},
    }
    given = queue(kind, **settings.get(kind, {"min_th_pkts": 3, "max_th_pkts": 30}))
    for ecn in ("off", "on"):
        parameters = {"queue": "Mine", "ecn": ecn, "buffer_pkts": 100}
        run = simulated(parameters=parameters, flows=[{"count": 2}], duration_s=2, **given)
        # ns-2's flags: C is the receiver's echo, E experienced congestion,
        # N an ECN-capable sender.
        for flag in "CEN":
            assert any(flag in e.flags for e in run.events) == (ecn == "on"), flag
        marks = run.facts.get(("link:bottleneck", "marks"), 0)
        assert (marks > 0) == (ecn == "on")


def test_defaults_are_those_of_ns2_but_for_a_few(asked: Ask) -> None:
    given = {
        (kind, name): (each.ns2_class, parameter)
        for kind, each in QUEUE_KINDS.items()
        for name, parameter in each.parameters.items()
        if isinstance(parameter.default, (int, float))
    }
    question = "; ".join(
        f"puts [[new Queue/{ns2_class}] set {parameter.variable}]"
        for ns2_class, parameter in given.values()
    )
    words = {"true": 1.0, "false": 0.0}
    in_ns2 = (words[each] if each in words else float(each) for each in asked(question))
    different = {}
    for place, (_, parameter), value in zip(given, given.values(), in_ns2, strict=True):
        if value != (1 / parameter.default if parameter.reciprocal else parameter.default):
            different[place] = parameter.default
    red = {"counts_bytes": 0, "drops_by_size": 0}  # packets count, whatever their sizes
    ared = {**red, "weight": 0.0}  # ns-2's -1 depends on the delay of the link
    assert different == {
        **{("RED", name): value for name, value in {**red, "weight": 0.002}.items()},
        **{("ARED", name): value for name, value in {**ared, "bottom_p": 0.01}.items()},
        **{("gARED", name): value for name, value in ared.items()},
    }


def test_losses_at_random_have_their_rate(simulated: Run) -> None:
    losses = {"loss_rate": 0.05}
    parameters = {**losses, "protocol": None, "access_delay_ms": None, "receiver_delay_ms": None}
    source = {"kind": "cbr", "rate_mbps": 7, "packet_bytes": 100}
    seen = []
    for substream in (1, 2):
        given = {**parameters, "substream": substream}
        run = simulated(parameters=given, flows=[], background=[source])
        sent = [e for e in run.events if e.event == "+" and e.link == (0, 1)]
        lost = [e.uid for e in run.events if e.event == "d"]
        # Binomial: 26,250 packets, 5 %; four standard deviations are 0.0054.
        assert len(sent) > 26_000
        assert len(lost) / len(sent) == pytest.approx(0.05, abs=0.0054)
        half = [e for e in run.events if e.event == "d" and e.time_s > 1.5]
        assert run.facts["link:bottleneck", "random_losses"] == len(half)
        seen.append(lost)
    assert seen[0] != seen[1]


def test_losses_in_rows_have_their_rate_and_length(simulated: Run) -> None:
    parameters = {
        "loss_rate": 0.05, "loss_burst_pkts": 4, "protocol": None, "access_delay_ms": None,
        "receiver_delay_ms": None,
    }  # fmt: skip
    source = {"kind": "cbr", "rate_mbps": 7, "packet_bytes": 100}
    run = simulated(parameters=parameters, flows=[], background=[source])
    sent = [e.uid for e in run.events if e.event == "+" and e.link == (0, 1)]
    lost = {e.uid for e in run.events if e.event == "d"}
    rows = "".join("x" if uid in lost else " " for uid in sent).split()
    # About 330 bursts with mean length 4 and standard deviation 4: four standard errors of 0.22.
    assert sum(map(len, rows)) / len(rows) == pytest.approx(4, abs=0.9)
    # The loss rate of that many independent bursts has 2.7 times the binomial standard deviation.
    assert len(lost) / len(sent) == pytest.approx(
        0.05, abs=4 * 2.7 * math.sqrt(0.05 * 0.95 / 26250)
    )


def test_rate_delay_and_losses_change_over_time(simulated: Run) -> None:
    changes = [
        {"at_s": 1, "bottleneck_mbps": 4},
        {"at_s": 2, "bottleneck_delay_ms": 28},
        {"at_s": 2.5, "loss_rate": 0.3},
    ]
    run = simulated(changes=changes, duration_s=4)
    received = {e.uid: e.time_s for e in run.data("r")}

    def ways(start_s: float, end_s: float) -> set[float]:
        return {
            round(received[e.uid] - e.time_s, 5)
            for e in run.data("-")
            if start_s < e.time_s < end_s and e.uid in received
        }

    assert ways(0, 0.99) == {round(0.008 + 0.00104, 5)}
    assert ways(1.01, 1.99) == {round(0.008 + 0.00208, 5)}
    assert ways(2.01, 4) == {round(0.028 + 0.00208, 5)}
    random = [e for e in run.events if e.event == "d" and e.time_s > 2.5]
    assert run.facts["link:bottleneck", "random_losses"] > 0
    assert len(random) >= run.facts["link:bottleneck", "random_losses"]
    # 4 Mbit/s during the whole second half: utilization is a share of that.
    throughput = run.facts["link:bottleneck", "throughput"]
    assert run.facts["link:bottleneck", "utilization"] == pytest.approx(100 * throughput / 4)


def test_bottlenecks_of_a_chain_have_their_own(simulated: Run) -> None:
    chain = [
        {"bottleneck_mbps": 10},
        {"bottleneck_delay_ms": 3, "buffer_pkts": 5},
        {"queue": "CoDel"},
    ]
    run = simulated(
        parameters={"buffer_pkts": None, "buffer_ms": 52}, bottlenecks=chain, duration_s=4
    )
    assert run.longest_queue("queue_bottleneck_2.out") <= 5
    pairs = arguments(run.run)
    assert [pairs[f"-link.{i}.mbps"] for i in range(3)] == ["10", "8", "8"]
    assert [pairs[f"-link.{i}.delay_ms"] for i in range(3)] == ["8", "3", "8"]
    # 8 Mbit/s · 52 ms / (8 · 1,040) = 50 packets.
    assert pairs["-link.2.queue.limit_"] == "50"
    first = [e for e in run.data("-", link=(0, 1))]
    assert len({e.uid for e in first}) > 100
    assert {each["link"] for each in run.run["outputs"] if "link" in each} == {
        f"bottleneck_{i}" for i in (1, 2, 3)
    }
    assert {"queue_bottleneck_2.out", "util_bottleneck_3.out"} <= {
        path.name for path in run.folder.iterdir()
    }
