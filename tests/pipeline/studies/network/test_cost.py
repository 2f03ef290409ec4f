"""Predictions for scenarios without a script take into account what limits the flows."""

from __future__ import annotations

from typing import Any

import pytest

from bdpbench.studies.cost import COSTS

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
