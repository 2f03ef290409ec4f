"""The cost model's arithmetic; how well it fits is what tests/benchmarks/cost_model.py measures."""

from __future__ import annotations

import pytest

from bdpbench.studies.cost import COSTS, Work, estimate_cpu_s, expected_work, utilization

# 8.4 Mbit/s are 1,000 packets of 1,050 bytes a second.
PATH = {"bottleneck_mbps": 8.4, "packet_bytes": 1000, "duration_s": 100.0}
SHARED = {**PATH, "bdp_pkts": 1000.0, "buffer_pkts": 1000, "rtt_ms": 1.0}


def test_work_of_a_full_bottleneck() -> None:
    # 1,000 packets a second, six lines each, and a sample every 0.01 s or as given.
    assert expected_work(PATH) == Work(100_000, 0, 10_000)
    assert expected_work({**PATH, "trace": "packets", "sample_s": 1}) == Work(100_000, 600_000, 100)


def test_filling_the_path_takes_a_round_trip_for_each_fifty_packets() -> None:
    # 1,000 packets / 50 = 20 round trips of 1 s; meanwhile half of the capacity is used.
    slow = {**SHARED, "rtt_ms": 1000.0}
    assert expected_work(slow).packets == pytest.approx(90_000)
    # After 10 of the 20 s half the rate is reached, and a quarter of the packets of 10 s passed.
    assert expected_work({**slow, "duration_s": 10}).packets == pytest.approx(2_500)
    # FAST fills 622 Mbit/s and 100 ms in 4.64 s (sharma2006): in 5 s it uses a bit over half.
    fast = {**slow, "bdp_pkts": 7775.0, "buffer_pkts": 7775, "rtt_ms": 100.0, "protocol": "FAST"}
    assert expected_work({**fast, "duration_s": 5}).packets == pytest.approx(2_680, rel=0.05)


def test_a_long_buffer_lets_every_protocol_use_the_bottleneck() -> None:
    for name in ("HS", "HTCP", "Scalable", "FAST", "unheard of"):
        assert utilization({**SHARED, "protocol": name}) == pytest.approx(1, abs=1e-3)


def test_short_buffers_cost_some_protocols_more_than_others() -> None:
    # Buffers of 0.5 % of the BDP, as sharma2006's of 40 packets: its report tells 0.90 for CUBIC,
    # 0.50 for Scalable TCP, 0.22 for H-TCP and 0.01 for FAST in the second half of the runs. A
    # tenth is near enough for a time.
    short = {**SHARED, "bdp_pkts": 7776.0, "buffer_pkts": 40, "fast_alpha_pkts": 312}
    for name, expected in (("CUBIC", 0.90), ("Scalable", 0.50), ("H-TCP", 0.22), ("FAST", 0.01)):
        assert utilization({**short, "protocol": name}) == pytest.approx(expected, abs=0.1)


def test_two_protocols_use_the_geometric_mean() -> None:
    short = {**SHARED, "bdp_pkts": 7776.0, "buffer_pkts": 40}
    alone = [utilization({**short, "protocol": name}) for name in ("HS", "HTCP")]
    both = utilization({**short, "protocol_1": "HS", "protocol_2": "HTCP"})
    assert both**2 == pytest.approx(alone[0] * alone[1])


def test_the_time_is_the_sum_of_its_parts_and_stock_takes_longer() -> None:
    costs = COSTS["fast"]
    traced = {**PATH, "trace": "packets"}
    expected = costs.startup_s + 1e5 * costs.packet_s + 6e5 * costs.line_s + 1e4 * costs.sample_s
    assert estimate_cpu_s(traced) == pytest.approx(expected)
    assert estimate_cpu_s(traced, "stock") > estimate_cpu_s(traced)
