"""A packet trace that ns-2 writes into a pipe → the tables that are kept of it."""

from __future__ import annotations

from pathlib import Path

from bdpbench.studies.streams import reduced_file

SERIES_BIN_S = 1.0
"""Width of the bins of the stored series, s: that of the throughputs of a run."""


def reduce_stream(pipe: Path) -> None:
    """Read a packet trace to its end and write, beside the pipe, the tables it is reduced to.

    Raises:
        BdpbenchError: for a line that is not of a packet trace, with its number.
    """
    from bdpbench.metrics.packets import COLUMNS, sum_packets
    from bdpbench.trace import open_trace

    trace = open_trace(pipe, kind="packets")
    sums = sum_packets(trace.batches(COLUMNS), bin_s=SERIES_BIN_S)
    for name, table in sums.tables().items():
        table.write_parquet(pipe.with_name(reduced_file(pipe.name, name)), compression="zstd")
