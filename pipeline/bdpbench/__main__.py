"""``python -m bdpbench``: the command line."""

from __future__ import annotations

import gc
import signal

from bdpbench.cli import main

# What is imported stays, so that looking for garbage among it, which takes a tenth of the time of a
# short command, finds nothing.
gc.set_threshold(100_000)
# The wrapper has blocked the signal until here, because Python itself takes some time to start.
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

if __name__ == "__main__":
    main()
