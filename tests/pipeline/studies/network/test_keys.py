"""Keys: repetitions without randomness are told, documentation names all, costs follow them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Planned

from bdpbench.contracts.paths import repository_root
from bdpbench.studies.background import remarks
from bdpbench.studies.cost import COSTS
from bdpbench.studies.parts import (
    COMMON_OF_BACKGROUND,
    KEYS_OF_BACKGROUND,
    Background,
    Bottleneck,
    Change,
    Flow,
)
from bdpbench.studies.queues import QUEUE_KINDS

CBR = {"kind": "cbr", "rate_mbps": 1, "packet_bytes": 500}
RED = {"Mine": {"kind": "RED", "settings": {"min_th_pkts": 5}}}
MEAN = {"mean": 1}
WEB = {
    "kind": "web", "protocol": "Reno", "servers": 1, "clients": 1, "sessions": 1, "server_mbps": 9,
    "server_delay_ms": 1, "client_mbps": 9, "client_delay_ms": 1, "page_pause_s": MEAN,
    "page_objects": MEAN, "object_pause_s": MEAN, "object_bytes": MEAN,
}  # fmt: skip

PACKMIME = {
    "kind": "packmime", "rate_per_s": 5, "servers": 1, "clients": 1, "server_mbps": 9,
    "server_delay_ms": 1, "client_mbps": 9, "client_delay_ms": 1,
}  # fmt: skip
# Nothing is drawn at random from these.
FIXED = {"arrivals": "constant", "request_bytes": MEAN, "response_bytes": MEAN,
         "server_pause_s": MEAN}  # fmt: skip
PAGES = {"http_version": 1.1, "persistent_share": 1, "connection_pages": MEAN,
         "page_objects": MEAN, "page_pause_s": MEAN, "object_pause_s": MEAN}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "random"),
    [
        ({}, False),
        ({"flows": [{"start_within_s": 1}]}, True),
        ({"parameters": {"loss_rate": 0.1}}, True),
        ({"defaults": {"Agent/TCP": {"overhead_": 0.001}}}, True),
        ({"background": [CBR]}, False),
        ({"background": [{**CBR, "jitter": "on"}]}, True),
        ({"background": [WEB]}, False),
        ({"background": [{**WEB, "clients": 2}]}, True),
        ({"background": [{**WEB, "servers": 2}]}, True),
        ({"background": [{**WEB, "client_delay_ms": [1, 2]}]}, True),
        (
            {"background": [{**WEB, "page_objects": {"distribution": "exponential", "mean": 1}}]},
            True,
        ),
        ({"background": [PACKMIME]}, True),
        ({"background": [{**PACKMIME, **FIXED}]}, False),
        ({"background": [{**PACKMIME, **FIXED, "arrivals": "exponential"}]}, True),
        ({"background": [{**PACKMIME, **FIXED, "server_mbps": [8, 9]}]}, True),
        ({"background": [{**PACKMIME, **FIXED, "http_version": 1.1}]}, True),
        ({"background": [{**PACKMIME, **FIXED, **PAGES}]}, False),
        ({"background": [{**PACKMIME, **FIXED, **PAGES, "connection_pages": {"mean": 2}}]}, True),
        ({"queues": RED, "parameters": {"queue": "Mine"}}, True),
        ({"parameters": {"queue": "SFQ"}}, False),
    ],
)
def test_repetitions_without_randomness_are_told(
    planned: Planned, more: dict[str, Any], random: bool
) -> None:
    assert remarks(planned(**more)) == []
    runs = planned(sweep={"substream": [1, 2]}, **more)
    said = remarks(runs)
    assert bool(said) is not random
    assert all("one: nothing in its runs is random" in each for each in said)


def test_runs_that_draw_are_not_counted_among_those_in_which_nothing_is_random(
    planned: Planned,
) -> None:
    sweep = {"substream": [1, 2], "loss_rate": [0, 0.01, 0.02]}
    (said,) = remarks(planned(sweep=sweep))
    assert said.startswith("one: nothing in 2 of its 6 runs is random, so 2 substreams")


def test_the_documentation_tells_every_key() -> None:
    text = (repository_root() / "docs" / "scenarios.md").read_text()

    def told(name: str) -> bool:
        return f"`{name}`" in text or f"{name}:" in text

    for model in (Flow, Bottleneck, Change, Background):
        assert [name for name in model.model_fields if not told(name)] == []
    for kind in QUEUE_KINDS.values():
        for name, parameter in kind.parameters.items():
            assert f"| `{name}` | {parameter.text} |" in text


def test_every_key_of_background_is_of_a_kind() -> None:
    of_kinds = {key for keys in KEYS_OF_BACKGROUND.values() for part in keys for key in part}
    assert set(Background.model_fields) == {*COMMON_OF_BACKGROUND, *of_kinds}


# ---------------------------------------------------------------- costs

# 840 Mbit/s are 100,000 packets of 1,050 bytes per second, or 1.04 % more of 1,040 bytes.
WIDE: dict[str, Any] = {
    "bottleneck_mbps": 840,
    "access_mbps": 1000,
    "bottleneck_delay_ms": 8,
    "buffer_pkts": 2000,
    "trace": None,
    "packet_bytes": 1000,
}


def _cpu_s(planned: Any, *, flows: list[dict[str, Any]], **parameters: Any) -> float:
    given = {**WIDE, **parameters}
    (run,) = planned(parameters=given, flows=flows, duration_s=100)
    return float(run["estimated_cpu_s"])


def test_random_losses_leave_what_a_law_can_do_with_them(planned: Any) -> None:
    # Mathis et al. (1997): 1.22 / sqrt(1e-4) packets per round trip of 20 ms are 6,100 per second.
    # RFC 3649: 0.12 / 1e-4^0.835 are 263 per round trip.
    for protocol, pkts_per_s in (("Sack", 6_100), ("Cubic", 13_130)):
        lossy_s = _cpu_s(planned, flows=[{}], loss_rate=1e-4, protocol=protocol)
        setup_s = COSTS.startup_s + COSTS.flow_s + 2000 * COSTS.sample_s
        assert lossy_s - setup_s == pytest.approx(100 * pkts_per_s * 8.3e-7, rel=0.25)
        assert _cpu_s(planned, flows=[{}], protocol=protocol) > 5 * lossy_s


def test_a_slow_access_bounds_its_flow(planned: Any) -> None:
    fast_s = _cpu_s(planned, flows=[{}])
    assert _cpu_s(planned, flows=[{}], access_mbps=84) == pytest.approx(fast_s / 10, rel=0.35)
    # Ten flows fill the bottleneck; packets of many flows take longer.
    assert fast_s < _cpu_s(planned, flows=[{"count": 10}], access_mbps=84) < 2 * fast_s


def test_each_flow_takes_time_to_make(planned: Any) -> None:
    one, forty = ([{"size_pkts": 1, "count": count, "recorded": False}] for count in (1, 40))
    more_s = _cpu_s(planned, flows=forty) - _cpu_s(planned, flows=one)
    # 81 more nodes, with a route from each to each other at 8.6 µs.
    assert more_s == pytest.approx(39 * COSTS.flow_s + 8.6e-6 * 82**2, abs=0.02)


def test_a_link_carries_eight_bits_a_byte(planned: Any) -> None:
    # 42 Mbit/s more for 100 s are half a million packets of 1,050 bytes, as many as these flows
    # have more than those.
    faster_s = _cpu_s(planned, flows=[{}], access_mbps=84) - _cpu_s(
        planned, flows=[{}], access_mbps=42
    )
    larger, smaller = ([{"size_pkts": size}] for size in (1_000_000, 500_000))
    longer_s = _cpu_s(planned, flows=larger) - _cpu_s(planned, flows=smaller)
    assert faster_s == pytest.approx(longer_s, rel=0.05)
