"""The metric of this study alone."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics import LinkView, link_metric


@link_metric(
    "s",
    "Time of the transfer",
    "arithmetic: packets on the wire after slow start",
    tables=("utilization",),
)
def transfer_time(link: LinkView) -> float | None:
    """End of the last bin of 0.1 s in which a packet leaves the bottleneck's queue."""
    busy = link.departures.filter(pl.col("mbps") > 0)["time_s"]
    return float(busy[-1]) if busy.len() else None
