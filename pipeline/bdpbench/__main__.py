"""``python -m bdpbench``: the command line."""

from __future__ import annotations

import gc
import os
import signal
from types import FrameType

# What is imported stays, so that looking for garbage among it, which takes a tenth of the time of a
# short command, finds nothing.
gc.set_threshold(100_000)


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"error: interrupted before anything was done\n")
    os._exit(1)


# While modules are imported nothing has begun, so Ctrl-C may simply end the process; Python's own
# handler would print a traceback. A background job of a shell ignores SIGINT, and continues to do
# so.
_handler = signal.getsignal(signal.SIGINT)
if _handler is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
# The wrapper has blocked the signal until here, because Python itself takes some time to start.
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

from bdpbench.cli import main  # noqa: E402

signal.signal(signal.SIGINT, _handler)

if __name__ == "__main__":
    main()
