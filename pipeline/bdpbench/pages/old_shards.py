"""Reads parts of reports that were published before parts were JSON alone.

It can go as soon as every report in ``reports/published/`` has been published anew.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from array import array
from typing import TYPE_CHECKING, Any, cast

from bdpbench.pages.series import PRECISE_TIME_STEP_S, RunSeries, pack, unpack

if TYPE_CHECKING:
    from bdpbench.pages.shards import ShardContent

# Stood for an element's own id; what was added to differences of values.
_OWN_ID, _MIDDLE = "\x7f", 128


def old_content(packed: str) -> ShardContent:
    """The content of a part in the form of today.

    Raises:
        ValueError: when it is not one.
    """
    deflated = base64.b85decode(packed.replace(",", "<"))
    line, _, planes = _inflated(deflated).partition(b"\n")
    content: dict[str, Any] = json.loads(line)
    _add_points(content["series"], planes)
    content["rows"] = [
        {"ids": [key], "columns": [{"html": lines}]}
        for alike in content["html"]
        for place, key in enumerate(alike["ids"])
        for lines in [[_line(each, place, key, content["lines"]) for each in alike["lines"]]]
    ]
    return cast("ShardContent", content)


def _inflated(deflated: bytes) -> bytes:
    try:
        return zlib.decompress(deflated, -zlib.MAX_WBITS)
    except zlib.error as error:
        raise ValueError(str(error)) from None


def _line(line: str | int | list[str], place: int, key: str, shared: list[str]) -> str:
    if isinstance(line, list):
        line = line[0] + line[2 + place] + line[1]
    text = shared[line] if isinstance(line, int) else line
    return text.replace(_OWN_ID, key.partition("-")[2])


def _add_points(runs: dict[str, Any], planes: bytes) -> None:
    """Give the series their points, which stand in four planes, by table."""
    count = len(planes) // 4
    times, values = array("H"), array("h")
    for numbers, start in ((times, 0), (values, 2 * count)):
        both = bytearray(2 * count)
        for half in (0, 1):
            both[half::2] = planes[start + half * count :][:count]
        numbers.frombytes(both)
        if sys.byteorder == "big":
            numbers.byteswap()
    at = 0
    for table in sorted({table for tables in runs.values() for table in tables}):
        for each in (e for tables in runs.values() for e in tables.get(table, {}).values()):
            if "of" not in each:
                end = at + each.pop("n")
                each["t"] = list(times[at:end])
                each["v"] = [difference - _MIDDLE for difference in values[at:end]]
                at = end
    if at != count:
        raise ValueError(f"has {count} points, not {at}")
    for tables in runs.values():
        _repack(tables)


def _repack(tables: RunSeries) -> None:
    """Series in the steps of today, without logarithms of times."""
    for subjects in tables.values():
        for name, each in subjects.items():
            if "of" in each:
                continue
            times_s, values = unpack(each)
            start_s = cast("dict[str, float]", each).get("log_s")
            if start_s:
                times_s = [float(f"{start_s * 10**power:.4g}") for power in times_s]
            step_s = PRECISE_TIME_STEP_S if start_s else None
            subjects[name] = pack(times_s, values, step_s=step_s)
