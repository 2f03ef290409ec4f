"""How flows share a network: measures of throughputs, alone and relative to max-min shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from bdpbench.later import pl
from bdpbench.units import total


def asymmetry(first: float | None, second: float | None) -> float | None:
    """(x1 - x2)/(x1 + x2) of two throughputs in Mbit/s (Sharma 2006, section 3.2).

    None if a flow was not measured or neither sent anything.

    >>> asymmetry(300.0, 100.0)
    0.5
    """
    if first is None or second is None or first + second == 0:
        return None
    return (first - second) / (first + second)


def convergence_time(
    first: pl.DataFrame, second: pl.DataFrame, start_s: float, window_s: float, most: float
) -> float | None:
    """Time in s from start_s to the end of the first window in which two flows share fairly.

    Args:
        first: bins of one flow: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of
            time.
        second: bins of the other flow, at the same times.
        start_s: start of the second flow, s.
        window_s: length of the windows, s; a window begins with every bin.
        most: largest |asymmetry| that counts as fair.
    """
    both = first.select("time_s", one="mbps").join(second.select("time_s", two="mbps"), on="time_s")
    both = both.filter(pl.col("time_s") > start_s).sort("time_s")
    step_s = both["time_s"].diff().median()
    if not isinstance(step_s, float):
        return None
    rows = max(1, round(window_s / step_s))
    sums = both.select("time_s", pl.col("one", "two").rolling_sum(rows)).drop_nulls()
    difference, total = (pl.col("one") - pl.col("two")).abs(), pl.col("one") + pl.col("two")
    fair = sums.filter((total > 0) & (difference <= most * total))["time_s"]
    return None if fair.is_empty() else float(fair[0]) - start_s


def time_to_ratio(bins: pl.DataFrame, window_s: float, least: float) -> float | None:
    """Time in s until the slowest flow gets at least a given share of the fastest one's throughput.

    It starts with the first bin in which the last flow to start has any throughput, and ends with
    the first window over which the ratio is at least ``least``.

    Args:
        bins: bins of all flows: time_s (f64, s, end of the bin), flow, mbps (f64, Mbit/s), at the
            same times for each.
        window_s: length of the windows, s; a window begins with every bin.
        least: ratio of the smallest to the largest throughput.
    """
    first = bins.filter(pl.col("mbps") > 0).group_by("flow").agg(pl.col("time_s").min())
    step_s = bins["time_s"].unique().sort().diff().median()
    last_s = first["time_s"].max()
    if not isinstance(step_s, float) or not isinstance(last_s, float):
        return None
    if first.height < bins["flow"].n_unique():
        return None
    rows = max(1, round(window_s / step_s))
    sums = bins.filter(pl.col("time_s") >= last_s).sort("flow", "time_s")
    sums = sums.select("time_s", pl.col("mbps").rolling_sum(rows).over("flow")).drop_nulls()
    extremes = sums.group_by("time_s").agg(low=pl.col("mbps").min(), high=pl.col("mbps").max())
    # Sums of equal rates may differ by rounding.
    reached = extremes.filter(pl.col("low") >= (least - 1e-12) * pl.col("high"))
    end_s = reached["time_s"].min()
    return end_s - (last_s - step_s) if isinstance(end_s, float) else None


def smallest_to_largest(throughputs: Sequence[float | None]) -> float | None:
    """Smallest over largest throughput, from 0 to 1 (fair).

    None if a flow was not measured or none sent anything.

    >>> smallest_to_largest([0.3, 0.4, 0.2])
    0.5
    """
    known = [each for each in throughputs if each is not None]
    largest = max(known, default=0.0)
    return min(known) / largest if len(known) == len(throughputs) and largest > 0 else None


def jain_index(throughputs: Sequence[float | None]) -> float | None:
    """(sum x)^2/(n sum x^2) of throughputs in Mbit/s (Jain, Chiu and Hawe 1984).

    None if a flow was not measured or none sent anything.

    >>> jain_index([3.0, 0.0])
    0.5
    """
    known = [each for each in throughputs if each is not None]
    # Scaled by the largest, since the square of a tiny rate underflows.
    largest = max(known, default=0.0)
    if len(known) < len(throughputs) or largest == 0:
        return None
    scaled = [each / largest for each in known]
    return total(scaled) ** 2 / (len(scaled) * total(each * each for each in scaled))


def max_min_shares(
    routes: Mapping[str, Sequence[str]],
    capacities: Mapping[str, float],
    demands: Mapping[str, float] | None = None,
) -> dict[str, float | None]:
    """Max-min fair rates in Mbit/s, by progressive filling.

    All rates rise together from 0; when a link is full, the flows across it keep their rates, and
    the others continue to rise (Bertsekas and Gallager, Data Networks, section 6.5.2).

    Args:
        routes: flow → the links that it crosses.
        capacities: link → Mbit/s; a missing link limits no flow.
        demands: flow → its largest rate, Mbit/s; a missing flow has no limit of its own.

    Returns:
        Flow → Mbit/s; None for a flow without any limit.

    >>> routes = {"long": ["a", "b"], "first": ["a"], "second": ["b"]}
    >>> max_min_shares(routes, {"a": 10, "b": 4})
    {'long': 2.0, 'first': 8.0, 'second': 2.0}
    """
    # In a damaged trace, sizes of packets, and so demands, may be negative.
    wanted = {flow: max(0.0, each) for flow, each in (demands or {}).items()}
    left = {link: float(capacity) for link, capacity in capacities.items()}
    rising = {flow: {link for link in links if link in left} for flow, links in routes.items()}
    shares: dict[str, float | None] = dict.fromkeys(routes)
    level = 0.0
    while rising:
        crowd = Counter(link for links in rising.values() for link in links)
        steps = [left[link] / count for link, count in crowd.items()]
        steps += [wanted[flow] - level for flow in rising if flow in wanted]
        step = min(steps, default=math.inf)
        if math.isinf(step):
            break
        level += step
        left = {link: room - step * crowd[link] for link, room in left.items()}
        stopped = _stopped(rising, left, capacities, level, wanted)
        if not stopped:  # a capacity or demand is NaN
            break
        for flow in stopped:
            shares[flow] = level
            del rising[flow]
    return shares


def _stopped(
    rising: Mapping[str, set[str]],
    left: Mapping[str, float],
    capacities: Mapping[str, float],
    level: float,
    wanted: Mapping[str, float],
) -> list[str]:
    """Flows that cross a full link or have reached their demand."""
    # Rounding may leave a remainder where the difference should be 0.
    full = {link for link, room in left.items() if room <= 1e-9 * capacities[link]}
    return [
        flow
        for flow, links in rising.items()
        if links & full or wanted.get(flow, math.inf) <= level * (1 + 1e-9)
    ]


def normalised_jain_index(
    throughputs: Sequence[float | None], shares: Sequence[float | None]
) -> float | None:
    """Jain's index of throughputs over fair shares, both in Mbit/s.

    None if a share is unknown or 0, and if ``jain_index`` is None.

    >>> normalised_jain_index([2.0, 8.0], [2.0, 8.0])
    1.0
    """
    if any(not share for share in shares) or None in throughputs:
        return None
    pairs = zip(throughputs, shares, strict=True)
    return jain_index([x / share for x, share in pairs if x is not None and share])


def throughput_ratio(first: float | None, second: float | None) -> float | None:
    """x1/x2 of two throughputs in Mbit/s; None if one is unknown or the second is 0.

    >>> throughput_ratio(3.0, 2.0)
    1.5
    """
    return None if first is None or not second else first / second


def tcp_friendly_rate(packet_bytes: float, rtt_s: float, loss_rate: float) -> float:
    """Rate in Mbit/s of a conforming TCP (RFC 5348, section 3.1, with t_RTO = 4 RTT and b = 1).

    Args:
        packet_bytes: size of its packets, bytes.
        rtt_s: round-trip time, s, above 0.
        loss_rate: loss event rate, above 0 and at most 1.

    At small loss rates it is s/(R sqrt(2p/3)):

    >>> round(tcp_friendly_rate(1000, 0.1, 1e-6) / (8e-3 / (0.1 * (2e-6 / 3) ** 0.5)), 4)
    1.0
    """
    p = loss_rate
    waits = rtt_s * math.sqrt(2 * p / 3)
    timeouts = 4 * rtt_s * 3 * math.sqrt(3 * p / 8) * p * (1 + 32 * p * p)
    return 8e-6 * packet_bytes / (waits + timeouts)
