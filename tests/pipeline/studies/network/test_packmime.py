"""Background traffic of kind packmime in study.yaml appears in the packet trace of ns-2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Simulated
from tests.pipeline.studies.network.test_background import ALONE, objects

Run = Callable[..., Simulated]

SOURCE: dict[str, Any] = {
    "kind": "packmime",
    "rate_per_s": 20,
    "servers": 1,
    "clients": 1,
    "server_mbps": 50,
    "server_delay_ms": 4,
    "client_mbps": 20,
    "client_delay_ms": 6,
}


def packmime(simulated: Run, source: dict[str, Any], **parameters: Any) -> Simulated:
    """A run with only this background traffic."""
    given = {**ALONE, **parameters}
    return simulated(parameters=given, flows=[], background=[source], duration_s=3)


def sent(run: Simulated, link: tuple[int, int]) -> list[tuple[float, int]]:
    """Time and size of the packets that arrived at the bottleneck."""
    return [(e.time_s, e.size) for e in run.events if e.event == "+" and e.link == link]


def starts(run: Simulated) -> list[float]:
    return sorted(begin for begin, _, _ in objects(run))


ACTS: list[tuple[dict[str, Any], Callable[[Simulated], object]]] = [
    ({"rate_per_s": 8}, lambda run: starts(run)[1]),
    ({"http_version": 1.1}, objects),
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
    ({"direction": "reverse"}, lambda run: len(sent(run, (0, 1)))),
    ({"servers": 2, "clients": 2}, lambda run: {row[8] for row in run.rows("pckts.trq")}),
]


@pytest.mark.parametrize(("change", "seen"), ACTS, ids=[",".join(each) for each, _ in ACTS])
def test_each_key_acts(
    simulated: Run, change: dict[str, Any], seen: Callable[[Simulated], object]
) -> None:
    # If it has a rate or size of its own, that of the run is not used.
    unused = {key: None for key in ("access_mbps", "packet_bytes") if key in change}
    after = packmime(simulated, {**SOURCE, **change}, **unused)
    assert seen(after) != seen(packmime(simulated, SOURCE))


def test_delayed_acks_and_ecn_are_those_of_the_run(simulated: Run) -> None:
    plain = packmime(simulated, SOURCE)
    delayed = packmime(simulated, SOURCE, delayed_acks="on")
    assert len(sent(delayed, (1, 0))) < len(sent(plain, (1, 0)))
    queues = {
        "early": {"kind": "RED", "settings": {"min_th_pkts": 2, "weight": 1, "mark_below_p": 1}}
    }
    parameters = {**ALONE, "queue": "early", "ecn": "on"}
    ecn = simulated(
        parameters=parameters, queues=queues, flows=[], background=[SOURCE], duration_s=3
    )
    assert any("E" in e.flags for e in ecn.events if e.event == "-" and e.link == (0, 1))


def test_what_is_drawn_is_packmimes_own_and_differs_between_repetitions(simulated: Run) -> None:
    one, two = (objects(packmime(simulated, SOURCE, substream=substream)) for substream in (1, 2))
    for part in range(3):  # starts, ends, sizes
        assert {each[part] for each in one} != {each[part] for each in two}
    # Cache validations of about 130 bytes, and files of many sizes.
    assert len({size for _, _, size in one}) > 20
    assert min(size for _, _, size in one) < 300 < max(size for _, _, size in one)


def test_transfers_of_flows_and_responses_stand_in_the_order_of_their_ends(simulated: Run) -> None:
    run = simulated(flows=[{"size_pkts": 20}], background=[SOURCE, SOURCE], duration_s=2)
    rows = run.rows("transfers.out")
    ends = [float(row[3]) for row in rows]
    assert ends == sorted(ends)
    assert {row[1] for row in rows} == {"flow:0", "background:0", "background:1"}
    written = {path.name for path in run.folder.iterdir()}
    assert written == {output["file"] for output in run.run["outputs"]}
