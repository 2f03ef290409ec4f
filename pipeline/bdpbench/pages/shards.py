"""The parts of a report that few readers open, packed: in the page itself or in files beside it.

From local files a browser loads only scripts and pages, so each file is a script: one call with its
whole content, which is JSON, packed. Its name is a hash of its content, so a report
never loads a file of another version.

What it says of a run, a number or a view is a row of JSON. Rows of one kind stand together as
columns, which deflate well.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, cast

from bdpbench.contracts.files import read_text, write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.pages.packing import pack, unpack
from bdpbench.pages.series import RunSeries, embed_json
from bdpbench.pages.specs import Chart, SpecContent, TimeContent

SHARDS_FOLDER_SUFFIX = "-data"
"""The files of ``report.html`` are in ``report-data/``."""

# Size of a file before packing: it opens in a few milliseconds, and a page has a few hundred files.
_MOST_CHARACTERS = 3_000_000
_NAME = re.compile(r"[0-9a-f]{16}\.js")
_CALL = re.compile(r'bdpbenchShard\("([^"<]*)"\);\n')
_IN_PAGE = re.compile(r'<script type="text/plain" class="shard">([^"<]*)</script>')


Row: TypeAlias = dict[str, Any]
"""What an element shows: ``html``, its lines, and for runs what ``experiments.run_rows`` says."""


class ShardContent(TypedDict):
    """The content of a part.

    Attributes:
        rows: kind of element, the beginning of its id → ``id`` and the keys of a ``Row`` → a value
            of each element.
        charts: id of a chart → its content.
        series: run id → its series, without their points.
        t: differences of times of all series, by table in the order of their names.
        v: differences of values of the same series.
    """

    rows: dict[str, dict[str, list[Any]]]
    charts: dict[str, SpecContent | TimeContent]
    series: dict[str, RunSeries]
    t: list[list[int]]
    v: list[list[int]]


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
    _rows: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    _charts: dict[str, SpecContent | TimeContent] = field(default_factory=dict)
    _series: dict[str, RunSeries] = field(default_factory=dict)
    _characters: int = 0

    @property
    def position(self) -> int:
        """Position of the part that is being filled."""
        return len(self.names) + len(self.packed)

    def add_row(self, element_id: str, row: Row) -> None:
        """Add what an element shows to the present part."""
        columns = self._rows.setdefault(element_id.partition("-")[0], {})
        for key, value in {"id": element_id, **row}.items():
            columns.setdefault(key, []).append(value)
        self._characters += len(_json(row))

    def add_charts(self, charts: Iterable[Chart]) -> None:
        """Add the contents of charts to the present part."""
        for chart in charts:
            self.charts[chart.chart_id] = self.position
            self._charts[chart.chart_id] = chart.content
            self._characters += len(_json(chart.content))

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
        points = _in_order(self._series)
        # Numbers of one kind one after the other deflate well.
        t, v = ([each.pop(key) for each in points] for key in ("t", "v"))
        content = ShardContent(rows=self._rows, charts=self._charts, series=self._series, t=t, v=v)
        packed = pack(_json(content))
        if self.folder is None:
            self.packed.append(packed)
        else:
            self.names.append(_write_file(self.folder, packed))
        for part in (self._rows, self._charts, self._series):
            part.clear()
        self._characters = 0


def shards_folder(report: Path) -> Path:
    """Folder of the files of a report."""
    return report.with_name(report.stem + SHARDS_FOLDER_SUFFIX)


def _in_order(series: Mapping[str, RunSeries]) -> list[dict[str, Any]]:
    """All series of some runs, in the order in which their points stand in a part."""
    found = [
        (table, cast("dict[str, Any]", each))
        for tables in series.values()
        for table, subjects in tables.items()
        for each in subjects.values()
        if "of" not in each  # a multiple of another one
    ]
    return [each for _, each in sorted(found, key=itemgetter(0))]


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)


def _write_file(folder: Path, packed: str) -> str:
    """Write a packed part as a file, atomically; returns the file's name."""
    script = f'bdpbenchShard("{packed}");\n'
    name = f"{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"
    if not (folder / name).is_file():
        write_text_atomically(folder / name, script)
    return name


def read_shards(report: Path) -> Iterator[ShardContent]:
    """The parts of a report, whose series have their points.

    Raises:
        BdpbenchError: naming a file that cannot be read, is not of a report, or is damaged.
    """
    for packed in _IN_PAGE.findall(read_text(report)):
        yield _content(packed, report)
    folder = shards_folder(report)
    for path in sorted(folder.glob("*.js")) if folder.is_dir() else ():
        found = _CALL.fullmatch(read_text(path))
        if found is None:
            raise BdpbenchError("is not a file of a report", where=str(path))
        yield _content(found[1], path)


def _content(packed: str, path: Path) -> ShardContent:
    try:
        content: ShardContent = json.loads(unpack(packed))
        for each, t, v in zip(
            _in_order(content["series"]), content["t"], content["v"], strict=True
        ):
            each.update(t=t, v=v)
    except ValueError as error:
        raise BdpbenchError(f"is damaged ({error})", where=str(path)) from None
    return content


def series_of_report(report: Path) -> dict[str, str]:
    """Run id → its series as JSON, from a report and the files beside it.

    Raises:
        BdpbenchError: when a file cannot be read or is damaged.
    """
    return {
        run_id: embed_json(series)
        for content in read_shards(report)
        for run_id, series in content["series"].items()
    }


def drop_others(folder: Path, names: Collection[str]) -> None:
    """Remove the files of older reports, and the folder if it is then empty."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name) and path.name not in names:
            path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
