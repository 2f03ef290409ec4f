"""One chart of the page, with its text alternative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, final

Spec: TypeAlias = dict[str, Any]
"""A whole Vega-Lite specification."""


class Threshold(TypedDict):
    """A dashed line at ``v``, in the unit of the chart's values."""

    v: float
    label: str


class CurveContent(TypedDict):
    """One line: where the page's script finds its points, and how it looks."""

    run: str
    subject: str
    label: str
    colour: str
    dash: Sequence[int]


class DropsContent(TypedDict):
    """Where the script finds the times of drops at a link."""

    run: str
    subject: str


@final
class SpecContent(TypedDict):
    """A specification with its rows, and the names of its series; used by sweeps and matrices."""

    kind: Literal["spec"]
    spec: Spec
    labels: list[str]


@final
class TimeContent(TypedDict):
    """Lines that the page's script puts into the specification of their ``kind``.

    ``start`` and ``end`` are the horizontal domain, in s or ``unit``; ``top`` is the upper end of
    the vertical axis, if it does not follow from the values; ``columns`` names both in CSV.
    """

    kind: str
    end: float
    traces: list[CurveContent]
    thresholds: list[Threshold]
    start: NotRequired[float]
    top: NotRequired[float]
    unit: NotRequired[str]
    columns: NotRequired[list[str]]
    drops: NotRequired[list[DropsContent]]


@dataclass(frozen=True)
class Chart:
    """One chart of the page: ``content`` is for the script, the rest for readers.

    ``metrics`` are the ids of the metrics that it shows; curves over time have none.
    """

    chart_id: str
    title: str
    caption: str
    alternative: str
    content: SpecContent | TimeContent
    note: str = ""
    metrics: tuple[str, ...] = ()


def spec_content(spec: Spec, labels: Sequence[str] = ()) -> SpecContent:
    """Content of a chart that includes its rows; ``labels`` are those of its legend."""
    return {"kind": "spec", "spec": spec, "labels": list(labels)}
