"""The rows of a packet trace as they are summed, and the words that they use.

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

import enum
import functools
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bdpbench.errors import BdpbenchError
from bdpbench.later import Schema, pl

ENDS = ("flow", "src_node", "src_port", "dst_node", "dst_port")
"""Columns that identify a stream."""

UNKNOWN = -(1 << 30) - 1
"""A node, port, flow id or reason that a row does not have; the ends of the range are addresses."""

NUMBERS = Schema(
    {
        "time_s": "Float64",
        "event": "UInt8",
        "from_node to_node": "Int32",
        "type": "UInt32",
        "bytes flow src_node src_port dst_node dst_port": "Int32",
        "seq uid": "Int64",
        "header_bytes src_host dst_host": "Int32",
        "from_lat layer": "UInt8",
        "node reason next_hop hops": "Int32",
        "energy_j": "Float64",
    }
)
"""Columns of the rows that are summed, in order, and their types as numbers. Rows may lack those
after ``uid``; of from_lat it counts whether there is one."""

ABSENT: Mapping[str, float] = types.MappingProxyType(
    {
        **dict.fromkeys(NUMBERS, UNKNOWN),
        **dict.fromkeys(("time_s", "event", "bytes", "header_bytes", "from_lat", "layer"), 0),
        **dict.fromkeys(("seq", "uid", "energy_j"), -1),
        "type": (1 << 32) - 1,
    }
)
"""What stands where a row has none."""

COLUMNS = tuple(name for name in NUMBERS if not name.endswith("_host"))
"""Columns of a packet trace that metrics read."""


class Event(enum.IntEnum):
    """What a row is about, in the numbers of packet_sums.c."""

    ENTERS, LEAVES, ARRIVES, DROPPED, ERROR, SENT, FORWARDED, LOST, READING, OTHER = range(10)


_EVENT_OF = {**dict(zip("+-rdesfDN", Event, strict=False)), "h": Event.FORWARDED}


class Extent(enum.IntEnum):
    """How much is summed, in the numbers of packet_sums.c.

    ENDS: what follows from what happens to packets at the ends of flows, and from drops. RECEIVED:
    only the bytes that each flow received.
    """

    ALL, ENDS, RECEIVED = range(3)


class Layer(enum.IntEnum):
    """Where it happened; the other layers of wireless nodes follow."""

    LINK, AGENT, ROUTER = range(3)


class Kind(enum.IntEnum):
    """What a packet carries: data, nothing for users, or a segment or ACK of TCP."""

    PLAIN, CONTROL, TCP, ACK = range(1, 5)


ROUTING = 8
"""Added to the kind of a packet of a routing protocol."""

NO_TYPE = (1 << 32) - 1
"""The type of a frame without a packet."""

WIRED_REASONS = ("queue", "error model")
"""Why a packet was dropped on a link."""

CONTROL_TYPES = frozenset(
    (
        *("start", "stop", "prune", "graft", "graftAck", "join", "assert", "message", "rtcp"),
        *("rtProtoDV", "rtProtoLS", "CtrMcast_Encap", "CtrMcast_Decap"),
        *("sa_req", "sa_accept", "sa_conf", "sa_teardown", "sa_reject", "httpInval"),
        *("ARP", "MAC", "TORA", "DSR", "AODV", "AOMDV", "MDART", "IMEP", "PUMA", "OLSR"),
        *("rap_ack", "tcpFriendCtl", "diffusion", "LDP", "gaf", "pushback", "LMS_SETUP", "smac"),
        "HDLC",
    )
)
"""Types of packets, as printed by ns-2 (common/packet.h), that carry no user data."""

ROUTING_TYPES = (
    *("rtProtoDV", "rtProtoLS", "LDP", "DSR", "AODV", "AOMDV", "MDART", "TORA", "IMEP", "PUMA"),
    *("OLSR", "message"),
)
"""Types of packets of routing protocols; DSDV's are called message."""

_KIND_OF = {**dict.fromkeys(CONTROL_TYPES, Kind.CONTROL), "tcp": Kind.TCP, "ack": Kind.ACK}

TCP_HEADER_BYTES = 40
"""TCP and IP headers that ns-2's TCP agents add to their packetSize_ (``tcpip_base_hdr_size_``)."""

