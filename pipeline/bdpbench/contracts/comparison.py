"""The JSON file of `bdpbench compare`: what moved between two results."""

from __future__ import annotations

from typing import TypedDict

COMPARISON_VERSION = 1


class MovedMetric(TypedDict):
    """A metric whose value differs.

    ``first`` and ``second`` are null where it was never reached; ``change`` is second minus first,
    ``change_pct`` that in percent of the first. ``number``, ``lower`` and ``upper`` are of the
    published number, "" and null where it has none; ``why`` says what it was judged by.
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
    """A metric whose unit or definition differs, with both readings."""

    metric: str
    first: str
    second: str


class Unshared(TypedDict):
    """How many values of a metric one side has alone."""

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
    """Two results beside each other; ``compared`` and ``beyond`` count metrics of runs."""

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
