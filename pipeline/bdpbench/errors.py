"""The one error that users are expected to meet and to be able to fix.

Any other exception that escapes is a bug in bdpbench and keeps its traceback.
"""

from __future__ import annotations

import re
from pathlib import Path

# All but tabs and line ends: they move the cursor of a terminal, end a string or a line, or are not
# seen and change the order in which others are.
CONTROL_CHARACTER = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]"
)


# A line of a program that somebody else wrote may have a million characters.
_LONG_LINE = re.compile(r"([^\n]{2000})[^\n]{1000,}([^\n]{200})")


class BdpbenchError(Exception):
    """Something in the input, the machine or a run is wrong, and the message says what to do.

    Args:
        message: what is wrong and what was expected, in one sentence.
        where: the file, ``file:line``, key or command that the message is about.
        hint: what the user can do about it.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        text = _LONG_LINE.sub(r"\1 [...] \2", text)
        return visible(f"{text}\n  hint: {as_called(self.hint)}" if self.hint else text)


def visible(text: str) -> str:
    r"""A text from elsewhere, such as a file name, with escapes for what is not to be printed.

    >>> visible("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    return CONTROL_CHARACTER.sub(lambda found: ascii(found.group())[1:-1], text)


def as_called(text: str) -> str:
    """A text with the commands as the user calls them: pip installs them without the wrapper."""
    wrapper = Path(__file__).resolve().parents[2] / "bdpbench"
    return text if wrapper.is_file() else text.replace("./bdpbench", "bdpbench")
