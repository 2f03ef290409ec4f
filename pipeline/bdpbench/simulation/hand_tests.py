"""``test.yaml`` of a folder: values by hand, checked before anything is simulated.

A program made of the folder's code and a driver of ours reads what happens, line by line, and
answers in lines that begin with ``>``, the last of which is ``> end``.
"""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field, RootModel, model_validator

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.kept import keep, read_kept
from bdpbench.contracts.yaml_files import Location, Strict, Text, VariableName, YamlFile, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.simulation.build import interface_dir, libraries_dir
from bdpbench.simulation.libraries import compile_code
from bdpbench.studies.folders import TEST_NAME, ComponentFolder, QueueFolder
from bdpbench.units import LEAST_SAMPLE_S, MOST_COUNT, MOST_PACKET_BYTES, MOST_TIME_S

_TIMEOUT_S = 60.0


_PATH_FIELDS = (
    "now_s", "in_flight_pkts", "delivered_pkts", "lost_pkts", "rounds", "min_rtt_s",
    "smoothed_rtt_s", "in_recovery", "after_timeout", "limited_by_cwnd",
)  # fmt: skip
_EVENT_FIELDS = {
    "acknowledged": (
        "packets", "marked", "lost", "in_flight_before_pkts", "rtt_s", "round_ended", "rate_pps",
        "rate_interval_s", "rate_delivered_pkts", "rate_limited_by_application",
        "sent_delivered_pkts", "sent_lost_pkts", "sent_in_flight_pkts",
    ),
    "lost": (
        "sent_delivered_pkts", "sent_lost_pkts", "sent_in_flight_pkts",
        "sent_limited_by_application", "retransmission",
    ),
    "recovery_began": (),
    "recovery_ended": (),
    "marked": (),
    "timed_out": (),
    "resumed": ("idle_s",),
}  # fmt: skip
_DEFAULTS = {"rtt_s": -1.0, "rate_pps": -1.0, "min_rtt_s": -1.0, "smoothed_rtt_s": -1.0}

LimitName = Literal["cwnd_pkts", "ssthresh_pkts", "pacing_pps"]
_LIMITS: Mapping[LimitName, float] = {
    "cwnd_pkts": 1.0,
    "ssthresh_pkts": math.inf,
    "pacing_pps": 0.0,
}

LawEvent = Annotated[dict[str, dict[str, float | bool]], Field(min_length=1, max_length=1)]

_WHOLE_PACKET_BYTES = 1040
_ROOM_PKTS = 1000
_MOST_PACKETS = 100_000
_NEVER_MARKS, _MARKS = 0, 2  # of `Marking` in discipline_ledger.h


class HandTest(Strict):
    """What all tests have.

    Attributes:
        name: what is tested.
        parameters: values of the folder's parameters that differ from their defaults.
    """

    name: Text
    parameters: dict[VariableName, float] = Field(default_factory=dict)


class LawTest(HandTest):
    """What a sender begins with, what it hears, and what its limits are then.

    Attributes:
        begins: limits at the start; cwnd is 1, ssthresh infinite and pacing 0 if absent.
        hears: events in order, each with the fields of its structures that are not 0.
        then: limits after the last event.
        tolerance: how far they may be off, as a share.
    """

    begins: dict[LimitName, float] = Field(default_factory=dict)
    hears: list[LawEvent]
    then: dict[LimitName, float] = Field(min_length=1)
    tolerance: float = Field(1e-9, ge=0, lt=1)


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


class QueueEvent(Strict):
    """One of the things that happen to a queue."""

    arrives: Arrival | None = None
    departs: Departure | None = None
    waits: Wait | None = None

    @model_validator(mode="after")
    def _is_one(self) -> QueueEvent:
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


class QueueTest(HandTest):
    """An empty queue, what happens to it, and what has become of the packets.

    Attributes:
        limit_pkts: packets that there is room for.
        hears: events; they happen in the order of their times, or of the list if these are equal.
        then: what has become of the packets, which are numbered from 1 as they arrive.
        tolerance: how far times may be off, s.
    """

    limit_pkts: int = Field(_ROOM_PKTS, ge=1, le=MOST_COUNT)
    hears: list[QueueEvent] = Field(min_length=1)
    then: Outcome
    tolerance: float = Field(1e-9, ge=0, le=LEAST_SAMPLE_S * 1e3)


