"""The background traffic of study.yaml appears in the packet trace of the real ns-2."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Event, Simulated

Run = Callable[..., Simulated]
Ask = Callable[..., list[str]]
ALONE = {"protocol": None, "access_delay_ms": None, "receiver_delay_ms": None}
WEB: dict[str, Any] = {
    "kind": "web",
    "protocol": "Reno",
    "servers": 2,
    "clients": 3,
    "sessions": 1,
    "server_mbps": 50,
    "server_delay_ms": 4,
    "client_mbps": 20,
    "client_delay_ms": 6,
    "page_pause_s": {"mean": 0.5},
    "page_objects": {"mean": 3},
    "object_pause_s": {"mean": 0.1},
    "object_bytes": {"mean": 4500},
}


def sent(run: Simulated, kind: str, link: tuple[int, int] = (0, 1)) -> list[Event]:
    """Packets of one kind that arrived at the bottleneck."""
    return [e for e in run.events if (e.event, e.kind, e.link) == ("+", kind, link)]


def gaps(events: list[Event]) -> list[float]:
    times = [e.time_s for e in events]
    return [round(after - before, 6) for before, after in itertools.pairwise(times)]


def test_cbr_has_its_rate_size_start_and_stop(simulated: Run) -> None:
    source = {"kind": "cbr", "rate_mbps": 2, "packet_bytes": 500, "start_s": 0.5, "stop_s": 1.5}
    run = simulated(parameters=ALONE, flows=[], background=[source])
    packets = sent(run, "cbr")
    assert {e.size for e in packets} == {500}
    # 500 B at 2 Mbit/s: one packet every 2 ms; 40 µs on the access link of 100 Mbit/s.
    assert set(gaps(packets)) == {0.002}
    assert packets[0].time_s == pytest.approx(0.5 + 40e-6, abs=1e-6)
    assert packets[-1].time_s == pytest.approx(1.5, abs=0.0021)


def test_jitter_moves_packets_by_half_their_distance(simulated: Run) -> None:
    source = {"kind": "cbr", "rate_mbps": 2, "packet_bytes": 500, "jitter": "on"}
    run = simulated(parameters=ALONE, flows=[], background=[source])
    apart = gaps(sent(run, "cbr"))
    assert 0.001 - 2e-6 <= min(apart) < 0.00105
    assert 0.00295 < max(apart) <= 0.003 + 2e-6
    other = simulated(parameters={**ALONE, "substream": 2}, flows=[], background=[source])
    assert gaps(sent(other, "cbr")) != apart


def test_on_and_off_sources_send_in_bursts(simulated: Run) -> None:
    source = {"kind": "exponential", "rate_mbps": 4, "packet_bytes": 500, "burst_s": 0.05,
              "idle_s": 0.05}  # fmt: skip
    run = simulated(parameters=ALONE, flows=[], background=[source], duration_s=20)
    packets = sent(run, "exp")
    apart = gaps(packets)
    pauses = [gap for gap in apart if gap > 0.0011]
    assert min(apart) == pytest.approx(0.001)
    # About 200 bursts and pauses of 50 ms each: means within 40 %, half of the packets.
    assert 120 < len(pauses) < 320
    assert sum(pauses) / len(pauses) == pytest.approx(0.05, rel=0.4)
    assert len(packets) == pytest.approx(20 / 0.001 / 2, rel=0.3)
    longer = {**source, "idle_s": 0.2}
    run = simulated(parameters=ALONE, flows=[], background=[longer], duration_s=20)
    assert len(sent(run, "exp")) < 0.7 * len(packets)


def test_background_goes_where_it_is_told_to(simulated: Run) -> None:
    cbr = {"kind": "cbr", "rate_mbps": 1, "packet_bytes": 500}
    sources = [
        {**cbr, "enters": 2},
        {**cbr, "leaves": 1, "packet_bytes": 400},
        {**cbr, "direction": "reverse", "packet_bytes": 300},
        {**cbr, "count": 2, "packet_bytes": 200},
    ]
    run = simulated(bottlenecks=[{}, {}], background=sources, duration_s=1)
    links: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for event in run.events:
        if event.kind == "cbr":
            links.setdefault((event.size, event.flow), set()).add(event.link)
    # The flow ids continue those of the flows, of which there is one.
    assert links == {
        (500, 1): {(1, 2)},
        (400, 2): {(0, 1)},
        (300, 3): {(2, 1), (1, 0)},
        (200, 4): {(0, 1), (1, 2)},
        (200, 5): {(0, 1), (1, 2)},
    }


def test_background_has_access_links_of_its_own(simulated: Run) -> None:
    cbr = {"kind": "cbr", "rate_mbps": 2, "packet_bytes": 500, "access_mbps": 4,
           "access_delay_ms": 7, "start_s": 0.25, "start_within_s": 0.5}  # fmt: skip
    run = simulated(background=[cbr], duration_s=1)
    first, second = sent(run, "cbr")[:2]
    assert 0.25 <= first.time_s - 0.007 - 0.001 <= 0.75
    assert second.time_s - first.time_s == pytest.approx(0.002)
    other = simulated(background=[cbr], duration_s=1, parameters={"substream": 2})
    assert sent(other, "cbr")[0].time_s != first.time_s


def test_udp_does_not_write_over_the_headers_of_tcp(simulated: Run) -> None:
    """Without ns-2's RTP header, a UDP source would make packets of wrong sizes."""
    cbr = {"kind": "cbr", "rate_mbps": 1, "packet_bytes": 700}
    run = simulated(background=[cbr], duration_s=2)
    assert {e.size for e in run.events if e.kind == "cbr"} == {700}
    assert {e.size for e in run.data()} == {1040}
    # 125,000 bytes per second in packets of 700 bytes.
    assert len(sent(run, "cbr")) == pytest.approx(2 * 125_000 / 700, abs=2)


