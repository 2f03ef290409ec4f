"""``test.yaml`` of a folder: values by hand, checked before anything is simulated.

They are checked by a program made of the folder's code and a driver of ours, which answers in lines
that begin with ``>``, the last of which is ``> end``. The events of a protocol become C++, so that
the compiler knows their fields; those of a queue are read by the program, line by line.
"""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, RootModel, model_validator

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.kept import keep, read_kept
from bdpbench.contracts.yaml_files import Strict, Text, VariableName, YamlFile, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.simulation.build import libraries_dir
from bdpbench.simulation.libraries import compile_code
from bdpbench.studies.folders import TEST_NAME, ComponentFolder, QueueFolder
from bdpbench.units import LEAST_SAMPLE_S, MOST_COUNT, MOST_PACKET_BYTES, MOST_TIME_S

_TIMEOUT_S = 60.0
_WHOLE_PACKET_BYTES = 1040
_ROOM_PKTS = 1000
_MOST_PACKETS = 100_000
_NEVER_MARKS, _MARKS = 0, 2  # of `Marking` in discipline_ledger.h

Name = Annotated[str, Field(pattern=r"^[a-z][a-z_]*$")]
LawEvent = Annotated[dict[Name, dict[Name, float | bool]], Field(min_length=1, max_length=1)]


class HandTest(Strict):
    """What all tests have: a name, and values of parameters that differ from their defaults."""

    name: Text
    parameters: dict[VariableName, float] = Field(default_factory=dict)


class LawTest(HandTest):
    """What a sender begins with, what it hears, and its limits then (docs/protocols.md)."""

    begins: dict[Name, float] = Field(default_factory=dict)
    hears: list[LawEvent]
    then: dict[Name, float] = Field(min_length=1)
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
    """An empty queue, what happens to it, and what has become of the packets (docs/queues.md)."""

    limit_pkts: int = Field(_ROOM_PKTS, ge=1, le=MOST_COUNT)
    hears: list[QueueEvent] = Field(min_length=1)
    then: Outcome
    tolerance: float = Field(1e-9, ge=0, le=LEAST_SAMPLE_S * 1e3)


TestT = TypeVar("TestT", bound=HandTest)


class HandTests(RootModel[Annotated[list[TestT], Field(min_length=1)]]):
    """Content of ``test.yaml``."""


