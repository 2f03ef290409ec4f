"""Markdown notes of a study as HTML: text and tables, nothing that loads or runs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

ANCHOR = "notes"
"""Id of the notes on the page; the ids of their parts begin with it."""

# On the page, the notes are below a heading of level 3.
_LEVELS_ABOVE = 3
_DEEPEST_LEVEL = 6
# A table wider than the screen scrolls by itself, also with the keyboard.
_TABLE = '<div class="scroll" tabindex="0" role="region" aria-label="Table of the notes"><table>'


class Notes:
    """The notes of a study on its page, to which its other texts link.

    A part of the notes begins with a heading, or with a paragraph that begins with bold or italic
    words.

    Attributes:
        html: the notes; raw HTML is shown as text, and images load nothing. Headings become
            subheadings of the page: ``#`` becomes level 4.
    """

    def __init__(self, markdown: str) -> None:
        parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
        parser.add_render_rule("table_open", lambda *_: _TABLE)
        parser.add_render_rule("table_close", lambda *_: "</table></div>")
        tokens = parser.parse(markdown)
        for token in tokens:
            if token.type in ("heading_open", "heading_close"):
                level = min(_DEEPEST_LEVEL, int(token.tag[1:]) + _LEVELS_ABOVE)
                token.tag = f"h{level}"
        self._anchors: dict[str, str] = {}
        for name, opening in _parts(tokens):
            anchor = f"{ANCHOR}-{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}"
            if anchor not in self._anchors.values():
                self._anchors[name] = anchor
                opening.attrSet("id", anchor)
        names = "|".join(map(re.escape, sorted(self._anchors, key=len, reverse=True)))
        self._mention = re.compile(rf'\bNOTES\b(?:\.md)?(?:, "?({names or "(?!)"})\b"?)?')
        self.html = Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704  no HTML

    def linked(self, text: str) -> Markup:
        """A text with links where it mentions the notes, or a part of them: ``NOTES, Bounds``."""
        if not self.html:
            return escape(text)
        pieces, end = [], 0
        for mention in self._mention.finditer(text):
            anchor = self._anchors.get(mention[1], ANCHOR)
            link = Markup('<a href="#{}">{}</a>').format(anchor, mention[0])
            pieces += [escape(text[end : mention.start()]), link]
            end = mention.end()
        return Markup("").join([*pieces, escape(text[end:])])


def _parts(tokens: Sequence[Token]) -> Iterator[tuple[str, Token]]:
    """Name of each part of the notes, and the token that opens it."""
    for opening, content in itertools.pairwise(tokens):
        words = [each for each in content.children or [] if each.nesting or each.content]
        if opening.type == "heading_open":
            yield content.content, opening
        elif opening.type == "paragraph_open" and words and words[0].tag in ("strong", "em"):
            yield words[1].content.rstrip("."), words[0]
