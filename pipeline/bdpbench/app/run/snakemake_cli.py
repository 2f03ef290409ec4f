"""Snakemake's command line without a limit of jobs a second: ``python -m`` this module.

The limit (100 a second, by default) is for clusters; the simulations of one machine are limited by
its cores. Snakemake 9 keeps it by looking at all waiting jobs again a second after each time it did
so, and every finished job begins another such chain: after 250 runs of a tier a third of a core
does nothing else. Without a limit it looks when a job ends. Only its Python interface can leave
the limit out.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

JOBS_PATH_VARIABLE = "BDPBENCH_JOBS_PYTHONPATH"
"""Environment variable with the ``PYTHONPATH`` of jobs, where it is another than that of this."""


def main(arguments: Sequence[str]) -> int:
    """Run Snakemake with the arguments of its command line; returns its exit status."""
    cli: Any = importlib.import_module("snakemake.cli")  # has types in part only
    try:
        parser, options = cli.parse_args(list(arguments))
        # The plugins are imported by now; jobs get the environment that this process has.
        if JOBS_PATH_VARIABLE in os.environ:
            os.environ["PYTHONPATH"] = os.environ.pop(JOBS_PATH_VARIABLE)
        options.max_jobs_per_timespan = None
        return 0 if cli.args_to_api(options, parser) else 1
    except Exception as error:
        cli.print_exception(error)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
