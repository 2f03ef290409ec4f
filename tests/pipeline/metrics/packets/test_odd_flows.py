"""Flows that are easily miscounted: no numbers, repeated numbers, double drops, starvation."""

from __future__ import annotations

import random
import time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.metrics.packets import COLUMNS, PacketSums, measure_packets, sum_packets
from bdpbench.trace import open_trace

from .counter import count


def _sums(folder: Path, text: str) -> PacketSums:
    path = folder / "odd.tr"
    path.write_text(text)
    return sum_packets(open_trace(path).batches(COLUMNS))


def _flow(sums: PacketSums) -> dict[str, object]:
    """The only flow with data."""
    return sums.flows.row(by_predicate=pl.col("kind") == "data", named=True)


def _value(sums: PacketSums, metric: str) -> float | None:
    rows = measure_packets(sums).filter(pl.col("metric") == metric)["value"]
    value: float | None = rows.item()
    return value


@pytest.mark.parametrize("kind", ["udp", "exp", "pareto", "video", "ping"])
def test_a_flow_without_numbers_on_a_link(tmp_path: Path, kind: str) -> None:
    line = f"0 1 {kind} 1000 ------- 1 0.0 1.0 -1 1"
    sums = _sums(tmp_path, f"+ 1.0 {line}\n- 1.0 {line}\nr 1.01 {line}\n")
    assert sums.flows["subject"].to_list() == ["flow:1"]
    assert (_flow(sums)["sent_pkts"], _flow(sums)["received_pkts"]) == (1, 1)
    assert _value(sums, "one_way_delay") == pytest.approx(10)
    assert _value(sums, "goodput") == pytest.approx(8 * 1000e-6 / 0.01)


def test_a_flow_without_numbers_over_radio(tmp_path: Path) -> None:
    lines = [
        f"s {uid}.0 _0_ AGT  --- {uid} exp 210 [0 0 0 0] ------- [0:0 1:0 32 0]\n"
        f"r {uid}.5 _1_ AGT  --- {uid} exp 210 [13a 1 0 800] ------- [0:0 1:0 32 1]\n"
        for uid in (1, 2)
    ]
    flow = _flow(_sums(tmp_path, "".join(lines)))
    assert (flow["sent_pkts"], flow["received_pkts"], flow["good_bytes"]) == (2, 2, 420)


def test_what_routing_sends_is_no_flow(tmp_path: Path) -> None:
    line = "0 1 rtProtoDV 7 ------- 0 0.1 1.1 -1 1"
    sums = _sums(tmp_path, f"+ 1.0 {line}\n- 1.0 {line}\nr 1.01 {line}\n")
    assert sums.flows["kind"].to_list() == ["control"]


def test_a_repeated_uid_is_matched_in_order(tmp_path: Path) -> None:
    line = "0 1 cbr 1000 ------- 1 0.0 1.0 {} 7"
    text = "".join(
        f"{event} {time_s} {line.format(seq)}\n"
        for event, time_s, seq in (
            ("+", 1, 0),
            ("-", 1, 0),
            ("r", 1.25, 0),
            ("+", 2, 1),
            ("-", 2, 1),
            ("r", 2.5, 1),
        )
    )
    sums = _sums(tmp_path, text)
    flow = _flow(sums)
    assert (flow["sent_pkts"], flow["received_pkts"], flow["received_bytes"]) == (2, 2, 2000)
    assert (flow["delay_min_s"], flow["delay_max_s"]) == (0.25, 0.5)
    assert _value(sums, "packet_loss_rate") == 0


_SPACE = "42.30 -71.10 0.00 -95.00"
_HDLC = f"""\
+ 1.0000 1 0 tcp 1068 ------- 0 1.0 2.0 7 3 {_SPACE}
- 1.0000 1 0 tcp 1068 ------- 0 1.0 2.0 7 3 {_SPACE}
r 1.1250 1 0 tcp 1068 ------- 0 1.0 2.0 7 3 {_SPACE}
+ 1.1250 0 1 HDLC 28 ------- 0 2.0 1.0 -1 3 {_SPACE}[2 1 S 1 RR]
- 1.1250 0 1 HDLC 28 ------- 0 2.0 1.0 -1 3 {_SPACE}[2 1 S 1 RR]
+ 1.1250 0 2 tcp 1068 ------- 0 1.0 2.0 7 3 {_SPACE}
- 1.1250 0 2 tcp 1068 ------- 0 1.0 2.0 7 3 {_SPACE}
r 1.2500 0 1 HDLC 28 ------- 0 2.0 1.0 -1 3 {_SPACE}[2 1 S 1 RR]
+ 1.2500 1 0 HDLC 28 ------- 0 1.0 2.0 -1 4 {_SPACE}[1 2 S 0 RR]
- 1.2500 1 0 HDLC 28 ------- 0 1.0 2.0 -1 4 {_SPACE}[1 2 S 0 RR]
r 1.2500 0 2 tcp 1068 ------- 0 1.0 2.0 7 3 {_SPACE}
e 1.3750 1 0 HDLC 28 ------- 0 1.0 2.0 -1 4 {_SPACE}[1 2 S 0 RR]
"""


