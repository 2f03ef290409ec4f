"""Every metric on traces of a few lines, compared with values worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl
import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import (
    PACKET_DEFINITIONS,
    PacketMeter,
    Window,
    measure_packets,
    sum_packets,
)

Lines = Callable[[Iterable[str]], pl.DataFrame]
Values = dict[tuple[str, str], float | None]


def _values(trace: pl.DataFrame, window: Window | None = None, **options: object) -> Values:
    metrics = measure_packets(sum_packets([trace], window, **options))  # type: ignore[arg-type]
    return {
        (metric, subject): value
        for metric, subject, value in metrics.select("metric", "subject", "value").iter_rows()
    }


@pytest.fixture(scope="module")
def tiny_values(tiny: pl.DataFrame) -> Values:
    """All metrics of the tiny trace; most tests look at one of them."""
    return _values(tiny)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # From 1.0 to 3.4 s: 2.4 s. Three packets of 1040 bytes arrive: 8 · 3120 bit.
        ("throughput", 8 * 3 * 1040e-6 / 2.4),
        # All three are new, 1000 bytes of payload each.
        ("goodput", 8 * 3 * 1000e-6 / 2.4),
        # Four transmissions, one of them a retransmission.
        ("sending_goodput", 8 * (4 - 1) * 1040e-6 / 2.4),
        ("retransmissions", 1),
        ("retransmission_rate", 1 / 4),
        ("packet_loss_rate", 1 / 4),
        ("packet_delivery_ratio", 3 / 4),
        # From the first packet sent to the last received.
        ("lifetime_throughput", 8 * 3 * 1040e-6 / (3.1 - 1.0)),
        # First packet at 1.0 s, first retransmission at 2.0 s; one of the two sent by then is lost.
        ("slow_start_duration", 1.0),
        ("slow_start_loss_rate", 1 / 2),
        # 1.5 - 1.0, 2.5 - 2.0 and 3.1 - 2.7 s.
        ("one_way_delay", 1e3 * (0.5 + 0.5 + 0.4) / 3),
        ("max_one_way_delay", 500),
        # In excess of 400 ms: 100, 100 and 0.
        ("delay_variation", 200 / 3),
        # |D| is 0 and 100 ms: J = 0, then 0 + (100 - 0)/16.
        ("jitter", 100 / 16),
        ("mean_jitter", (0 + 100) / 2),
        # Packet 0: 1.7 - 1.0; packet 2: 3.4 - 2.7; packet 1 was sent twice (Karn).
        ("rtt", 700),
        ("max_rtt", 700),
        ("response_time", 3.1 - 1.0),
        # No link is known to limit it, so no bin can be compared with a capacity.
        ("normalised_goodput", None),
        ("max_min_share", None),
        ("time_to_90pct_throughput", None),
        # RFC 5348, 3.1: s = 1040, R = 0.7, p = 1/4, t_RTO = 4R:
        # R sqrt(2p/3) = 0.285774; 3 sqrt(3p/8) p (1 + 32 p^2) = 0.688919; times 2.8: 1.928972.
        ("tcp_friendliness", (8 * 3 * 1040e-6 / 2.4) / (8e-6 * 1040 / (0.285774 + 1.928972))),
    ],
)
def test_flow(tiny_values: Values, metric: str, expected: float | None) -> None:
    value = tiny_values[metric, "flow:1"]
    # 1e-5 for the six digits of the last value's arithmetic; the others agree to rounding.
    assert value == (expected if expected is None else pytest.approx(expected, rel=1e-5))


@pytest.mark.parametrize(
    ("metric", "link", "expected"),
    [
        ("link_throughput", "0-1", 8 * 4 * 1040e-6 / 2.4),
        ("link_throughput", "1-2", 8 * 3 * 1040e-6 / 2.4),
        ("link_loss_rate", "0-1", 0),
        ("link_loss_rate", "1-2", 1 / 4),
        # One packet waits for 0.1 s of 2.4 s.
        ("mean_queue_length", "0-1", 0.1 / 2.4),
        ("max_queue_length", "0-1", 1),
        ("queueing_delay", "0-1", 100 / 4),
        ("max_queueing_delay", "0-1", 100),
        # Packets that are dropped on arrival, or pass at once, were never in the queue.
        ("mean_queue_length", "1-2", 0),
        ("max_queue_length", "1-2", 0),
        ("queueing_delay", "1-2", 0),
        # No packet waited behind one that had waited itself.
        ("link_capacity", "0-1", None),
        ("link_utilization", "0-1", None),
    ],
)
def test_link(tiny_values: Values, metric: str, link: str, expected: float | None) -> None:
    value = tiny_values[metric, f"link:{link}"]
    assert value == (expected if expected is None else pytest.approx(expected))


def test_window_is_half_open(tiny: pl.DataFrame) -> None:
    # Packets arrive at 1.5, 2.5 and 3.1 s: the one at the start counts, the one at the end does
    # not.
    values = _values(tiny, Window(1.5, 2.5))
    assert values["throughput", "flow:1"] == pytest.approx(8 * 1040e-6 / 1.0)
    assert values["retransmissions", "flow:1"] == 1  # packet 1 was sent before the window
    assert values["packet_loss_rate", "flow:1"] == 0  # dropped at 1.2 s
    values = _values(tiny, Window(2.5, 3.1))
    assert values["throughput", "flow:1"] == pytest.approx(8 * 1040e-6 / 0.6)


def test_windows_add_up(tiny: pl.DataFrame) -> None:
    whole = sum_packets([tiny], Window(1, 4))
    parts = [sum_packets([tiny], window) for window in (Window(1, 2), Window(2, 4))]
    for column in ("sent_pkts", "received_bytes", "good_bytes", "dropped_pkts", "rtts"):
        assert whole.flows[column].sum() == sum(part.flows[column].sum() for part in parts)
    areas = [part.links["length_area"].sum() for part in parts]
    assert whole.links["length_area"].sum() == pytest.approx(sum(areas))


def test_queue_at_the_start_of_the_window(lines_to_frame: Lines) -> None:
    # Two packets wait from 1 s on and one leaves at 3 s: in [2, 4) there are 2, then 1.
    trace = lines_to_frame(
        [
            "+ 1 0 1 cbr 500 3 0.0 1.0 0 0",
            "- 1 0 1 cbr 500 3 0.0 1.0 0 0",
            "+ 1 0 1 cbr 500 3 0.0 1.0 1 1",
            "+ 1 0 1 cbr 500 3 0.0 1.0 2 2",
            "- 3 0 1 cbr 500 3 0.0 1.0 1 1",
            "r 3.5 0 1 cbr 500 3 0.0 1.0 0 0",
        ]
    )
    values = _values(trace, Window(2, 4))
    assert values["mean_queue_length", "link:0-1"] == pytest.approx((2 + 1) / 2)
    assert values["max_queue_length", "link:0-1"] == 2
    assert values["max_queueing_delay", "link:0-1"] == 2000
    series = sum_packets([trace], Window(2, 4), bin_s=0.5).link_series
    assert series["time_s"].to_list() == [2.5, 3.0, 3.5, 4.0]
    assert series["queue_pkts"].to_list() == [2, 2, 1, 1]
    assert series["queueing_ms"].to_list() == [None, None, 2000, None]


@pytest.mark.parametrize(("given_s", "expected_s"), [(None, 0.1), (0.02, 0.02)])
def test_bins_for_people_are_wider_where_few_packets_arrive_unless_their_width_is_given(
    tiny: pl.DataFrame, given_s: float | None, expected_s: float
) -> None:
    # Three packets in 2.4 s would need bins of more than 1 s, but at least twenty bins are left.
    meter = PacketMeter(bin_s=given_s)
    meter.update(tiny)
    assert meter.readable_width_s == expected_s


def test_a_wait_between_neighbouring_lines_counts(lines_to_frame: Lines) -> None:
    # Nothing else happens while the packet waits from 1 s to 3 s, out of 4 s.
    trace = lines_to_frame(
        [
            "r 0 1 2 cbr 500 3 1.0 2.0 9 9",
            "+ 1 0 1 cbr 500 3 0.0 1.0 1 1",
            "- 3 0 1 cbr 500 3 0.0 1.0 1 1",
            "r 4 0 1 cbr 500 3 0.0 1.0 1 1",
        ]
    )
    values = _values(trace)
    assert values["mean_queue_length", "link:0-1"] == pytest.approx(2 / 4)
    assert values["max_queue_length", "link:0-1"] == 1
    series = sum_packets([trace], bin_s=1.0).link_series
    assert series.filter(subject="link:0-1")["time_s"].to_list() == [1, 2, 3, 4]


def test_duplicates_are_no_goodput(lines_to_frame: Lines) -> None:
    # 1 is lost at first and fills its hole later; 3 arrives twice; 0, 2, 3, 1 and 4 are new.
    arrivals = [0, 2, 3, 1, 3, 4]
    trace = lines_to_frame(
        f"r {index + 1} 0 1 tcp 1040 1 0.0 1.0 {seq} {index}" for index, seq in enumerate(arrivals)
    )
    values = _values(trace)
    assert values["throughput", "flow:1"] == pytest.approx(8 * 6 * 1040e-6 / 5)
    assert values["goodput", "flow:1"] == pytest.approx(8 * 5 * 1000e-6 / 5)
    # The trace does not contain the + lines of these packets, so it is unknown what was sent.
    assert values["packet_loss_rate", "flow:1"] is None
    assert values["one_way_delay", "flow:1"] is None


def test_delayed_acks_give_the_last_packet_they_cover(lines_to_frame: Lines) -> None:
    # Packets at 1.0 and 1.1 s, one ACK for both at 1.6 s: 0.5 s, not 0.6 s.
    trace = lines_to_frame(
        [
            "+ 1.0 0 1 tcp 1040 1 0.0 1.0 0 0",
            "+ 1.1 0 1 tcp 1040 1 0.0 1.0 1 1",
            "r 1.6 1 0 ack 40 1 1.0 0.0 1 2",
            "r 1.7 1 0 ack 40 1 1.0 0.0 1 3",
        ]
    )
    assert _values(trace)["rtt", "flow:1"] == pytest.approx(500)


def test_an_ack_that_waited_for_a_hole_gives_no_rtt(lines_to_frame: Lines) -> None:
    # 0 is lost, 1 arrives and waits; the ACK of 1 comes after 0 was retransmitted.
    trace = lines_to_frame(
        [
            "+ 1.0 0 1 tcp 1040 1 0.0 1.0 0 0",
            "+ 1.0 0 1 tcp 1040 1 0.0 1.0 1 1",
            "+ 3.0 0 1 tcp 1040 1 0.0 1.0 0 2",
            "+ 3.1 0 1 tcp 1040 1 0.0 1.0 2 3",
            "r 3.5 1 0 ack 40 1 1.0 0.0 1 4",
            "r 3.7 1 0 ack 40 1 1.0 0.0 2 5",
        ]
    )
    assert _values(trace)["rtt", "flow:1"] == pytest.approx(600)


def test_slow_start_ends_before_the_moment_of_its_first_retransmission(
    lines_to_frame: Lines,
) -> None:
    # Of two packets one is dropped; the third is sent and dropped at the moment of its repetition.
    trace = lines_to_frame(
        [
            "+ 1.0 0 1 tcp 1040 1 0.0 1.0 0 0",
            "d 1.0 0 1 tcp 1040 1 0.0 1.0 0 0",
            "+ 1.0 0 1 tcp 1040 1 0.0 1.0 1 1",
            "+ 2.0 0 1 tcp 1040 1 0.0 1.0 2 2",
            "d 2.0 0 1 tcp 1040 1 0.0 1.0 2 2",
            "+ 2.0 0 1 tcp 1040 1 0.0 1.0 0 3",
            "r 3.0 0 1 tcp 1040 1 0.0 1.0 0 3",
        ]
    )
    values = _values(trace)
    assert values["slow_start_duration", "flow:1"] == 1.0
    assert values["slow_start_loss_rate", "flow:1"] == 1 / 2


def test_flows_that_share_an_id_are_told_apart(lines_to_frame: Lines) -> None:
    trace = lines_to_frame(
        [
            "r 1 0 1 tcp 1040 0 0.0 1.0 0 0",
            "r 2 0 1 tcp 540 0 0.1 1.1 0 1",
            "r 3 0 1 cbr 100 5 0.2 1.2 0 2",
        ]
    )
    values = _values(trace)
    rates = {
        subject: value for (metric, subject), value in values.items() if metric == "throughput"
    }
    assert rates == {
        "flow:0/0.0-1.0": pytest.approx(8 * 1040e-6 / 2),
        "flow:0/0.1-1.1": pytest.approx(8 * 540e-6 / 2),
        "flow:5": pytest.approx(8 * 100e-6 / 2),
    }


def test_two_flows_are_compared(lines_to_frame: Lines) -> None:
    # 3000 bytes against 1000.
    lines = [f"r {second} 0 1 cbr {size} {flow} 0.{flow} 1.{flow} {second} {10 * second + flow}"
             for second in range(1, 4) for flow, size in ((1, 1500), (2, 500))]  # fmt: skip
    values = _values(lines_to_frame(lines), bin_s=1.0)
    assert values["throughput_ratio", "trace"] == pytest.approx(3)
    assert values["throughput_asymmetry", "trace"] == pytest.approx(0.5)
    assert values["fairness_index", "trace"] == pytest.approx(16 / (2 * 10))  # (3+1)²/(2(9+1))


def test_totals_of_all_flows(lines_to_frame: Lines) -> None:
    # Flow 1: two sent, one of which arrives after 0.5 s; flow 2: one sent, which arrives after 0.1
    # s.
    trace = lines_to_frame(
        [
            "+ 1 0 1 cbr 500 1 0.0 1.0 0 0",
            "+ 1 0 1 cbr 500 1 0.0 1.0 1 1",
            "d 1 0 1 cbr 500 1 0.0 1.0 1 1",
            "r 1.5 0 1 cbr 500 1 0.0 1.0 0 0",
            "+ 1.9 0 1 cbr 700 2 0.2 1.2 0 2",
            "r 2 0 1 cbr 700 2 0.2 1.2 0 2",
        ]
    )
    values = {metric: value for (metric, of), value in _values(trace).items() if of == "trace"}
    assert values["total_throughput"] == pytest.approx(8 * 1200e-6 / 1.0)
    assert values["total_goodput"] == pytest.approx(8 * 1200e-6 / 1.0)
    assert values["total_packet_delivery_ratio"] == pytest.approx(2 / 3)
    assert values["total_packet_loss_rate"] == pytest.approx(1 / 3)
    assert values["total_one_way_delay"] == pytest.approx((500 + 100) / 2)


def test_shares_of_a_given_capacity(tiny: pl.DataFrame) -> None:
    values = _values(tiny, capacities={(1, 2): 0.02})
    assert values["max_min_share", "flow:1"] == pytest.approx(0.02)
    assert values["normalised_goodput", "flow:1"] == pytest.approx(0.01 / 0.02)
    assert values["link_utilization", "link:1-2"] == pytest.approx(0.0104 / 0.02)


def test_capacity_of_a_busy_link(lines_to_frame: Lines) -> None:
    # 1000, 500 and 250 bytes leave in 0.4, 0.2 and 0.1 s: 0.02 Mbit/s. The first one passed at
    # once.
    trace = lines_to_frame(
        [
            "+ 0.0 0 1 cbr 1000 3 0.0 1.0 0 0",
            "- 0.0 0 1 cbr 1000 3 0.0 1.0 0 0",
            *(
                f"+ 0.0 0 1 cbr {size} 3 0.0 1.0 {uid} {uid}"
                for uid, size in ((1, 500), (2, 250), (3, 125))
            ),
            "- 0.4 0 1 cbr 500 3 0.0 1.0 1 1",
            "- 0.6 0 1 cbr 250 3 0.0 1.0 2 2",
            "- 0.7 0 1 cbr 125 3 0.0 1.0 3 3",
            "r 1.0 0 1 cbr 125 3 0.0 1.0 3 3",
        ]
    )
    values = _values(trace)
    assert values["link_capacity", "link:0-1"] == pytest.approx(0.02)
    # 1875 bytes between 0 s and 1 s.
    assert values["link_utilization", "link:0-1"] == pytest.approx(8 * 1875e-6 / 0.02)


def test_drops_before_the_queue_do_not_empty_it(lines_to_frame: Lines) -> None:
    # An error model at the head of the link writes d without a + before it.
    trace = lines_to_frame(
        [
            "d 1 0 1 cbr 500 3 0.0 1.0 0 0",
            "+ 2 0 1 cbr 500 3 0.0 1.0 1 1",
            "- 2 0 1 cbr 500 3 0.0 1.0 1 1",
            "r 3 0 1 cbr 500 3 0.0 1.0 1 1",
        ]
    )
    values = _values(trace)
    assert values["mean_queue_length", "link:0-1"] == 0
    assert values["link_loss_rate", "link:0-1"] == 1 / 2


def test_causes_of_losses_come_with_the_largest_first_and_equal_ones_by_their_names(
    lines_to_frame: Lines,
) -> None:
    kinds = ("tcp", "ping", "cbr", "ping")
    lines = (f"d 1 0 1 {kind} 500 3 0.0 1.0 0 {uid}" for uid, kind in enumerate(kinds))
    losses = sum_packets([lines_to_frame(lines)]).losses
    assert losses["type"].to_list() == ["ping", "cbr", "tcp"]


def test_every_metric_has_a_definition_and_a_value(tiny: pl.DataFrame) -> None:
    second = tiny.with_columns(flow=pl.lit(2, pl.Int32), uid=pl.col("uid") + 100, src_port=7)
    both = pl.concat([tiny, second.with_columns(pl.col("src_port").cast(pl.Int32))]).sort("time_s")
    measured = {metric for metric, _ in _values(both)}
    # test_nodes.py tests what wired traces do not show.
    elsewhere = {
        metric
        for metric, definition in PACKET_DEFINITIONS.items()
        if definition.subject == "receiver"
        or any(word in metric for word in ("energy", "depletion", "network_lifetime", "routing_o"))
        or metric == "normalised_routing_load"
    }
    assert measured == set(PACKET_DEFINITIONS) - elsewhere
    for definition in PACKET_DEFINITIONS.values():
        assert definition.text.endswith(".")
        assert definition.source


def test_nothing_in_the_window(tiny: pl.DataFrame) -> None:
    with pytest.raises(BdpbenchError, match="no packet event in the window"):
        sum_packets([tiny], Window(10, 20))
