"""The parts of a report that few readers open, packed: in the page itself or in files beside it.

From local files a browser loads only scripts and pages, so each file is a script: one call with its
whole content, deflated and in base85. Its name is a hash of its content, so a report never loads a
file of another version.

A part is a line of JSON and the points of its series. These are numbers of 16 bits, by table in the
order of their names, in four planes that deflate well: the lower and the upper bytes of all
differences of times, and those of all differences of values, to which ``_MIDDLE`` is added.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import NotRequired, TypedDict, TypeVar, cast, final

from bdpbench.contracts.files import read_text, write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.pages.packing import pack, unpack
from bdpbench.pages.series import Multiple, Packed, RunSeries, embed_json
from bdpbench.pages.specs import Chart, SpecContent, TimeContent

SHARDS_FOLDER_SUFFIX = "-data"
"""The files of ``report.html`` are in ``report-data/``."""

_Each = TypeVar("_Each")

# Size of a file before packing: it opens in a few milliseconds, and a page has a few hundred files.
_MOST_CHARACTERS = 3_000_000
_NAME = re.compile(r"[0-9a-f]{16}\.js")
_CALL = re.compile(r'bdpbenchShard\("([^"<]*)"\);\n')
_IN_PAGE = re.compile(r'<script type="text/plain" class="shard">([^"<]*)</script>')

OWN_ID = "\x7f"
"""In the lines of an element: its own id, without the kind before the first hyphen."""

# Most differences of values are small and of either sign; with this they have the upper byte 0.
_MIDDLE = 128


@final
class Place(TypedDict):
    """A series in a part: steps as in ``series.Packed``, and ``n``, the number of its points."""

    dt: float
    dv: float
    n: int
    log_s: NotRequired[float]


@final
class Elements(TypedDict):
    """HTML of elements that have equally many lines, line by line: runs differ in a few of theirs.

    Attributes:
        ids: ids of the elements.
        lines: a line that all of them have, as itself or as its place in ``ShardContent.lines``, or
            what it begins with, what it ends with, and what is between for each of the elements.
            ``OWN_ID`` stands for what follows the first hyphen of an id, so that more lines are
            the same.
    """

    ids: list[str]
    lines: list[str | int | list[str]]


class ShardContent(TypedDict):
    """The content of a part.

    Attributes:
        lines: lines of HTML that come more than once.
        html: the elements.
        charts: id of a chart → its content.
        series: run id → table → subject → its place, or what it is a multiple of.
    """

    lines: list[str]
    html: list[Elements]
    charts: dict[str, SpecContent | TimeContent]
    series: dict[str, dict[str, dict[str, Place | Multiple]]]


@dataclass
class Shards:
    """Collects the parts of one report, each of a size that opens at once.

    Attributes:
        folder: folder of their files; None keeps them in ``packed``, for the page itself.
        names: files written so far.
        packed: packed parts for the page.
        charts: id of a chart → position of its part.
    """

    folder: Path | None
    names: list[str] = field(default_factory=list)
    packed: list[str] = field(default_factory=list)
    charts: dict[str, int] = field(default_factory=dict)
    _html: dict[str, list[str]] = field(default_factory=dict)
    _charts: list[str] = field(default_factory=list)
    _series: dict[str, RunSeries] = field(default_factory=dict)
    _characters: int = 0

    @property
    def position(self) -> int:
        """Position of the part that is being filled."""
        return len(self.names) + len(self.packed)

    def add_html(self, element_id: str, html: str) -> None:
        """Add the content of an element to the present part."""
        _, _, own = element_id.partition("-")
        self._html[element_id] = html.replace(own, OWN_ID).split("\n")
        self._characters += len(html)

    def add_charts(self, charts: Iterable[Chart]) -> None:
        """Add the contents of charts to the present part."""
        for chart in charts:
            self.charts[chart.chart_id] = self.position
            text = json.dumps(chart.content, allow_nan=False)
            self._charts.append(f"{json.dumps(chart.chart_id)}:{text}")
            self._characters += len(text)

    def add_series(self, run_id: str, text: str) -> None:
        """Add the series of a run, as JSON, to the present part."""
        self._series[run_id] = json.loads(text)
        self._characters += len(text)

    def turn(self) -> None:
        """Close the present part if it is full; what is added between two calls stays together."""
        if self._characters >= _MOST_CHARACTERS:
            self.close()

    def close(self) -> None:
        """End the present part, unless it is empty."""
        if not self._characters:
            return
        series = _json({run_id: _places(each) for run_id, each in self._series.items()})
        charts = "{" + ",".join(self._charts) + "}"
        text = f'{{{_html_json(self._html)},"charts":{charts},"series":{series}}}\n'
        packed = pack(text.encode() + _planes(self._series))
        if self.folder is None:
            self.packed.append(packed)
        else:
            self.names.append(_write_file(self.folder, packed))
        for part in (self._html, self._charts, self._series):
            part.clear()
        self._characters = 0


def shards_folder(report: Path) -> Path:
    """Folder of the files of a report."""
    return report.with_name(report.stem + SHARDS_FOLDER_SUFFIX)


def _html_json(html: Mapping[str, Sequence[str]]) -> str:
    """``lines`` and ``html`` of ``ShardContent``, as members of a JSON object."""
    alike: dict[tuple[str, int], list[str]] = {}
    for key, lines in html.items():
        alike.setdefault((key.partition("-")[0], len(lines)), []).append(key)
    columns = [list(zip(*(html[key] for key in ids), strict=True)) for ids in alike.values()]
    counts = Counter(column[0] for each in columns for column in each if len(set(column)) == 1)
    shared = {line: place for place, line in enumerate(each for each in counts if counts[each] > 1)}
    found = [
        {
            "ids": ids,
            "lines": [
                shared.get(column[0], column[0]) if len(set(column)) == 1 else _parted(column)
                for column in each
            ],
        }
        for ids, each in zip(alike.values(), columns, strict=True)
    ]
    return f'"lines":{_json(list(shared))},"html":{_json(found)}'


def _parted(texts: Sequence[str]) -> list[str]:
    """What texts begin with, what they end with, and what each has between.

    >>> _parted(["<td>12</td>", "<td>7</td>"])
    ['<td>', '</td>', '12', '7']
    """
    start = _common_start(texts)
    rest = [text[len(start) :] for text in texts]
    end = _common_start([text[::-1] for text in rest])[::-1]
    return [start, end, *(text.removesuffix(end) for text in rest)]


def _common_start(texts: Collection[str]) -> str:
    first, last = min(texts), max(texts)  # what these two share, all between them have
    differs = (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(differs, len(first))]


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _places(series: RunSeries) -> dict[str, dict[str, Place | Multiple]]:
    """The series of a run without their points."""
    return {
        table: {
            subject: each if "of" in each else _place_of(each) for subject, each in subjects.items()
        }
        for table, subjects in series.items()
    }


def _place_of(packed: Packed) -> Place:
    place: Place = {"dt": packed["dt"], "dv": packed["dv"], "n": len(packed["t"])}
    if "log_s" in packed:
        place["log_s"] = packed["log_s"]
    return place


def _in_order(
    series: Mapping[str, Mapping[str, Mapping[str, _Each]]],
) -> list[tuple[str, str, str, _Each]]:
    """Table, run, subject and series, in the order in which points stand in the planes."""
    found = [
        (table, run_id, subject, each)
        for run_id, tables in series.items()
        for table, subjects in tables.items()
        for subject, each in subjects.items()
    ]
    return sorted(found, key=itemgetter(0))


def _planes(series: Mapping[str, RunSeries]) -> bytes:
    """The points of all series that are not multiples."""
    times, values = array("H"), array("h")
    for *_, each in _in_order(series):
        if "of" not in each:
            times.extend(each["t"])
            values.extend([difference + _MIDDLE for difference in each["v"]])
    planes = []
    for numbers in (times, values):
        if sys.byteorder == "big":
            numbers.byteswap()
        planes += [numbers.tobytes()[half::2] for half in (0, 1)]
    return b"".join(planes)


def _unpacked_series(content: ShardContent, planes: bytes) -> dict[str, RunSeries]:
    """Run id → its series with their points.

    Raises:
        ValueError: when the planes do not have them.
    """
    count = len(planes) // 4
    times, values = array("H"), array("h")
    for numbers, start in ((times, 0), (values, 2 * count)):
        both = bytearray(2 * count)
        for half in (0, 1):
            both[half::2] = planes[start + half * count :][:count]
        numbers.frombytes(both)
        if sys.byteorder == "big":
            numbers.byteswap()
    found: dict[str, RunSeries] = {
        run_id: {table: {} for table in tables} for run_id, tables in content["series"].items()
    }
    at = 0
    for table, run_id, subject, each in _in_order(content["series"]):
        if "of" in each:
            found[run_id][table][subject] = each
        else:
            part = slice(at, at + each["n"])
            at = part.stop
            points: Packed = {
                "dt": each["dt"],
                "dv": each["dv"],
                "t": list(times[part]),
                "v": [difference - _MIDDLE for difference in values[part]],
            }
            if "log_s" in each:
                points["log_s"] = each["log_s"]
            found[run_id][table][subject] = points
    if at != count:
        raise ValueError(f"has {count} points, not {at}")
    return found


def _write_file(folder: Path, packed: str) -> str:
    """Write a packed part as a file, atomically; returns the file's name."""
    script = f'bdpbenchShard("{packed}");\n'
    name = f"{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"
    if not (folder / name).is_file():
        write_text_atomically(folder / name, script)
    return name


