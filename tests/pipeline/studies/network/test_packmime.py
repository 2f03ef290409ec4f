"""Background traffic of kind packmime in study.yaml appears in the packet trace of ns-2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Simulated
from tests.pipeline.studies.network.test_background import ALONE, objects

Run = Callable[..., Simulated]

ARGUMENTS: dict[str, Any] = {
    "rate_per_s": 20,
    "servers": 1,
    "clients": 1,
    "segment_bytes": 1000,
    **{f"server_{most}mbps": 50 for most in ("", "most_")},
    **{f"server_{most}delay_ms": 4 for most in ("", "most_")},
    **{f"client_{most}mbps": 20 for most in ("", "most_")},
    **{f"client_{most}delay_ms": 6 for most in ("", "most_")},
}
SOURCE: dict[str, Any] = {"kind": "packmime", "arguments": ARGUMENTS}
SCRIPT = "network_packmime.tcl"


def packmime(simulated: Run, source: dict[str, Any], **parameters: Any) -> Simulated:
    """A run with only this background traffic."""
    given = {**ALONE, **parameters}
    return simulated(network=SCRIPT, parameters=given, flows=[], background=[source], duration_s=3)


def sent(run: Simulated, link: tuple[int, int]) -> list[tuple[float, int]]:
    """Time and size of the packets that arrived at the bottleneck."""
    return [(e.time_s, e.size) for e in run.events if e.event == "+" and e.link == link]


def starts(run: Simulated) -> list[float]:
    return sorted(begin for begin, _, _ in objects(run))


ACTS: list[tuple[dict[str, Any], Callable[[Simulated], object]]] = [
    ({"arguments": {"rate_per_s": 8}}, lambda run: starts(run)[1]),
    ({"arguments": {"http": 1.1}}, objects),
    ({"arguments": {"segment_bytes": 500}}, lambda run: max(n for _, n in sent(run, (0, 1)))),
    ({"arguments": {"server_mbps": 1, "server_most_mbps": 1}}, lambda run: objects(run)[0][1]),
    ({"arguments": {"client_most_delay_ms": 19}}, lambda run: objects(run)[0][1]),
    ({"arguments": {"stop_s": 1}}, lambda run: len(starts(run))),
    ({"arguments": {"arrivals": "constant"}}, lambda run: starts(run)[1]),
    ({"arguments": {"delayed_acks": 1}}, lambda run: len(sent(run, (1, 0)))),
    ({"access_mbps": 1}, lambda run: objects(run)[0][1]),
    ({"access_delay_ms": 9}, lambda run: objects(run)[0][1]),
    ({"start_s": 0.5}, lambda run: starts(run)[0]),
    ({"start_within_s": 0.5}, lambda run: starts(run)[0]),
    ({"direction": "reverse"}, lambda run: len(sent(run, (0, 1)))),
    (
        {"arguments": {"servers": 2, "clients": 2}},
        lambda run: {row[8] for row in run.rows("pckts.trq")},
    ),
]


@pytest.mark.parametrize(("change", "seen"), ACTS, ids=[str(each) for each, _ in ACTS])
def test_each_key_acts(
    simulated: Run, change: dict[str, Any], seen: Callable[[Simulated], object]
) -> None:
    # If it has a rate or size of its own, that of the run is not used.
    unused = {"access_mbps": None} if "access_mbps" in change else {}
    arguments = {**ARGUMENTS, **change.get("arguments", {})}
    after = packmime(simulated, {**SOURCE, **change, "arguments": arguments}, **unused)
    assert seen(after) != seen(packmime(simulated, SOURCE))


def test_ecn_is_that_of_the_run(simulated: Run) -> None:
    queues = {
        "early": {"kind": "RED", "settings": {"min_th_pkts": 2, "weight": 1, "mark_below_p": 1}}
    }
    run = simulated(
        network=SCRIPT,
        parameters={**ALONE, "queue": "early", "ecn": "on"},
        queues=queues,
        flows=[],
        background=[SOURCE],
        duration_s=3,
    )
    dequeued = [e for e in run.events if e.event == "-" and e.link == (0, 1)]
    assert any("E" in e.flags for e in dequeued)


def test_what_is_drawn_is_packmimes_own_and_differs_between_repetitions(simulated: Run) -> None:
    one, two = (objects(packmime(simulated, SOURCE, substream=substream)) for substream in (1, 2))
    for part in range(3):  # starts, ends, sizes
        assert {each[part] for each in one} != {each[part] for each in two}
    # Cache validations of about 130 bytes, and files of many sizes.
    assert len({size for _, _, size in one}) > 20
    assert min(size for _, _, size in one) < 300 < max(size for _, _, size in one)


def test_transfers_of_flows_and_responses_stand_in_the_order_of_their_ends(simulated: Run) -> None:
    run = simulated(
        network=SCRIPT, flows=[{"size_pkts": 20}], background=[SOURCE, SOURCE], duration_s=2
    )
    rows = run.rows("transfers.out")
    ends = [float(row[3]) for row in rows]
    assert ends == sorted(ends)
    assert {row[1] for row in rows} == {"flow:0", "background:0", "background:1"}
    written = {path.name for path in run.folder.iterdir()}
    assert written == {output["file"] for output in run.run["outputs"]}
