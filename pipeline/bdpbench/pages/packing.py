"""What a page carries packed: deflated, in 85 characters that HTML and scripts can hold.

Base64 would make all published pages together a sixteenth larger.
"""

from __future__ import annotations

import base64
import zlib


def pack(text: str) -> str:
    """Text that the script of the page unpacks; equal ones are packed alike by one zlib."""
    packed = base64.b85encode(zlib.compress(text.encode(), level=9)).decode("ascii")
    return packed.replace("<", ",")  # which could begin a tag


def unpack(packed: str) -> str:
    """The text that was packed.

    >>> unpack(pack("cwnd"))
    'cwnd'

    Raises:
        ValueError: when the text is not packed.
    """
    try:
        return zlib.decompress(base64.b85decode(packed.replace(",", "<"))).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from None
