"""Hook of MkDocs: the site has no files of the checkout, so it names those that pages link."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?!scenarios)([^)#]+)(?:#[^)]*)?\)")

_SEARCH = re.compile(r'<script src="([^"]*search/main\.js)"></script>')


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace links that lead out of ``docs/`` by the path in the checkout."""
    if page.file.src_uri.startswith("reference/"):
        return markdown  # "../" leads to docs/ from there
    return _OUTSIDE.sub(r"\1 (`\2`)", markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Load the search only from a server, and satisfy the theme's script.

    Without a server, browsers refuse the search's worker. The script expects the style sheets of a
    highlighter; both are empty.
    """
    output = _SEARCH.sub(
        r"<script>location.protocol === 'file:' || "
        r"document.write('<script src=\"\1\"><\\/script>')</script>",
        output,
    )
    sheets = '<style id="hljs-light"></style><style id="hljs-dark"></style>'
    return output.replace("</head>", f"{sheets}</head>", 1)
