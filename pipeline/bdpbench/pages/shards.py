"""Files beside a large report: what few readers open, each file a few hundred runs of it.

A browser loads nothing from a file but scripts and pages, so each file is a script: one call with
everything that it holds, deflated and in base64. Its name is a hash of its content: a report names
the files that it was made with, and an older one beside it is never taken for a newer.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from bdpbench.contracts.files import write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.pages.chart import Chart, SpecContent, TimeContent
from bdpbench.pages.embed import pack_text, unpack_text

SHARDS_FOLDER_SUFFIX = "-data"
"""``report.html`` has its files in ``report-data/``."""

# Of a file before it is packed: it opens in a few milliseconds, and a page has a few hundred files.
_MOST_CHARACTERS = 3_000_000
_LEVEL = 6
_NAME = re.compile(r"[0-9a-f]{16}\.js")
_CALL = re.compile(r'bdpbenchShard\("([A-Za-z0-9+/=]*)"\);\n')


class ShardContent(TypedDict):
    """What a file holds.

    Attributes:
        html: id of an element → what stands in it.
        charts: id of a chart → its content.
        series: run id → its series.
    """

    html: dict[str, str]
    charts: dict[str, SpecContent | TimeContent]
    series: dict[str, object]


@dataclass
class Shards:
    """Writes the files of one report, each when it is full.

    Attributes:
        folder: of the files.
        names: files so far; the one that is being filled comes after them.
        charts: id → position of its file.
    """

    folder: Path
    names: list[str] = field(default_factory=list)
    charts: dict[str, int] = field(default_factory=dict)
    _html: list[str] = field(default_factory=list)
    _charts: list[str] = field(default_factory=list)
    _series: list[str] = field(default_factory=list)
    _characters: int = 0

    def add_html(self, element_id: str, html: str) -> None:
        """Put what stands in an element into the present file."""
        self._add(self._html, element_id, json.dumps(html))

    def add_charts(self, charts: Iterable[Chart]) -> None:
        """Put the contents of charts into the present file."""
        for chart in charts:
            self.charts[chart.chart_id] = len(self.names)
            self._add(self._charts, chart.chart_id, json.dumps(chart.content, allow_nan=False))

    def add_series(self, run_id: str, text: str) -> None:
        """Put the series of a run, as JSON, into the present file."""
        self._add(self._series, run_id, text)

    def turn(self) -> None:
        """Write the present file if it is full: what belongs together stands between two calls."""
        if self._characters >= _MOST_CHARACTERS:
            self.close()

    def close(self) -> None:
        """Write the present file, if it holds anything."""
        if not self._characters:
            return
        parts = (self._html, self._charts, self._series)
        html, charts, series = ("{" + ",".join(part) + "}" for part in parts)
        self.names.append(
            write_shard(self.folder, f'{{"html":{html},"charts":{charts},"series":{series}}}')
        )
        for part in parts:
            part.clear()
        self._characters = 0

    def _add(self, part: list[str], key: str, text: str) -> None:
        part.append(f"{json.dumps(key)}:{text}")
        self._characters += len(text)


def shards_folder(report: Path) -> Path:
    """Folder of the files of a report."""
    return report.with_name(report.stem + SHARDS_FOLDER_SUFFIX)


def write_shard(folder: Path, text: str) -> str:
    """Write JSON of ``ShardContent`` as a file, atomically; returns the file's name."""
    script = shard_script(text)
    name = shard_name(script)
    if not (folder / name).is_file():
        write_text_atomically(folder / name, script)
    return name


def shard_script(text: str) -> str:
    """The script that hands JSON of ``ShardContent`` to the page."""
    return f'bdpbenchShard("{pack_text(text, level=_LEVEL)}");\n'


def shard_name(script: str) -> str:
    """Name of the file of a script."""
    return f"{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"


def shard_text(script: str) -> str:
    """JSON of ``ShardContent`` that a script holds.

    Raises:
        BdpbenchError: when it is no such script, or damaged.
    """
    found = _CALL.fullmatch(script)
    if found is None:
        raise BdpbenchError("is not a file of a report")
    try:
        return unpack_text(found[1])
    except ValueError:
        raise BdpbenchError("is damaged: its content is unreadable") from None


def drop_others(folder: Path, names: Collection[str]) -> None:
    """Remove the files of older reports, and the folder if nothing is left in it."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name) and path.name not in names:
            path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
