"""What each metric means, in words that the report prints beside the number."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Level = Literal["run", "group"]


@dataclass(frozen=True)
class Definition:
    """One reading of one metric.

    Attributes:
        id: metric and version of the reading, e.g. ``utilization/1``; a change of what is
            measured is a new version.
        metric: name in metrics.parquet, published.csv and claims.yaml.
        subject: what it is measured on: "flow", "link" or "run".
        level: "run" when one run suffices, "group" when several runs are compared.
        unit: of the value; "1" for a ratio, "%" for per cent.
        text: the definition, for readers of the report.
        source: where the definition comes from.
    """

    id: str
    metric: str
    subject: Literal["flow", "link", "run"]
    level: Level
    unit: str
    text: str
    source: str


PEAK_SHARE = 0.9
"""Share of the nominal BDP or capacity that counts as reaching it (sharma2006, section 4.7.1)."""

MAX_SHARE = 0.99
"""Share of the largest throughput that counts as reaching it: a saw-tooth rarely fills a second."""

CUT_SHARE = 0.95
"""A loss response leaves at most this share of cwnd: all variants studied remove 10 % or more."""

MOST_BELOW_S = 1.25
"""Time in s that a link may spend below a level at a time and still count as staying there."""

REACHED_METRIC = "time_to_90pct_utilization_kept"
"""Reading of the time to 90 % utilization that the differences between RTTs are taken of."""

FAIR_ASYMMETRY = 0.3
"""Largest |asymmetry| of two flows that counts as fair: the faster has at most 65 %."""

FAIRNESS_REGIONS = 5
"""Equal parts of the range of |asymmetry|, 0 to 1, from fair to starved."""

CONVERGENCE_WINDOW_S = 10.0
"""Time in s over which two flows have to share fairly to count as converged."""

_THESIS = "sharma2006"
_XU = "xu2004"
_CUT = (
    "A cut is a fall of cwnd by at least 5 % between two samples; falls less than one nominal RTT "
    "apart answer the same loss event and count as one cut. The peak of a cut is the last sample "
    "before it."
)
_SLOW_START = (
    "the one before ssthresh is first set to what cwnd is then or less, by a loss or by the "
    "sender's law."
)
_HALF = "the second half of the run, (duration/2, duration]"
_BINS = "A bin belongs to the window when its end does."


def _define(
    metric: str,
    subject: Literal["flow", "link", "run"],
    unit: str,
    text: str,
    source: str,
    level: Level = "run",
) -> Definition:
    return Definition(f"{metric}/1", metric, subject, level, unit, text, source)


_ALL = (
    _define(
        "time_to_90pct_cwnd",
        "flow",
        "s",
        "Simulated time of the first cwnd sample at or above 90 % of the nominal "
        "bandwidth-delay product (bottleneck rate times nominal RTT, in packets of payload size).",
        f"{_THESIS}, Table 1, column 2, and section 4 (BDP of 7,775 packets)",
    ),
    _define(
        "time_to_90pct_cwnd_after_drop",
        "flow",
        "s",
        "Simulated time, from the start of the run, of the first cwnd sample after the first cut "
        f"at or above 90 % of the nominal bandwidth-delay product. {_CUT}",
        f"{_THESIS}, Table 1, column 3, and section 4, experiment 2",
    ),
    _define(
        "time_to_90pct_utilization",
        "link",
        "s",
        "End of the first bin of 0.1 s in which departures from the bottleneck's queue, headers "
        "and retransmissions included, reach 90 % of the link's nominal capacity.",
        f"{_THESIS}, Table 1, columns 6 and 7",
    ),
    _define(
        "time_to_90pct_utilization_kept",
        "link",
        "s",
        "End of the first bin of 0.1 s with departures of at least 90 % of nominal capacity that "
        f"begins a stay there: the next time below 90 % lasts at most {MOST_BELOW_S:g} s.",
        f"{_THESIS}, Table 1, columns 6 and 7, read as the crossing that lasts",
    ),
    _define(
        "time_to_max_cwnd",
        "flow",
        "s",
        "Simulated time of the first peak at or above 90 % of the nominal bandwidth-delay "
        "product: the top of the first full ascent. For a flow that has no such peak and holds "
        "its cwnd within 1 % over the last quarter of the run, the time at which it first comes "
        f"within 1 % of that level. {_CUT}",
        f"{_THESIS}, sections 4.1.3.1, 4.2.3.1 and 4.5.3.1",
    ),
    _define(
        "first_cut_time",
        "flow",
        "s",
        f"Time of the peak of the first cut, after which cwnd falls for the first time. {_CUT}",
        f"{_THESIS}, section 4.2.3.2",
    ),
    _define(
        "first_cut_ratio",
        "flow",
        "1",
        f"cwnd after the first cut divided by its peak. {_CUT}",
        f"{_THESIS}, section 4.1.3.1",
    ),
    _define(
        "first_cut_after",
        "flow",
        "packets",
        f"cwnd after the first cut, in the first sample behind it. {_CUT}",
        f"{_XU}, section 3.2 (cwnd of Westwood and Vegas as congestion avoidance begins)",
    ),
    _define(
        "slow_start_end",
        "flow",
        "s",
        f"Time of the last sample of slow start: {_SLOW_START}",
        f"{_XU}, section 3.2 and Figure 3.7 (duration of slow start)",
    ),
    _define(
        "first_ssthresh",
        "flow",
        "packets",
        "Value of ssthresh that the end of slow start leaves: what the first loss leaves of cwnd, "
        "the window at which congestion avoidance begins. The last sample of slow start is "
        f"{_SLOW_START}",
        f"{_XU}, section 3.2 and Figure 3.10",
    ),
    _define(
        "loss_rate_in_slow_start",
        "flow",
        "%",
        "Packets dropped by the bottleneck's queue up to the end of slow start, as a share of "
        f"those that the flow had sent by then. Of a run with one flow. The end is {_SLOW_START}",
        f"{_XU}, section 3.2 and Figure 3.8",
    ),
    _define(
        "first_recovery_time",
        "flow",
        "s",
        "Time from the first cut to the next peak at or above 90 % of what path and buffer hold, "
        "the nominal bandwidth-delay product plus the bottleneck's buffer. For a flow that has no "
        "such peak and holds its cwnd within 1 % over the last quarter of the run, to the time at "
        f"which it first comes within 1 % of that level. {_CUT}",
        f"{_XU}, section 3.2 and Figure 3.9 (the first congestion avoidance phase)",
    ),
    _define(
        "second_cut_ratio",
        "flow",
        "1",
        f"cwnd after the second cut divided by its peak. {_CUT}",
        f"{_THESIS}, section 4.6.3.1",
    ),
    _define(
        "later_cut_ratio",
        "flow",
        "1",
        "Median, over all cuts but the first whose peak is at or above 90 % of the nominal "
        f"bandwidth-delay product, of cwnd after the cut divided by the peak. {_CUT}",
        f"{_THESIS}, section 4.2.3.1",
    ),
    _define(
        "first_full_cut_ratio",
        "flow",
        "1",
        "cwnd after the first cut whose peak is at or above 90 % of the nominal bandwidth-delay "
        f"product, divided by the peak. {_CUT}",
        f"{_XU}, section 3.4 (Scalable TCP's first peak)",
    ),
    _define(
        "recovery_time",
        "flow",
        "s",
        "Median time from a cut to the next peak, over the cuts that follow the first full peak's "
        f"own cut (a full peak is at or above 90 % of the nominal BDP). {_CUT}",
        f"{_THESIS}, sections 4.1.3.1 and 4.2.3.1",
    ),
    _define(
        "time_back_to_first_peak",
        "flow",
        "s",
        "Time from the first cut to the first later cwnd sample at or above 95 % of that cut's "
        f"peak. {_CUT}",
        f"{_THESIS}, section 1.2, on Figures 2 and 3",
    ),
    _define(
        "plateau_time",
        "flow",
        "s",
        "Time from the first cut to the first later cwnd sample at or above 105 % of that cut's "
        f"peak: how long the flow stays at the window at which it lost a packet. {_CUT}",
        f"{_THESIS}, section 4.3.3.2",
    ),
    _define(
        "first_full_peak",
        "flow",
        "packets",
        "cwnd at the first peak at or above 90 % of the nominal bandwidth-delay product: the "
        f"largest cwnd that the flow had before its own losses. {_CUT}",
        f"{_THESIS}, section 4.3.3.1",
    ),
    _define(
        "second_full_peak",
        "flow",
        "packets",
        f"cwnd at the second peak at or above 90 % of the nominal bandwidth-delay product. {_CUT}",
        f"{_THESIS}, section 4.3.3.1",
    ),
    _define(
        "full_peak_interval",
        "flow",
        "s",
        "Time from the first to the second peak at or above 90 % of the nominal bandwidth-delay "
        f"product to which cwnd has grown, by at least 5 % since the cut before it. {_CUT}",
        f"{_XU}, section 3.4 (the time that Scalable TCP needs to get back to its peak)",
    ),
    _define(
        "congestion_time",
        "flow",
        "s",
        "Time from the first peak at or above 90 % of the nominal bandwidth-delay product to the "
        "last cut before the second such peak to which cwnd has grown, by at least 5 % since the "
        f"cut before it: how long the flow goes on cutting before it grows again. {_CUT}",
        f"{_XU}, section 3.4 (the time to resolve the congestion)",
    ),
    _define(
        "growth_per_rtt",
        "flow",
        "%",
        "Median growth of cwnd in a nominal RTT, as if it were exponential, of the ascents "
        "between cuts that follow the first full peak's own cut (a full peak is at or above 90 % "
        f"of the nominal BDP). {_CUT}",
        f"{_THESIS}, Table 3: whether the increase parameter is fixed",
    ),
    _define(
        "cwnd_variation",
        "flow",
        "1",
        f"Standard deviation of the samples of cwnd over their mean, over {_HALF}: 0 for a cwnd "
        "that is held, 0.19 for a straight saw-tooth between half and full.",
        f"{_THESIS}, sections 4.3.3.3, 4.5.3.1 and 4.5.3.3 (stable, oscillating)",
    ),
    _define(
        "mean_cwnd",
        "flow",
        "packets",
        f"Mean of the samples of cwnd over {_HALF}.",
        "RFC 3649, section 2 (the congestion window of a response function)",
    ),
    _define(
        "loss_event_rate",
        "flow",
        "1",
        f"Cuts of cwnd over the packets that departed from the bottleneck, over {_HALF}; packets "
        f"are departures, headers included, over the payload's size. {_CUT}",
        "RFC 5348, section 5 (losses within an RTT are one event); RFC 3649, section 2",
    ),
    _define(
        "max_cwnd",
        "flow",
        "packets",
        "Largest sample of cwnd.",
        f"{_THESIS}, section 4.3.3.1",
    ),
    _define(
        "max_throughput",
        "link",
        "Mbit/s",
        "Departures from the bottleneck's queue in the busiest bin of 0.1 s, headers and "
        "retransmissions included.",
        f"{_THESIS}, Table 1, column 1",
    ),
    _define(
        "utilization",
        "link",
        "%",
        "Departures from the bottleneck's queue, headers and retransmissions included, over "
        f"{_HALF}, as a share of the link's nominal capacity. {_BINS}",
        f"{_THESIS}, Table 1, columns 4 and 5, and section 3.2 (averages from 250 s)",
    ),
    _define(
        "overall_utilization",
        "link",
        "%",
        "Departures from the bottleneck's queue, headers and retransmissions included, over the "
        "whole run, as a share of the link's nominal capacity.",
        f"{_XU}, section 3.2 and Figure 3.2 (channel utilization, normalized throughput)",
    ),
    _define(
        "acknowledged_rate",
        "flow",
        "Mbit/s",
        "Data that the sender has seen acknowledged in order, without headers and "
        f"retransmissions, over {_HALF}.",
        f"{_XU}, section 4.2 and Figures 4.3 to 4.5 (throughput); goodput of RFC 5166, 2.1",
    ),
    _define(
        "mean_throughput",
        "flow",
        "Mbit/s",
        "Departures of the flow from the bottleneck's queue, headers and retransmissions "
        f"included, over {_HALF}. {_BINS}",
        f"{_THESIS}, section 3.2",
    ),
    _define(
        "time_to_max_throughput",
        "flow",
        "s",
        "End of the first second in which the flow's departures from the bottleneck's queue, "
        "headers and retransmissions included, are within 1 % of those in its busiest second.",
        f"{_THESIS}, section 3.2, second metric, and sections 4.1.3.4 and 4.2.3.4",
    ),
    _define(
        "queue_empty_share",
        "link",
        "1",
        f"Share of the samples of the bottleneck's queue that find no packet in it, over {_HALF}.",
        f"{_THESIS}, section 4.2.3.3 (Figures 10 and 17)",
    ),
    _define(
        "mean_queue",
        "link",
        "packets",
        f"Mean of the samples of the bottleneck's queue over {_HALF}.",
        f"{_THESIS}, section 4.5.3.1 (Figure 43)",
    ),
    _define(
        "queue_variation",
        "link",
        "1",
        "Standard deviation of the samples of the bottleneck's queue over their mean, over "
        f"{_HALF}: 0 for a queue of constant length.",
        f"{_THESIS}, section 4.5.3.1 (Figures 43 to 47)",
    ),
    _define(
        "queue_min_after_peak",
        "link",
        "packets",
        "Smallest sample of the bottleneck's queue after the flow's second full peak (at or above "
        "90 % of the nominal BDP): the first is left out since ns-2 halves cwnd there whatever "
        f"the variant's factor is. Measured where a third full peak follows. {_CUT}",
        f"{_THESIS}, section 4.2.3.3 (Figure 18)",
    ),
    _define(
        "asymmetry",
        "run",
        "1",
        "(x1 - x2)/(x1 + x2), where x1 and x2 are the mean throughputs of the first and the "
        f"second flow over {_HALF}: 0 is fair, 1 is all to the first flow, -1 all to the second.",
        f"{_THESIS}, sections 3.2 and 5; Bullot, Cottrell and Hughes-Jones (2003)",
    ),
    _define(
        "asymmetry_from_flow2_start",
        "run",
        "1",
        "(x1 - x2)/(x1 + x2), where x1 and x2 are the mean throughputs of the first and the "
        "second flow from the second flow's start to the end of the run.",
        f"{_THESIS}, section 3.2, over the window that HS-TCP's row of Table 2 fits",
    ),
    _define(
        "convergence_time",
        "run",
        "s",
        "Time from the second flow's start to the end of the first "
        f"{CONVERGENCE_WINDOW_S:g} s over which the two flows' throughputs have an |asymmetry| of "
        f"at most {FAIR_ASYMMETRY:g}.",
        f"{_THESIS}, sections 4.1.3.5, 4.6.3.5 and 4.7.2 (slow and fast convergence)",
    ),
    _define(
        "jain_index",
        "run",
        "1",
        f"Jain's fairness index of the flows' mean throughputs x_i over {_HALF}: "
        "(sum x_i)^2/(n sum x_i^2), from 1/n to 1 (fair).",
        "Jain, Chiu and Hawe (1984), DEC-TR-301; RFC 5166, section 2.3.1",
    ),
    _define(
        "min_buffer_90pct",
        "run",
        "packets",
        "Smallest buffer of the sweep with which utilization over the second half of the run is "
        "above 90 %. Measured where all smaller buffers of the sweep have been simulated too.",
        f"{_THESIS}, Table 1, column 5",
        level="group",
    ),
    _define(
        "rtt_border_difference",
        "run",
        "s",
        f"{REACHED_METRIC} at the largest RTT of the sweep minus that at the smallest RTT at "
        "which it has a value.",
        f"{_THESIS}, Table 1, column 8, and its footnote",
        level="group",
    ),
    _define(
        "rtt_max_throughput_difference",
        "run",
        "s",
        "time_to_max_throughput at the largest RTT of the sweep minus that at the smallest RTT "
        f"at which {REACHED_METRIC} has a value.",
        f"{_THESIS}, section 4.5.3.4",
        level="group",
    ),
    _define(
        "drop_delay",
        "run",
        "s",
        "time_to_max_cwnd of the run with an enforced drop minus that of the run that is equal "
        "but for the drop.",
        f"{_THESIS}, sections 4.1.3.2 and 4.2.3.2",
        level="group",
    ),
    _define(
        "drop_delay_90pct",
        "run",
        "s",
        "time_to_90pct_cwnd_after_drop of the run with an enforced drop minus time_to_90pct_cwnd "
        "of the run that is equal but for the drop.",
        f"{_THESIS}, sections 4.3.3.2 and 4.4.3.2",
        level="group",
    ),
    _define(
        "fairness_points",
        "run",
        "1",
        "Points of the protocol of both flows, over all ordered pairs of protocols that were run "
        "with the same parameters: 1 to 5, the region of |asymmetry| in five equal parts from 0 "
        "to 1, for each of its flows in each pair. Measured where all pairs have been simulated.",
        f"{_THESIS}, section 6.2",
        level="group",
    ),
)

DEFINITIONS: Mapping[str, Definition] = types.MappingProxyType({each.metric: each for each in _ALL})
"""Metric → its definition, in the order in which the report lists them."""
