"""Background traffic of kind packmime in study.yaml appears in the packet trace of ns-2."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Simulated
from tests.pipeline.studies.network.test_background import ALONE, objects

Run = Callable[..., Simulated]

# No random draws: four connections per second, each with a request of 300 bytes and, 50 ms after
# its arrival, a response of 5,000.
CONSTANT: dict[str, Any] = {
    "kind": "packmime",
    "rate_per_s": 4,
    "arrivals": "constant",
    "servers": 1,
    "clients": 1,
    "server_mbps": 50,
    "server_delay_ms": 4,
    "client_mbps": 20,
    "client_delay_ms": 6,
    "request_bytes": {"mean": 300},
    "response_bytes": {"mean": 5000},
    "server_pause_s": {"mean": 0.05},
}
# Every connection requests two pages of three objects.
PERSISTENT: dict[str, Any] = {
    **CONSTANT,
    "rate_per_s": 1,
    "http_version": 1.1,
    "persistent_share": 1,
    "connection_pages": {"mean": 2},
    "page_objects": {"mean": 3},
    "single_share": 0,
    "page_pause_s": {"mean": 0.3},
    "object_pause_s": {"mean": 0.1},
}
OWN = {"request_bytes", "response_bytes", "server_pause_s", "arrivals"}
PACKMIMES_OWN = {name: value for name, value in CONSTANT.items() if name not in OWN}


def packmime(simulated: Run, source: dict[str, Any], **parameters: Any) -> Simulated:
    """A run with only this background traffic."""
    given = {**ALONE, **parameters}
    return simulated(parameters=given, flows=[], background=[source], duration_s=3)


def sent(run: Simulated, link: tuple[int, int]) -> list[tuple[float, int]]:
    """Time and size of the packets that arrived at the bottleneck."""
    return [(e.time_s, e.size) for e in run.events if e.event == "+" and e.link == link]


def starts(run: Simulated) -> list[float]:
    return sorted(begin for begin, _, _ in objects(run))


def test_a_connection_is_a_request_a_pause_and_a_response(simulated: Run) -> None:
    run = packmime(simulated, CONSTANT)
    assert starts(run) == pytest.approx([i / 4 for i in range(12)], abs=1e-6)
    assert {size for _, _, size in objects(run)} == {5000}
    way_there = [each for each in sent(run, (0, 1)) if each[0] < 0.25]
    way_back = [each for each in sent(run, (1, 0)) if each[0] < 0.25]
    assert [size for _, size in way_there if size > 40] == [1040] * 5
    ((asked_s, size),) = [each for each in way_back if each[1] > 40]
    assert size == 340
    # The client's SYN takes 6 ms to the bottleneck and 18 ms to the server; the request follows one
    # round trip later.
    assert asked_s == pytest.approx(0.006 + 0.036, abs=0.001)
    # The request takes another 8 + 4 ms to the server, and the response takes 4 ms back to the far
    # end of the bottleneck.
    first_s = next(time_s for time_s, size in way_there if size > 40)
    assert first_s == pytest.approx(asked_s + 0.012 + 0.05 + 0.004, abs=0.001)
    # Two segments, and three more one round trip later, of 1.04 ms each, arrive after 8 + 6 ms; the
    # faster links take one more millisecond.
    assert objects(run)[0][1] == pytest.approx(first_s + 0.036 + 3 * 0.00104 + 0.014, abs=0.003)


ACTS: list[tuple[dict[str, Any], Callable[[Simulated], object]]] = [
    ({"rate_per_s": 8}, lambda run: starts(run)[1]),
    ({"arrivals": "exponential"}, lambda run: starts(run)[1]),
    ({"arrivals": "packmime"}, lambda run: starts(run)[1]),
    ({"request_bytes": {"mean": 600}}, lambda run: max(size for _, size in sent(run, (1, 0)))),
    ({"response_bytes": {"mean": 9000}}, lambda run: objects(run)[0][2]),
    ({"server_pause_s": {"mean": 0.1}}, lambda run: objects(run)[0][1]),
    ({"response_bytes": {"distribution": "exponential", "mean": 5000}}, objects),
    ({"response_bytes": {"distribution": "pareto", "mean": 5000, "shape": 1.2}}, objects),
    ({"response_bytes": {"distribution": "paretoii", "mean": 5000, "shape": 1.2}}, objects),
    ({"packet_bytes": 500}, lambda run: max(size for _, size in sent(run, (0, 1)))),
    ({"server_mbps": 1}, lambda run: objects(run)[0][1]),
    ({"server_delay_ms": 9}, lambda run: objects(run)[0][1]),
    ({"client_mbps": 1}, lambda run: objects(run)[0][1]),
    ({"client_delay_ms": 9}, lambda run: objects(run)[0][1]),
    ({"access_mbps": 1}, lambda run: objects(run)[0][1]),
    ({"access_delay_ms": 9}, lambda run: objects(run)[0][1]),
    ({"start_s": 0.5}, lambda run: starts(run)[0]),
    ({"start_within_s": 0.5}, lambda run: starts(run)[0]),
    ({"stop_s": 1}, lambda run: len(starts(run))),
    ({"direction": "reverse"}, lambda run: max(size for _, size in sent(run, (0, 1)))),
    ({"servers": 2, "clients": 2}, lambda run: {row[8] for row in run.rows("pckts.trq")}),
]


@pytest.mark.parametrize(("change", "seen"), ACTS, ids=[",".join(each) for each, _ in ACTS])
def test_each_key_acts(
    simulated: Run, change: dict[str, Any], seen: Callable[[Simulated], object]
) -> None:
    # If it has a rate or size of its own, that of the run is not used.
    unused = {key: None for key in ("access_mbps", "packet_bytes") if key in change}
    after = packmime(simulated, {**CONSTANT, **change}, **unused)
    assert seen(after) != seen(packmime(simulated, CONSTANT))


def test_stopping_lets_what_has_begun_end(simulated: Run) -> None:
    run = packmime(simulated, {**CONSTANT, "stop_s": 1.1})
    assert starts(run) == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=1e-6)


def test_connections_are_of_their_tcp(simulated: Run) -> None:
    big = {**CONSTANT, "response_bytes": {"mean": 60_000}}
    traces, acks = {}, {}
    for tcp in (None, "reno", "tahoe", "newreno", "sack"):
        source = {**big, "tcp": tcp} if tcp else big
        run = packmime(simulated, source, loss_rate=0.05)
        traces[tcp] = sent(run, (0, 1))
        acks[tcp] = {size for _, size in sent(run, (1, 0))} - {340}
    assert traces[None] == traces["reno"]
    kinds = ("reno", "tahoe", "newreno", "sack")
    assert all(traces[one] != traces[other] for one, other in itertools.combinations(kinds, 2))
    # SACK blocks make ACKs longer than their headers.
    assert acks["reno"] == {40} < acks["sack"]


def test_delayed_acks_and_ecn_are_those_of_the_run(simulated: Run) -> None:
    big = {**CONSTANT, "rate_per_s": 1, "response_bytes": {"mean": 60_000}}
    plain = packmime(simulated, big)
    delayed = packmime(simulated, big, delayed_acks="on")
    assert len(sent(delayed, (1, 0))) < 0.7 * len(sent(plain, (1, 0)))
    queues = {
        "early": {"kind": "RED", "settings": {"min_th_pkts": 2, "weight": 1, "mark_below_p": 1}}
    }
    parameters = {**ALONE, "queue": "early", "ecn": "on"}
    ecn = simulated(parameters=parameters, queues=queues, flows=[], background=[big], duration_s=3)
    assert any("E" in e.flags for e in ecn.events if e.event == "-" and e.link == (0, 1))


def test_persistent_connections_ask_for_pages_of_objects(simulated: Run) -> None:
    run = packmime(simulated, PERSISTENT)
    first = [each for each in objects(run) if each[0] < 1][:3]
    (_, end_1, _), (begin_2, end_2, _), (begin_3, _, _) = first
    assert (begin_2, begin_3) == pytest.approx((end_1 + 0.1, end_2 + 0.1), abs=1e-6)
    one = packmime(simulated, {**PERSISTENT, "rate_per_s": 0.3})
    found = objects(one)
    assert len(found) == 6
    assert found[3][0] == pytest.approx(found[2][1] + 0.3, abs=1e-6)
    assert packmime(simulated, {**PERSISTENT, "http_version": 1.0} | dict.fromkeys(
        ("persistent_share", "connection_pages", "page_objects", "single_share", "page_pause_s",
         "object_pause_s"))).run["argv"] == packmime(
        simulated, {**CONSTANT, "rate_per_s": 1}).run["argv"]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"persistent_share": 0},
        {"connection_pages": {"mean": 1}},
        {"page_objects": {"mean": 5}},
        {"single_share": 1},
        {"page_pause_s": {"mean": 0.7}},
        {"object_pause_s": {"mean": 0.4}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_each_key_of_persistent_connections_acts(simulated: Run, change: dict[str, Any]) -> None:
    changed = packmime(simulated, {**PERSISTENT, **change})
    assert starts(changed) != starts(packmime(simulated, PERSISTENT))


def test_sizes_are_drawn_anew_for_each_object_where_a_distribution_is_given(simulated: Run) -> None:
    drawn = {"distribution": "exponential", "mean": 3000}
    run = packmime(simulated, {**PERSISTENT, "request_bytes": drawn, "response_bytes": drawn})
    sizes = [size for begin, _, size in objects(run) if begin < 1]
    assert len(sizes) == len(set(sizes)) > 3


def test_what_is_left_out_is_packmimes_own_and_differs_between_repetitions(simulated: Run) -> None:
    one, two = (
        objects(packmime(simulated, {**PACKMIMES_OWN, "rate_per_s": 20}, substream=substream))
        for substream in (1, 2)
    )
    for part in range(3):  # starts, ends, sizes
        assert {each[part] for each in one} != {each[part] for each in two}
    # Cache validations of about 130 bytes, and files of many sizes.
    assert len({size for _, _, size in one}) > 20
    assert min(size for _, _, size in one) < 300 < max(size for _, _, size in one)
    again = packmime(simulated, {**PACKMIMES_OWN, "rate_per_s": 20, "http_version": 1.1})
    assert objects(again) != one


def test_transfers_of_flows_and_responses_stand_in_the_order_of_their_ends(simulated: Run) -> None:
    run = simulated(flows=[{"size_pkts": 20}], background=[CONSTANT, CONSTANT], duration_s=2)
    rows = run.rows("transfers.out")
    ends = [float(row[3]) for row in rows]
    assert ends == sorted(ends)
    assert {row[1] for row in rows} == {"flow:0", "background:0", "background:1"}
    written = {path.name for path in run.folder.iterdir()}
    assert written == {output["file"] for output in run.run["outputs"]}