FIRST_GROUP = 1 << 30
"""A multicast address has bit 30 set in ns-2's default format, the sign bit in the extended one."""

NO_NUMBER = -(1 << 63)
"""The sequence number of a row without one, or with one that no packet can have."""

LARGEST_NUMBER = 10**18
"""Sequence numbers from here on are taken for none, so that sums of a few do not overflow."""

LATEST_S = 1e12
"""Largest time of an event, s."""

MOST_BINS = 500
"""Most bins of a series of automatic width: as many as a chart can show."""

BIN_ROUNDING = 1e-7
"""Of a bin: less than the distance of two times, more than an error of division."""

# Address 0.1.0 with ns-2's default of 11 bits for the last level. In a flat topology with more
# nodes than this number, an address equals the node's number, as the first lines show.
FIRST_HIERARCHICAL = 1 << 11
_ENDS_AND_LINK = (*ENDS, "from_node", "to_node")
_WIRELESS = ("layer", "node", "reason", "next_hop", "hops", "energy_j")
_OPTIONAL = ("from_lat", *_WIRELESS)


@dataclass(frozen=True)
class Window:
    """The measured time ``[start_s, end_s)``, s: half-open, so that windows can be adjacent.

    >>> frame = pl.DataFrame({"time_s": [1.0, 2.0, 3.0]})
    >>> frame.filter(Window(1, 3).holds())["time_s"].to_list()
    [1.0, 2.0]
    """

    start_s: float = -math.inf
    end_s: float = math.inf

    def __post_init__(self) -> None:
        if not self.start_s < self.end_s:
            raise BdpbenchError(
                f"a window ends after its start, not at {self.end_s:g} s after {self.start_s:g} s"
            )

    def holds(self, column: str = "time_s") -> pl.Expr:
        """Condition for rows whose ``column`` (s) is in the window."""
        return pl.col(column).is_between(self.start_s, self.end_s, closed="left")

    @property
    def is_bounded(self) -> bool:
        """Whether the window excludes any time at all."""
        return math.isfinite(self.start_s) or math.isfinite(self.end_s)


