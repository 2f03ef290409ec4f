"""Nodes, paths of packets, receivers of groups, routing and energy, on a few lines each."""

from __future__ import annotations

import itertools
from pathlib import Path

import polars as pl
import pytest

from bdpbench.metrics.packets import COLUMNS, PacketSums, Window, measure_packets, sum_packets
from bdpbench.trace import open_trace

# Node 0 sends to node 2 through node 1 (new format, with energy). The first packet arrives, and the
# queue of node 1 drops the second; AODV asks for the route with one packet, which node 1 forwards.
_WHERE = "-Nx 5.00 -Ny 2.00 -Nz 0.00 -Ne {energy} -Nl {layer} -Nw {reason} "
_MAC = "-Ma 0 -Md 0 -Ms 0 -Mt 0 "
_CBR = (
    "-Is 0.0 -Id 2.0 -It cbr -Il {size} -If 0 -Ii {uid} -Iv 30 -Pn cbr -Pi {uid} -Pf {hops} -Po 0"
)
_AODV = "-Is {node}.255 -Id -1.255 -It AODV -Il 48 -If 0 -Ii 7 -Iv 30 -P aodv -Pt 0x2 -Ph 1"


def _line(start: str, rest: str, **words: object) -> str:
    line = f"{start} -Hs {words['node']} -Hd {words.get('next', -2)} -Ni {words['node']} "
    line += _WHERE + _MAC + rest
    given = {"reason": "---", "hops": 0, "size": 512, "uid": 1, **words}
    return line.format(**given) + "\n"


WIRELESS = "".join(
    (
        _line("s -t 1.000000000", _AODV, node=0, layer="RTR", energy="100.000000"),
        _line("r -t 1.100000000", _AODV, node=1, layer="RTR", energy="50.000000"),
        _line("f -t 1.200000000", _AODV, node=1, layer="RTR", energy="49.500000"),
        _line("s -t 2.000000000", _CBR, node=0, layer="AGT", energy="99.000000"),
        _line("s -t 2.000000000", _CBR, node=0, next=1, layer="RTR", energy="99.000000"),
        _line("f -t 2.100000000", _CBR, node=1, next=2, layer="RTR", energy="49.000000"),
        _line("r -t 2.250000000", _CBR, node=2, layer="AGT", energy="10.000000", hops=2),
        _line("s -t 3.000000000", _CBR, node=0, layer="AGT", energy="98.000000", uid=2),
        _line("s -t 3.000000000", _CBR, node=0, next=2, layer="RTR", energy="98.000000", uid=2),
        _line(
            "d -t 3.500000000",
            _CBR,
            node=1,
            layer="IFQ",
            energy="48.000000",
            uid=2,
            reason="ARP",
        ),
        _line("s -t 4.000000000", _CBR, node=0, layer="AGT", energy="97.000000", uid=3),
        _line("r -t 4.750000000", _CBR, node=2, layer="AGT", energy="9.000000", uid=3, hops=1),
    )
)
# Node 0 sends two packets to a group. Both reach node 1, which forwards them, and then node 2; the
# queue of the link 1-3 drops one of the copies for node 3.
_GROUP = "cbr 210 ------- 5 0.0 1073741824.0"
MULTICAST = f"""\
+ 1.0 0 1 {_GROUP} 0 0
- 1.0 0 1 {_GROUP} 0 0
r 1.1 0 1 {_GROUP} 0 0
+ 1.1 1 2 {_GROUP} 0 0
- 1.1 1 2 {_GROUP} 0 0
+ 1.1 1 3 {_GROUP} 0 0
- 1.1 1 3 {_GROUP} 0 0
r 1.3 1 2 {_GROUP} 0 0
r 1.4 1 3 {_GROUP} 0 0
+ 2.0 0 1 {_GROUP} 1 1
- 2.0 0 1 {_GROUP} 1 1
r 2.1 0 1 {_GROUP} 1 1
+ 2.1 1 2 {_GROUP} 1 1
- 2.1 1 2 {_GROUP} 1 1
+ 2.1 1 3 {_GROUP} 1 1
d 2.1 1 3 {_GROUP} 1 1
r 3.0 1 2 {_GROUP} 1 1
"""


