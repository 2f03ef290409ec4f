"""``test.yaml`` of a protocol's folder: the limits that its law leaves after a few events."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from bdpbench.contracts.yaml_files import Location, YamlFile, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.hand_tests import (
    TEST_NAME,
    Checks,
    HandTest,
    answers,
    check_once,
    read_tests,
    sets,
)
from bdpbench.studies.protocol_folders import ProtocolFolder

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

Event = Annotated[dict[str, dict[str, float | bool]], Field(min_length=1, max_length=1)]


class Check(HandTest):
    """One test: what a sender begins with, what it hears, and what its limits are then.

    Attributes:
        begins: limits at the start; cwnd is 1, ssthresh infinite and pacing 0 if absent.
        hears: events in order, each with the fields of its structures that are not 0.
        then: limits after the last event.
        tolerance: how far they may be off, as a share.
    """

    begins: dict[LimitName, float] = Field(default_factory=dict)
    hears: list[Event]
    then: dict[LimitName, float] = Field(min_length=1)
    tolerance: float = Field(1e-9, ge=0, lt=1)


def check_protocol(folder: ProtocolFolder) -> None:
    """Check what the tests of a protocol expect, unless just these have passed with this code.

    Raises:
        BdpbenchError: naming file and line of a wrong test, or of one whose values differ.
    """
    path = folder.path / TEST_NAME
    if folder.module and os.path.lexists(path):
        raise BdpbenchError(
            f"cannot test {folder.module.name}: values by hand are for laws in C++",
            where=str(path),
            hint="a module of Linux hears other events; compare it with a run of TCP/Linux",
        )
    check_once(folder, lambda: read_checks(folder), lambda tests: _check(folder, *tests))


def _check(folder: ProtocolFolder, source: YamlFile, checks: list[Check]) -> None:
    lines = [line for check in checks for line in _lines(folder, check)]
    found = [map(float, line.split()) for line in answers(folder, "check_protocol.h", lines)]
    for index, (check, values) in enumerate(zip(checks, found, strict=True)):
        limits = dict(zip(_LIMITS, values, strict=True))
        for limit, expected in check.then.items():
            value = limits[limit]
            if not math.isclose(value, expected, rel_tol=check.tolerance, abs_tol=check.tolerance):
                said = f"{check.name}: {limit} is {value:.10g}"
                raise source.error((index, "then", limit), f"{said}, not {expected:.10g}")


def read_checks(folder: ProtocolFolder) -> tuple[YamlFile, list[Check]]:
    """The tests of a protocol, and the file that has their lines.

    Raises:
        BdpbenchError: naming file and line of an unknown name or a wrong value.
    """
    source, checks = read_tests(folder, Checks[Check])
    for index, check in enumerate(checks):
        for place, event in enumerate(check.hears):
            for name, fields in event.items():
                where: Location = (index, "hears", place, name)
                if name not in _EVENT_FIELDS:
                    raise source.error(where, "unknown event", hint=suggest(name, _EVENT_FIELDS))
                known = (*_EVENT_FIELDS[name], *_PATH_FIELDS)
                for field in fields:
                    if field not in known:
                        raise source.error(
                            (*where, field), "unknown field", hint=suggest(field, known)
                        )
    return source, checks


def _lines(folder: ProtocolFolder, check: Check) -> Iterator[str]:
    fields = {*_PATH_FIELDS, *(name for each in _EVENT_FIELDS.values() for name in each)}
    nothing = {name: _DEFAULTS.get(name, 0.0) for name in sorted(fields)}
    defaults = {name: each.default for name, each in folder.file.variables.items()}
    limits = {str(name): value for name, value in {**_LIMITS, **check.begins}.items()}
    yield from sets({**nothing, **defaults, **check.parameters, **limits})
    yield "new"
    for event in check.hears:
        for name, given in event.items():
            yield from sets({**nothing, **{field: float(value) for field, value in given.items()}})
            yield name
    yield "show"