class Rows:
    """Batches of trace lines → rows whose flow ids and hosts are known as far as possible.

    The old wireless format prints no flow id; it is known from the links of a wired-cum-wireless
    trace, by the end points. Where addresses are hierarchical, a line gives its link by node
    numbers and the ends of its packet by addresses: a packet's first ``+`` is at its source, which
    gives the node of that address. Both are learned from all lines of a batch before its rows are
    summed. A receiver that never sends anything stays unknown, and a wireless node has no number.
    """

    def __init__(self) -> None:
        self.knows_flows = self.knows_hosts = False
        """Whether any flow id has been learned, and any host."""

    @functools.cached_property
    def _flows(self) -> pl.DataFrame:
        return pl.DataFrame(schema=dict.fromkeys(ENDS, pl.Int32))

    @functools.cached_property
    def _hosts(self) -> pl.DataFrame:
        return pl.DataFrame(schema={"address": pl.Int32, "host": pl.Int32})

    def learn_flows(self, streams: pl.DataFrame) -> None:
        """Learn the flow ids (ENDS) of rows that were summed without this class."""
        self._flows = pl.concat([self._flows, streams]).unique(
            list(ENDS[1:]), keep="first", maintain_order=True
        )
        self.knows_flows = not self._flows.is_empty()

    def learn_hosts(self, sources: pl.DataFrame) -> None:
        """Learn the nodes of addresses (address, host), of rows summed without this class."""
        self._hosts = pl.concat([self._hosts, sources]).unique(
            "address", keep="first", maintain_order=True
        )
        self.knows_hosts = not self._hosts.is_empty()

    @staticmethod
    def are_plain(batch: pl.DataFrame) -> bool:
        """Whether a batch needs no others: its rows tell flows and hosts."""
        told = all(batch[name].null_count() == 0 for name in ("flow", "src_node"))
        return told and not is_hierarchical(batch["src_node"])

    def prepared(self, batch: pl.DataFrame) -> pl.DataFrame:
        """A batch with the columns of ``NUMBERS`` that it has; absent ends and sizes are filled."""
        absent = [
            name
            for name in _OPTIONAL
            if name in batch.columns and batch[name].null_count() == batch.height
        ]
        batch = batch.drop(absent)
        if batch["src_node"].null_count():
            # HDLC's requests and answers go from one end of a satellite's link to the other.
            ends = (("src_node", "from_node"), ("dst_node", "to_node"))
            batch = batch.with_columns(pl.coalesce(end, of_link) for end, of_link in ends)
        batch = self._with_flows(batch)
        batch = self._with_hosts(batch)
        gaps = [name for name in _ENDS_AND_LINK if batch[name].null_count()]
        seq = pl.col("seq")
        numbered = seq.is_between(-LARGEST_NUMBER, LARGEST_NUMBER, closed="none")
        if not batch.select(numbered.all() & seq.is_not_null().all()).item():
            known = pl.when(numbered.fill_null(value=False)).then(seq)
            batch = batch.with_columns(known.otherwise(NO_NUMBER))
        filled = batch.with_columns(pl.col(gaps).fill_null(UNKNOWN)) if gaps else batch
        if filled["uid"].null_count():
            filled = filled.with_columns(pl.col("uid").fill_null(-1))
        if filled["bytes"].null_count():
            filled = filled.with_columns(pl.col("bytes").fill_null(0))
        return filled.select(name for name in NUMBERS if name in filled.columns)

    def _with_flows(self, batch: pl.DataFrame) -> pl.DataFrame:
        if batch["flow"].null_count() == 0 and not self.knows_flows:
            return batch
        ends = list(ENDS[1:])
        self.learn_flows(batch.filter(pl.col("flow").is_not_null()).select(ENDS))
        if batch["flow"].null_count() == 0:
            return batch
        known = self._flows.rename({"flow": "known_flow"})
        filled = batch.join(known, on=ends, how="left", maintain_order="left")
        return filled.with_columns(flow=pl.coalesce("flow", "known_flow")).drop("known_flow")

    def _with_hosts(self, batch: pl.DataFrame) -> pl.DataFrame:
        on_link = pl.col("from_node").is_not_null()
        sources = batch.lazy().filter(on_link).select("src_node").collect()["src_node"]
        if not self.knows_hosts and not is_hierarchical(sources):
            return batch
        # A wireless node's packet has its first + at its base station, which is not its source.
        starts = pl.col("event").is_in(("+", "s")) & pl.col("src_node").is_not_null()
        self.learn_hosts(batch.filter(starts).select(address="src_node", host="from_node"))
        return self.with_hosts(batch).with_columns(
            pl.col("src_host", "dst_host").fill_null(UNKNOWN)
        )

    def with_hosts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """``rows`` (src_node, dst_node) with src_host and dst_host (i32); flat addresses are both.

        For a hierarchical address of an unknown node they are null.
        """
        for end in ("src", "dst"):
            address, host = f"{end}_node", f"{end}_host"
            if not self.knows_hosts:
                rows = rows.with_columns(pl.col(address).alias(host))
            else:
                known = self._hosts.rename({"address": address, "host": host})
                rows = rows.join(known, on=address, how="left", maintain_order="left")
        return rows


def is_hierarchical(addresses: pl.Series) -> bool:
    """Whether any of the addresses (i32) is hierarchical.

    >>> is_hierarchical(pl.Series([0, 1])), is_hierarchical(pl.Series([0, 2049]))
    (False, True)
    """
    top = addresses.max()
    return isinstance(top, int) and top >= FIRST_HIERARCHICAL


def goes_to_group() -> pl.Expr:
    """Whether a packet is multicast or broadcast (-1), by dst_node."""
    return (pl.col("dst_node") < 0) | (pl.col("dst_node") >= FIRST_GROUP)