def check_tests(folder: ComponentFolder, *, runs_code: bool = True) -> None:
    """Check what the tests of a folder expect, unless just these have passed with this code.

    Without ``runs_code`` the tests are only read.

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
    ours = (Path(__file__), *sorted(Path(__file__).parent.glob("check_*")))
    read = " ".join(map(sha256_of, (path, folder.path / folder.yaml_name, *ours)))
    tested = hashlib.sha256(read.encode()).hexdigest()
    passed = libraries_dir() / f"{folder.name}.passed"
    if runs_code and read_kept(passed, tested) is None:
        check()
        keep(passed, tested, "")


def read_tests(
    folder: ComponentFolder, content: type[HandTests[TestT]]
) -> tuple[YamlFile, list[TestT]]:
    """The tests of a folder, and the file that has their lines."""
    source = YamlFile(folder.path / TEST_NAME)
    tests, variables = source.validate(content).root, folder.file.variables
    for index, each in enumerate(tests):
        for name, value in each.parameters.items():
            place, parameter = (index, "parameters", name), variables.get(name)
            if parameter is None:
                raise source.error(place, "unknown parameter", hint=suggest(name, variables))
            if parameter.problem(value):
                raise source.error(place, parameter.problem(value))
    return source, tests


def _parameters(folder: ComponentFolder, test: HandTest) -> Mapping[str, float]:
    """The values of all parameters in a test."""
    return {name: each.default for name, each in folder.file.variables.items()} | test.parameters


def _answers(folder: ComponentFolder, driver: str, code: str, told: Sequence[str]) -> list[str]:
    """What a program answers: the code of a folder, a driver beside this file, and more code."""
    main = f'#include "{folder.code_name}"\n#include "{driver}"\n{code}'
    # Programs in the system's folder for temporary files may not be executed.
    libraries_dir().resolve().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=libraries_dir().resolve()) as scratch:
        program = Path(scratch, "check")
        compile_code(folder, program, main)
        try:
            done = run([str(program)], _TIMEOUT_S, "\n".join(told))
        except subprocess.TimeoutExpired:
            raise _does_not_end(folder, "do not end within a minute") from None
    answers = [line[2:] for line in done.stdout.splitlines() if line.startswith("> ")]
    if done.returncode != 0 or answers[-1:] != ["end"]:
        raise _does_not_end(folder, f"end with status {done.returncode} before the last one")
    return answers[:-1]


def _does_not_end(folder: ComponentFolder, how: str) -> BdpbenchError:
    said = f"the {folder.kind}'s tests {how}"
    return BdpbenchError(said, where=str(folder.path / TEST_NAME))


def _compare(
    source: YamlFile, index: int, test: HandTest, key: str, found: Any, expected: Any, off: float
) -> None:
    """Refuse an outcome that is not the expected one: numbers, or packets with or without times.

    ``off``: how far a number may be off, as a share of it where it is large.
    """
    if isinstance(expected, Mapping):
        times = zip(found.values(), expected.values(), strict=False)
        same = list(found) == list(expected) and all(math.isclose(*t, abs_tol=off) for t in times)
        found = {number: float(f"{time_s:.10g}") for number, time_s in found.items()}
    elif isinstance(expected, list):
        found = list(found)
        same = found == expected
    else:
        same = math.isclose(found, expected, rel_tol=off, abs_tol=off)
        found, expected = f"{found:.10g}", f"{expected:.10g}"
    if not same:
        raise source.error((index, "then", key), f"{test.name}: {key} is {found}, not {expected}")


# ---------------------------------------------------------------- laws


def _check_law(folder: ComponentFolder, source: YamlFile, tests: Sequence[LawTest]) -> None:
    lines = [line for index, test in enumerate(tests) for line in _law(folder, source, index, test)]
    code = "\n".join(["int main() {", *lines, 'printf("> end\\n");', "}", ""])
    answers = iter(_answers(folder, "check_protocol.h", code, ()))
    for index, test in enumerate(tests):
        for limit, expected in test.then.items():
            _compare(source, index, test, limit, float(next(answers)), expected, test.tolerance)


def _law(folder: ComponentFolder, source: YamlFile, index: int, test: LawTest) -> Iterator[str]:
    """A test as C++, whose errors the compiler tells with the lines of ``test.yaml``."""

    def at(*place: str | int) -> str:
        name = str(source.path).replace("\\", r"\\").replace('"', r"\"")
        return f'#line {source.line_of((index, *place))} "{name}"'

    yield "{ heard::Given given; SendingLimits limits = {1, INFINITY, 0};"
    for name, value in _parameters(folder, test).items():
        yield f'given.values["{name}"] = {_number(value)};'
    for name, value in test.begins.items():
        yield f"{at('begins', name)}\nlimits.{name} = {_number(value)};"
    yield "CongestionControl& control = *bdpbench_protocol(given);"
    yield "control.started(heard::Event<heard::Nothing>(), limits);"
    for number, event in enumerate(test.hears):
        for name, fields in event.items():
            yield f"{at('hears', number, name)}\n{{ heard::{name} event;"
            for field, value in fields.items():
                yield f"{at('hears', number, name, field)}\nevent.{field} = {_number(value)};"
            yield "event.tell(control, limits); }"
    for name in test.then:
        yield f'{at("then", name)}\nprintf("> %.17g\\n", limits.{name});'
    yield "delete &control; }"


def _number(value: float) -> str:
    """A number in C++."""
    return repr(float(value)).replace("inf", "INFINITY").replace("nan", "NAN")


# ---------------------------------------------------------------- queues


def _check_queue(folder: QueueFolder, source: YamlFile, tests: Sequence[QueueTest]) -> None:
    happening = [_in_order(test) for test in tests]
    marking = _MARKS if folder.file.marks else _NEVER_MARKS
    lines: list[str] = []
    for test, events in zip(tests, happening, strict=True):
        lines += (f"set {name} {value!r}" for name, value in _parameters(folder, test).items())
        lines.append(f"new {test.limit_pkts} {marking} {folder.file.random:d}")
        lines += (words for *_, words in events)
        lines.append("show")
    index, found = -1, dict[str, Any]()
    for line in _answers(folder, "check_queue.h", "", lines):
        what, *words = line.split(" ")
        if what == "new":
            index, found = index + 1, {"dropped": {}, "marked": {}, "left": {}}
        elif what == "wrong":
            at_s, place, _ = happening[index][int(words[0])]
            said = f"{words[1]}() of the discipline {' '.join(words[2:])}, at {at_s:.10g} s"
            raise source.error((index, "hears", place), f"{tests[index].name}: {said}")
        elif what == "length":
            found |= {"length_pkts": int(words[0]), "length_bytes": int(words[1])}
            for key, expected in tests[index].then:
                if expected is not None:
                    off = 0 if isinstance(expected, int) else tests[index].tolerance
                    _compare(source, index, tests[index], key, found[key], expected, off)
        else:
            found[what][int(words[0])] = float(words[1])


def _in_order(test: QueueTest) -> list[tuple[float, int, str]]:
    """Each packet that arrives or may leave: time, place in the list of events, and the line."""
    found, at_s = list[tuple[float, int, str]](), 0.0
    for place, event in enumerate(test.hears):
        if event.waits is not None:
            at_s = event.waits.at_s
            found.append((at_s, place, f"waits {at_s!r}"))
            continue
        said = event.arrives or event.departs or Departure()
        at_s = at_s if said.at_s is None else said.at_s
        what, about = "departs", ""
        if isinstance(said, Arrival):
            what = "arrives"
            about = f" {said.bytes} {said.flow} {said.can_be_marked:d} {said.marked:d}"
        times = (at_s + each * said.every_s for each in range(said.packets))
        found += ((time_s, place, f"{what} {time_s!r}{about}") for time_s in times)
    return sorted(found, key=lambda each: each[0])