def read_shards(report: Path) -> Iterator[tuple[Path, ShardContent, bytes]]:
    """The parts of a report: the file that it is in, its content, and the points of its series.

    Raises:
        BdpbenchError: naming a file that cannot be read, is not of a report, or is damaged.
    """
    for packed in _IN_PAGE.findall(read_text(report)):
        yield report, *_content(packed, report)
    folder = shards_folder(report)
    for path in sorted(folder.glob("*.js")) if folder.is_dir() else ():
        found = _CALL.fullmatch(read_text(path))
        if found is None:
            raise BdpbenchError("is not a file of a report", where=str(path))
        yield path, *_content(found[1], path)


def _content(packed: str, path: Path) -> tuple[ShardContent, bytes]:
    try:
        line, _, planes = unpack(packed).partition(b"\n")
        return cast("ShardContent", json.loads(line)), planes
    except ValueError as error:
        raise BdpbenchError(f"is damaged ({error})", where=str(path)) from None


def series_of_report(report: Path) -> dict[str, str]:
    """Run id → its series as JSON, from a report and the files beside it.

    Raises:
        BdpbenchError: when a file cannot be read or is damaged.
    """
    found: dict[str, str] = {}
    for path, content, planes in read_shards(report):
        try:
            unpacked = _unpacked_series(content, planes)
        except ValueError as error:
            raise BdpbenchError(f"is damaged ({error})", where=str(path)) from None
        found |= {run_id: embed_json(series) for run_id, series in unpacked.items()}
    return found


def drop_others(folder: Path, names: Collection[str]) -> None:
    """Remove the files of older reports, and the folder if it is then empty."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name) and path.name not in names:
            path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