def _sums(folder: Path, text: str, window: Window | None = None) -> PacketSums:
    path = folder / "nodes.tr"
    path.write_text(text)
    return sum_packets(open_trace(path).batches(COLUMNS), window)


def _values(sums: PacketSums, metric: str) -> dict[str, float | None]:
    rows = measure_packets(sums).filter(pl.col("metric") == metric)
    return dict(rows.select("subject", "value").iter_rows())


def test_layers_of_wireless_nodes(tmp_path: Path) -> None:
    sums = _sums(tmp_path, WIRELESS)
    assert _values(sums, "node_sent") == {
        "node:0/AGT": 3,
        "node:0/RTR": 3,
        "node:1/IFQ": 0,
        "node:1/RTR": 0,
        "node:2/AGT": 0,
    }
    assert _values(sums, "node_received")["node:2/AGT"] == 2
    assert _values(sums, "node_forwarded")["node:1/RTR"] == 2
    assert _values(sums, "node_dropped")["node:1/IFQ"] == 1
    assert _values(sums, "node_drops") == {"node:1/IFQ/ARP": 1}
    assert _values(sums, "drops") == {"drops:IFQ/ARP": 1}
    assert sums.loss_series.select("subject", "dropped_pkts").rows() == [("drops:IFQ/ARP", 1)]
    bytes_sent = sums.nodes.filter(pl.col("subject") == "node:0/RTR")["sent_bytes"].item()
    assert bytes_sent == 48 + 2 * 512


def test_routing_counts_each_hop(tmp_path: Path) -> None:
    sums = _sums(tmp_path, WIRELESS)
    assert _values(sums, "routing_overhead") == {"trace": 2}
    assert _values(sums, "routing_overhead_bytes") == {"trace": 96}
    # Two data packets arrive.
    assert _values(sums, "normalised_routing_load") == {"trace": 1}


def test_types_of_packets_at_their_ends_and_at_layers(tmp_path: Path) -> None:
    sums = _sums(tmp_path, WIRELESS)
    sent, received = _values(sums, "type_sent"), _values(sums, "type_received")
    assert (sent["type:cbr"], received["type:cbr"]) == (3, 2)
    assert (sent["type:cbr/AGT"], received["type:cbr/AGT"]) == (3, 2)
    assert (sent["type:cbr/RTR"], received["type:AODV/RTR"]) == (2, 1)
    assert _values(sums, "type_forwarded")["type:AODV/RTR"] == 1
    assert _values(sums, "type_dropped")["type:cbr/IFQ"] == 1
    ratios = _values(sums, "type_delivery_ratio")
    assert ratios["type:cbr"] == pytest.approx(2 / 3)
    # 0.25 s and 0.75 s; two hops and one; two packets of AODV for two that arrive.
    assert _values(sums, "type_delay")["type:cbr"] == pytest.approx(500)
    assert _values(sums, "type_hop_count")["type:cbr"] == 1.5
    assert _values(sums, "type_routing_load")["type:AODV/RTR"] == 1
    # Choosing nodes, flows or links leaves out what is about all of them.
    assert not measure_packets(sums, nodes={1}).filter(pl.col("metric") == "type_sent").height


def test_energy_of_nodes(tmp_path: Path) -> None:
    sums = _sums(tmp_path, WIRELESS)
    assert _values(sums, "remaining_energy") == {"node:0": 97, "node:1": 48, "node:2": 9}
    assert _values(sums, "spent_energy") == {"node:0": 3, "node:1": 2, "node:2": 1}
    assert _values(sums, "total_spent_energy") == {"trace": 6}
    own = sums.node_series.filter(pl.col("subject") == "node:1")
    assert own["energy_j"].to_list() == [50, 49.5, 49, 48]
    late = _sums(tmp_path, WIRELESS, Window(2.0, 4.0))
    assert _values(late, "spent_energy") == {"node:0": 1, "node:1": 1, "node:2": 0}


