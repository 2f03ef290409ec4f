"""``report.txt``: what a script counted, one fact per line, among remarks for readers."""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl

from bdpbench.contracts.files import utf8_text
from bdpbench.errors import BdpbenchError

SCHEMA = {"subject": pl.String, "name": pl.String, "value": pl.Float64, "unit": pl.String}

_FACT = re.compile(
    r"\s*(?P<subject>flow\.\d+|link\.[^\s.]+|run)\.(?P<name>\S+)"
    r"\s+(?P<value>\S+)(?:\s+(?P<unit>\S+))?\s*"
)


def read_facts(path: Path) -> pl.DataFrame:
    """Read the lines ``key value unit`` of a report; all others are remarks.

    A key is ``flow.<index>.<name>``, ``link.<name of the link>.<name>`` or ``run.<name>``, and the
    value a number.

    Args:
        path: path of the report.

    Returns:
        subject (str: "flow:0", "link:bottleneck", "run"), name (str), value (f64, in the unit),
        unit (str, "" if there is none), in the order of the report.

    Raises:
        BdpbenchError: for a missing file, a file that is not text, a fact that occurs twice, or a
            number that is not finite.
    """
    facts: dict[tuple[str, str], tuple[float, str]] = {}
    for number, line in enumerate(_lines_of(path), start=1):
        found = _fact_of(line)
        if found is None:
            continue
        subject, name, value, unit = found
        where = f"{path}:{number}"
        if (subject, name) in facts:
            raise BdpbenchError(f"the fact {name} of {subject} stands here again", where=where)
        if not math.isfinite(value):
            raise BdpbenchError(f"{name} of {subject}: expected a finite number", where=where)
        facts[subject, name] = (value, unit)
    rows = [(*key, *fact) for key, fact in facts.items()]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _lines_of(path: Path) -> list[str]:
    try:
        return utf8_text(path).splitlines()
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise BdpbenchError(f"{reason}: expected a script's report", where=str(path)) from None


def _fact_of(line: str) -> tuple[str, str, float, str] | None:
    """Subject, name, value and unit; None for a remark."""
    found = _FACT.fullmatch(line)
    if found is None:
        return None
    try:
        value = float(found["value"])
    except ValueError:
        return None
    return found["subject"].replace(".", ":"), found["name"], value, found["unit"] or ""
