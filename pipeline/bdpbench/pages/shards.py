"""The parts of a report that few readers open, packed: in the page itself or in files beside it.

From local files a browser loads only scripts and pages, so each file is a script: one call with its
whole content, deflated and in base64. Its name is a hash of its content, so a report never loads a
file of another version.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

from bdpbench.contracts.files import read_text, write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.pages.series import embed_json
from bdpbench.pages.specs import Chart, SpecContent, TimeContent

SHARDS_FOLDER_SUFFIX = "-data"
"""The files of ``report.html`` are in ``report-data/``."""

# Size of a file before packing: it opens in a few milliseconds, and a page has a few hundred files.
_MOST_CHARACTERS = 3_000_000
_NAME = re.compile(r"[0-9a-f]{16}\.js")
_CALL = re.compile(r'bdpbenchShard\("([A-Za-z0-9+/=]*)"\);\n')
_IN_PAGE = re.compile(r'<script type="text/plain" class="shard">([A-Za-z0-9+/=]*)</script>')


class ShardContent(TypedDict):
    """The content of a part.

    Attributes:
        lines: lines of HTML that come more than once: runs differ in a few of theirs.
        html: id of an element → its lines; a number is a place in ``lines``.
        charts: id of a chart → its content.
        series: run id → its series.
    """

    lines: list[str]
    html: dict[str, list[str | int]]
    charts: dict[str, SpecContent | TimeContent]
    series: dict[str, object]


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
    _series: list[str] = field(default_factory=list)
    _characters: int = 0

    @property
    def position(self) -> int:
        """Position of the part that is being filled."""
        return len(self.names) + len(self.packed)

    def add_html(self, element_id: str, html: str) -> None:
        """Add the content of an element to the present part."""
        self._html[element_id] = html.split("\n")
        self._characters += len(html)

    def add_charts(self, charts: Iterable[Chart]) -> None:
        """Add the contents of charts to the present part."""
        for chart in charts:
            self.charts[chart.chart_id] = self.position
            self._add(self._charts, chart.chart_id, json.dumps(chart.content, allow_nan=False))

    def add_series(self, run_id: str, text: str) -> None:
        """Add the series of a run, as JSON, to the present part."""
        self._add(self._series, run_id, text)

    def turn(self) -> None:
        """Close the present part if it is full; what is added between two calls stays together."""
        if self._characters >= _MOST_CHARACTERS:
            self.close()

    def close(self) -> None:
        """End the present part, unless it is empty."""
        if not self._characters:
            return
        charts, series = ("{" + ",".join(part) + "}" for part in (self._charts, self._series))
        text = f'{{{_html_json(self._html)},"charts":{charts},"series":{series}}}'
        if self.folder is None:
            self.packed.append(pack_text(text))
        else:
            self.names.append(_write_file(self.folder, pack_text(text)))
        for part in (self._html, self._charts, self._series):
            part.clear()
        self._characters = 0

    def _add(self, part: list[str], key: str, text: str) -> None:
        part.append(f"{json.dumps(key)}:{text}")
        self._characters += len(text)


def shards_folder(report: Path) -> Path:
    """Folder of the files of a report."""
    return report.with_name(report.stem + SHARDS_FOLDER_SUFFIX)


def _html_json(html: Mapping[str, Sequence[str]]) -> str:
    """``lines`` and ``html`` of ``ShardContent``, as members of a JSON object."""
    counts = Counter(line for lines in html.values() for line in lines)
    shared = {line: place for place, line in enumerate(each for each in counts if counts[each] > 1)}
    found = {key: [shared.get(line, line) for line in lines] for key, lines in html.items()}
    lines, elements = (json.dumps(each, separators=(",", ":")) for each in (list(shared), found))
    return f'"lines":{lines},"html":{elements}'


def _write_file(folder: Path, packed: str) -> str:
    """Write a packed part as a file, atomically; returns the file's name."""
    script = f'bdpbenchShard("{packed}");\n'
    name = f"{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"
    if not (folder / name).is_file():
        write_text_atomically(folder / name, script)
    return name


def read_shards(report: Path) -> Iterator[tuple[Path, ShardContent]]:
    """The parts of a report and the files that they are in.

    Raises:
        BdpbenchError: naming a file that cannot be read, is not of a report, or is damaged.
    """
    for packed in _IN_PAGE.findall(read_text(report)):
        yield report, _content(packed, report)
    folder = shards_folder(report)
    for path in sorted(folder.glob("*.js")) if folder.is_dir() else ():
        found = _CALL.fullmatch(read_text(path))
        if found is None:
            raise BdpbenchError("is not a file of a report", where=str(path))
        yield path, _content(found[1], path)


def _content(packed: str, path: Path) -> ShardContent:
    try:
        return cast("ShardContent", json.loads(unpack_text(packed)))
    except ValueError as error:
        raise BdpbenchError(f"is damaged ({error})", where=str(path)) from None


def series_of_report(report: Path) -> dict[str, str]:
    """Run id → its series as JSON, from a report and the files beside it.

    Raises:
        BdpbenchError: when a file cannot be read or is damaged.
    """
    return {
        run_id: embed_json(series)
        for _, content in read_shards(report)
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


def pack_text(text: str) -> str:
    """Text deflated and in base64, for parts of a page that most readers never open.

    The page's script unpacks it. Equal texts give equal bytes with one version of zlib.
    """
    compressor = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)  # no header: deflate-raw
    packed = compressor.compress(text.encode()) + compressor.flush()
    return base64.b64encode(packed).decode("ascii")


def unpack_text(packed: str) -> str:
    """The text that was packed.

    >>> unpack_text(pack_text("cwnd"))
    'cwnd'

    Raises:
        ValueError: when the text is not packed.
    """
    try:
        content = zlib.decompress(base64.b64decode(packed, validate=True), -zlib.MAX_WBITS)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    return content.decode()