# Node 0 tells its energy in lines of packets and in lines of its own, node 3 only in the latter.
DEPLETED = (
    WIRELESS
    + """\
N -t 4.800000 -n 3 -e 2.500000
N -t 4.900000 -n 0 -e 96.500000
N -t 5.000000 -n 3 -e 0.000000
N -t 6.000000 -n 2 -e 0.000000
N -t 7.000000 -n 3 -e 0.000000
"""
)


def test_energy_is_read_from_every_line_that_tells_it(tmp_path: Path) -> None:
    sums = _sums(tmp_path, DEPLETED)
    left = {"node:0": 96.5, "node:1": 48, "node:2": 0, "node:3": 0}
    assert _values(sums, "remaining_energy") == left
    assert _values(sums, "total_spent_energy") == {"trace": 3.5 + 2 + 10 + 2.5}
    times_s = {"node:0": None, "node:1": None, "node:2": 6, "node:3": 5}
    assert _values(sums, "depletion_time") == times_s
    assert _values(sums, "network_lifetime") == {"trace": 5}
    assert _values(sums, "last_depletion_time") == {"trace": 6}
    assert _values(sums, "nodes_with_energy") == {"trace": 2}
    alive = dict(sums.alive_series.select("time_s", "nodes").iter_rows())
    assert {alive[time_s] for time_s in alive if time_s < 5} == {4}
    assert {alive[time_s] for time_s in alive if 5.1 < time_s < 6} <= {3}
    assert sums.alive_series["nodes"].to_list()[-1] == 2
    # They count nothing else: no packet, no node that sends, no link.
    assert sums.nodes.equals(_sums(tmp_path, WIRELESS).nodes)
    assert sums.links.is_empty()


def test_a_broadcast_whose_sending_is_not_traced_counts_once(tmp_path: Path) -> None:
    lines = [
        f"r {second}.00{node}000000 _{node}_ AGT  --- {second} cbr 32 [0 ffffffff 0 800] "
        "------- [0:255 -1:255 32 0]\n"
        for second in range(1, 5)
        for node in range(1, 4)
    ]
    sums = _sums(tmp_path, "".join(lines))
    assert sums.flows["received_pkts"].to_list() == [4]
    assert sums.receivers["received_pkts"].to_list() == [4, 4, 4]


def test_a_trace_without_a_model_of_energy_has_none(tmp_path: Path) -> None:
    text = "\n".join(
        " ".join(
            "-1.000000" if before == "-Ne" else word
            for before, word in zip(["", *line.split()], line.split(), strict=False)
        )
        for line in WIRELESS.splitlines()
    )
    sums = _sums(tmp_path, text + "\n")
    assert sums.energy.is_empty()
    assert _values(sums, "total_spent_energy") == {}


def test_hops_and_changes_of_a_route(tmp_path: Path) -> None:
    sums = _sums(tmp_path, WIRELESS)
    flow = "flow:0"
    assert _values(sums, "hop_count") == {flow: 1.5}
    assert _values(sums, "path_length") == {flow: 2}
    # Node 0 sends the first packet to node 1 and the second to node 2.
    assert _values(sums, "route_changes") == {flow: 1}
    assert _values(sums, "longest_gap") == {flow: 2.5}


def test_hops_and_changes_of_a_route_on_wires(tmp_path: Path) -> None:
    def packet(uid: int, *nodes: int) -> str:
        line = f"cbr 500 ------- 1 0.0 9.0 {uid} {uid}"
        hops = itertools.pairwise(nodes)
        return "".join(
            f"+ {uid}.{place} {start} {end} {line}\n- {uid}.{place} {start} {end} {line}\n"
            f"r {uid}.{place + 1} {start} {end} {line}\n"
            for place, (start, end) in enumerate(hops)
        )

    ways = [(0, 1, 9), (0, 1, 9), (0, 2, 3, 9), (0, 1, 9), (0, 1, 9)]
    text = "".join(packet(uid, *way) for uid, way in enumerate(ways))
    sums = _sums(tmp_path, text)
    assert _values(sums, "route_changes") == {"flow:1": 2}
    assert _values(sums, "hop_count") == {"flow:1": 11 / 5}
    assert _values(sums, "path_length") == {"flow:1": 5}
    # Packet 2 arrives at 2.3 s, packet 1 at 1.2 s.
    assert _values(sums, "longest_gap")["flow:1"] == pytest.approx(1.1)
    assert _values(sums, "node_sent")["node:0/link"] == 5
    assert _values(sums, "node_forwarded") == {
        "node:0/link": 0,
        "node:1/link": 4,
        "node:2/link": 1,
        "node:3/link": 1,
        "node:9/link": 0,
    }
    assert _values(sums, "node_received")["node:9/link"] == 5
    straight = _sums(tmp_path, "".join(packet(uid, 0, 1, 9) for uid in range(5)))
    assert _values(straight, "route_changes") == {"flow:1": 0}


