"""Markdown notes of a study as HTML: text and tables, nothing that loads or runs."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markupsafe import Markup

# On the page, the notes are below a heading of level 3.
_LEVELS_ABOVE = 3
_DEEPEST_LEVEL = 6
# A table wider than the screen scrolls by itself, also with the keyboard.
_TABLE = '<div class="scroll" tabindex="0" role="region" aria-label="Table of the notes"><table>'


def notes_html(markdown: str) -> Markup:
    """HTML of a study's notes; raw HTML is shown as text, and images load nothing.

    Headings become subheadings of the page: ``#`` becomes level 4.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.add_render_rule("table_open", lambda *_: _TABLE)
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            level = min(_DEEPEST_LEVEL, int(token.tag[1:]) + _LEVELS_ABOVE)
            token.tag = f"h{level}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704  raw HTML is off
