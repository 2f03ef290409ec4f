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

import altair as alt

from bdpbench import __version__

FOLDER = Path(__file__).with_name("golden")
_VOID = frozenset({"meta", "link", "input", "br", "img", "hr"})
_SILENT = frozenset({"script", "style", "title", "math"})
_INLINE = frozenset(
    re.findall(r"\w+", "a abbr b button circle code em i label small span strong sub sup")
)
_BESIDE = {"td": " | ", "th": " | ", "text": " · ", "tspan": " · ", "option": " · ", "dd": ": "}
"""Elements in the line of those before → what parts them."""

_DRAWN, _PLACES = ("circle", "line", "rect", "text"), r"c?[xy][12]?|width|height"
_SHOWN = ("id", "href", "title", "aria-label", "scope", "data-chart", "data-published")


def compare(name: str, text: str) -> None:
    """Fail with the difference unless a text is what its file holds; or write the file."""
    path, text = FOLDER / name, f"{text.rstrip()}\n"
    if os.environ.get("BDPBENCH_RENEW"):
        path.write_text(text, encoding="utf-8")
    kept = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert not (found := difference(kept, text)), f"{name} differs:\n{found}"


def difference(before: str, after: str, context: int = 1) -> str:
    """The lines in which two texts differ, "" for none."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=context, lineterm="")
    return "\n".join("..." if each.startswith("@@") else each for each in [*lines][2:])


class Page(HTMLParser):
    """Elements of a page with their attributes, its texts, and what is still open; its outline.

    The outline has a line for each block, with the attributes that decide what it does. Elements
    whose id or class matches ``without`` are not in it.
    """

    def __init__(self, html: str, without: str = "-") -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.lines: list[str] = []
        self._without, self._silent = re.compile(without), 0  # silent from that depth on
        self._name = self._words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        own = {name: value or "" for name, value in attrs}
        self.elements.append((tag, own))
        if tag in _VOID:
            return
        self.open.append(tag)
        kinds = own.get("id", ""), own.get("class", "")
        if self._silent or tag in _SILENT or any(map(self._without.fullmatch, kinds)):
            self._silent = self._silent or len(self.open)
            return
        if tag in _BESIDE:
            self._words += _BESIDE[tag]
        elif tag not in _INLINE:
            self._end()
            self._name = ".".join([tag, *own.get("class", "").split()])
            self._words = f"{self._name} "
        shown = [f"{key}={own[key]}" for key in _SHOWN if own.get(key) not in (None, "", "col")]
        shown += [f"at {_placed(own)}"] if tag in _DRAWN else []
        self._words += "".join(f"[{each}]" for each in [*shown, *{"hidden"}.intersection(own)])

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        own = {name: value or "" for name, value in attrs}
        self.elements.append((tag, own))
        if not self._silent and tag in _DRAWN:
            self._words += f" {tag}{_placed(own)}"

    def handle_endtag(self, tag: str) -> None:
        if tag not in (*_INLINE, *_BESIDE, "dt") and not self._silent:
            self._end()
        assert self.open, f"</{tag}> closes nothing"
        self._silent = 0 if len(self.open) == self._silent else self._silent
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))
        if not self._silent:
            self._words += re.sub(r"\s+", " ", data)

    def _end(self) -> None:
        if self._words.rstrip(" ") not in ("", self._name):
            self.lines.append(" ".join(self._words.split()))
        self._words = self._name = ""

    @property
    def ids(self) -> list[str]:
        """The ids of all elements."""
        return [own["id"] for _, own in self.elements if "id" in own]

    def all(self, tag: str) -> list[dict[str, str]]:
        """Attributes of all elements with this name."""
        return [own for name, own in self.elements if name == tag]

    @property
    def text(self) -> str:
        """The text that a reader sees, without scripts and styles."""
        return " ".join(text for tag, text in self.texts if tag not in ("script", "style"))


def _placed(own: Mapping[str, str]) -> str:
    """Where an element of a picture is."""
    return f"({', '.join(own[key] for key in sorted(own) if re.fullmatch(_PLACES, key))})"


def outline(html: str, names: Mapping[str, str] = {}, without: str = "-") -> str:
    """The lines of a page, in which names take the place of run ids and of versions."""
    page = Page(html, without)
    assert page.open == []
    text = "\n".join(page.lines).replace("[href=#runs]", " | ").replace(__version__, "VERSION")
    for run_id, name in names.items():
        text = text.replace(f"{run_id[:2]}/{run_id}", f"00/{name}").replace(run_id, name)
    return text


def told(chart: Any, rows: int = 6, seen: set[str] | None = None) -> str:
    """What a chart says and shows: its marks and scales, and the first rows of its data.

    Of charts whose marks were not ``seen`` before, also all else that the specification has.
    """
    content = chart.content
    words = (f"note: {chart.note}" if chart.note else "", chart.alternative, chart.caption)
    lines = [f"{chart.chart_id}: {chart.title}"]
    lines += [f"  {each}" for each in words if each and each not in (seen or ())]
    if seen is not None:
        seen |= {*words}
    if "spec" not in content:
        facts = {key: each for key, each in content.items() if key != "traces"}
        return "\n".join([*lines, *(f"  {flat(each)}" for each in (facts, *content["traces"]))])
    layers = content["spec"]["layer"]
    scales: dict[str, str] = {}
    for channel, own in (pair for each in layers for pair in each.get("encoding", {}).items()):
        if channel in ("x", "y", "color", "strokeDash") and own.get("scale"):
            scales.setdefault(channel, f"{channel} {flat([*own['scale'].values()])}")
    marks = [each.get("mark", {"type": "names"})["type"] for each in layers]
    lines += [f"  {' '.join(marks)}: {'; '.join(scales.values())}"]
    if seen is not None and lines[-1].partition(":")[0] not in seen:
        seen.add(lines[-1].partition(":")[0])
        alt.Root.validate(content["spec"])
        lines += layers_of(content["spec"], seen)
    for data in content["spec"]["datasets"].values():
        lines += ["  data " + flat(list(data[0]))]
        lines += [f"    {flat(list(row.values()))}" for row in data[:rows]]
        lines += [f"    ... {len(data)} rows"] if len(data) > rows else []
    return "\n".join(lines)


def layers_of(spec: Any, seen: set[str], depth: str = "  ") -> Iterator[str]:
    """Each layer: its mark, and what it has that no layer before has just so; then the rest."""
    own = {**spec, **spec.get("encoding", {})}
    for layer in spec.get("layer", ()):
        yield from layers_of(layer, seen, f"{depth}  ")
    mark = own.get("mark", own.get("name", "all"))
    lines = [
        line
        for key, each in own.items()
        if key not in ("layer", "datasets", "data", "mark", "name", "encoding")
        and (line := f"{depth}{key}: {flat(each)}") not in seen
    ]
    first = f"{depth[2:]}{flat(mark)}"
    yield from [first, *lines] if lines or first not in seen else []
    seen |= {first, *lines}


def flat(value: Any) -> str:
    """JSON in a line, without its quotes, and of numbers six digits."""
    text = json.dumps(value, ensure_ascii=False)
    rounded = json.loads(text, parse_float=lambda each: float(f"{float(each):.6g}"))
    return json.dumps(rounded, ensure_ascii=False).replace('"', "")
