"""Foreign text inside a page: scripts, styles and data that can't break out of their element."""

from __future__ import annotations

import base64
import contextlib
import json
import zlib
from functools import cache
from typing import Any

from markupsafe import Markup

from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import home_dir
from bdpbench.errors import BdpbenchError

_ENDS_AN_ELEMENT = ("</script", "</style", "<!--")


def embed_text(text: str, name: str) -> Markup:
    """Text of our own or of a library, fit to stand inside ``<script>`` or ``<style>``.

    Raises:
        BdpbenchError: when something in it would end the element; ``name`` tells what it is.
    """
    lowered = text.lower()  # once: Vega's is a million characters
    for mark in _ENDS_AN_ELEMENT:
        if mark in lowered:
            raise BdpbenchError(f"holds {mark!r} and cannot be embedded in a page", where=name)
    return Markup(text)  # noqa: S704  checked above


def embed_json(value: Any) -> Markup:
    """JSON fit to stand inside ``<script>``, whatever the texts in it say.

    Raises:
        ValueError: for NaN and infinity, which JSON does not have.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  holds no character that HTML gives a meaning


def parse_json(text: str) -> object:
    """What ``embed_json`` wrote.

    >>> parse_json(embed_json({"label": "<RED>"}))
    {'label': '<RED>'}
    """
    return json.loads(text)


def pack_text(text: str, *, level: int = 9) -> str:
    """Text deflated and in base64, for what thousands of readers of a page never open.

    The page's script turns it back. Equal texts give equal bytes with one version of zlib.
    """
    compressor = zlib.compressobj(level=level, wbits=-zlib.MAX_WBITS)  # without header: deflate-raw
    packed = compressor.compress(text.encode()) + compressor.flush()
    return base64.b64encode(packed).decode("ascii")


def unpack_text(packed: str) -> str:
    """The text that was packed.

    >>> unpack_text(pack_text("cwnd"))
    'cwnd'

    Raises:
        ValueError: when it is no such text.
    """
    try:
        content = zlib.decompress(base64.b64decode(packed, validate=True), -zlib.MAX_WBITS)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    return content.decode()


@cache
def vega_bundle() -> str:
    """JavaScript of Vega, Vega-Lite and vega-embed, as it ships with vl-convert.

    It is kept under ``home_dir()``: making it starts a JavaScript engine, which takes two seconds.
    """
    from importlib.metadata import version  # here because few need it, and it imports much

    kept = home_dir() / "cache" / f"vega-{version('vl-convert-python')}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    with contextlib.suppress(OSError):  # a home that cannot be written to costs time alone
        write_text_atomically(kept, bundle)
    return bundle


def web_address(url: str) -> str:
    """A citation's address as far as it is one of the web; "" for anything else."""
    return url if url.startswith(("https://", "http://")) else ""
