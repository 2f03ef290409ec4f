"""Hook of MkDocs: of the files of the checkout that pages link, the site has reports alone.

The others are named.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?!scenarios)([^)#]+)(?:#[^)]*)?\)")

_SEARCH = re.compile(r'<script src="([^"]*search/main\.js)"></script>')


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Let links that lead out of ``docs/`` lead to a copy in the site, or name the file."""
    here = Path(page.file.src_uri).parent
    if here.name == "reference":
        return markdown  # "../" leads to docs/ from there

    def inside(found: re.Match[str]) -> str:
        words, path = found.groups()
        copy = path.removeprefix("reports/")
        if Path(config["docs_dir"], copy).is_file():
            return f"[{words}]({os.path.relpath(copy, here)})"
        return f"{words} (`{path}`)"

    return _OUTSIDE.sub(inside, markdown)


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
