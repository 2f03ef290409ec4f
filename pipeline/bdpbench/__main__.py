"""``python -m bdpbench``: the command line."""

from __future__ import annotations

import signal

# While modules are imported Ctrl-C simply ends the process, as nothing has begun: Python's own
# handler would print a traceback. A shell's background job ignores it, and goes on to do so.
_handler = signal.getsignal(signal.SIGINT)
if _handler is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
# The wrapper keeps the signal back until here, for Python itself takes some time to start.
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

from bdpbench.cli import main  # noqa: E402

signal.signal(signal.SIGINT, _handler)

if __name__ == "__main__":
    main()
