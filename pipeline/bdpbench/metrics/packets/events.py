"""The events of a batch of trace lines, sorted by what happened to a packet.

A packet that crosses a link makes three lines: ``+`` when it enters the link's queue, ``-`` when it
leaves the queue and its transmission begins, ``r`` when it has arrived at the far end; or ``+`` and
``d`` if the queue drops it. So a packet that crosses three links has nine lines, and a flow has to
be counted at one place:

- a packet is *sent* with the ``+`` of the link that begins at its source node, or on a wireless
  node with the ``s`` of the agent layer (AGT);
- a packet is *received* with the ``r`` of the link that ends at its destination node, or with the
  ``r`` of the agent layer;
- a packet is *dropped* with ``d`` or ``e`` on a link, or with ``D`` or ``d`` on a wireless node.

A *stream* is what one agent sends to another: it has a flow id, and a source and destination node
and port. The ACKs of a TCP flow are a stream of their own, in the other direction.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from bdpbench.metrics.packets.native import WiredFound

COLUMNS = (
    "time_s",
    "event",
    "from_node",
    "to_node",
    "type",
    "bytes",
    "flow",
    "src_node",
    "src_port",
    "dst_node",
    "dst_port",
    "seq",
    "uid",
    "header_bytes",
    "from_lat",
    "layer",
    "node",
    "reason",
    "next_hop",
    "hops",
    "energy_j",
)
"""Columns of a packet trace that metrics read."""

WIRELESS_COLUMNS = ("layer", "node", "reason", "next_hop", "hops", "energy_j")
"""Those of them that only lines of wireless nodes have."""

ENDS = ("flow", "src_node", "src_port", "dst_node", "dst_port")
"""Columns that identify a stream."""

CONTROL_TYPES = (
    *("start", "stop", "prune", "graft", "graftAck", "join", "assert", "message", "rtcp"),
    *("rtProtoDV", "rtProtoLS", "CtrMcast_Encap", "CtrMcast_Decap"),
    *("sa_req", "sa_accept", "sa_conf", "sa_teardown", "sa_reject", "httpInval"),
    *("ARP", "MAC", "TORA", "DSR", "AODV", "AOMDV", "MDART", "IMEP", "PUMA", "OLSR"),
    *("rap_ack", "tcpFriendCtl", "diffusion", "LDP", "gaf", "pushback", "LMS_SETUP", "smac"),
    "HDLC",
)
"""Types of packets, as printed by ns-2 (common/packet.h), that carry no user data."""

ROUTING_TYPES = (
    *("rtProtoDV", "rtProtoLS", "LDP", "DSR", "AODV", "AOMDV", "MDART", "TORA", "IMEP", "PUMA"),
    *("OLSR", "message"),
)
"""Types of packets of routing protocols; DSDV's are called message."""

TCP_HEADER_BYTES = 40
"""TCP and IP headers that ns-2's TCP agents add to their packetSize_ (``tcpip_base_hdr_size_``)."""

# Address 0.1.0 with ns-2's default of 11 bits for the last level. In a flat topology with more
# nodes than this number, an address equals the node's number, as the first lines show.
_FIRST_HIERARCHICAL = 1 << 11
_FIRST_GROUP = 1 << 30
_TO_BITS = 32
_TO_OFFSET = 1 << (_TO_BITS - 1)
_ODDS = (
    -0x61C8864680B583EB,
    -0x40A7B892E31B1A47,
    0x14D049BB133111EB,
    -0x2917014799A6026D,
    0x2545F4914F6CDD1D,
)
WIRELESS_SENT = ("s", "+")
"""Events of a wireless node that sends a packet; tagged traces have +."""

WIRELESS_FORWARDED = ("f", "h")
"""Events of a wireless node that forwards a packet; tagged traces have h."""

AGENT_LAYER = "AGT"
"""The layer of a wireless node at which agents send and receive packets."""

ROUTER_LAYER = "RTR"
"""The layer of a wireless node that transmits packets of its own and forwards others."""