def test_batches_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "nodes.tr"
    for text in (WIRELESS, MULTICAST):
        path.write_text(text)
        whole = pl.concat(open_trace(path).batches(COLUMNS))
        expected = sum_packets([whole]).all_tables()
        found = sum_packets([whole.slice(row, 1) for row in range(whole.height)]).all_tables()
        for name, table in expected.items():
            assert found[name].equals(table), name


def test_each_receiver_of_a_group_counts_by_itself(tmp_path: Path) -> None:
    sums = _sums(tmp_path, MULTICAST)
    assert sums.receivers.select("subject", "forwards", "received_pkts").rows() == [
        ("receiver:5>1", True, 2),
        ("receiver:5>2", False, 2),
        ("receiver:5>3", False, 1),
    ]
    assert _values(sums, "receiver_delivery_ratio") == {
        "receiver:5>1": 1,
        "receiver:5>2": 1,
        "receiver:5>3": 0.5,
    }
    delays = _values(sums, "receiver_delay")
    assert delays["receiver:5>2"] == pytest.approx(650)
    assert _values(sums, "receiver_max_delay")["receiver:5>2"] == pytest.approx(1000)
    # From 1.0 to 3.0 s.
    throughput = _values(sums, "receiver_throughput")["receiver:5>3"]
    assert throughput == pytest.approx(8e-6 * 210 / 2)
    assert _values(sums, "route_changes") == {"flow:5": None}
    assert _values(sums, "node_received") == {
        "node:0/link": 0,
        "node:1/link": 2,
        "node:2/link": 2,
        "node:3/link": 1,
    }


@pytest.mark.parametrize("group", ["-2147483648", "2147483647"])
def test_a_group_may_be_at_an_end_of_the_range(tmp_path: Path, group: str) -> None:
    wide = MULTICAST.replace("1073741824", group)
    assert _sums(tmp_path, wide).receivers["received_pkts"].to_list() == [2, 2, 1]


def test_a_copy_that_comes_twice_counts_once(tmp_path: Path) -> None:
    again = MULTICAST.replace("r 1.3 1 2", "r 1.2 3 2") + f"r 3.5 1 2 {_GROUP} 0 0\n"
    assert _sums(tmp_path, again).receivers["received_pkts"].to_list() == [2, 2, 1]


def test_what_was_sent_arrives_in_its_bin(tmp_path: Path) -> None:
    sums = _sums(tmp_path, WIRELESS)
    sent = sums.flow_series.filter(pl.col("sent_pkts") > 0)
    assert sent["delivered_pct"].to_list() == [100, 0, 100]


def test_what_goes_to_all_comes_to_no_node_of_its_own(tmp_path: Path) -> None:
    ends = "------- [0:0 -1:0 32 0] [0] 0 0"
    path = tmp_path / "out.tr"
    path.write_text(
        f"s 1.000000000 _0_ AGT  --- 0 cbr 512 [0 0 0 0] {ends}\n"
        f"r 1.002000000 _1_ AGT  --- 0 cbr 512 [13a ffffffff 0 800] {ends}\n"
        f"r 1.002000000 _2_ AGT  --- 0 cbr 512 [13a ffffffff 0 800] {ends}\n"
    )
    nodes = sum_packets(open_trace(path).batches(COLUMNS)).nodes
    assert nodes.select("subject", "sent_pkts", "received_pkts").rows() == [
        ("node:0/AGT", 1, 0),
        ("node:1/AGT", 0, 1),
        ("node:2/AGT", 0, 1),
    ]
