"""What the judged figures and the questions of RFC 9743 need beyond the common metrics."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics import LinkView, RunView, Window, counted, link_metric, run_metric
from bdpbench.metrics.series import PEAK_SHARE, known_sum, time_reached_and_kept

_MOST_BELOW_S = 1.25


@link_metric(
    "s",
    "Time to refill the path",
    "RFC 5166, section 2.2 (response times and minimizing oscillations)",
    tables=("utilization",),
    parameters=("bottleneck_mbps", "loss_at_s"),
    better="less",
    apart=0.05,
)
def refill_time(link: LinkView) -> float | None:
    """Time from the moment of losses to the end of the first bin of 0.1 s with departures of at
    least 90 % of nominal capacity that begins a stay there: the next time below lasts at most
    1.25 s. It is a bin long where the queue bridges the loss.
    """
    loss_s = link.run.number("loss_at_s")
    later = link.departures.filter(pl.col("time_s") > loss_s)
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    # The sender hears of the losses when a round trip is over, so the fall comes later.
    low = later.filter(pl.col("mbps") < level_mbps)
    if low.is_empty():
        return 0.1
    after = later.filter(pl.col("time_s") >= float(low["time_s"][0]))
    reached_s = time_reached_and_kept(after, level_mbps, _MOST_BELOW_S)
    return None if reached_s is None else reached_s - loss_s


def _counts(run: RunView) -> bool:
    return bool(run.flows("facts"))


def _counted(run: RunView) -> Window:
    return counted(run.flows("facts")[0])


@run_metric(
    "%",
    "Goodput of all flows",
    "RFC 2914, section 5 (congestion collapse); RFC 5166, section 2.1.1 (goodput)",
    tables=("facts",),
    parameters=("bottleneck_mbps",),
    window=_counted,
    when=_counts,
    better="more",
    apart=1.0,
    reference=100,
)
def useful_share(run: RunView) -> float | None:
    """Data of all flows that was acknowledged for the first time in the second half of the run,
    without headers and retransmissions, as a share of the bottleneck's rate.
    """
    total_mbps = known_sum([flow.fact("goodput") for flow in run.flows("facts")])
    return None if total_mbps is None else 100 * total_mbps / run.positive("bottleneck_mbps")
