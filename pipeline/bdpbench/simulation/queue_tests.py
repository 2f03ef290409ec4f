"""``test.yaml`` of a queue's folder: what becomes of the packets of a scripted arrival pattern."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, model_validator

from bdpbench.contracts.yaml_files import Strict, YamlFile
from bdpbench.simulation.hand_tests import (
    Checks,
    HandTest,
    answers,
    check_once,
    read_tests,
    sets,
)
from bdpbench.studies.queue_folders import QueueFolder
from bdpbench.units import LEAST_SAMPLE_S, MOST_COUNT, MOST_PACKET_BYTES, MOST_TIME_S

_WHOLE_PACKET_BYTES = 1040
_ROOM_PKTS = 1000
_MOST_PACKETS = 100_000
_NEVER_MARKS, _MARKS = 0, 2  # of `Marking` in discipline_ledger.h

Time = Annotated[float, Field(ge=0, le=MOST_TIME_S, allow_inf_nan=False)]
PacketNumber = Annotated[int, Field(ge=1, le=MOST_COUNT)]


class Departure(Strict):
    """The link is free and asks for packets, each ``every_s`` after the one before it."""

    at_s: Time | None = None
    packets: int = Field(1, ge=1, le=_MOST_PACKETS)
    every_s: float = Field(0, ge=0, le=MOST_TIME_S, allow_inf_nan=False)


class Arrival(Departure):
    """Packets that arrive; all of them are alike."""

    bytes: int = Field(_WHOLE_PACKET_BYTES, ge=1, le=MOST_PACKET_BYTES)
    flow: int = Field(0, ge=0, le=MOST_COUNT)
    can_be_marked: bool = True
    marked: bool = False


class Wait(Strict):
    """Time goes on until then, and wakes the discipline."""

    at_s: Time


class Event(Strict):
    """One of the things that happen to a queue."""

    arrives: Arrival | None = None
    departs: Departure | None = None
    waits: Wait | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Event:
        if len(self.model_fields_set) != 1:
            raise ValueError("expected one of arrives, departs and waits")
        return self


Fates = list[PacketNumber] | dict[PacketNumber, Time]
"""Numbers of packets in order, or with the times."""


class Outcome(Strict):
    """What has become of the packets; what is absent is not checked."""

    dropped: Fates | None = None
    marked: Fates | None = None
    left: Fates | None = None
    length_pkts: int | None = Field(None, ge=0)
    length_bytes: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _has_some(self) -> Outcome:
        if not self.model_fields_set:
            raise ValueError("expected at least one of dropped, marked, left and lengths")
        return self


class Check(HandTest):
    """One test: an empty queue, what happens to it, and what has become of the packets.

    Attributes:
        limit_pkts: packets that there is room for.
        hears: events; they happen in the order of their times, or of the list if these are equal.
        then: what has become of the packets, which are numbered from 1 as they arrive.
        tolerance: how far times may be off, s.
    """

    limit_pkts: int = Field(_ROOM_PKTS, ge=1, le=MOST_COUNT)
    hears: list[Event] = Field(min_length=1)
    then: Outcome
    tolerance: float = Field(1e-9, ge=0, le=LEAST_SAMPLE_S * 1e3)


@dataclass
class _Found:
    """What the driver tells of a test: packet → time; what is wrong, and at which event."""

    fates: dict[str, dict[int, float]] = field(
        default_factory=lambda: {"dropped": {}, "marked": {}, "left": {}}
    )
    lengths: dict[str, int] = field(default_factory=dict)
    wrong: tuple[int, str] | None = None


def check_queue(folder: QueueFolder) -> None:
    """Check what the tests of a queue expect, unless just these have passed with this code.

    Raises:
        BdpbenchError: naming file and line of a wrong test, of one whose outcome differs, or of the
            event at which a packet is lost.
    """
    check_once(
        folder,
        lambda: read_tests(folder, Checks[Check]),
        lambda tests: _check(folder, *tests),
    )


def _check(folder: QueueFolder, source: YamlFile, checks: list[Check]) -> None:
    happening = [_in_order(check) for check in checks]
    lines = [
        line
        for check, events in zip(checks, happening, strict=True)
        for line in _lines(folder, check, events)
    ]
    told = _outcomes(answers(folder, "check_queue.h", lines))
    for index, (check, events, found) in enumerate(zip(checks, happening, told, strict=True)):
        if found.wrong is not None:
            event, what = found.wrong
            said = f"{check.name}: {what}, at {events[event].at_s:.10g} s"
            raise source.error((index, "hears", events[event].place), said)
        for key, said in _differences(check, found):
            raise source.error((index, "then", key), f"{check.name}: {said}")


@dataclass(frozen=True)
class _Happening:
    """One packet that arrives or may leave: time, place in the list of events, and the line."""

    at_s: float
    place: int
    words: str


def _in_order(check: Check) -> list[_Happening]:
    found: list[_Happening] = []
    at_s = 0.0
    for place, event in enumerate(check.hears):
        if event.waits is not None:
            at_s = event.waits.at_s
            found.append(_Happening(at_s, place, "waits {}"))
            continue
        said = event.arrives or event.departs or Departure()
        at_s = at_s if said.at_s is None else said.at_s
        words = "departs {}"
        if isinstance(said, Arrival):
            words = f"arrives {{}} {said.bytes} {said.flow} {said.can_be_marked:d} {said.marked:d}"
        found += [
            _Happening(at_s + each * said.every_s, place, words) for each in range(said.packets)
        ]
    return sorted(found, key=lambda each: each.at_s)


def _lines(folder: QueueFolder, check: Check, events: Sequence[_Happening]) -> Iterator[str]:
    defaults = {name: each.default for name, each in folder.file.variables.items()}
    yield from sets({**defaults, **check.parameters})
    marking = _MARKS if folder.file.marks else _NEVER_MARKS
    yield f"new {check.limit_pkts} {marking} {folder.file.random:d}"
    yield from (each.words.format(repr(each.at_s)) for each in events)
    yield "show"


def _outcomes(lines: Sequence[str]) -> list[_Found]:
    """What a driver says, test by test."""
    found: list[_Found] = []
    for line in lines:
        what, *words = line.split(" ")
        if what == "new":
            found.append(_Found())
        elif what == "length":
            found[-1].lengths = {"length_pkts": int(words[0]), "length_bytes": int(words[1])}
        elif what == "wrong":
            said = f"{words[1]}() of the discipline {' '.join(words[2:])}"
            found[-1].wrong = int(words[0]), said
        else:
            found[-1].fates[what][int(words[0])] = float(words[1])
    return found


def _differences(check: Check, found: _Found) -> Iterator[tuple[str, str]]:
    """Key of the outcome, and how it differs."""
    for what, fates in found.fates.items():
        expected: Fates | None = getattr(check.then, what)
        if expected is not None and list(expected) != list(fates):
            yield what, f"{what} is {_named(fates)}, not {_named(expected)}"
        elif isinstance(expected, Mapping):
            yield from _late(what, expected, fates, check.tolerance)
    for what, length in found.lengths.items():
        wanted: int | None = getattr(check.then, what)
        if wanted is not None and wanted != length:
            yield what, f"{what} is {length}, not {wanted}"


def _named(packets: Fates) -> str:
    return f"packets {', '.join(map(str, packets))}" if packets else "no packet"


def _late(
    what: str, expected: Mapping[int, float], fates: Mapping[int, float], tolerance_s: float
) -> Iterator[tuple[str, str]]:
    for number, time_s in expected.items():
        if not math.isclose(fates[number], time_s, rel_tol=1e-9, abs_tol=tolerance_s):
            yield what, f"packet {number} was {what} at {fates[number]:.10g} s, not {time_s:.10g} s"
