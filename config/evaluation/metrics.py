"""What the judged figures and the questions of RFC 9743 need beyond the common metrics."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics import (
    FlowView,
    LinkView,
    RunView,
    Window,
    counted,
    flow_metric,
    link_metric,
    run_metric,
    second_half,
)
from bdpbench.metrics.series import PEAK_SHARE, first_time_at_least, inside, known_sum

_FULL_S = 5.0
"""A path is full if its mean over this time is: longer than the dip after a cut that a protocol
makes good at once, shorter than any saw-tooth of standard TCP that empties the queue."""

_BIN_S = 0.1


def _mean_after(departures: pl.DataFrame) -> pl.DataFrame:
    """Each bin with ``after_mbps``, the mean of the 5 s that begin with it; only whole ones.

    Args:
        departures: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), bins of 0.1 s.
    """
    bins = round(_FULL_S / _BIN_S)
    after = pl.col("mbps").rolling_mean(bins).shift(1 - bins)
    return departures.with_columns(after_mbps=after).drop_nulls("after_mbps")


@link_metric(
    "s",
    "Time to fill the path",
    "RFC 5166, section 2.2 (response times)",
    tables=("utilization",),
    parameters=("bottleneck_mbps",),
    better="less",
    apart=0.05,
)
def fill_time(link: LinkView) -> float | None:
    """End of the first bin of 0.1 s with departures of at least 90 % of nominal capacity from which
    on, to the end of the run, no 5 s have less than 90 % on average.
    """
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    bins = _mean_after(link.departures)
    last_low = bins.filter(pl.col("after_mbps") < level_mbps)["time_s"].max()
    kept = bins if last_low is None else bins.filter(pl.col("time_s") > last_low)
    return first_time_at_least(kept, "mbps", level_mbps)


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
    least 90 % of nominal capacity that begins 5 s with at least 90 % on average. It is a bin long
    where the queue bridges the loss.
    """
    loss_s = link.run.number("loss_at_s")
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    later = _mean_after(link.departures).filter(pl.col("time_s") > loss_s)
    # The sender hears of the losses when a round trip is over, so the fall comes later.
    low = later.filter(pl.col("mbps") < level_mbps)
    if low.is_empty():
        return _BIN_S
    after = later.filter(pl.col("time_s") >= float(low["time_s"][0]))
    full = after.filter(pl.col("after_mbps") >= level_mbps)
    reached_s = first_time_at_least(full, "mbps", level_mbps)
    return None if reached_s is None else reached_s - loss_s


@flow_metric(
    "1",
    "Saw-teeth that are measured",
    "RFC 5166, section 2.1 (a steady state is measured over whole periods)",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    window=second_half,
)
def saw_teeth(flow: FlowView) -> float | None:
    """How many whole saw-teeth of cwnd, from one cut to the next, lie in the second half of the
    run; one less than its cuts.
    """
    return float(max(flow.cuts.filter(inside("cut_s", *second_half(flow))).height - 1, 0))


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
