"""Packets of a trace counted by plain Python, line by line: what the metrics are held against.

A packet is known by its ends and uid, its sendings and arrivals are taken in their order. The
source of a multicast has a line at each of its links, at one moment.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

Ends = tuple[int, int, int, int]

_OLD = re.compile(
    r"(?P<event>[srDf]) +(?P<time>[0-9.]+) +_(?P<node>-?\d+)_ +(?P<layer>\w+) +(?P<reason>\S+) +"
    r"(?P<uid>-?\d+) +(?P<type>\S+) +(?P<bytes>\d+).*------- +"
    r"\[(?P<a>-?\d+):(?P<b>-?\d+) (?P<c>-?\d+):(?P<d>-?\d+) "
)
_NEW = re.compile(
    r"(?P<event>[srdf]) -t (?P<time>[0-9.]+) .*-Ni (?P<node>-?\d+) .*-Nl +(?P<layer>\w+) "
    r"-Nw (?P<reason>\S+) .*-Is (?P<a>-?\d+)\.(?P<b>-?\d+) -Id (?P<c>-?\d+)\.(?P<d>-?\d+) "
    r"-It (?P<type>\S+) -Il (?P<bytes>\d+) -If -?\d+ -Ii (?P<uid>-?\d+) "
)


@dataclass
class Count:
    """What one agent sent to another."""

    types: set[str] = field(default_factory=set)
    sent: int = 0
    received: int = 0
    received_bytes: int = 0
    dropped: int = 0
    delay_s: float = 0.0


def count(lines: Iterable[str]) -> dict[Ends, Count]:
    """Ends → what was sent and received, of a wired or wireless trace with flat addresses."""
    found: dict[Ends, Count] = defaultdict(Count)
    waiting: dict[tuple[Ends, int], list[float]] = defaultdict(list)
    dropped: dict[tuple[Ends, int], list[float]] = defaultdict(list)
    arrived: set[tuple[Ends, int]] = set()
    for line in lines:
        event = _wired(line) or _wireless(line)
        if event is None:
            continue
        what, time_s, ends, kind, size, uid = event
        flow, packet = found[ends], (ends, uid)
        flow.types.add(kind)
        if what == "sent" and time_s not in waiting[packet]:
            flow.sent += 1
            waiting[packet].append(time_s)
        elif what == "dropped":
            flow.dropped += 1
            if waiting[packet]:
                dropped[packet].append(waiting[packet].pop(0))
        elif what == "received":
            # What nobody has dropped is more likely to have arrived.
            if left := waiting[packet] or dropped[packet]:
                flow.delay_s += time_s - left.pop(0)
                arrived.add(packet)
            elif packet in arrived:
                continue  # the network has doubled it
            flow.received += 1
            flow.received_bytes += size
    return found


def _wired(line: str) -> tuple[str, float, Ends, str, int, int] | None:
    words = line.split()
    if len(words) < 12 or words[0] not in "+-rde" or not words[2].lstrip("-").isdigit():
        return None
    event, time_s, start, end, kind, size, _, _, source, target, _, uid = words[:12]
    if source.count(".") != 1 or target.count(".") != 1:
        return None
    (a, b), (c, d) = (map(int, each.split(".")) for each in (source, target))
    what = {
        "+": "sent" if int(start) == a else "",
        "r": "received" if int(end) == c else "",
        "d": "dropped",
        "e": "dropped",
    }.get(event, "")
    return what, float(time_s), (a, b, c, d), kind, int(size), int(uid)


def _wireless(line: str) -> tuple[str, float, Ends, str, int, int] | None:
    match = _OLD.match(line) or _NEW.match(line)
    if match is None:
        return None
    event, at_agent = match["event"], match["layer"] == "AGT"
    what = {"s": "sent", "r": "received"}.get(event, "") if at_agent else ""
    if event in ("D", "d"):
        what = "dropped"
    a, b, c, d = (int(match[each]) for each in "abcd")
    return (
        what,
        float(match["time"]),
        (a, b, c, d),
        match["type"],
        int(match["bytes"]),
        int(match["uid"]),
    )
