"""Wireless and mixed traces: lines of agents instead of links, and missing flow ids."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bdpbench.metrics.packets import COLUMNS, PacketSums, measure_packets, sum_packets
from bdpbench.trace import open_trace

# Two packets from node 0 to node 2 (old format); the router of node 1 drops the second. For UDP,
# ns-2 adds 20 bytes of IP header on the way.
OLD = """\
s 1.0 _0_ AGT  --- 0 cbr 210 [0 0 0 0] ------- [0:0 2:0 32 0] [0] 0 0
r 1.5 _2_ AGT  --- 0 cbr 230 [13a 2 1 800] ------- [0:0 2:0 29 2] [0] 2 0
s 2.0 _0_ AGT  --- 1 cbr 210 [0 0 0 0] ------- [0:0 2:0 32 0] [1] 0 0
D 2.2 _1_ RTR  TTL 1 cbr 230 [13a 2 1 800] ------- [0:0 2:0 1 2] [1] 2 0
s 3.0 _0_ AGT  --- 2 cbr 210 [0 0 0 0] ------- [0:0 2:0 32 0] [2] 0 0
r 3.4 _2_ AGT  --- 2 cbr 230 [13a 2 1 800] ------- [0:0 2:0 29 2] [2] 2 0
"""
# A wired source, node 0 (0.0.0), sends to a mobile node, 1.0.1, which prints no flow id.
MIXED = """\
+ 2 0 1 tcp 1040 ------- 7 0.0.0.0 1.0.1.0 0 2
- 2 0 1 tcp 1040 ------- 7 0.0.0.0 1.0.1.0 0 2
r 2.25 0 1 tcp 1040 ------- 7 0.0.0.0 1.0.1.0 0 2
r 2.500000000 _3_ AGT  --- 2 tcp 1040 [13a 1 0 800] ------- [0:0 4194305:0 29 4194305] [0 0] 1 0
s 2.500000000 _3_ AGT  --- 3 ack 40 [0 0 0 0] ------- [4194305:0 0:0 32 0] [0 0] 0 0
+ 2.6 1 0 ack 40 ------- 7 1.0.1.0 0.0.0.0 0 3
- 2.6 1 0 ack 40 ------- 7 1.0.1.0 0.0.0.0 0 3
r 3 1 0 ack 40 ------- 7 1.0.1.0 0.0.0.0 0 3
"""


def _sums(folder: Path, text: str) -> PacketSums:
    path = folder / "all.tr"
    path.write_text(text)
    return sum_packets(open_trace(path).batches(COLUMNS))


def _values(sums: PacketSums) -> dict[str, float]:
    rows = measure_packets(sums).filter(pl.col("subject").str.starts_with("flow:"))
    return dict(rows.select("metric", "value").iter_rows())


def test_agents_of_wireless_nodes(tmp_path: Path) -> None:
    sums = _sums(tmp_path, OLD)
    values = _values(sums)
    assert sums.flows["subject"].to_list() == ["flow:0.0-2.0"]
    # From 1.0 to 3.4 s two packets of 230 bytes arrive, which had 210 bytes when they were sent.
    assert values["throughput"] == pytest.approx(8 * 460e-6 / 2.4)
    assert values["goodput"] == pytest.approx(8 * 420e-6 / 2.4)
    assert values["packet_loss_rate"] == pytest.approx(1 / 3)
    assert values["one_way_delay"] == pytest.approx(450)
    assert sums.losses.rows() == [("RTR", "TTL", "cbr", 1, 230)]
    assert sums.links.is_empty()


def test_a_flow_over_wires_and_radio_is_one(tmp_path: Path) -> None:
    sums = _sums(tmp_path, MIXED)
    assert sums.flows["subject"].to_list() == ["flow:7", "acks:7"]
    values = _values(sums)
    assert values["one_way_delay"] == pytest.approx(500)
    assert values["rtt"] == pytest.approx(1000)
    assert values["throughput"] == pytest.approx(8 * 1040e-6 / 1.0)


def test_lines_without_a_flow_id_are_of_the_flow_that_later_ones_tell(tmp_path: Path) -> None:
    path = tmp_path / "all.tr"
    path.write_text(MIXED)
    frame = pl.concat(open_trace(path).batches(COLUMNS))
    found = sum_packets([frame.slice(3, 2), frame.slice(5)])  # the two that print no id come first
    assert found.flows["subject"][1] == "acks:7"


def test_hierarchical_addresses_are_told_from_the_first_lines(tmp_path: Path) -> None:
    # Node 1 has the address 0.1.0 and sends to node 4, 2.0.0, which acknowledges.
    text = (
        MIXED.replace("0.0.0.0", "0.1.0.0")
        .replace("1.0.1.0", "2.0.0.0")
        .replace(" 0 1 tcp", " 1 4 tcp")
        .replace(" 1 0 ack", " 4 1 ack")
    )
    wired = [line for line in text.splitlines(keepends=True) if "AGT" not in line]
    values = _values(_sums(tmp_path, "".join(wired)))
    assert values["one_way_delay"] == pytest.approx(250)
    assert values["rtt"] == pytest.approx(1000)


def test_a_trace_of_one_queue_has_its_flows(tmp_path: Path) -> None:
    # The links of source and receiver are not traced, so it is unknown what they did.
    lines = [line.replace(" 0 1 tcp", " 8 9 tcp") for line in MIXED.splitlines()[:3]]
    sums = _sums(tmp_path, "\n".join(lines) + "\n")
    assert sums.flows.select("subject", "sent_pkts", "received_pkts").rows() == [
        ("flow:7", None, None)
    ]
    assert sums.link_flows.select("flow", "link", "entered_bytes").rows() == [
        ("flow:7", "link:8-9", 1040)
    ]