TestT = TypeVar("TestT", bound=HandTest)


class HandTests(RootModel[list[TestT]]):
    """Content of ``test.yaml``."""

    @model_validator(mode="after")
    def _has_some(self) -> HandTests[TestT]:
        if not self.root:
            raise ValueError("expected at least one test")
        return self


def check_tests(folder: ComponentFolder, *, runs_code: bool = True) -> None:
    """Check what the tests of a folder expect, unless just these have passed with this code.

    The code is the folder's, by its name, and ours that checks it. Without ``runs_code`` the tests
    are only read.

    Raises:
        BdpbenchError: naming file and line of a wrong test, of one whose values differ, or of the
            event at which a packet is lost.
    """
    path = folder.path / TEST_NAME
    if not os.path.lexists(path):
        return
    if folder.module:
        raise BdpbenchError(
            f"cannot test {folder.module.name}: values by hand are for laws in C++",
            where=str(path),
            hint="a module of Linux hears other events; compare it with a run of TCP/Linux",
        )
    check: Callable[[], None]
    if isinstance(folder, QueueFolder):
        check = partial(_check_queue, folder, *read_tests(folder, HandTests[QueueTest]))
    else:
        check = partial(_check_law, folder, *read_tests(folder, HandTests[LawTest]))
    # Tests without a value of their own run with the defaults of the YAML file.
    defaults = sorted((key, each.default) for key, each in folder.file.variables.items())
    fixed = sorted(folder.fixed.items())
    own = Path(__file__)
    checking = [sha256_of(each) for each in (own, *sorted(own.parent.glob("check_*")))]
    stated = f"{sha256_of(path)} {defaults} {fixed} {checking}"
    tested = hashlib.sha256(stated.encode()).hexdigest()
    passed = libraries_dir() / f"{folder.name}.passed"
    if runs_code and read_kept(passed, tested) is None:
        check()
        keep(passed, tested, "")


def read_tests(
    folder: ComponentFolder, content: type[HandTests[TestT]]
) -> tuple[YamlFile, list[TestT]]:
    """The tests of a folder, and the file that has their lines.

    Raises:
        BdpbenchError: naming file and line of an unknown name or a wrong value.
    """
    source = YamlFile(folder.path / TEST_NAME)
    tests = source.validate(content).root
    for index, each in enumerate(tests):
        _check_parameters(source, (index, "parameters"), each.parameters, folder)
        if isinstance(each, LawTest):
            _check_events(source, (index, "hears"), each.hears)
    return source, tests


def _check_parameters(
    source: YamlFile, place: Location, given: Mapping[str, float], folder: ComponentFolder
) -> None:
    """Refuse values of parameters that a folder does not have, or outside their range."""
    variables = folder.file.variables
    for name, value in given.items():
        parameter = variables.get(name)
        if parameter is None:
            raise source.error((*place, name), "unknown parameter", hint=suggest(name, variables))
        if parameter.problem(value):
            raise source.error((*place, name), parameter.problem(value))


def _sets(values: Mapping[str, float]) -> Iterator[str]:
    """The lines that give a driver values by their names."""
    return (f"set {name} {value!r}" for name, value in values.items())


def _answers(folder: ComponentFolder, driver: str, lines: Sequence[str]) -> list[str]:
    """What a driver, a header beside this file, answers with the code of a folder.

    Raises:
        BdpbenchError: when the code does not compile with it, or when the program fails or does not
            end.
    """
    made_in = libraries_dir()
    made_in.resolve().mkdir(parents=True, exist_ok=True)
    # Programs in the system's folder for temporary files may not be executed.
    with tempfile.TemporaryDirectory(dir=made_in.resolve()) as scratch:
        main, program = Path(scratch, "check.cc"), Path(scratch, "check")
        included = (folder.path / folder.code_name, Path(__file__).with_name(driver))
        main.write_text("".join(map(_include, included)))
        others = [each for each in folder.sources if each.name != folder.code_name]
        ours = [Path(scratch), Path(__file__).parent, interface_dir()]
        compile_code(folder, [main, *others], program, ours)
        try:
            done = run([str(program)], _TIMEOUT_S, "\n".join(lines))
        except subprocess.TimeoutExpired:
            raise _does_not_end(folder, "do not end within a minute") from None
    told = [line[2:] for line in done.stdout.splitlines() if line.startswith("> ")]
    if done.returncode != 0 or told[-1:] != ["end"]:
        raise _does_not_end(folder, f"end with status {done.returncode} before the last one")
    return told[:-1]