def test_frames_of_hdlc_are_none_of_the_flow_whose_ends_they_print(tmp_path: Path) -> None:
    sums = _sums(tmp_path, _HDLC)
    columns = ("kind", "src_node", "dst_node", "sent_pkts", "received_pkts", "dropped_pkts")
    assert sums.flows.select(columns).rows() == [
        ("data", 1, 2, 1, 1, 0),
        ("control", 0, 1, 1, 1, 0),
        ("control", 1, 0, 1, 0, 1),
    ]
    assert _flow(sums)["received_bytes"] == 1068
    # They take their links' time all the same.
    assert sums.links.select("subject", "departed_bytes").rows() == [
        ("link:0-1", 28),
        ("link:0-2", 1068),
        ("link:1-0", 1068 + 28),
    ]


def _busy(nodes: str, digits: int, last_s: float) -> str:
    """Packets of 1250 bytes that wait for a link of 10 Mbit/s, from 1 s on: 1 ms for each."""
    lines = []
    count = round((last_s - 1) / 0.001)
    line = f"{nodes} cbr 1250 ------- 1 {nodes.replace(' ', '.0 ')}.0 0"
    where = f" {_SPACE}" if digits == 4 else ""
    lines += [f"+ {1:.{digits}f} {line} {uid}{where}" for uid in range(count + 1)]
    lines += [f"- {1 + 0.001 * uid:.{digits}f} {line} {uid}{where}" for uid in range(count + 1)]
    return "\n".join(lines) + "\n"


def test_the_capacity_of_a_satellite_takes_a_longer_time_to_tell(tmp_path: Path) -> None:
    # An end may be off by 0.1 ms, which is 0.5 % of 20 ms; on wires by 1 us.
    for digits, last_s, expected in ((6, 1.01, 10), (4, 1.01, None), (4, 1.03, 10)):
        link = _sums(tmp_path, _busy("0 1", digits, last_s)).links.row(0, named=True)
        assert link["capacity_mbps"] == (expected and pytest.approx(expected)), digits


def test_links_from_one_antenna_have_no_capacity_each(tmp_path: Path) -> None:
    down = _busy("0 2", 4, 1.03).replace("cbr", "udp")
    both = sorted((_busy("0 1", 4, 1.03) + down).splitlines(), key=lambda line: line.split()[1])
    links = _sums(tmp_path, "\n".join(both) + "\n").links
    assert links["capacity_mbps"].to_list() == [None, None]


def test_many_lost_packets_of_one_uid_take_no_time(tmp_path: Path) -> None:
    # As tcl/ex/pkts.tcl writes them: half a million, of a few numbers.
    line = "0 1 cbr 1000 ------- 1 0.0 1.0 0 7"
    lost = (f"+ {1 + n / 1e5:.5f} {line}\nd {1 + n / 1e5:.5f} {line}\n" for n in range(30_000))
    end = f"+ 2.0 {line}\n- 2.0 {line}\nr 2.25 {line}\nr 2.5 {line}\n"
    began_s = time.process_time()
    flow = _flow(_sums(tmp_path, "".join(lost) + end))
    assert time.process_time() - began_s < 8  # half a second; looking through all that wait, 15 s
    assert (flow["sent_pkts"], flow["received_pkts"], flow["lost_pkts"]) == (30_001, 2, 29_999)
    # What nobody has dropped came first; the second arrival is that of the first packet.
    assert (flow["delay_min_s"], flow["delay_max_s"]) == (0.25, 1.5)


def test_a_repeated_uid_in_a_queue(tmp_path: Path) -> None:
    # Both wait: the second from 1.2 s to 2 s, the first from 1 s to 1.5 s.
    line = "0 1 cbr 1000 ------- 1 0.0 1.0 0 7"
    events = (("+", 1), ("+", 1.2), ("-", 1.5), ("-", 2), ("r", 2.5), ("r", 3))
    sums = _sums(tmp_path, "".join(f"{event} {time_s} {line}\n" for event, time_s in events))
    link = sums.links.row(0, named=True)
    assert (link["departed_pkts"], link["departed_bytes"], link["longest_pkts"]) == (2, 2000, 2)
    assert link["wait_sum_s"] == pytest.approx(0.5 + 0.8)
    assert _flow(sums)["delay_sum_s"] == pytest.approx(1.5 + 1.8)


