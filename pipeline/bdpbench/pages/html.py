"""HTML of the pages: templates, notes, and what every page carries inside it."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from bdpbench.contracts.kept import keep, read_kept
from bdpbench.contracts.paths import home_dir
from bdpbench.contracts.scorecard import (
    NARROW_HALF_WIDTHS,
    NARROW_SHARE,
    is_narrow,
    is_repeated,
)
from bdpbench.pages.names import subject_name
from bdpbench.pages.packing import pack
from bdpbench.pages.text import (
    VERDICTS,
    assets_dir,
    embed_text,
    format_bytes,
    format_number,
    format_percent,
    origin_keys,
    range_text,
    read_asset,
    share_in_words,
    subscripts,
    unbroken,
    value_text,
    web_address,
)

ANCHOR = "notes"
"""Id of the notes on the page; the ids of their parts begin with it."""

# On the page, the notes are below a heading of level 3.
_LEVELS_ABOVE = 3
_DEEPEST_LEVEL = 6

# A table wider than the screen scrolls by itself, also with the keyboard.
_TABLE = '<div class="scroll" tabindex="0" role="region" aria-label="Table of the notes"><table>'


def page_environment() -> jinja2.Environment:
    """Templates under ``reports/``; compiled once, and again after a file has changed."""
    return _environment(assets_dir() / "templates")


def embedded(*, style: str = "", vega: bool = True) -> dict[str, Markup | str]:
    """Style sheet and scripts of a page, ready to be placed inside their elements.

    Args:
        style: name of a style sheet that the page has in addition to that of the report.
        vega: whether it draws charts.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    names = ("report", style) if style else ("report",)
    styles = "".join(read_asset(f"static/{name}.css") for name in names)
    return {
        "style": embed_text(styles, "reports/static"),
        "script": embed_text(read_asset("static/report.js"), "reports/static/report.js"),
        "vega": packed_vega() if vega else "",
    }


@cache
def packed_vega() -> str:
    """JavaScript of Vega, Vega-Lite and vega-embed, as shipped with vl-convert, packed.

    It is cached under ``home_dir()``, because making it starts a JavaScript engine, which takes two
    seconds.
    """
    from importlib.metadata import version  # here because it is slow and rarely needed

    path, key = home_dir() / "cache" / "vega-zlib-85.txt", version("vl-convert-python")
    kept = read_kept(path, key)
    if kept is not None:
        return kept
    import vl_convert

    packed = pack(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    with contextlib.suppress(OSError):  # without a writable home it is only slower
        keep(path, key, packed)
    return packed


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


class _Unindented(jinja2.FileSystemLoader):
    """Templates without indentation, which is only for their readers and a tenth of a page."""

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        source, name, is_current = super().get_source(environment, template)
        return re.sub(r"^[ \t]+", "", source, flags=re.MULTILINE), name, is_current


@cache
def _environment(folder: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=_Unindented(folder),
        bytecode_cache=jinja2.FileSystemBytecodeCache(),  # compiling takes longer than filling
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        web_address=web_address,
        subscripts=subscripts,
        unbroken=unbroken,
        number=format_number,
        size=format_bytes,
        subject=subject_name,
        value_text=value_text,
        verdict=VERDICTS.__getitem__,
        list_of_values=lambda mapping: list(mapping.values()),
        range_text=range_text,
        percent=format_percent,
        share=share_in_words,
        origins=origin_keys,
    )
    environment.tests.update(
        narrow=is_narrow,
        repeated=is_repeated,
        figure_number=lambda figure: not figure[:1].isalpha(),
    )
    environment.globals.update(
        narrow_half_widths=f"{NARROW_HALF_WIDTHS:g}", narrow_percent=f"{100 * NARROW_SHARE:g}"
    )
    return environment
