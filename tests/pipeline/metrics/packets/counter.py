"""Packets of a trace counted by plain Python, line by line: what the metrics are held against.

A packet is known by its ends and uid, its sendings and arrivals are taken in their order. The
source of a multicast has a line at each of its links, at one moment. A frame of HDLC without a
packet goes from one end of its link to the other; it has no ports, and no part in what its packets'
agents have sent.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Ends = tuple[int, int, int, int]
Event = tuple[str, float, Ends, str, int, int]
"""What happened (sent, received, dropped, or nothing that counts), when, ends, type, bytes, uid."""

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
_TAGGED = re.compile(
    r"(?P<event>[-+rdhe]) (?P<time>\S+) -s (?P<start>-?\d+) -d (?P<end>-?\d+) -p (?P<type>\S+)"
    r" -e (?P<bytes>\d+) -c -?\d+ -i (?P<uid>-?\d+) -a -?\d+ -x \{(?P<src>\S+) (?P<dst>\S+) "
)
_TAGGED_WIRELESS = re.compile(
    r"(?P<event>[-+rdhsf]) (?P<time>\S+) -s -?\d+ -d -?\d+ -p \S+ -k +(?P<layer>\w+) .*"
    r"-IP:s (?P<a>-?\d+) -IP:sp (?P<b>-?\d+) -IP:d (?P<c>-?\d+) -IP:dp (?P<d>-?\d+)"
    r" -p (?P<type>\S+) -e (?P<bytes>\d+) -c -?\d+ -i (?P<uid>-?\d+) "
)
_LEVELS = 3
_NO_PORT = -1
_SCTP_FIELDS = (15, 19)


@dataclass
class Count:
    """What one agent sent to another."""

    types: set[str] = field(default_factory=set)
    sent: int = 0
    received: int = 0
    received_bytes: int = 0
    dropped: int = 0
    delay_s: float = 0.0


@dataclass
class Hosts:
    """Nodes of hierarchical addresses: a packet's first + is at its source."""

    known: dict[int, int | None] = field(default_factory=dict)
    has_levels: bool = False

    def learn(self, event: str, address: int, node: int) -> None:
        """A line of a packet from the address at the node."""
        if event == "+":
            self.known.setdefault(address, node)

    def is_at(self, address: int, node: int) -> bool:
        """Whether the node has the address."""
        return node == (self.known.get(address) if self.has_levels else address)


def count(lines: Iterable[str]) -> dict[Ends, Count]:
    """Ends → what was sent and received, of a wired or wireless trace."""
    found: dict[Ends, Count] = defaultdict(Count)
    waiting: dict[tuple[Ends, int], deque[float]] = defaultdict(deque)
    dropped: dict[tuple[Ends, int], deque[float]] = defaultdict(deque)
    last_sent: dict[tuple[Ends, int], float] = {}
    arrived: set[tuple[Ends, int]] = set()
    hosts = Hosts()
    lines = list(lines)
    events = [_event(line, hosts) for line in lines]
    if hosts.has_levels:  # a receiver's node is known once it has sent something
        events = [_event(line, hosts) for line in lines]
    for event in events:
        if event is None:
            continue
        what, time_s, ends, kind, size, uid = event
        flow, packet = found[ends], (ends, uid)
        flow.types.add(kind)
        if what == "sent" and last_sent.get(packet) != time_s:
            flow.sent += 1
            waiting[packet].append(time_s)
            last_sent[packet] = time_s
        elif what == "dropped":
            flow.dropped += 1
            if waiting[packet]:
                dropped[packet].append(waiting[packet].popleft())
        elif what == "received":
            # What nobody has dropped is more likely to have arrived.
            left = waiting[packet] or dropped[packet]
            if not left and packet in arrived:
                continue  # the network has doubled it, or it is a copy of a broadcast
            arrived |= {packet} if left or _is_group(ends[2]) else set()
            flow.delay_s += time_s - left.popleft() if left else 0
            flow.received += 1
            flow.received_bytes += size
    return found


def _is_group(address: int) -> bool:
    return address < 0 or address >= 1 << 30