def test_a_tunnel_repeats_the_uid_between_other_ends(tmp_path: Path) -> None:
    # Node 0 sends to 3; node 1 encapsulates the packet in one from 1 to 2 (Mobile IP).
    outer, inner = "1 2 cbr 1020 ------- 2 1.0 2.1 0 7", "cbr 1000 ------- 2 0.0 3.0 0 7"
    sums = _sums(
        tmp_path,
        f"+ 1 0 1 {inner}\n- 1 0 1 {inner}\nr 1.1 0 1 {inner}\n"
        f"+ 1.1 {outer}\n- 1.1 {outer}\nr 1.3 {outer}\n"
        f"+ 1.3 2 3 {inner}\n- 1.3 2 3 {inner}\nr 1.4 2 3 {inner}\n",
    )
    delays = dict(sums.flows.select("src_node", "delay_sum_s").iter_rows())
    assert delays == {0: pytest.approx(0.4), 1: pytest.approx(0.2)}
    assert sums.flows["received_pkts"].to_list() == [1, 1]


def test_an_arrival_before_its_sending_has_no_delay(tmp_path: Path) -> None:
    line = "0 1 cbr 1000 ------- 1 0.0 1.0 0 7"
    sums = _sums(tmp_path, f"r 1 {line}\n+ 2 {line}\n- 2 {line}\nr 2.5 {line}\n")
    flow = _flow(sums)
    assert (flow["received_pkts"], flow["delays"], flow["delay_min_s"]) == (2, 1, 0.5)


RADIO = "[0:0 1:0 32 1] [{}] 1 0"


def _radio(*events: str) -> str:
    """Lines given as "event time node layer reason uid"; the number is the uid."""
    lines = []
    for each in events:
        event, time_s, node, layer, reason, uid = each.split()
        ends = RADIO.format(uid)
        lines.append(
            f"{event} {time_s} _{node}_ {layer}  {reason} {uid} cbr 210 [0 0 0 0] ------- {ends}\n"
        )
    return "".join(lines)


@pytest.mark.parametrize("reason", ["DUP", "COL", "RET"])
def test_a_frame_dropped_beside_its_delivery_is_not_lost(tmp_path: Path, reason: str) -> None:
    after = _radio("s 1 0 AGT --- 1", "r 1.1 1 AGT --- 1", f"D 1.2 1 MAC {reason} 1")
    before = _radio("s 2 0 AGT --- 2", f"D 2.1 0 MAC {reason} 2", "r 2.2 1 AGT --- 2")
    lost = _radio("s 3 0 AGT --- 3", *(f"D 3.{n} 0 MAC {reason} 3" for n in range(1, 4)))
    last = _radio("s 4 0 AGT --- 4", "r 4.1 1 AGT --- 4")
    sums = _sums(tmp_path, after + before + lost + last)
    assert _value(sums, "packet_loss_rate") == pytest.approx(1 / 4)
    # All drop events are distinguished: five of them.
    assert sums.losses.rows() == [("MAC", reason, "cbr", 5, 5 * 210)]


def test_what_vanishes_without_a_drop_is_lost(tmp_path: Path) -> None:
    # Delays are 0.1 s. Packet 2 was sent 1 s before the end, and packet 4 at 0.05 s is in flight.
    events = ["s 1 0 AGT --- 1", "r 1.1 1 AGT --- 1", "s 2 0 AGT --- 2"]
    events += ["s 2.9 0 AGT --- 3", "s 2.95 0 AGT --- 4", "r 3.0 1 AGT --- 3"]
    sums = _sums(tmp_path, _radio(*events))
    assert (_flow(sums)["lost_pkts"], _flow(sums)["vanished_pkts"]) == (0, 1)
    assert _value(sums, "packet_loss_rate") == pytest.approx(1 / 4)


def test_a_starved_flow_is_0(tmp_path: Path) -> None:
    fed = _radio("s 1 0 AGT --- 1", "r 1.5 1 AGT --- 1")
    starved = _radio("s 1.2 0 AGT --- 2").replace("[0:0 1:0", "[2:0 3:0")
    lines = sorted((fed + starved).splitlines(keepends=True), key=lambda line: line.split()[1])
    metrics = measure_packets(_sums(tmp_path, "".join(lines)))
    rates = metrics.filter(pl.col("metric") == "throughput")["value"].to_list()
    assert rates == [pytest.approx(8 * 210e-6 / 0.5), 0]
    # (x + 0)²/(2 x²)
    assert metrics.filter(pl.col("metric") == "fairness_index")["value"].item() == 0.5
    losses = metrics.filter(pl.col("metric") == "packet_loss_rate")["value"].to_list()
    assert losses == [0, 1]