@dataclass(frozen=True)
class Events:
    """What happened in a batch, each frame in the order of the trace.

    sends, arrivals, drops: time_s (f64, s), stream (i64), packet (i64, see ``packet_key``), type,
    bytes (i64, with headers), payload_bytes (i64), seq, uid (i64), and ENDS; arrivals also have
    reverse (i64), the stream in the other direction, and drops link (i64, null on wireless nodes).
    passed: packets that found a link idle and so left the queue at once: time_s, link, bytes.
    waiting: lines of all other packets on links: row (u32), event, time_s, link, uid, bytes.
    entries: all packets that entered a queue: time_s, link, stream, bytes; lazy, since they are
    many.
    reached: links (i64) at whose far end packets were received.
    coarse: links (i64) of satellites, whose lines give times to 0.1 ms.
    copies: multicast and broadcast packets that arrived at a node, or at an agent of a wireless
    node: time_s, stream, packet, bytes, node (i32).
    wireless: the lines of wireless nodes with stream (i64); None for a batch without any.
    """

    last_s: float
    sends: pl.DataFrame
    arrivals: pl.DataFrame
    drops: pl.DataFrame
    passed: pl.DataFrame
    waiting: pl.DataFrame
    entries: pl.LazyFrame
    reached: pl.Series
    coarse: pl.Series
    copies: pl.DataFrame
    wireless: pl.DataFrame | None = None

    @property
    def has_agents(self) -> bool:
        """Whether agents of wireless nodes are traced (AGT)."""
        return self.wireless is not None and bool((self.wireless["layer"] == AGENT_LAYER).any())


