"""Fixtures for tests of the report: the synthetic study, and its page."""

from __future__ import annotations

import base64
import itertools
import json
import re
import zlib
from collections.abc import Iterator
from html import escape
from typing import Any

import pytest
from tests.pipeline.pages import golden
from tests.pipeline.pages.synthetic import Inputs, synthetic_inputs

from bdpbench.pages.shards import ShardContent


def inflated(packed: str) -> Any:
    """JSON that a page carries packed, decoded by an implementation of its own.

    The series of a part get their points.
    """
    content = json.loads(zlib.decompress(base64.b85decode(packed.replace(",", "<"))))
    points = iter(zip(content.get("t", ()), content.get("v", ()), strict=True))
    runs = content.get("series", {})
    for table in sorted({table for tables in runs.values() for table in tables}):
        for tables in runs.values():
            for each in tables.get(table, {}).values():
                if "of" not in each:
                    each["t"], each["v"] = next(points)
    assert not list(points)
    return content


def packed_parts(html: str) -> list[Any]:
    """The packed parts of a page, with the HTML of each element in one piece."""
    found = re.findall(r'<script type="text/plain" class="shard">(.*?)</script>', html)
    return [with_html(inflated(each)) for each in found]


def with_html(content: Any) -> Any:
    """A packed part with its rows by the ids of their elements, also as HTML."""
    return {**content, "rows": dict(rows_of(content)), "html": dict(elements(content))}


def rows_of(content: ShardContent) -> Iterator[tuple[str, Any]]:
    """Id and row of each element of a packed part."""
    for columns in content["rows"].values():
        for values in zip(*columns.values(), strict=True):
            row = dict(zip(columns, values, strict=True))
            yield row["id"], row


def elements(content: ShardContent) -> Iterator[tuple[str, str]]:
    """Id and HTML of each element of a packed part, about as its script makes it."""
    for key, row in rows_of(content):
        body = "\n".join(row["html"])
        for table in row.get("tables", ()):
            lines = [table["head"], *zip(*table["columns"], strict=True)]
            cells = (cell for line in lines for cell in line)
            texts = (each if isinstance(each, list) else [each, "#runs"] for each in cells)
            body += f"<h5>{table['title']}</h5>"
            body += "".join(f'<a href="{link}">{escape(str(text))}</a>' for text, link in texts)
        for title, words in row.get("texts", ()):
            body += f"<h5>{title}</h5><pre>{escape(' '.join(words))}</pre>"
        yield key, body


def unfolded(html: str) -> str:
    """The page with its runs unpacked, as its script does when a reader opens them."""
    bodies = {key: body for part in packed_parts(html) for key, body in part["html"].items()}
    row = r'(<tr role="row" class="more-row" id="(more-[^"]+)" hidden>\s*<td [^>]*>)'
    run = r'(<details class="run" id="(run-[0-9a-f]+)"[^>]*>.*?)(?=</details>)'
    for pattern in (row, run):
        html = re.sub(pattern, lambda found: found[1] + bodies[found[2]], html, flags=re.DOTALL)
    return html


class Page(golden.Page):
    """A page with its runs unpacked."""

    def __init__(self, html: str) -> None:
        super().__init__(unfolded(html))


def unpacked(packed: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Sum up the differences, in steps."""
    times, values = (itertools.accumulate(packed[each]) for each in "tv")
    return [t * packed["dt"] for t in times], [v * packed["dv"] for v in values]


@pytest.fixture
def inputs() -> Inputs:
    """The synthetic study, made anew for each test, which may change it."""
    return synthetic_inputs()


@pytest.fixture(scope="session")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the synthetic study."""
    return synthetic_inputs().build(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def page(html: str) -> Page:
    """The same report, parsed."""
    return Page(html)