def _include(path: Path) -> str:
    """The line that includes a file, in whose form the path has to have no end."""
    quotes = '""' if '"' not in str(path) else "<>"
    if quotes[1] in str(path):
        raise BdpbenchError('has " and > in its path: expected one of them', where=str(path))
    return f"#include {quotes[0]}{path}{quotes[1]}\n"


def _does_not_end(folder: ComponentFolder, how: str) -> BdpbenchError:
    said = f"the {folder.kind}'s tests {how}"
    return BdpbenchError(said, where=str(folder.path / TEST_NAME))


# ---------------------------------------------------------------- laws


def _check_law(folder: ComponentFolder, source: YamlFile, tests: Sequence[LawTest]) -> None:
    lines = [line for test in tests for line in _law_lines(folder, test)]
    found = [map(float, line.split()) for line in _answers(folder, "check_protocol.h", lines)]
    for index, (test, values) in enumerate(zip(tests, found, strict=True)):
        limits = dict(zip(_LIMITS, values, strict=True))
        for limit, expected in test.then.items():
            value = limits[limit]
            if not math.isclose(value, expected, rel_tol=test.tolerance, abs_tol=test.tolerance):
                said = f"{test.name}: {limit} is {value:.10g}"
                raise source.error((index, "then", limit), f"{said}, not {expected:.10g}")


def _check_events(source: YamlFile, base: Location, events: Sequence[LawEvent]) -> None:
    """Refuse events and fields that no law hears of."""
    for place, event in enumerate(events):
        for name, fields in event.items():
            where: Location = (*base, place, name)
            if name not in _EVENT_FIELDS:
                raise source.error(where, "unknown event", hint=suggest(name, _EVENT_FIELDS))
            known = (*_EVENT_FIELDS[name], *_PATH_FIELDS)
            for each in fields:
                if each not in known:
                    hint = suggest(each, known)
                    raise source.error((*where, each), "unknown field", hint=hint)


def _law_lines(folder: ComponentFolder, test: LawTest) -> Iterator[str]:
    fields = {*_PATH_FIELDS, *(name for each in _EVENT_FIELDS.values() for name in each)}
    nothing = {name: _DEFAULTS.get(name, 0.0) for name in sorted(fields)}
    defaults = {name: each.default for name, each in folder.file.variables.items()}
    limits = {str(name): value for name, value in {**_LIMITS, **test.begins}.items()}
    yield from _sets({**nothing, **defaults, **test.parameters, **limits})
    yield "new"
    for event in test.hears:
        for name, given in event.items():
            yield from _sets({**nothing, **{field: float(value) for field, value in given.items()}})
            yield name
    yield "show"


# ---------------------------------------------------------------- queues


@dataclass
class _Found:
    """What the driver tells of a test: packet → time; what is wrong, and at which event."""

    fates: dict[str, dict[int, float]] = field(
        default_factory=lambda: {"dropped": {}, "marked": {}, "left": {}}
    )
    lengths: dict[str, int] = field(default_factory=dict)
    wrong: tuple[int, str] | None = None


def _check_queue(folder: QueueFolder, source: YamlFile, checks: Sequence[QueueTest]) -> None:
    happening = [_in_order(check) for check in checks]
    lines = [
        line
        for check, events in zip(checks, happening, strict=True)
        for line in _queue_lines(folder, check, events)
    ]
    told = _outcomes(_answers(folder, "check_queue.h", lines))
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


def _in_order(check: QueueTest) -> list[_Happening]:
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


def _queue_lines(
    folder: QueueFolder, check: QueueTest, events: Sequence[_Happening]
) -> Iterator[str]:
    defaults = {name: each.default for name, each in folder.file.variables.items()}
    yield from _sets({**defaults, **check.parameters})
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


def _differences(check: QueueTest, found: _Found) -> Iterator[tuple[str, str]]:
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
