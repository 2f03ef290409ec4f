"""Snakemake's command line without its limit of jobs per second: ``python -m`` this module.

The limit (100 a second, by default) is for clusters; the simulations of one machine are limited by
its cores. Snakemake 9 enforces it by checking all waiting jobs a second after each check, and every
finished job starts another such chain: after 250 runs of a tier this takes a third of a core.
Without a limit it checks when a job ends. Only its Python interface can omit the limit.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

JOBS_PATH_VARIABLE = "BDPBENCH_JOBS_PYTHONPATH"
"""Environment variable with the ``PYTHONPATH`` of jobs, if it differs from that of this process."""


def main(arguments: Sequence[str]) -> int:
    """Run Snakemake with the arguments of its command line; returns its exit status."""
    cli: Any = importlib.import_module("snakemake.cli")  # only partly typed
    try:
        parser, options = cli.parse_args(list(arguments))
        # The plugins are imported by now; jobs get the environment of this process.
        if JOBS_PATH_VARIABLE in os.environ:
            os.environ["PYTHONPATH"] = os.environ.pop(JOBS_PATH_VARIABLE)
        options.max_jobs_per_timespan = None
        return 0 if cli.args_to_api(options, parser) else 1
    except Exception as error:
        cli.print_exception(error)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
