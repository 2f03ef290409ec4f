"""The one error that users are expected to meet and to be able to fix.

Any other exception that escapes is a bug in bdpbench and keeps its traceback.
"""

from __future__ import annotations

from pathlib import Path


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
        return f"{text}\n  hint: {as_called(self.hint)}" if self.hint else text


def as_called(text: str) -> str:
    """A text with the commands as the user calls them: pip installs them without the wrapper."""
    wrapper = Path(__file__).resolve().parents[2] / "bdpbench"
    return text if wrapper.is_file() else text.replace("./bdpbench", "bdpbench")