@examples(5)
@given(seed=st.integers(0, 10**6), rows=st.integers(6, 60))
def test_counts_are_those_of_plain_python(
    seed: int, rows: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    dice = random.Random(seed)
    lines, time_s = [], 0.0
    for _ in range(60):
        time_s += dice.choice((0.25, 0.5))
        event = dice.choice("++rrd")
        flow, uid = dice.randrange(2), dice.randrange(8)
        lines.append(f"{event} {time_s} 0 1 udp 500 ------- {flow} 0.{flow} 1.{flow} -1 {uid}")
    path = tmp_path_factory.mktemp("odd") / "odd.tr"
    path.write_text("\n".join(lines) + "\n")
    frames = list(open_trace(path).batches(COLUMNS))
    parts = (frame.slice(at, rows) for frame in frames for at in range(0, frame.height, rows))
    sums = sum_packets(parts)
    expected = count(lines)
    for row in sums.flows.iter_rows(named=True):
        ends = tuple(row[each] for each in ("src_node", "src_port", "dst_node", "dst_port"))
        one = expected[ends]
        got = (row["sent_pkts"] or 0, row["received_pkts"] or 0, row["dropped_pkts"])
        assert got == (one.sent, one.received, one.dropped)
        assert row["delay_min_s"] is None or row["delay_min_s"] >= 0
        assert (row["delay_sum_s"] or 0.0) == pytest.approx(one.delay_s)


def _lan(stations: int) -> str:
    """Stations 0, 1, ... of LAN 9, which take turns sending 20 packets each to the next.

    Each packet occupies the medium for 4 ms and waits for its turn.
    """
    lines = []
    for round_ in range(20):
        for station in range(stations):
            peer, uid = (station + 1) % stations, round_ * stations + station
            packet = f"cbr 500 ------- {station} {station}.0 {peer}.1 {round_} {uid}"
            time_s = 1 + 0.004 * uid
            lines += [(1 + 1e-6 * uid, f"+ {1 + 1e-6 * uid:.6f} {station} 9 {packet}")]
            lines += [(time_s + 0.001, f"- {time_s + 0.001:.6f} {station} 9 {packet}")]
            lines += [(time_s + 0.005, f"r {time_s + 0.005:.6f} 9 {peer} {packet}")]
    return "".join(f"{line}\n" for _, line in sorted(lines))


def test_stations_of_a_lan_have_no_capacity_of_their_own(tmp_path: Path) -> None:
    sums = _sums(tmp_path, _lan(4))
    assert sums.links.select("subject", "shared", "capacity_mbps").rows() == [
        (f"link:{station}-9", True, None) for station in range(4)
    ]
    shares = measure_packets(sums).filter(pl.col("metric") == "max_min_share")["value"]
    # Nothing is known of what each flow could have except what it sends.
    assert shares.to_list() == [pytest.approx(8 * 20 * 500e-6 / sums.seconds)] * 4
    path = tmp_path / "odd.tr"
    given = sum_packets(open_trace(path).batches(COLUMNS), capacities={(0, 9): 1.0})
    assert given.links["capacity_mbps"].to_list() == [1.0, None, None, None]


def test_a_queue_of_its_own_has_a_capacity(tmp_path: Path) -> None:
    # The same lines, received on the link on which they were sent.
    lines = [line.split() for line in _lan(1).splitlines()]
    text = "".join(" ".join([*w[:2], "0", "9", *w[4:9], "9.1", *w[10:]]) + "\n" for w in lines)
    sums = _sums(tmp_path, text)
    assert sums.links["shared"].to_list() == [False]
    assert sums.links["capacity_mbps"].to_list() == [pytest.approx(8 * 500e-6 / 0.004)]


def test_a_copy_that_a_lan_drops_is_no_loss(tmp_path: Path) -> None:
    packet = "cbr 210 ------- 0 0.0 1.0 0 {}"
    text = "".join(
        f"+ {uid} 0 3 {packet}\n- {uid} 0 3 {packet}\nd {uid}.1 2 3 {packet}\n"
        f"r {uid}.2 3 1 {packet}\n".replace("{}", str(uid))
        for uid in (1, 2)
    )
    sums = _sums(tmp_path, text)
    assert _value(sums, "packet_loss_rate") == 0
    rates = measure_packets(sums).filter(pl.col("metric") == "link_loss_rate")["value"]
    assert rates.to_list() == [None, None]
