"""What a page carries packed: deflated, and written in base64."""

from __future__ import annotations

import base64
import zlib


def pack(text: str) -> str:
    """Text that the script of the page unpacks; equal ones are packed alike by one zlib."""
    return base64.b64encode(zlib.compress(text.encode(), level=9)).decode("ascii")


def unpack(packed: str) -> str:
    """The text that was packed.

    >>> unpack(pack("cwnd"))
    'cwnd'

    Raises:
        ValueError: when the text is not packed.
    """
    try:
        return zlib.decompress(base64.b64decode(packed, validate=True)).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from None