_ENERGY = tuple(
    re.compile(pattern)
    for pattern in (
        r"N +-t +\S+ +-n +(?P<node>-?\d+) +-e +(?P<energy>\S+)",
        r"[srDfx] +\S+ +_(?P<node>-?\d+)_ .*\[energy (?P<energy>[0-9.e+-]+)",
        r"[srdf] -t .*-Ni (?P<node>-?\d+) .*-Ne (?P<energy>[0-9.e+-]+)",
        r"[-+rdhsf] \S+ -s (?P<node>-?\d+) .*-N:en (?P<energy>[0-9.e+-]+)",
    )
)


def energies(lines: Iterable[str]) -> dict[int, tuple[float, float]]:
    """Node → its energy at the first and at the last line that tells it, J."""
    told: dict[int, tuple[float, float]] = {}
    for line in lines:
        found = next((each for form in _ENERGY if (each := form.match(line))), None)
        if found and (energy_j := float(found["energy"])) >= 0:
            node = int(found["node"])
            told[node] = (told.get(node, (energy_j,))[0], energy_j)
    return told


def _event(line: str, hosts: Hosts) -> Event | None:
    readers: tuple[Callable[[str, Hosts], Event | None], ...] = (_wired, _wireless, _tagged)
    return next((each for read in readers if (each := read(line, hosts)) is not None), None)


def _end(text: str, hosts: Hosts) -> tuple[int, int] | None:
    """Address and port of 3.0, or of 1.0.2.0 with ns-2's 10, 11 and 11 bits a level."""
    *levels, port = text.split(".")
    if not 1 <= len(levels) <= _LEVELS:
        return None
    address = int(levels[0])
    for level in levels[1:]:
        address = (address << 11) + int(level)
        hosts.has_levels = True
    if address >= 1 << 31:
        address -= 1 << 32
    return address, int(port)


def _on_link(
    event: str, start: int, end: int, source: tuple[int, int], target: tuple[int, int], hosts: Hosts
) -> str:
    hosts.learn(event, source[0], start)
    if event in "de":
        return "dropped"
    if event == "+" and hosts.is_at(source[0], start):
        return "sent"
    return "received" if event == "r" and hosts.is_at(target[0], end) else ""


def _wired(line: str, hosts: Hosts) -> Event | None:
    words = line.split()
    if len(words) < 12 or words[0] not in "+-rdeh" or not words[2].lstrip("-").isdigit():
        return None
    event, time_s, start, end, kind, size, _, _, *ends = words[:10]
    if kind == "HDLC":
        what = {"+": "sent", "r": "received", "d": "dropped", "e": "dropped"}.get(event, "")
        frame = (int(start), _NO_PORT, int(end), _NO_PORT)
        return what, float(time_s), frame, kind, int(size), int(words[11])
    source, target = (_end(each, hosts) for each in ends)
    if source is None or target is None:
        return None
    # SCTP prints the number of chunks before the TSN; its lines have 15 fields, satellites' 4 more.
    uid = words[12] if kind == "sctp" and len(words) in _SCTP_FIELDS else words[11]
    what = _on_link(event, int(start), int(end), source, target, hosts)
    return what, float(time_s), (*source, *target), kind, int(size), int(uid)


def _tagged(line: str, hosts: Hosts) -> Event | None:
    match = _TAGGED.match(line)
    if match is None:
        return None
    source, target = _end(match["src"], hosts), _end(match["dst"], hosts)
    if source is None or target is None:
        return None
    what = _on_link(match["event"], int(match["start"]), int(match["end"]), source, target, hosts)
    numbers = int(match["bytes"]), int(match["uid"])
    return what, float(match["time"]), (*source, *target), match["type"], *numbers


def _wireless(line: str, hosts: Hosts) -> Event | None:
    match = _OLD.match(line) or _NEW.match(line) or _TAGGED_WIRELESS.match(line)
    if match is None:
        return None
    event, at_agent = match["event"], match["layer"] == "AGT"
    what = {"s": "sent", "+": "sent", "r": "received"}.get(event, "") if at_agent else ""
    if event in ("D", "d"):
        what = "dropped"
    a, b, c, d = (int(match[each]) for each in "abcd")
    if what == "sent":
        hosts.known.setdefault(
            a, None
        )  # what it sends comes to a link later, and is not from there
    return (
        what,
        float(match["time"]),
        (a, b, c, d),
        match["type"],
        int(match["bytes"]),
        int(match["uid"]),
    )