class Codes:
    """Rows as numbers: a code for each word, and the words again.

    Attributes:
        kinds: code of a type of packets → its kind.
        types: code → type of packets.
        reasons: code → why a wireless node dropped a packet.
    """

    def __init__(self) -> None:
        self.kinds = bytearray()
        self.types: dict[int, str | None] = {NO_TYPE: None}
        self.reasons: dict[int, str | None] = {UNKNOWN: None}
        self._codes = {"": NO_TYPE}, {"": UNKNOWN}
        self._layers = {"link": int(Layer.LINK), "AGT": int(Layer.AGENT), "RTR": int(Layer.ROUTER)}

    @property
    def layers(self) -> dict[int, str]:
        """Code → layer of a node."""
        return {code: name for name, code in self._layers.items()}

    def numbers_of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The columns of ``NUMBERS`` that rows have, as numbers without nulls."""
        return pl.DataFrame(
            [
                self._numbers(name, rows[name]).cast(dtype).alias(name)
                for name, dtype in NUMBERS.items()
                if name in rows.columns
            ]
        )

    def _numbers(self, name: str, column: pl.Series) -> pl.Series:
        if name == "event":
            return column.to_physical()
        if name == "from_lat":
            return column.is_not_null()
        if name == "layer":
            codes = self.of_layers(words_of(column))
            return pl.Series(codes).gather(column.to_physical()).fill_null(int(Layer.LINK))
        if name in ("type", "reason"):
            words = column.unique().drop_nulls()
            coded = (self.of_types if name == "type" else self.of_reasons)(words.to_list())
            physical = column.to_physical().cast(pl.Int64)
            known = words.to_physical().cast(pl.Int64)
            column = physical.replace_strict(known, coded, default=None, return_dtype=pl.Int64)
        return column.fill_null(ABSENT[name]) if column.null_count() else column

    def of_layers(self, words: Sequence[str]) -> list[int]:
        """The codes of layers, which are learned."""
        return [self._layers.setdefault(each, len(self._layers)) for each in words]

    def of_types(self, words: Sequence[str]) -> list[int]:
        """The codes of types of packets, which are learned; an empty word is none."""
        codes = self._codes[0]
        for name in words:
            if name not in codes:
                code = codes[name] = len(self.kinds)
                self.types[code] = name
                self.kinds.append(
                    _KIND_OF.get(name, Kind.PLAIN) | ROUTING * (name in ROUTING_TYPES)
                )
        return [codes[each] for each in words]

    def of_reasons(self, words: Sequence[str]) -> list[int]:
        """The codes of reasons, which are learned; an empty word is none."""
        codes = self._codes[1]
        for name in words:
            if name not in codes:
                code = codes[name] = len(codes)
                self.reasons[code] = name
        return [codes[each] for each in words]


def event_codes(events: Sequence[str]) -> bytes:
    """For each index of events, what it is."""
    codes = [_EVENT_OF.get(each, Event.OTHER) for each in events]
    return bytes(codes).ljust(256, bytes([Event.OTHER]))


def words_of(column: pl.Series) -> tuple[str, ...]:
    """The words of a column of an enumeration, by their codes."""
    assert isinstance(column.dtype, pl.Enum)  # noqa: S101 - trace/schema.py
    return tuple(column.dtype.categories)


def width_ms(index: int) -> int:
    """Widths in ms of which each divides the next: 1, 5, 10, 50, 100, 500, ...

    >>> [width_ms(index) for index in range(6)]
    [1, 5, 10, 50, 100, 500]
    """
    return int((1 + 4 * (index % 2)) * 10 ** (index // 2))


def readable_width_s(width_s: float, length_s: float, packets: int) -> float:
    """A multiple of an automatic width (s) in whose bins a flow receives two packets or more.

    In narrower bins a rate jumps between zero and that of a packet. At least twenty bins are left,
    if there are as many.

    >>> readable_width_s(0.01, 4.9, 100), readable_width_s(0.01, 4.9, 1), readable_width_s(10, 4, 9)
    (0.1, 0.1, 10)
    """
    index = 0
    while packets * width_s < 2 * length_s:
        while width_ms(index) / 1e3 <= width_s:
            index += 1
        if length_s < 20 * width_ms(index) / 1e3:
            break
        width_s = width_ms(index) / 1e3
    return width_s


def number_of_bin(time_s: float, width_s: float, *, before: bool = False) -> int:
    """Number of the bin that contains a time (s), or that ends at or just after it (``before``).

    >>> number_of_bin(0.3, 0.1), number_of_bin(0.3, 0.1, before=True)
    (3, 2)
    """
    if before:
        return max(0, math.ceil(time_s / width_s - BIN_ROUNDING) - 1)
    return max(0, int(time_s / width_s + BIN_ROUNDING))
