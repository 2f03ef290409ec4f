"""A flow's first slow start: when it ends, the ssthresh that it leaves, and its losses."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.series import last_until
from bdpbench.metrics.views import FlowView
from bdpbench.metrics.words import SLOW_START, XU


@flow_metric(
    unit="s",
    title="End of the first slow start",
    text=f"Time of the last sample of slow start: {SLOW_START}",
    source=f"{XU}, section 3.2 and Figure 3.7 (duration of slow start)",
    tables=("ssthresh", "cwnd"),
    version=1,
)
def slow_start_end(flow: FlowView) -> float | None:
    return end_of_slow_start(flow.cwnd, flow.ssthresh)[0]


@flow_metric(
    unit="packets",
    title="ssthresh after the first loss",
    text="Value of ssthresh that the end of slow start leaves: what the first loss leaves of cwnd, "
    "the window at which congestion avoidance begins. The last sample of slow start is "
    f"{SLOW_START}",
    source=f"{XU}, section 3.2 and Figure 3.10",
    tables=("ssthresh", "cwnd"),
    version=1,
)
def first_ssthresh(flow: FlowView) -> float | None:
    return end_of_slow_start(flow.cwnd, flow.ssthresh)[1]


def _is_alone(flow: FlowView) -> bool:
    """Whether all drops of the run's only queue are drops of this flow."""
    run = flow.run
    flows = (run.flows("ssthresh"), run.flows("sequence"))
    return all(len(each) == 1 for each in (*flows, run.links("queue")))


@flow_metric(
    unit="%",
    title="Loss rate of the first slow start",
    text="Packets dropped by the bottleneck's queue up to the end of slow start, as a share of "
    f"those that the flow had sent by then. Of a run with one flow. The end is {SLOW_START}",
    source=f"{XU}, section 3.2 and Figure 3.8",
    tables=("ssthresh", "cwnd", "sequence", "queue"),
    when=_is_alone,
    version=1,
)
def loss_rate_in_slow_start(flow: FlowView) -> float | None:
    end_s, _ = end_of_slow_start(flow.cwnd, flow.ssthresh)
    if end_s is None:
        return None
    (link,) = flow.run.links("queue")
    highest = last_until(flow.rows("sequence"), "seq", end_s)
    drops = last_until(link.queue, "drops", end_s)
    if highest is None or drops is None or highest < 0:
        return None
    return 100 * drops / (highest + 1)  # packets are numbered from 0


def end_of_slow_start(
    cwnd: pl.DataFrame, ssthresh: pl.DataFrame
) -> tuple[float | None, float | None]:
    """When slow start ends, and the ssthresh that results.

    A loss, or the law of Vegas, sets ssthresh to cwnd or less, and slow start at most doubles cwnd
    within a sampling interval of one RTT. So an ssthresh of more than twice the previous sample of
    cwnd is the agent's own initial limit.

    Args:
        cwnd: cwnd of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        ssthresh: ssthresh of the flow, at the same times: time_s (f64, s), ssthresh_pkts (f64,
            packets).

    Returns:
        Time in s of the last sample before ssthresh is first set this way, and its new value in
            packets; None and None if it never is.

    >>> cwnd = pl.DataFrame({"time_s": [0.0, 0.1, 0.2], "cwnd_pkts": [1.0, 60.0, 40.0]})
    >>> samples = {"time_s": [0.0, 0.1, 0.2], "ssthresh_pkts": [99.0, 99.0, 40.0]}
    >>> end_of_slow_start(cwnd, pl.DataFrame(samples))
    (0.1, 40.0)
    """
    now, before = pl.col("ssthresh_pkts"), pl.col("ssthresh_pkts").shift(1)
    last_cwnd = pl.col("cwnd_pkts").shift(1)
    ends = (
        ssthresh.join(cwnd, on="time_s")
        .sort("time_s")
        .with_columns(
            before_s=pl.col("time_s").shift(1), is_end=(now != before) & (now <= 2 * last_cwnd)
        )
        .filter("is_end")
    )
    if ends.is_empty():
        return None, None
    first = ends.row(0, named=True)
    return float(first["before_s"]), float(first["ssthresh_pkts"])
