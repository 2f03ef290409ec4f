"""What a page carries packed: deflated, and written in base85."""

from __future__ import annotations

import base64
import struct
import zlib

# As in base64.b85encode, without the character that may begin a tag.
_LESS_THAN, _INSTEAD = b"<", b","
_ALPHABET = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~"
_DIGITS = bytes(max(0, _ALPHABET.find(character)) for character in range(256))


def pack(content: bytes) -> str:
    """Content as text without ``"`` and ``<``, which the script of the page unpacks.

    Equal contents give equal texts with one version of zlib.
    """
    compressor = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)  # no header: deflate-raw
    deflated = compressor.compress(content) + compressor.flush()
    return base64.b85encode(deflated).replace(_LESS_THAN, _INSTEAD).decode("ascii")


def unpack(packed: str) -> bytes:
    """The content that was packed; several times as fast as ``base64.b85decode``.

    >>> unpack(pack(b"cwnd"))
    b'cwnd'

    Raises:
        ValueError: when the text is not packed.
    """
    text = packed.encode()
    if text.strip(_ALPHABET):
        raise ValueError("has characters that packed content does not have")
    padding = -len(text) % 5
    digits = iter((text + _ALPHABET[-1:] * padding).translate(_DIGITS))
    words = [
        (((a * 85 + b) * 85 + c) * 85 + d) * 85 + e
        for a, b, c, d, e in zip(digits, digits, digits, digits, digits, strict=True)
    ]
    try:
        deflated = struct.pack(f">{len(words)}I", *words)
        return zlib.decompress(deflated[: len(deflated) - padding], -zlib.MAX_WBITS)
    except (struct.error, zlib.error) as error:
        raise ValueError(str(error)) from None
