"""The frames that ns-2's trace files become: columns, units, and what null means.

Columns that a line of the trace does not have are null in its row. Node and port numbers are those
that ns-2 prints; a hierarchical address such as ``1.0.2`` is the integer that ns-2 makes of it with
its default bits per level (10, 11 and 11, or 11 for each of two levels), which is also what its
wireless lines print for it.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping

from bdpbench.later import Schema, pl

EVENTS = ("+", "-", "r", "d", "e", "h", "c", "s", "f", "D", "x", "N")
"""Codes of packet events, as in the file.

On a link: ``+`` enters the queue, ``-`` leaves it, ``r`` is received at the link's far end, ``d``
is dropped (by the queue), ``e`` is dropped by an error model, ``h`` begins its hop (tagged traces),
``c`` collides (LANs and satellites). On a wireless node: ``s`` is sent, ``r`` received, ``f``
forwarded, ``D`` (old format) or ``d`` (new format) dropped, at the layer that ``layer`` names;
``x`` ends its transmission; ``N`` tells its energy, and nothing of a packet.
"""

LAYERS = ("AGT", "RTR", "TRP", "IFQ", "MAC", "PHY")
"""Layers of a wireless node that trace packets; TRP is a base station's router."""

_NAME, _TEXT = "Categorical", "String"
_F64, _I32, _I64 = "Float64", "Int32", "Int64"


@functools.cache
def event_type() -> pl.Enum:
    """The type of events."""
    return pl.Enum(EVENTS)


@functools.cache
def layer_type() -> pl.Enum:
    """The type of layers."""
    return pl.Enum(LAYERS)


PACKETS = Schema(
    {
        "time_s": _F64,
        "event": event_type,
        "from_node to_node": _I32,
        "type": _NAME,
        "bytes": _I32,
        "flags": _NAME,
        "flow src_node src_port dst_node dst_port": _I32,
        "seq uid ack": _I64,
        "tcp_flags header_bytes sack_bytes chunks stream stream_seq": _I32,
        "from_lat from_lon to_lat to_lon": _F64,
        "layer": layer_type,
        "node next_hop": _I32,
        "reason": _NAME,
        "ttl hops": _I32,
        "x_m y_m z_m energy_j": _F64,
        "mac_duration mac_to mac_from mac_type": _I64,
        "rest": _TEXT,
    }
)
"""One row per packet event, in the order of the trace.

time_s: time of the event, s. event: see EVENTS.
from_node, to_node: the link (from_node, to_node); null on wireless lines, which have no link.
type: packet type as ns-2 names it: tcp, ack, cbr, ...; on wireless MAC lines also RTS, CTS, ACK.
bytes: size with headers, bytes. flags: the flags word of a wired line, e.g. "-------".
flow: flow id (fid_); null on lines of the old wireless format, which do not print it.
src_node, src_port, dst_node, dst_port: end points in the IP header; null on frames of MAC, ARP and
HDLC, which carry no packet.
seq: sequence number, packets (bytes for FullTcp); -1 for packets without one; null on wireless
lines that do not print it. uid: number that a packet keeps on its path.
ack, tcp_flags, header_bytes, sack_bytes: acknowledgement number, TCP flags, TCP header length and
length of the SACK block, bytes: on lines with ``show_tcphdr_``; ack also on wireless TCP lines.
chunks, stream, stream_seq: SCTP: chunks in the packet, stream id and stream sequence number, with
the TSN in seq.
from_lat, from_lon, to_lat, to_lon: positions of a satellite link's ends, degrees.
layer, node, reason: wireless: where (see LAYERS), at which node, and why it was dropped (null for
none). next_hop: the next node's address (-1 none, -2 unknown). ttl: IP's time to live. hops: times
forwarded so far. x_m, y_m, z_m: position, m. energy_j: energy left, J.
mac_duration, mac_to, mac_from, mac_type: MAC header: duration (us), addresses, EtherType.
rest: header of a routing protocol, of ARP or of S-MAC on a wireless line, or of HDLC, verbatim.
"""

VARIABLES = Schema(
    {
        "time_s": _F64,
        "src_node src_port dst_node dst_port": _I32,
        "owner name": _NAME,
        "value": _F64,
    }
)
"""One row per value of a traced variable (TracedVar); a line of all variables becomes many rows.

time_s: time of the change, s. src_node, src_port, dst_node, dst_port: end points of the TCP agent
that owns it. owner: the owner's Tcl name, if the line gives that instead (null otherwise; both
are null for a queue's variables). name: as in the line (cwnd_, ssthresh_, rtt_, ...; the line
of all variables prints maxseq, hiack, seqno, cwnd, ssthresh, dupacks, rtt, srtt, rttvar, bkoff;
a queue prints a for its average queue, p for its drop probability, Q for its queue now).
value: in ns-2's unit: packets, or s for rtt_, srtt_, rttvar_; null for a variable without a value.
"""

QUEUES = Schema(
    {
        "time_s": _F64,
        "from_node to_node": _I32,
        "bytes pkts": _F64,
        "arrived_pkts departed_pkts dropped_pkts arrived_bytes departed_bytes": _I64,
        "dropped_bytes": _I64,
    }
)
"""One row per sample of a link's queue.

time_s: time of the sample, s. bytes, pkts: length of the queue: the current one on a ``q`` line,
the mean since the last sample on a line of ``queue-sample-timeout``. The other columns count since
the monitor's start, and are null if the line does not have them.
"""

EVENT_TRACES = Schema(
    {
        "time_s": _F64,
        "node peer_node": _I32,
        "source": _NAME,
        "what": _TEXT,
        "flow": _I32,
        "seq": _I64,
        "cwnd_pkts": _F64,
    }
)
"""One row per line about anything other than a packet: event traces of TCP, annotations, movement.

time_s: s, null for a line without a time. node, peer_node: the owner's node and the other end,
if given. source: TCP, PGM, MAC, ErrModelTimer; v (annotations, links going up or down), M
(scenario, a node moves), title (of a script of diffusion), or the first word
of a line of DSR or TORA.
what: e.g. TIMEOUT, FAST_RETX, SLOW_START, or the line's text after time and node. flow, seq,
cwnd_pkts: of TCP.
"""

SERIES = Schema(
    {
        "time_s value": _F64,
        "name": _TEXT,
    }
)
"""One row per line of a two-column file that a script printed: a time, s, and a value.

name: title of the curve, of those that a file for xgraph has; null without one.
"""

TABLES: Mapping[str, Schema] = types.MappingProxyType(
    {
        "packets": PACKETS,
        "variables": VARIABLES,
        "queues": QUEUES,
        "events": EVENT_TRACES,
        "series": SERIES,
    }
)
"""The tables that a trace may have, and their columns."""
