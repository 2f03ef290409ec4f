"""The queues of ns-3 for those of ns-2: which attribute stands for which variable."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from bdpbench.contracts.plan import format_value
from bdpbench.studies.links import Link
from bdpbench.studies.queues import HEADER_BYTES

ALL_MARKED = 2.0
"""``mark_below_p`` of a RED that drops no packet that can be marked, however long its queue is."""


class DifferentQueueError(Exception):
    """A setting of a queue that ns-3's does not have; args are its name and the reason."""


def _plain(value: float) -> str:
    return format_value(value)


def _time(value: float) -> str:
    return f"{value:g}s"


def _switch(value: float) -> str:
    return "true" if value else "false"


def _packets(value: float) -> str:
    return f"{value:g}p"


def _at_most(value: float) -> str:
    """ns-3's CoDel never drops from less than its minimum, ns-2's from a packet at most."""
    return format_value(value + 1)


@dataclass(frozen=True)
class QueueCounterpart:
    """ns-3's queue, without ``ns3::``, for one of ns-2.

    Attributes:
        attributes: variable of ns-2 → the key under which the program gets it, and how its value
            is written; a key with a dot is an argument of its own.
        fixed: attributes that are the same in every run.
        only: parameter → variable, and the only value that ns-3's queue has for it; None stands
            for the size of a whole packet.
    """

    queue: str
    attributes: Mapping[str, tuple[str, Callable[[float], str]]]
    fixed: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, tuple[str, float | None]] = field(default_factory=dict)


_EACH = {"setbit_": ("UseEcn", _switch), "limit_": ("MaxSize", _packets)}
_CODEL = {**_EACH, "target_": ("Target", _time), "interval_": ("Interval", _time)}
QUEUE_COUNTERPARTS: Mapping[str, QueueCounterpart] = types.MappingProxyType(
    {
        "RED": QueueCounterpart(
            "RedQueueDisc",
            {
                **_EACH,
                "thresh_": ("MinTh", _plain),
                "maxthresh_": ("MaxTh", _plain),
                "linterm_": ("LInterm", _plain),
                "q_weight_": ("QW", _plain),
                "gentle_": ("Gentle", _switch),
                "wait_": ("Wait", _switch),
                "mean_pktsize_": ("MeanPktSize", _plain),
            },
            only={"counts_bytes": ("queue_in_bytes_", 0.0), "drops_by_size": ("bytes_", 0.0)},
        ),
        "CoDel": QueueCounterpart(
            "CoDelQueueDisc", {**_CODEL, "packet_bytes_": ("MinBytes", _at_most)}
        ),
        "FqCoDel": QueueCounterpart(
            "FqCoDelQueueDisc",
            {**_CODEL, "quantum_": (".quantum_bytes", _plain)},
            only={"packet_bytes": ("packet_bytes_", None)},
        ),
        "PIE": QueueCounterpart(
            "PieQueueDisc",
            {
                **_EACH,
                "target_": ("QueueDelayReference", _time),
                "update_": ("Tupdate", _time),
                "burst_": ("MaxBurstAllowance", _time),
                "alpha_": ("A", _plain),
                "beta_": ("B", _plain),
                "packet_bytes_": ("MeanPktSize", _plain),
                "mark_share_": ("MarkEcnThreshold", _plain),
            },
            {"UseDequeueRateEstimator": "true"},  # as RFC 8033 describes PIE, and ns-2's is
            {"packet_bytes": ("packet_bytes_", None)},
        ),
    }
)
"""Kind of queue → ns-3's. DropTail is the program's own."""


def queue_arguments(link: Link, kind: str, packet_bytes: float) -> Iterator[tuple[str, str]]:
    """Keys under ``link.<i>`` of the program's arguments for a queue of ``QUEUE_COUNTERPARTS``.

    Raises:
        DifferentQueueError: for a setting that ns-3's queue does not have.
    """
    counterpart, variables = QUEUE_COUNTERPARTS[kind], link.variables
    for name, (variable, value) in counterpart.only.items():
        has = packet_bytes + HEADER_BYTES if value is None else value
        if variables[variable] != has:
            raise DifferentQueueError(name, f"ns-3's {counterpart.queue} has {has:g}")
    yield "queue", counterpart.queue
    for variable, (attribute, written) in counterpart.attributes.items():
        key = attribute[1:] if attribute.startswith(".") else f"queue.{attribute}"
        yield key, written(variables[variable])
    for attribute, text in counterpart.fixed.items():
        yield f"queue.{attribute}", text
    if counterpart.queue == "PieQueueDisc":
        # What spaces drops apart (RFC 8033, section 5.4) is not reset by a mark in ns-3.37, which
        # therefore marks every packet once it has summed up to its limit.
        yield "queue.UseDerandomization", _switch(not variables["setbit_"])
    if counterpart.queue == "RedQueueDisc":
        yield "queue.LinkBandwidth", f"{format_value(link.wire.mbps)}Mbps"
        yield "queue.LinkDelay", f"{format_value(link.wire.delay_ms)}ms"
        yield "queue.UseHardDrop", _switch(_drops_above(variables))


def _drops_above(variables: Mapping[str, float]) -> bool:
    """Whether RED drops what it could mark once its share of drops would be 1.

    ns-3 can only draw the line there; ns-2 draws it at ``mark_below_p``.
    """
    if not variables["setbit_"] or variables["mark_p_"] >= ALL_MARKED:
        return not variables["setbit_"]
    most = 1.0 if variables["gentle_"] else 1 / variables["linterm_"]
    if variables["mark_p_"] < most:
        raise DifferentQueueError(
            "mark_below_p",
            f"ns-3's RedQueueDisc marks up to a share of {most:g}, or with mark_below_p: 2 always",
        )
    return True
