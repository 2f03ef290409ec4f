"""The JSON file of `bdpbench compare`: what differs between two results."""

from __future__ import annotations

from typing import TypedDict

COMPARISON_VERSION = 1


class MovedMetric(TypedDict):
    """A metric whose value differs.

    ``first`` and ``second`` are null where the metric was never reached; ``change`` is second minus
    first, and ``change_pct`` the same in percent of the first. ``number``, ``lower`` and ``upper``
    describe the published number, and are "" and null if there is none; ``why`` says by what the
    difference was judged.
    """

    scenario: str
    run: str
    metric: str
    subject: str
    unit: str
    first: float | None
    second: float | None
    change: float | None
    change_pct: float | None
    number: str
    lower: float | None
    upper: float | None
    beyond: bool
    why: str


class Redefined(TypedDict):
    """A metric whose unit or definition differs, with both definitions."""

    metric: str
    first: str
    second: str


class Unshared(TypedDict):
    """How many values of a metric only one side has."""

    scenario: str
    metric: str
    values: int


class OtherFact(TypedDict):
    """A version, build or checksum that differs."""

    name: str
    first: str
    second: str


class OtherParameter(TypedDict):
    """A parameter of a run that differs; values as JSON."""

    run: str
    parameter: str
    first: str
    second: str


class Comparison(TypedDict):
    """Two results side by side; ``compared`` and ``beyond`` are numbers of metrics of runs."""

    schema_version: int
    first: str
    second: str
    compared: int
    beyond: int
    moved: list[MovedMetric]
    redefined: list[Redefined]
    only_first: list[Unshared]
    only_second: list[Unshared]
    facts: list[OtherFact]
    parameters: list[OtherParameter]
