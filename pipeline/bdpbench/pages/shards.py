"""Files beside a large report with the parts that few readers open, for a few hundred runs each.

From local files a browser loads only scripts and pages, so each file is a script: one call with its
whole content, deflated and in base64. Its name is a hash of its content, so a report never loads a
file of another version.
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
"""The files of ``report.html`` are in ``report-data/``."""

# Size of a file before packing: it opens in a few milliseconds, and a page has a few hundred files.
_MOST_CHARACTERS = 3_000_000
_LEVEL = 6
_NAME = re.compile(r"[0-9a-f]{16}\.js")
_CALL = re.compile(r'bdpbenchShard\("([A-Za-z0-9+/=]*)"\);\n')


class ShardContent(TypedDict):
    """The content of a file.

    Attributes:
        html: id of an element → its content.
        charts: id of a chart → its content.
        series: run id → its series.
    """

    html: dict[str, str]
    charts: dict[str, SpecContent | TimeContent]
    series: dict[str, object]


@dataclass
class Shards:
    """Writes the files of one report, each as soon as it is full.

    Attributes:
        folder: folder of the files.
        names: files written so far; the one being filled comes next.
        charts: id of a chart → position of its file.
    """

    folder: Path
    names: list[str] = field(default_factory=list)
    charts: dict[str, int] = field(default_factory=dict)
    _html: list[str] = field(default_factory=list)
    _charts: list[str] = field(default_factory=list)
    _series: list[str] = field(default_factory=list)
    _characters: int = 0

    def add_html(self, element_id: str, html: str) -> None:
        """Add the content of an element to the present file."""
        self._add(self._html, element_id, json.dumps(html))

    def add_charts(self, charts: Iterable[Chart]) -> None:
        """Add the contents of charts to the present file."""
        for chart in charts:
            self.charts[chart.chart_id] = len(self.names)
            self._add(self._charts, chart.chart_id, json.dumps(chart.content, allow_nan=False))

    def add_series(self, run_id: str, text: str) -> None:
        """Add the series of a run, as JSON, to the present file."""
        self._add(self._series, run_id, text)

    def turn(self) -> None:
        """Write the present file if it is full; what is added between two calls stays together."""
        if self._characters >= _MOST_CHARACTERS:
            self.close()

    def close(self) -> None:
        """Write the present file, unless it is empty."""
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
    """The script that passes JSON of ``ShardContent`` to the page."""
    return f'bdpbenchShard("{pack_text(text, level=_LEVEL)}");\n'


def shard_name(script: str) -> str:
    """File name of a script."""
    return f"{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"


def shard_text(script: str) -> str:
    """JSON of ``ShardContent`` in a script.

    Raises:
        BdpbenchError: when the script is not of a report, or is damaged.
    """
    found = _CALL.fullmatch(script)
    if found is None:
        raise BdpbenchError("is not a file of a report")
    try:
        return unpack_text(found[1])
    except ValueError:
        raise BdpbenchError("is damaged: its content is unreadable") from None


def drop_others(folder: Path, names: Collection[str]) -> None:
    """Remove the files of older reports, and the folder if it is then empty."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name) and path.name not in names:
            path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
