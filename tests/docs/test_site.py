"""The links of the site. `.ci/run` builds all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.build_site import dead_links


@pytest.mark.parametrize(
    ("element", "is_dead"),
    [
        ('<a href="more/b.html#part">', False),
        ('<a href="#part">', False),
        ('<a href="with%20blank.txt">', False),
        ('<a href="https://example.org/">', False),
        ('<img src="data:image/png;base64,AA">', False),
        ('<a href="more/c.html">', True),
        ('<a href="more">', True),
        ('<a href="/more/b.html">', True),
        ('<a href="../outside.html">', True),
        ('<a href="file:///etc/hostname">', True),
        ('<script src="https://example.org/a.js"></script>', True),
        ('<link rel="stylesheet" href="//example.org/a.css">', True),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, element: str, is_dead: bool) -> None:
    site = tmp_path / "site"
    (site / "more").mkdir(parents=True)
    (site / "a.html").write_text(f"<p id='part'>{element}")
    (site / "more" / "b.html").write_text("<a href='../a.html'>")
    (site / "with blank.txt").touch()
    (tmp_path / "outside.html").touch()
    assert len(list(dead_links(site))) == is_dead


@pytest.mark.parametrize(
    ("place", "is_dead"),
    [
        ("one/report.html?protocol=A#comparison", False),
        ("one/report.html#elsewhere", True),
        ("two/report.html#comparison", True),
    ],
)
def test_a_published_report_that_a_script_links_has_the_section(
    tmp_path: Path, place: str, is_dead: bool
) -> None:
    (tmp_path / "published" / "one").mkdir(parents=True)
    (tmp_path / "published" / "one" / "report.html").write_text('<section id="comparison">')
    (tmp_path / "a.html").write_text(f'<a data-published="{place}">')
    assert list(dead_links(tmp_path)) == [f"a.html: {place}"] * is_dead
