"""How much of a link its flows use, and when they reach its capacity."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import link_metric
from bdpbench.metrics.series import first_time_at_least, mean, number
from bdpbench.metrics.thresholds import MOST_BELOW_S, PEAK_SHARE
from bdpbench.metrics.views import LinkView, Window, second_half, whole
from bdpbench.metrics.words import BINS, HALF, THESIS, XU


@link_metric(
    unit="s",
    title="Time to 90 % utilization",
    text="End of the first bin of 0.1 s in which departures from the bottleneck's queue, headers "
    "and retransmissions included, reach 90 % of the link's nominal capacity.",
    source=f"{THESIS}, Table 1, columns 6 and 7",
    tables=("utilization",),
    parameters=("bottleneck_mbps",),
    version=1,
)
def time_to_90pct_utilization(link: LinkView) -> float | None:
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    return first_time_at_least(link.departures, "mbps", level_mbps)


@link_metric(
    unit="s",
    title="Time to 90 % utilization, the crossing that lasts",
    text="End of the first bin of 0.1 s with departures of at least 90 % of nominal capacity that "
    f"begins a stay there: the next time below 90 % lasts at most {MOST_BELOW_S:g} s.",
    source=f"{THESIS}, Table 1, columns 6 and 7, read as the crossing that lasts",
    tables=("utilization",),
    parameters=("bottleneck_mbps",),
    version=1,
)
def time_to_90pct_utilization_kept(link: LinkView) -> float | None:
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    return time_reached_and_kept(link.departures, level_mbps, MOST_BELOW_S)


@link_metric(
    unit="Mbit/s",
    title="Largest throughput",
    text="Departures from the bottleneck's queue in the busiest bin of 0.1 s, headers and "
    "retransmissions included.",
    source=f"{THESIS}, Table 1, column 1",
    tables=("utilization",),
    version=1,
)
def max_throughput(link: LinkView) -> float | None:
    return number(link.departures["mbps"].max())


@link_metric(
    unit="%",
    title="Link utilization",
    text="Departures from the bottleneck's queue, headers and retransmissions included, over "
    f"{HALF}, as a share of the link's nominal capacity in that time. {BINS}",
    source=f"{THESIS}, Table 1, columns 4 and 5, and section 3.2 (averages from 250 s)",
    tables=("utilization",),
    parameters=("bottleneck_mbps",),
    optional=("bottleneck_mbps_changes",),
    window=second_half,
    version=1,
)
def utilization(link: LinkView) -> float | None:
    return _share_of_capacity(link, second_half(link))


@link_metric(
    unit="%",
    title="Link utilization over the whole run",
    text="Departures from the bottleneck's queue, headers and retransmissions included, over the "
    "whole run, as a share of the link's nominal capacity in that time.",
    source=f"{XU}, section 3.2 and Figure 3.2 (channel utilization, normalized throughput)",
    tables=("utilization",),
    parameters=("bottleneck_mbps",),
    optional=("bottleneck_mbps_changes",),
    version=1,
)
def overall_utilization(link: LinkView) -> float | None:
    return _share_of_capacity(link, whole(link))


def _share_of_capacity(link: LinkView, window: Window) -> float | None:
    mean_mbps = mean(link.departures, "mbps", window)
    return None if mean_mbps is None else 100 * mean_mbps / link.capacity_mbps(window)


def time_reached_and_kept(
    bins: pl.DataFrame, level_mbps: float, most_below_s: float
) -> float | None:
    """End in s of the first bin at or above level_mbps that begins a lasting stay.

    A stay ends when consecutive bins below the level last longer than most_below_s, and then does
    not count. The end of the run does not end a stay.

    Args:
        bins: bins of one link: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of
            time.
        level_mbps: the level, Mbit/s.
        most_below_s: longest time below the level, s.

    >>> bins = pl.DataFrame({"time_s": [1.0, 2.0, 3.0, 4.0], "mbps": [9.0, 5.0, 5.0, 9.0]})
    >>> time_reached_and_kept(bins, 9.0, 1.5), time_reached_and_kept(bins, 9.0, 2.0)
    (4.0, 1.0)
    """
    high = bins.select("time_s", high=pl.col("mbps") >= level_mbps)
    stretches = (
        high.group_by(pl.col("high").rle_id().alias("stretch"), maintain_order=True)
        .agg(pl.first("high"), start_s=pl.first("time_s"), end_s=pl.last("time_s"))
        .with_columns(below_s=(pl.col("end_s").shift(-1) - pl.col("end_s")).fill_null(0.0))
    )
    # A bin is a difference of two times, so 0.3 s may come out slightly larger.
    kept = stretches.filter(pl.col("high") & (pl.col("below_s") <= most_below_s + 1e-9))
    return None if kept.is_empty() else float(kept["start_s"][0])
