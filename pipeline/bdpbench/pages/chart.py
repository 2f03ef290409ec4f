"""One chart of the page, with what a reader who does not see it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Chart:
    """One chart of the page: ``content`` is what the script needs, the rest is for reading.

    ``metrics`` are the ids of the metrics that it shows; of curves over time there are none.
    """

    chart_id: str
    title: str
    caption: str
    alternative: str
    content: Mapping[str, Any]
    note: str = ""
    metrics: tuple[str, ...] = ()
