"""The crossing of 90 % that lasts, after an enforced drop."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics import FlowView, flow_metric

# s; that of the times at 20 and 220 ms (time_to_90pct_utilization_kept).
_LEAST_STAY_S = 1.25


@flow_metric(
    unit="s",
    title="Time to 90 % of the BDP, one early loss, the crossing that lasts",
    text="Simulated time, from the start of the run, of the first cwnd sample after the first cut "
    "at or above 90 % of the nominal bandwidth-delay product that begins a stay there of at least "
    f"{_LEAST_STAY_S:g} s.",
    source="Sharma (2006), Table 1, column 3, read as the crossing that lasts",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms", "drop_packet"),
)
def time_to_90pct_cwnd_after_drop_kept(flow: FlowView) -> float | None:
    """Start of the first stay at 90 % of the BDP after the first cut, s."""
    first_cut = flow.cuts["cut_s"].head(1)
    if first_cut.is_empty():
        return None
    high = flow.cwnd.filter(pl.col("time_s") > first_cut[0]).select(
        "time_s", high=pl.col("cwnd_pkts") >= flow.full_pkts
    )
    stays = (
        high.group_by(pl.col("high").rle_id().alias("stretch"), maintain_order=True)
        .agg(pl.first("high"), start_s=pl.first("time_s"), end_s=pl.last("time_s"))
        # Samples are differences of decimal times: 1.25 s may come out a little less.
        .filter(pl.col("high") & (pl.col("end_s") - pl.col("start_s") >= _LEAST_STAY_S - 1e-9))
    )
    return None if stays.is_empty() else float(stays["start_s"][0])
