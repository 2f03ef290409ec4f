"""Foreign text inside a page: scripts, styles and data that cannot break out of their element."""

from __future__ import annotations

import base64
import contextlib
import json
import zlib
from functools import cache
from typing import Any

from markupsafe import Markup

from bdpbench.contracts.files import keep, read_kept
from bdpbench.contracts.paths import home_dir
from bdpbench.errors import BdpbenchError

_ENDS_AN_ELEMENT = ("</script", "</style", "<!--")


def embed_text(text: str, name: str) -> Markup:
    """Text of our own or of a library that may be placed inside ``<script>`` or ``<style>``.

    Raises:
        BdpbenchError: when something in it would end the element; ``name`` says what the text is.
    """
    lowered = text.lower()  # cached: Vega has a million characters
    for mark in _ENDS_AN_ELEMENT:
        if mark in lowered:
            raise BdpbenchError(f"contains {mark!r} and cannot be embedded in a page", where=name)
    return Markup(text)  # noqa: S704  checked above


def embed_json(value: Any) -> Markup:
    """JSON that may be placed inside ``<script>``, whatever texts it contains.

    Raises:
        ValueError: for NaN and infinity, which JSON does not have.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  contains no character with a meaning in HTML


def parse_json(text: str) -> object:
    """Read what ``embed_json`` wrote.

    >>> parse_json(embed_json({"label": "<RED>"}))
    {'label': '<RED>'}
    """
    return json.loads(text)


def pack_text(text: str) -> str:
    """Text deflated and in base64, for parts of a page that most readers never open.

    The page's script unpacks it. Equal texts give equal bytes with one version of zlib.
    """
    compressor = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)  # no header: deflate-raw
    packed = compressor.compress(text.encode()) + compressor.flush()
    return base64.b64encode(packed).decode("ascii")


def unpack_text(packed: str) -> str:
    """The text that was packed.

    >>> unpack_text(pack_text("cwnd"))
    'cwnd'

    Raises:
        ValueError: when the text is not packed.
    """
    try:
        content = zlib.decompress(base64.b64decode(packed, validate=True), -zlib.MAX_WBITS)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    return content.decode()


@cache
def vega_bundle() -> str:
    """JavaScript of Vega, Vega-Lite and vega-embed, as shipped with vl-convert.

    It is cached under ``home_dir()``, because making it starts a JavaScript engine, which takes two
    seconds.
    """
    from importlib.metadata import version  # here because it is slow and rarely needed

    path, key = home_dir() / "cache" / "vega.txt", version("vl-convert-python")
    kept = read_kept(path, key)
    if kept is not None:
        return kept
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    with contextlib.suppress(OSError):  # without a writable home it is only slower
        keep(path, key, bundle)
    return bundle


def web_address(url: str) -> str:
    """The web address in a citation; "" if there is none."""
    return url if url.startswith(("https://", "http://")) else ""