class FlowIds:
    """Flow ids for lines of the old wireless format, which has none, by their end points.

    They are known from the links of a wired-cum-wireless trace; in other traces they stay null.
    """

    def __init__(self) -> None:
        self._known = pl.DataFrame(schema=dict.fromkeys(ENDS, pl.Int32))

    def load(self, found: WiredFound) -> None:
        """Start from what the rows summed in C contained."""
        streams = found.streams.select(pl.col(ENDS).cast(pl.Int32))
        self._known = streams.unique(ENDS[1:], keep="first", maintain_order=True)

    def fill(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The batch with the known flow ids filled in."""
        if batch["flow"].null_count() == 0:
            return batch
        ends = list(ENDS[1:])
        seen = batch.filter(pl.col("flow").is_not_null()).select(ENDS)
        self._known = pl.concat([self._known, seen]).unique(ends, keep="first", maintain_order=True)
        known = self._known.rename({"flow": "known_flow"})
        filled = batch.join(known, on=ends, how="left", maintain_order="left")
        flow = pl.coalesce("flow", "known_flow").alias("flow")
        return filled.with_columns(flow).drop("known_flow")


class Hosts:
    """The node of each address, if addresses are hierarchical rather than node numbers.

    A line gives its link by node numbers, and the ends of its packet by addresses. A packet's first
    ``+`` is at its source, which gives the node number of that address. A receiver that never sends
    anything stays unknown, and a wireless node has no number.
    """

    def __init__(self) -> None:
        self._known = pl.DataFrame(schema={"address": pl.Int32, "host": pl.Int32})

    def add(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The batch with src_host and dst_host (i32), if its addresses are hierarchical."""
        on_link = pl.col("from_node").is_not_null()
        sources = batch.lazy().filter(on_link).select("src_node").collect()["src_node"]
        if self._known.is_empty() and not is_hierarchical(sources):
            return batch
        # A wireless node's packet has its first + at its base station, which is not its source.
        starts = pl.col("event").is_in(("+", "s")) & pl.col("src_node").is_not_null()
        first = batch.filter(starts).select(address="src_node", host="from_node")
        self._known = pl.concat([self._known, first]).unique(
            "address", keep="first", maintain_order=True
        )
        for end in ("src", "dst"):
            known = self._known.rename({"address": f"{end}_node", "host": f"{end}_host"})
            batch = batch.join(known, on=f"{end}_node", how="left", maintain_order="left")
        return batch

    def nodes_of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """``rows`` (src_node, dst_node) with src_host and dst_host (i32); flat addresses are both.

        For a hierarchical address of an unknown node they are null.
        """
        for end in ("src", "dst"):
            address, host = f"{end}_node", f"{end}_host"
            if self._known.is_empty():
                rows = rows.with_columns(pl.col(address).alias(host))
            else:
                known = self._known.rename({"address": address, "host": host})
                rows = rows.join(known, on=address, how="left", maintain_order="left")
        return rows


def with_frames_ends(batch: pl.DataFrame) -> pl.DataFrame:
    """The batch with the link's ends as those of frames that carry no packet, which have no others.

    HDLC's requests and answers go from one end of a satellite's link to the other.
    """
    if batch["src_node"].null_count() == 0:
        return batch
    ends = (("src_node", "from_node"), ("dst_node", "to_node"))
    return batch.with_columns(pl.coalesce(end, of_link) for end, of_link in ends)


def link_key() -> pl.Expr:
    """A link as one number (i64): from_node · 2^32 + 2^31 + to_node.

    Node numbers may be negative: -1 for a satellite's channel, -2 for an unknown end of a link.
    """
    start = pl.col("from_node").cast(pl.Int64) * (1 << _TO_BITS)
    return (start + (pl.col("to_node").cast(pl.Int64) + _TO_OFFSET)).alias("link")


def link_number(from_node: int, to_node: int) -> int:
    """``link_key`` of one link.

    >>> link_number(0, 1) == pl.select(from_node=0, to_node=1).select(link_key()).item()
    True
    """
    return from_node * (1 << _TO_BITS) + to_node + _TO_OFFSET


def link_ends() -> tuple[pl.Expr, pl.Expr]:
    """from_node and to_node (i32) of a ``link_key``.

    >>> link = pl.DataFrame({"from_node": [7, -1], "to_node": [3, -2]}).select(link_key())
    >>> link.select(link_ends()).rows()
    [(7, 3), (-1, -2)]
    """
    start = (pl.col("link") // (1 << _TO_BITS)).cast(pl.Int32)
    end = (pl.col("link") % (1 << _TO_BITS) - _TO_OFFSET).cast(pl.Int32)
    return start.alias("from_node"), end.alias("to_node")


def is_hierarchical(addresses: pl.Series) -> bool:
    """Whether any of the addresses (i32) is hierarchical.

    >>> is_hierarchical(pl.Series([0, 1])), is_hierarchical(pl.Series([0, 2049]))
    (False, True)
    """
    top = addresses.max()
    return isinstance(top, int) and top >= _FIRST_HIERARCHICAL


def goes_to_group() -> pl.Expr:
    """Whether a packet is multicast or broadcast, by dst_node.

    The broadcast address is -1. A multicast address has bit 30 set in ns-2's default address
    format, and the sign bit in the extended one.
    """
    return (pl.col("dst_node") < 0) | (pl.col("dst_node") >= _FIRST_GROUP)


def stream_key(*, reverse: bool = False) -> pl.Expr:
    """A stream as one number (i64), a hash of ENDS; of the opposite stream if ``reverse``.

    Grouping and joining by one 64-bit key is many times faster than by five columns.
    """
    order = ("flow", "dst_node", "dst_port", "src_node", "src_port") if reverse else ENDS
    parts = [
        pl.col(name).cast(pl.Int64).fill_null(-1) * odd
        for name, odd in zip(order, _ODDS, strict=True)
    ]
    key = functools.reduce(operator.add, parts)
    return key.alias("reverse" if reverse else "stream")


def packet_key() -> pl.Expr:
    """A packet as one number (i64), a hash of its ends and its uid.

    The flow id is left out, because the old wireless format does not print it.
    """
    parts = [
        pl.col(name).cast(pl.Int64).fill_null(-1) * odd
        for name, odd in zip(("uid", *ENDS[1:]), _ODDS, strict=True)
    ]
    return functools.reduce(operator.add, parts).alias("packet")


def split_events(batch: pl.DataFrame) -> Events:
    """Sort the lines of a batch by event.

    Args:
        batch: columns of ``COLUMNS`` as the trace reader makes them, at least one row; columns that
            the format does not have (layer, node, reason, header_bytes) may be missing; src_host
            and dst_host if ``Hosts`` has added them.
    """
    wireless = _wireless_lines(batch)
    wired = batch if wireless is None else batch.filter(pl.col("layer").is_null())
    at_once = _leaves_at_once(wired)
    event = pl.col("event")
    source, receiver = (
        pl.col(f"{end}_host" if f"{end}_host" in wired.columns else f"{end}_node")
        for end in ("src", "dst")
    )
    sends = _packets(wired, (event == "+") & (pl.col("from_node") == source))
    arrivals = _packets(
        wired,
        (event == "r") & (pl.col("to_node") == receiver),
        stream_key(reverse=True),
    )
    drops = _packets(wired, event.is_in(("d", "e")), link_key())
    if wireless is not None:
        sends, arrivals, drops = _with_wireless(wireless, sends, arrivals, drops)
    return Events(
        float(batch["time_s"][-1]),
        sends,
        arrivals,
        drops,
        wired.lazy().filter(at_once).select("time_s", link_key(), _wide_bytes()).collect(),
        _waiting(wired, at_once),
        wired.lazy().filter(event == "+").select("time_s", link_key(), stream_key(), _wide_bytes()),
        wired.lazy().filter(event == "r").select(link_key()).unique().collect().to_series(),
        _coarse(wired),
        _copies(wired, wireless),
        None if wireless is None else wireless.with_columns(stream_key()),
    )


def _coarse(wired: pl.DataFrame) -> pl.Series:
    """Links whose lines tell where satellites are."""
    if not has_positions(wired):
        return pl.Series("link", [], pl.Int64)
    at_satellite = pl.col("from_lat").is_not_null()
    return wired.filter(at_satellite).select(link_key()).to_series().unique()


def has_positions(batch: pl.DataFrame) -> bool:
    """Whether a batch has lines of satellites."""
    return "from_lat" in batch.columns and batch["from_lat"].null_count() < batch.height


def _copies(wired: pl.DataFrame, wireless: pl.DataFrame | None) -> pl.DataFrame:
    """Multicast and broadcast packets, at the nodes at which they arrived."""
    came = (pl.col("event") == "r") & goes_to_group()
    columns = ("time_s", stream_key(), packet_key(), _wide_bytes())
    found = wired.lazy().filter(came).select(*columns, node="to_node")
    if wireless is None:
        return found.collect()
    at_agent = wireless.lazy().filter(came & (pl.col("layer") == AGENT_LAYER))
    both = pl.concat([found, at_agent.select(*columns, "node")])
    return both.sort("time_s", maintain_order=True).collect()


def _wireless_lines(batch: pl.DataFrame) -> pl.DataFrame | None:
    """Lines of wireless nodes; None for a batch without any."""
    if "layer" not in batch.columns or batch["layer"].null_count() == batch.height:
        return None
    return batch.filter(pl.col("layer").is_not_null())


def _wide_bytes() -> pl.Expr:
    return pl.col("bytes").cast(pl.Int64)


def _packets(lines: pl.DataFrame, which: pl.Expr, *more: pl.Expr) -> pl.DataFrame:
    return (
        lines.lazy()
        .filter(which)
        .select(
            "time_s",
            stream_key(),
            packet_key(),
            "type",
            _wide_bytes(),
            _payload(lines).alias("payload_bytes"),
            "seq",
            "uid",
            *ENDS,
            *more,
        )
        .collect()
    )


def _payload(lines: pl.DataFrame) -> pl.Expr:
    """Payload bytes: without TCP/IP headers if the size includes them.

    ns-2's UDP agents trace the given size, without a header.
    """
    headers: pl.Expr = pl.lit(TCP_HEADER_BYTES, dtype=pl.Int64)
    if "header_bytes" in lines.columns:
        given = pl.col("header_bytes").cast(pl.Int64)
        headers = pl.when(given > 0).then(given).otherwise(headers)
    is_tcp = pl.col("type").is_in(("tcp", "ack"))
    size = _wide_bytes()
    return pl.when(is_tcp).then((size - headers).clip(0)).otherwise(size)


def _leaves_at_once(lines: pl.DataFrame) -> pl.Series:
    """``+`` lines whose packet's ``-`` is the next line, at the same time.

    Most lines of a trace come in such pairs; removing them first leaves a tenth of the lines to be
    matched by packet number.
    """
    names = ("uid", "from_node", "to_node", "time_s")
    same = [pl.col(name) == pl.col(name).shift(-1) for name in names]
    leaves = (pl.col("event") == "+") & (pl.col("event").shift(-1) == "-")
    at_once = leaves & same[0] & same[1] & same[2] & same[3]
    return lines.select(at_once.fill_null(value=False).alias("at_once")).to_series()


def _waiting(lines: pl.DataFrame, at_once: pl.Series) -> pl.DataFrame:
    passed = at_once | at_once.shift(1, fill_value=False)
    return (
        lines.lazy()
        .with_row_index("row")
        .filter(~passed & pl.col("event").is_in(("+", "-", "d", "e")))
        .select("row", "event", "time_s", link_key(), "uid", _wide_bytes())
        .collect()
    )


def _with_wireless(
    lines: pl.DataFrame, sends: pl.DataFrame, arrivals: pl.DataFrame, drops: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Events of links and of wireless nodes together, in the order of time."""
    event, at_agent = pl.col("event"), pl.col("layer") == AGENT_LAYER
    is_packet = pl.col("src_node").is_not_null()
    more = (
        (sends, event.is_in(WIRELESS_SENT) & at_agent, ()),
        (arrivals, (event == "r") & at_agent, (stream_key(reverse=True),)),
        (drops, event.is_in(("D", "d")) & is_packet, (pl.lit(None, pl.Int64).alias("link"),)),
    )
    found = [
        pl.concat([wired, _packets(lines, which, *columns)]).sort("time_s", maintain_order=True)
        for wired, which, columns in more
    ]
    return found[0], found[1], found[2]
