"""``test.yaml`` of a protocol's folder: values by hand, checked before anything is simulated."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, RootModel, model_validator

from bdpbench.contracts.files import sha256_of, write_text_atomically
from bdpbench.contracts.yaml_files import Location, Strict, VariableName, YamlFile, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import libraries_dir
from bdpbench.simulation.protocols import compile_code
from bdpbench.studies.protocol_folders import LAW_NAME, ProtocolFolder

TEST_NAME = "test.yaml"
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

Event = Annotated[dict[str, dict[str, float | bool]], Field(min_length=1, max_length=1)]


class Check(Strict):
    """One test: what a sender begins with, what it hears, and what its limits are then.

    Attributes:
        name: what is tested.
        parameters: values of the protocol's parameters that differ from their defaults.
        begins: limits at the start; cwnd is 1, ssthresh infinite and pacing 0 if absent.
        hears: events in order, each with the fields of its structures that are not 0.
        then: limits after the last event.
        tolerance: how far they may be off, as a share.
    """

    name: Annotated[str, Field(min_length=1)]
    parameters: dict[VariableName, float] = Field(default_factory=dict)
    begins: dict[LimitName, float] = Field(default_factory=dict)
    hears: list[Event]
    then: dict[LimitName, float] = Field(min_length=1)
    tolerance: float = Field(1e-9, ge=0, lt=1)


class Checks(RootModel[list[Check]]):
    """Content of ``test.yaml``."""

    @model_validator(mode="after")
    def _has_some(self) -> Checks:
        if not self.root:
            raise ValueError("expected at least one test")
        return self


def check_protocol(folder: ProtocolFolder) -> None:
    """Check what the tests of a protocol expect, unless just these have passed with this code.

    Raises:
        BdpbenchError: naming file and line of a wrong test, or of one whose values differ.
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
    source, checks = read_checks(folder)
    # Tests without a value of their own run with the defaults of protocol.yaml.
    defaults = sorted((key, each.default) for key, each in folder.file.variables.items())
    tested = hashlib.sha256(f"{sha256_of(path)} {defaults}".encode()).hexdigest()
    name = f"{folder.agent.rpartition('/')[2]}-{tested[:16]}.passed"
    passed = libraries_dir() / name
    if passed.is_file():
        return
    for index, (check, found) in enumerate(zip(checks, _found(folder, checks), strict=True)):
        for limit, expected in check.then.items():
            value = found[limit]
            if not math.isclose(value, expected, rel_tol=check.tolerance, abs_tol=check.tolerance):
                said = f"{check.name}: {limit} is {value:.10g}"
                raise source.error((index, "then", limit), f"{said}, not {expected:.10g}")
    write_text_atomically(passed, "")


def read_checks(folder: ProtocolFolder) -> tuple[YamlFile, list[Check]]:
    """The tests of a protocol, and the file that has their lines.

    Raises:
        BdpbenchError: naming file and line of an unknown name or a wrong value.
    """
    source = YamlFile(folder.path / TEST_NAME)
    checks = source.validate(Checks).root
    _check_names(source, checks, folder)
    return source, checks


def _check_names(source: YamlFile, checks: list[Check], folder: ProtocolFolder) -> None:
    for index, check in enumerate(checks):
        for name, value in check.parameters.items():
            parameter, at = folder.file.variables.get(name), (index, "parameters", name)
            if parameter is None:
                hint = suggest(name, folder.file.variables)
                raise source.error(at, "unknown parameter", hint=hint)
            if parameter.problem(value):
                raise source.error(at, parameter.problem(value))
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


def _found(folder: ProtocolFolder, checks: list[Check]) -> list[dict[LimitName, float]]:
    """The limits at the end of each test."""
    text = "\n".join(line for check in checks for line in _lines(folder, check))
    made_in = libraries_dir()
    made_in.resolve().mkdir(parents=True, exist_ok=True)
    # Programs in the system's folder for temporary files may not be executed.
    with tempfile.TemporaryDirectory(dir=made_in.resolve()) as scratch:
        main, program = Path(scratch, "check.cc"), Path(scratch, "check")
        driver = Path(__file__).with_name("check_protocol.h")
        main.write_text(f'#include "{folder.path / LAW_NAME}"\n#include "{driver}"\n')
        others = [each for each in folder.code if each.suffix == ".cc" and each.name != LAW_NAME]
        compile_code(folder, [main, *others], program, shared=False)
        try:
            done = subprocess.run(
                [str(program)],
                input=text,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise _does_not_end(folder, "do not end within a minute") from None
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != len(checks):
        raise _does_not_end(folder, f"end with status {done.returncode}")
    return [dict(zip(_LIMITS, map(float, line.split()), strict=True)) for line in lines]


def _does_not_end(folder: ProtocolFolder, how: str) -> BdpbenchError:
    return BdpbenchError(f"the protocol's tests {how}", where=str(folder.path / TEST_NAME))


def _lines(folder: ProtocolFolder, check: Check) -> Iterator[str]:
    fields = {*_PATH_FIELDS, *(name for each in _EVENT_FIELDS.values() for name in each)}
    nothing = {name: _DEFAULTS.get(name, 0.0) for name in sorted(fields)}
    defaults = {name: each.default for name, each in folder.file.variables.items()}
    limits = {str(name): value for name, value in {**_LIMITS, **check.begins}.items()}
    yield from _sets({**nothing, **defaults, **check.parameters, **limits})
    yield "new"
    for event in check.hears:
        for name, given in event.items():
            yield from _sets({**nothing, **{field: float(value) for field, value in given.items()}})
            yield name
    yield "show"


def _sets(values: Mapping[str, float]) -> Iterator[str]:
    return (f"set {name} {value!r}" for name, value in values.items())
