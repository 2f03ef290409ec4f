"""Pages, charts and files as short texts, beside which tests put what they were.

The texts are in ``golden/``. After a change that is meant, write them anew and read the difference:

    BDPBENCH_RENEW=1 ./bdpbench test tests/pipeline/pages; git diff tests/pipeline/pages/golden
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from bdpbench import __version__

FOLDER = Path(__file__).with_name("golden")
_VOID = frozenset({"meta", "link", "input", "br", "img", "hr"})
_SILENT = frozenset({"script", "style", "title", "math"})
_INLINE = frozenset(
    re.findall(r"\w+", "a abbr b button circle code em i label small span strong sub sup")
)
_BESIDE = {"td": " | ", "th": " | ", "text": " · ", "tspan": " · ", "option": " · ", "dd": ": "}
"""Elements in the line of those before → what parts them."""

_OF_LAYERS = ("params", "transform")
_SHOWN = ("id", "href", "title", "aria-label", "scope", "data-chart", "data-published")


def compare(name: str, text: str) -> None:
    """Fail with the difference unless a text is what its file holds; or write the file."""
    path, text = FOLDER / name, text.rstrip("\n") + "\n"
    if os.environ.get("BDPBENCH_RENEW"):
        path.write_text(text, encoding="utf-8")
    kept = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert not (found := difference(kept, text)), f"{name} differs:\n{found}"


def difference(before: str, after: str, context: int = 1) -> str:
    """The lines in which two texts differ, "" for none."""
    pair = before.splitlines(), after.splitlines()
    lines = [*difflib.unified_diff(*pair, n=context, lineterm="")][2:]
    return "\n".join("..." if each.startswith("@@") else each for each in lines)


class Outline(HTMLParser):
    """What a page says, a line for each block, with the attributes that decide what it does.

    Elements whose id or class matches ``without`` are left out.
    """

    def __init__(self, without: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._without = re.compile(without)
        self._name = self._words = ""
        self._open: list[str] = []  # an element that says nothing has a hyphen before its name

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        if tag in _VOID:
            return
        kinds = own.get("id", ""), own.get("class", "")
        left_out = tag in _SILENT or any(map(self._without.fullmatch, kinds))
        self._open.append(f"-{tag}" if left_out else tag)
        if self._silent:
            return
        if tag in _BESIDE:
            self._words += _BESIDE[tag]
        elif tag not in _INLINE:
            self._end()
            self._name = ".".join([tag, *own.get("class", "").split()])
            self._words = f"{self._name} "
        shown = [f"{key}={own[key]}" for key in _SHOWN if own.get(key) not in (None, "", "col")]
        self._words += "".join(f"[{each}]" for each in [*shown, *{"hidden"}.intersection(own)])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in (*_INLINE, *_BESIDE, "dt") and not self._silent:
            self._end()
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop().lstrip("-") == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words += re.sub(r"\s+", " ", data)

    def close(self) -> None:
        super().close()
        assert self._open == []

    @property
    def _silent(self) -> bool:
        return any(each.startswith("-") for each in self._open)

    def _end(self) -> None:
        if self._words.rstrip(" ") not in ("", self._name):
            self.lines.append(" ".join(self._words.split()))
        self._words = self._name = ""


def outline(html: str, names: Mapping[str, str] = {}, without: str = "-") -> str:
    """The lines of a page, in which names take the place of run ids and of versions."""
    page = Outline(without)
    page.feed(html)
    page.close()
    text = "\n".join(page.lines).replace("[href=#runs]", " | ").replace(__version__, "VERSION")
    for run_id, name in names.items():
        text = text.replace(f"{run_id[:2]}/{run_id}", f"00/{name}").replace(run_id, name)
    return text


def told(chart: Any, rows: int = 6, *, fully: bool = False) -> str:
    """What a chart says and shows: its scales, or fully all of its layers, and its first data."""
    content = chart.content
    words = (f"note: {chart.note}" if chart.note else "", chart.alternative, chart.caption)
    lines = [f"{chart.chart_id}: {chart.title}", *(f"  {each}" for each in words if each)]
    if "spec" not in content:
        facts = {key: each for key, each in content.items() if key != "traces"}
        return "\n".join([*lines, *(f"  {flat(each)}" for each in (facts, *content["traces"]))])
    layers = content["spec"]["layer"]
    scales: dict[str, str] = {}
    for channel, own in (pair for each in layers for pair in each.get("encoding", {}).items()):
        if channel in ("x", "y", "color", "strokeDash") and own.get("scale"):
            scales.setdefault(channel, f"{channel} {flat([*own['scale'].values()])}")
    lines += layers_of(content["spec"]) if fully else [f"  scales: {'; '.join(scales.values())}"]
    for data in content["spec"]["datasets"].values():
        lines += ["  data " + flat(list(data[0]))]
        lines += [f"    {flat(list(row.values()))}" for row in data[:rows]]
        lines += [f"    ... {len(data)} rows"] if len(data) > rows else []
    return "\n".join(lines)


def layers_of(spec: Any, seen: set[str] | None = None) -> Iterator[str]:
    """Each layer: its mark, and what it has that no layer before has just so."""
    seen = set() if seen is None else seen
    for layer in spec.get("layer", ()):
        own = {**layer.get("encoding", {}), **{k: layer[k] for k in _OF_LAYERS if k in layer}}
        mark = f"  {flat(layer['mark'] if 'mark' in layer else layer.get('name', 'layers'))}"
        lines = [each for key in own if (each := f"    {key}: {flat(own[key])}") not in seen]
        yield from [mark, *lines] if lines or mark not in seen else []
        seen |= {mark, *lines}
        yield from layers_of(layer, seen)


def flat(value: Any) -> str:
    """JSON in a line, without its quotes, and of numbers six digits."""
    text = json.dumps(value, ensure_ascii=False)
    rounded = json.loads(text, parse_float=lambda each: float(f"{float(each):.6g}"))
    return json.dumps(rounded, ensure_ascii=False).replace('"', "")