def web(simulated: Run, **changes: Any) -> Simulated:
    return simulated(parameters=ALONE, flows=[], background=[{**WEB, **changes}], duration_s=4)


def objects(run: Simulated) -> list[tuple[float, float, int]]:
    rows = run.rows("transfers.out")
    assert {(row[0], row[1]) for row in rows} == {("object", "background:0")}
    return [(float(row[2]), float(row[3]), int(row[4])) for row in rows]


def test_web_pages_have_their_objects_sizes_and_pauses(simulated: Run) -> None:
    found = objects(web(simulated))
    # 4,500 bytes are five segments of 1,000.
    assert {size for _, _, size in found} == {5000}
    begins = [begin for begin, _, _ in found]
    # A page's three objects are requested 0.1 s apart; the next page begins 0.5 s after its end.
    assert begins[0] == 0
    assert begins[1:3] == pytest.approx([0.1, 0.2])
    assert begins[3] == pytest.approx(found[2][1] + 0.5, abs=1e-6)
    # Round trips of 2 (4 + 8 + 6) ms: two for the request, one for the connection of the response,
    # and two for its five segments, since ns-2's initial window has two.
    assert found[0][1] == pytest.approx(5 * 0.036, rel=0.1)


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"page_pause_s": {"mean": 0.1}}, lambda run: objects(run)[3][0]),
        ({"page_objects": {"mean": 2}}, lambda run: objects(run)[2][0]),
        ({"object_pause_s": {"mean": 0.2}}, lambda run: objects(run)[1][0]),
        ({"object_bytes": {"mean": 9000}}, lambda run: objects(run)[0][2]),
        ({"packet_bytes": 500}, lambda run: objects(run)[0][2]),
        ({"sessions": 2}, lambda run: len(objects(run))),
        ({"pages": 1}, lambda run: len(objects(run))),
        ({"server_delay_ms": 9}, lambda run: objects(run)[0][1]),
        ({"client_delay_ms": 9}, lambda run: objects(run)[0][1]),
        ({"server_mbps": 1}, lambda run: objects(run)[0][1]),
        ({"client_mbps": 1}, lambda run: objects(run)[0][1]),
        ({"access_mbps": 1}, lambda run: objects(run)[0][1]),
        ({"access_delay_ms": 9}, lambda run: objects(run)[0][1]),
        ({"start_s": 0.5}, lambda run: objects(run)[0][0]),
        ({"start_within_s": 0.5}, lambda run: objects(run)[0][0]),
        ({"direction": "reverse"}, lambda run: len(run.data("+", flow=0, link=(0, 1)))),
        ({"object_bytes": {"distribution": "exponential", "mean": 4500}}, objects),
        ({"object_bytes": {"distribution": "pareto", "mean": 4500, "shape": 1.2}}, objects),
        ({"object_bytes": {"distribution": "paretoii", "mean": 4500, "shape": 1.2}}, objects),
    ],
)
def test_each_key_of_the_web_acts(
    simulated: Run, change: dict[str, Any], seen: Callable[[Simulated], object]
) -> None:
    # If the access links have a rate of their own, that of the run is not used.
    parameters = {**ALONE, "access_mbps": None} if "access_mbps" in change else ALONE
    after = simulated(parameters=parameters, flows=[], background=[{**WEB, **change}], duration_s=4)
    assert seen(after) != seen(web(simulated))


def test_web_connections_are_of_their_protocol(simulated: Run) -> None:
    sizes = {}
    for protocol in ("Reno", "Sack"):
        source = {**WEB, "protocol": protocol, "object_bytes": {"mean": 50000}}
        parameters = {**ALONE, "loss_rate": 0.05}
        run = simulated(parameters=parameters, flows=[], background=[source], duration_s=4)
        sizes[protocol] = {e.size for e in run.events if e.kind == "ack"}
    # SACK blocks make ACKs longer than their headers.
    assert sizes["Reno"] == {40} < sizes["Sack"]


def test_servers_and_clients_are_as_many_and_as_far_as_asked_for(asked: Ask) -> None:
    question = """
        foreach name [lsort -dictionary [$ns array names link_]] {
            lassign [split $name :] from to
            set link [[$ns set link_($name)] link]
            puts "is $from $to [$link set delay_] [$link set bandwidth_]"
        }
    """
    source = {
        **WEB,
        "servers": 3,
        "clients": 4,
        "server_delay_ms": [10, 20],
        "server_mbps": [10, 20],
        "client_delay_ms": [30, 40],
        "client_mbps": [50, 60],
    }
    lines = asked(question, parameters={**ALONE, "trace": None}, flows=[],
                  background=[source])  # fmt: skip
    links = [[float(w) for w in line.split()[1:]] for line in lines if line.startswith("is ")]
    ways = {(round(row[2], 6), round(row[3])) for row in links}
    servers = [w for w in ways if 0.010 <= w[0] <= 0.020 and 10e6 <= w[1] <= 20e6]
    clients = [w for w in ways if 0.030 <= w[0] <= 0.040 and 50e6 <= w[1] <= 60e6]
    assert (len(servers), len(clients)) == (3, 4)
