"""Who the streams of a trace are: what they carry, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from bdpbench.later import Schema, pl
from bdpbench.metrics.packets.rows import ENDS, UNKNOWN
from bdpbench.units import addresses_of

MEMBERS = (
    *ENDS,
    *("sent_type", "arrived_type", "dropped_type", "seen_type"),
    *("own", "own_acks", "own_data", "seen_acks", "seen_data", "entered", "started_s"),
)
"""What is asked of a stream."""

_KINDS = ("data", "acks", "control")


_SCHEMA = Schema(
    {
        "stream": "Int64",
        "subject kind type": "String",
        "source_is_traced receiver_is_traced": "Boolean",
    }
)


def named(
    rows: Iterable[Sequence[Any]],
    types: Mapping[int, str | None],
    starts: Container[int],
    ends: Container[int],
    *,
    has_agents: bool,
) -> pl.DataFrame:
    """Streams in the order in which they are shown: data first, by flow id and start.

    Args:
        rows: ``MEMBERS`` of all streams, in the order of their numbers; left out are those of which
            no packet is known.
        types: code → type of packets.
        starts: nodes at which links begin that packets entered in the window.
        ends: nodes at which they end.
        has_agents: whether agents are traced. If so, all of them are: a flow without a line of its
            receiver has starved.

    Returns:
        stream (i64, its number), subject (str: flow:1, or with its ends if several streams of a
        kind share a flow id; acks:1 for ACKs, control:1 for packets without numbers), kind (str:
        data, acks or control), type (str, of its first packet), source_is_traced,
        receiver_is_traced (bool: whether the trace has lines of its ends, so that what they do not
        tell did not happen).
    """
    known = [(number, *_carried(row, types), row) for number, row in enumerate(rows)]
    known = sorted((each for each in known if each[1] is not None), key=_place)
    nodes = [None if node == UNKNOWN else node for *_, row in known for node in (row[1], row[3])]
    shown = addresses_of(nodes)
    shared = Counter((kind, row[0]) for _, _, kind, row in known)
    found = []
    for number, packets, kind, row in known:
        flow, src_node, src_port, dst_node, dst_port = (
            None if each == UNKNOWN else each for each in row[:5]
        )
        name = (
            f"{shown(src_node)}.{'-' if src_port is None else src_port}-"
            f"{shown(dst_node)}.{'-' if dst_port is None else dst_port}"
        )
        if flow is not None:
            name = f"{flow}/{name}" if shared[kind, row[0]] > 1 else str(flow)
        subject = f"{'flow' if kind == 'data' else kind}:{name}"
        traced = (has_agents or src_node in starts, has_agents or dst_node in ends)
        found.append((number, subject, kind, packets or "", *traced))
    return pl.DataFrame(found, schema=dict(_SCHEMA), orient="row")


def _carried(row: Sequence[Any], types: Mapping[int, str | None]) -> tuple[str | None, str]:
    """Type of the first packet, and the kind: of the lines of its ends, or else of all."""
    *_, own, own_acks, own_data, seen_acks, seen_data, entered, _ = row
    codes = row[5:8] if own else (row[8],) if entered else ()
    is_ack, is_data = (own_acks, own_data) if own else (seen_acks, seen_data)
    code = next((each for each in codes if each >= 0), -1)
    return types.get(code), "acks" if is_ack else "data" if is_data else "control"


def _place(known: tuple[int, str | None, str, Sequence[Any]]) -> tuple[object, ...]:
    """The place of a stream among others: data first, by flow id, start and ends."""
    _, _, kind, row = known
    flow, started_s = row[0], row[-1]
    starts = (started_s is not None, started_s or 0.0)
    return _KINDS.index(kind), (flow != UNKNOWN, flow), starts, tuple(row[1:5])
