"""The page of one packet trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl


@dataclass(frozen=True)
class TracePage:
    """What the page shows."""

    name: str
    trace_format: str
    start_s: float
    end_s: float
    last_s: float
    bin_s: float
    whole: bool
    metrics: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    definitions: Sequence[Mapping[str, str]]
    account: Mapping[str, Any]


def build_trace_page(page: TracePage, out: Path) -> None:
    """Write it."""
