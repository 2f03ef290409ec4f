"""Background traffic of kind tmix in study.yaml appears in the packet trace of ns-2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Event, Simulated
from tests.pipeline.studies.network.test_background import ALONE, objects

Run = Callable[..., Simulated]
# A connection that tcl/lib/tmix.tcl is given: two requests of 300 bytes, 50 ms later a response
# each, of 5,000 and of 2,000 bytes.
ONE = "S,500000,1000,I:0:0:300,A:0:50000:5000,I:0:20000:300,A:0:50000:2000"
# The bottleneck of 8 Mbit/s is offered 4.
DRAWN: dict[str, Any] = {
    "acceptor_delays_ms": [4],
    "initiator_delays_ms": [6],
    "protocol": "Sack",
    "load": 0.5,
    "segment_bytes": "$packet_bytes",
    "exchanges": "constant",
    "exchanges_mean": 1,
    "request_size": "constant",
    "request_size_mean_bytes": 300,
    "response_size": "pareto",
    "response_size_mean_bytes": 9000,
    "response_size_shape": 1.5,
    "server_pause": "constant",
    "server_pause_mean_s": 0.01,
    "think": "constant",
    "think_mean_s": 0.01,
}
TMIX: dict[str, Any] = {"network": "network_tmix.tcl", "flows": []}


# Arguments about vectors that are drawn.
OF_DRAWN = ("offered_mbps", "segment_bytes", "exchanges", "request_size", "response_size",
            "server_pause", "think")  # fmt: skip


def tmix(
    simulated: Run, source: dict[str, Any], vectors: str = "", scale: float = 1, **parameters: Any
) -> Simulated:
    """A run with only this background traffic, whose vectors may be given instead of drawn."""
    argv: dict[str, str | None] = {}
    if vectors:
        argv = {f"background.0.{name}": None for name in OF_DRAWN}
        argv |= {"background.0.vectors": vectors, "background.0.scale": f"{scale:g}"}
    return simulated(
        **TMIX,
        parameters={**ALONE, **parameters},
        background=[drawn(source)],
        duration_s=3,
        argv=argv,
    )


def drawn(arguments: dict[str, Any]) -> dict[str, Any]:
    """A source of these arguments."""
    return {"kind": "tmix", "arguments": arguments}


def ways(run: Simulated) -> list[list[Event]]:
    """Packets of senders that arrived at the bottleneck, in each direction."""
    return [
        [e for e in run.events if (e.event, e.link, e.kind) == ("+", link, "tcp")]
        for link in ((0, 1), (1, 0))
    ]


# TCP/Linux does not wait for the end of the handshake, which changes times but no bytes.
@pytest.mark.parametrize("protocol", ["Sack", "Reno", "Cubic"])
def test_a_vector_is_its_bytes(simulated: Run, protocol: str) -> None:
    run = tmix(simulated, {**DRAWN, "protocol": protocol}, ONE)
    there, back = ways(run)
    # A handshake of 40 bytes in each direction, then ceil(5000/1000) + ceil(2000/1000) packets.
    assert [e.size for e in there] == [40] + 7 * [1040]
    assert [e.size for e in back] == [40, 1040, 1040]
    ((start_s, _, size),) = objects(run)
    assert (start_s, size) == (0.5, 7600)


def test_a_vector_is_sent_at_its_times(simulated: Run) -> None:
    run = tmix(simulated, DRAWN, ONE)
    there, back = ways(run)
    # The handshake of the initiator: 6 ms, and an RTT of 36 ms later its request.
    assert back[0].time_s == pytest.approx(0.506, abs=1e-4)
    assert back[1].time_s == pytest.approx(0.506 + 0.036, abs=5e-4)
    # 12 ms to the acceptor with 1.04 ms to send the request, 50 ms, 4 ms to the bottleneck.
    assert there[0].time_s == pytest.approx(0.542 + 0.01304 + 0.05 + 0.004, abs=1e-3)
    assert there[1].time_s == pytest.approx(there[0].time_s + 0.036, abs=5e-4)
    # The last response follows its request by 12 + 1.04 + 50 + 4 ms.
    assert there[6].time_s == pytest.approx(back[2].time_s + 0.06704, abs=1e-3)
    ((_, end_s, _),) = objects(run)
    # Its last packet, of 1.04 ms, needs 14 ms, and its ACK 18 ms.
    assert end_s == pytest.approx(there[-1].time_s + 0.00104 + 0.014 + 0.018, abs=2e-3)


def test_scale_moves_starts(simulated: Run) -> None:
    two = f"{ONE} {ONE.replace('500000', '1000000')}"
    run = tmix(simulated, DRAWN, two, scale=0.5)
    assert [begin for begin, _, _ in objects(run)] == [0.25, 0.5]


def test_ends_that_do_not_take_turns_send_both(simulated: Run) -> None:
    run = tmix(simulated, DRAWN, "C,0,500,I:0:0:1500,A:0:0:1000,A:100000:0:400")
    there, _ = ways(run)
    assert [e.size for e in there] == [40, 540, 540, 540]
    assert objects(run)[0][2] == 2900


def test_drawn_vectors_offer_the_load_and_repeat(simulated: Run) -> None:
    run = tmix(simulated, DRAWN)
    there, _ = ways(run)
    # 4 Mbit/s for 3 s, except what is on its way at the end, besides handshakes of 40 bytes.
    offered = 4e6 * 3 / 8
    assert 0.7 * offered < sum(e.size for e in there if e.size > 40) <= 1.001 * offered
    assert run.run["argv"][run.run["argv"].index("-background.0.offered_mbps") + 1] == "4"
    assert objects(tmix(simulated, DRAWN, substream=2)) != objects(run)


def test_shuffling_keeps_connections_and_moves_intervals(simulated: Run) -> None:
    several = " ".join(
        ONE.replace("500000", str(start)).replace("0:0:300", f"0:0:{300 + i}")
        for i, start in enumerate((100_000, 400_000, 700_000, 1_000_000, 1_300_000, 1_600_000))
    )
    plain, shuffled = (
        objects(tmix(simulated, {**DRAWN, **more}, several)) for more in ({}, {"bin_s": 0.3})
    )
    assert {size for *_, size in shuffled} <= {size for *_, size in plain}
    assert [b for b, *_ in shuffled] != [b for b, *_ in plain]
    # Each keeps its place in its interval, 0.1 s after its beginning.
    assert all((begin - 0.1) % 0.3 == pytest.approx(0, abs=1e-6)
               or (begin - 0.1) % 0.3 == pytest.approx(0.3, abs=1e-6)
               for begin, *_ in shuffled)  # fmt: skip


def test_prefill_starts_the_long_ones_late(simulated: Run) -> None:
    # The first would have ended by 0.5 s; the pause of the second is longer.
    short = ONE.replace("500000", "100000")
    long = ONE.replace("500000", "200000").replace("20000:300", "700000:300")
    source = {**DRAWN, "prefill_s": 1, "prefill_within_s": 0.1}
    ((start_s, _, _),) = objects(tmix(simulated, source, f"{short} {long}"))
    # Tmix compresses 0 to 1 s to the last tenth of it: 0.9 + 0.2 * 0.1.
    assert start_s == pytest.approx(0.92, abs=1e-5)


def test_prefill_takes_what_its_connections_take_at_the_mean_rate(simulated: Run) -> None:
    long = ONE.replace("500000", "200000").replace("20000:300", "700000:300")
    big = ONE.replace("500000", "2000000").replace("50000:5000", "50000:98000")
    several = {"acceptor_delays_ms": [3, 5], "initiator_delays_ms": [6, 6]}
    source = {**DRAWN, **several, "prefill_s": 1}
    start_s, big_s = (begin for begin, _, _ in objects(tmix(simulated, source, f"{long} {big}")))
    # 7 and 100 packets of 8,320 bits in 3 s: the 7 take 3 * 7/107 s; 0.2 of it have passed.
    assert start_s == pytest.approx(1 - 0.8 * 3 * 7 / 107, abs=1e-5)
    assert big_s == pytest.approx(2)


def test_sources_that_share_a_draw_have_the_same_vectors(simulated: Run) -> None:
    sources = [
        {**DRAWN, "draw": 1, "load": 0.2},
        {**DRAWN, "draw": 1, "load": 0.2, "protocol": "Reno"},
    ]
    run = simulated(**TMIX, parameters=ALONE, background=list(map(drawn, sources)), duration_s=3)
    starts: dict[str, list[str]] = {}
    for _, subject, start_s, *_ in run.rows("transfers.out"):
        starts.setdefault(subject, []).append(start_s)
    first, second = (set(each) for each in starts.values())
    assert len(first & second) >= 0.9 * len(first)
