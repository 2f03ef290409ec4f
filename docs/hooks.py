"""Hook of MkDocs: the site has no files of the checkout, so it names those that pages link."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?!scenarios)([^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace links that lead out of ``docs/`` by the path in the checkout."""
    if page.file.src_uri.startswith("reference/"):
        return markdown  # "../" leads to docs/ from there
    return _OUTSIDE.sub(r"\1 (`\2`)", markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Give the theme's script the style sheets of a highlighter that it expects, both empty."""
    sheets = '<style id="hljs-light"></style><style id="hljs-dark"></style>'
    return output.replace("</head>", f"{sheets}</head>", 1)
