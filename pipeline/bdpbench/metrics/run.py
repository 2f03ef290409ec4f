"""All metrics of one run, from its parameters and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.registry import (
    CONVERGENCE_WINDOW_S,
    FAIR_ASYMMETRY,
    MOST_BELOW_S,
    PEAK_SHARE,
)
from bdpbench.metrics.series import (
    asymmetry,
    congestion_time,
    convergence_time,
    find_cuts,
    first_time_at_least,
    grown_again,
    growth_per_rtt,
    in_window,
    jain_index,
    plateau_time,
    recovery_times,
    settling_time,
    slow_start_end,
    time_back_to_first_peak,
    time_reached_and_kept,
    time_to_max_throughput,
    variation,
)
from bdpbench.metrics.traced import DEFINITIONS, FLOWS_TABLE, measure_traced
from bdpbench.units import BITS_PER_BYTE

METRICS_SCHEMA = {
    "run_id": pl.String,
    "scenario": pl.String,
    "metric": pl.String,
    "subject": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "start_s": pl.Float64,
    "end_s": pl.Float64,
    "definition": pl.String,
}
"""Columns of metrics.parquet; ``value`` is null for what was never reached or is not defined."""

_SERIES = {
    "cwnd": "flow",
    "ssthresh": "flow",
    "sequence": "flow",
    "acknowledged": "flow",
    "throughput": "flow",
    "queue": "link",
    "utilization": "link",
}
_MAX_MISSING_END_S = 1.0

Window = tuple[float, float]
Frames = Mapping[Any, pl.DataFrame]


@dataclass(frozen=True)
class Measurement:
    """One value before it becomes a row: metric, subject, value and window in s."""

    metric: str
    subject: str
    value: float | None
    window: Window


def measure_run(
    parameters: Mapping[str, Any],
    tables: Mapping[str, pl.LazyFrame],
    *,
    run_id: str,
    scenario: str,
) -> pl.DataFrame:
    """All run-level metrics that the tables allow; what each means stands in ``DEFINITIONS``.

    Throughputs count departures from the bottleneck's queue, headers and retransmissions
    included. Windows are half-open, ``(start_s, end_s]``: a bin counts when its end lies inside.

    Args:
        parameters: of the run: duration_s (s); bottleneck_mbps (Mbit/s) for metrics of a link;
            bdp_pkts (packets) and rtt_ms, or rtt_1_ms and rtt_2_ms (ms), for metrics of cwnd;
            flow2_start_s (s) and drop_packet where the scenario has them.
        tables: any of cwnd (time_s f64, flow i32, cwnd_pkts f64), ssthresh (time_s f64, flow i32,
            ssthresh_pkts f64, at the times of cwnd), sequence (time_s f64, flow i32, seq i64:
            highest number sent, from 0), acknowledged (time_s f64, flow i32, ack i64), throughput
            (time_s f64, flow i32, mbps f64), queue (time_s f64, link str, pkts i64, drops i64),
            utilization (time_s f64, link str, mbps f64), each in the order of time within a flow
            or link; packet_flows, as PacketSums.flows. Others are left alone. Metrics of an absent
            table are absent.
        run_id: goes into the rows.
        scenario: goes into the rows.

    Returns:
        One row a metric and subject, columns as ``METRICS_SCHEMA``: run_id, scenario, metric,
        subject ("flow:0", "link:bottleneck", "run"), value (f64, null: never reached or not
        defined, as for a flow without packets), unit, start_s, end_s (f64, s), definition.

    Raises:
        BdpbenchError: when a parameter is missing or no positive number, or a series ends more
            than a second (or a sampling interval) before duration_s, so that its means would be
            of another window.
    """
    run = _Run(parameters, f"run {run_id}")
    frames = _collect(tables)
    run.check_coverage(frames)
    cuts = {flow: find_cuts(cwnd, run.rtt_s(flow)) for flow, cwnd in frames["cwnd"].items()}
    found = [
        *_measure_cwnds(run, frames["cwnd"], cuts),
        *_measure_links(run, frames["utilization"]),
        *_measure_queues(run, frames["queue"], cuts),
        *_measure_slow_starts(run, frames),
        *_measure_acknowledged(run, frames["acknowledged"]),
        *_measure_throughputs(run, frames["throughput"]),
        *_measure_responses(run, frames, cuts),
        *_measure_trace(run, tables),
    ]
    return _as_frame(found, run_id, scenario)


class _Run:
    """The parameters that metrics ask for, checked when asked for."""

    def __init__(self, parameters: Mapping[str, Any], where: str) -> None:
        self._parameters = parameters
        self._where = where
        self.duration_s = self.positive("duration_s")
        self.whole: Window = (0.0, self.duration_s)
        self.second_half: Window = (self.duration_s / 2, self.duration_s)
        self.last_quarter_s = 0.75 * self.duration_s

    def has(self, name: str) -> bool:
        return self._parameters.get(name) is not None

    def number(self, name: str) -> float:
        value = self._parameters.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BdpbenchError(
                f"parameter {name} is {value!r}: its metrics need a number", where=self._where
            )
        return float(value)

    def positive(self, name: str) -> float:
        value = self.number(name)
        if not value > 0:
            raise BdpbenchError(
                f"parameter {name} is {value:g}: expected more than 0", where=self._where
            )
        return value

    @property
    def full_pkts(self) -> float:
        """Packets of cwnd that count as having reached the nominal BDP."""
        return PEAK_SHARE * self.positive("bdp_pkts")

    @property
    def buffer_pkts(self) -> float:
        """Packets that the bottleneck's queue holds; none where the scenario does not say."""
        return self.number("buffer_pkts") if self.has("buffer_pkts") else 0.0

    def rtt_s(self, flow: int) -> float:
        """Nominal RTT of a flow in s: its own where the scenario gives one."""
        own = f"rtt_{flow + 1}_ms"
        return self.positive(own if self.has(own) else "rtt_ms") / 1e3

    def check_coverage(self, frames: Mapping[str, Frames]) -> None:
        for table, by_subject in frames.items():
            for subject, frame in by_subject.items():
                times_s = frame["time_s"]
                end_s, step_s = float(times_s[-1]), _number(times_s.diff().max()) or 0.0
                if self.duration_s - end_s > max(_MAX_MISSING_END_S, step_s):
                    raise BdpbenchError(
                        f"table {table} of {_SERIES[table]} {subject} ends at {end_s:g} s, the run "
                        f"lasts {self.duration_s:g} s",
                        where=self._where,
                        hint="remove the run's folder and run again",
                    )


def _collect(tables: Mapping[str, pl.LazyFrame]) -> dict[str, dict[Any, pl.DataFrame]]:
    """Table → flow or link → its rows; every table of series has an entry."""
    names = [name for name in _SERIES if name in tables]
    frames = dict(zip(names, pl.collect_all([tables[name] for name in names]), strict=True))
    return {
        name: _by_subject(frames[name], key) if name in frames else {}
        for name, key in _SERIES.items()
    }


def _by_subject(frame: pl.DataFrame, key: str) -> dict[Any, pl.DataFrame]:
    parts = frame.partition_by(key, as_dict=True, maintain_order=True)
    return {subject: parts[(subject,)] for (subject,) in sorted(parts)}


def _measure_cwnds(
    run: _Run, cwnds: Frames, cuts: Mapping[int, pl.DataFrame]
) -> Iterator[Measurement]:
    for flow, cwnd in cwnds.items():
        subject = f"flow:{flow}"
        for metric, value in _cwnd_values(run, cwnd, cuts[flow], run.rtt_s(flow)):
            yield Measurement(metric, subject, value, run.whole)
        held = cwnd.filter(in_window(*run.second_half))["cwnd_pkts"]
        yield Measurement("cwnd_variation", subject, variation(held), run.second_half)


def _cwnd_values(
    run: _Run, cwnd: pl.DataFrame, cuts: pl.DataFrame, rtt_s: float
) -> Iterator[tuple[str, float | None]]:
    full_pkts = run.full_pkts
    full = _full_peaks(run, cuts)
    yield "time_to_90pct_cwnd", first_time_at_least(cwnd, "cwnd_pkts", full_pkts)
    if run.has("drop_packet"):
        yield (
            "time_to_90pct_cwnd_after_drop",
            _first_after(cwnd, full_pkts, _nth(cuts["cut_s"], 0)),
        )
    yield "time_to_max_cwnd", _time_to_top(run, cwnd, full)
    yield "first_full_peak", _nth(full["peak_pkts"], 0)
    yield "second_full_peak", _nth(full["peak_pkts"], 1)
    yield "max_cwnd", _number(cwnd["cwnd_pkts"].max())
    yield "first_recovery_time", _first_recovery(run, cwnd, cuts)
    yield from _cut_values(cwnd, cuts, full, rtt_s)
    risen = _full_peaks(run, grown_again(cuts))
    yield "full_peak_interval", _nth(risen["peak_s"].diff(), 1)
    yield "congestion_time", congestion_time(cuts, risen)


def _cut_values(
    cwnd: pl.DataFrame, cuts: pl.DataFrame, full: pl.DataFrame, rtt_s: float
) -> Iterator[tuple[str, float | None]]:
    """What cuts cost, and what comes after them."""
    kept = cuts["after_pkts"] / cuts["peak_pkts"]
    later = full.filter(pl.col("cut") > 0)
    ascents = _after_first_full_peak(cuts, full)
    yield "first_cut_time", _nth(cuts["peak_s"], 0)
    yield "first_cut_ratio", _nth(kept, 0)
    yield "first_cut_after", _nth(cuts["after_pkts"], 0)
    yield "second_cut_ratio", _nth(kept, 1)
    yield "later_cut_ratio", _median(later["after_pkts"] / later["peak_pkts"])
    yield "first_full_cut_ratio", _nth(full["after_pkts"] / full["peak_pkts"], 0)
    yield "recovery_time", _median(recovery_times(ascents))
    yield "growth_per_rtt", _median(growth_per_rtt(ascents, rtt_s))
    yield "time_back_to_first_peak", time_back_to_first_peak(cwnd, cuts)
    yield "plateau_time", plateau_time(cwnd, cuts)


def _time_to_top(run: _Run, cwnd: pl.DataFrame, full: pl.DataFrame) -> float | None:
    """Time in s of the first full peak; of a flow without one, of settling at 90 % or more."""
    if full.height:
        return _nth(full["peak_s"], 0)
    reached_s = first_time_at_least(cwnd, "cwnd_pkts", run.full_pkts)
    return None if reached_s is None else settling_time(cwnd, run.last_quarter_s)


def _first_recovery(run: _Run, cwnd: pl.DataFrame, cuts: pl.DataFrame) -> float | None:
    """Time in s from the first cut to the next top: a peak, or a level that is held."""
    if cuts.is_empty():
        return None
    top_pkts = PEAK_SHARE * (run.positive("bdp_pkts") + run.buffer_pkts)
    cut_s = float(cuts["cut_s"][0])
    tops = cuts.slice(1).filter(pl.col("peak_pkts") >= top_pkts)
    top_s = _nth(tops["peak_s"], 0)
    if top_s is None and first_time_at_least(cwnd, "cwnd_pkts", run.full_pkts) is not None:
        top_s = settling_time(cwnd, run.last_quarter_s)
    return None if top_s is None or top_s < cut_s else top_s - cut_s


def _full_peaks(run: _Run, cuts: pl.DataFrame) -> pl.DataFrame:
    """The cuts from a full peak, with their number in ``cut``."""
    return cuts.with_row_index("cut").filter(pl.col("peak_pkts") >= run.full_pkts)


def _first_after(cwnd: pl.DataFrame, level_pkts: float, since_s: float | None) -> float | None:
    if since_s is None:
        return None
    return first_time_at_least(cwnd.filter(pl.col("time_s") > since_s), "cwnd_pkts", level_pkts)


def _after_first_full_peak(cuts: pl.DataFrame, full: pl.DataFrame) -> pl.DataFrame:
    return cuts.slice(int(full["cut"][0]) + 1) if full.height else cuts.clear()


def _measure_links(run: _Run, links: Frames) -> Iterator[Measurement]:
    for link, bins in links.items():
        subject = f"link:{link}"
        capacity_mbps = run.positive("bottleneck_mbps")
        level_mbps = PEAK_SHARE * capacity_mbps
        reached_s = first_time_at_least(bins, "mbps", level_mbps)
        yield Measurement("time_to_90pct_utilization", subject, reached_s, run.whole)
        kept_s = time_reached_and_kept(bins, level_mbps, MOST_BELOW_S)
        yield Measurement("time_to_90pct_utilization_kept", subject, kept_s, run.whole)
        yield Measurement("max_throughput", subject, _number(bins["mbps"].max()), run.whole)
        for metric, window in (
            ("utilization", run.second_half),
            ("overall_utilization", run.whole),
        ):
            mean_mbps = _mean(bins, "mbps", window)
            share = None if mean_mbps is None else 100 * mean_mbps / capacity_mbps
            yield Measurement(metric, subject, share, window)


def _measure_queues(
    run: _Run, queues: Frames, cuts: Mapping[int, pl.DataFrame]
) -> Iterator[Measurement]:
    for link, queue in queues.items():
        subject = f"link:{link}"
        if len(cuts) == 1:
            yield _queue_min_after_peak(run, subject, queue, *cuts.values())
        pkts = queue.filter(in_window(*run.second_half))["pkts"]
        for metric, value in (
            ("queue_empty_share", _number((pkts == 0).mean())),
            ("mean_queue", _number(pkts.mean())),
            ("queue_variation", variation(pkts)),
        ):
            yield Measurement(metric, subject, value, run.second_half)


def _queue_min_after_peak(
    run: _Run, subject: str, queue: pl.DataFrame, cuts: pl.DataFrame
) -> Measurement:
    peaks_s = _full_peaks(run, cuts)["peak_s"]
    if len(peaks_s) < 3:
        return Measurement("queue_min_after_peak", subject, None, run.whole)
    window = (float(peaks_s[1]), run.duration_s)
    smallest = queue.filter(in_window(*window))["pkts"].min()
    return Measurement("queue_min_after_peak", subject, _number(smallest), window)


def _measure_slow_starts(run: _Run, frames: Mapping[str, Frames]) -> Iterator[Measurement]:
    sent, queues = frames["sequence"], frames["queue"]
    alone = len(frames["ssthresh"]) == len(sent) == len(queues) == 1
    for flow, ssthresh in frames["ssthresh"].items():
        if flow not in frames["cwnd"]:
            continue
        subject = f"flow:{flow}"
        end_s, left_pkts = slow_start_end(frames["cwnd"][flow], ssthresh)
        yield Measurement("slow_start_end", subject, end_s, run.whole)
        yield Measurement("first_ssthresh", subject, left_pkts, run.whole)
        if alone:
            (numbers,), (queue,) = sent.values(), queues.values()
            lost = None if end_s is None else _loss_rate(numbers, queue, end_s)
            yield Measurement("loss_rate_in_slow_start", subject, lost, run.whole)


def _loss_rate(numbers: pl.DataFrame, queue: pl.DataFrame, end_s: float) -> float | None:
    """Drops up to end_s in % of the packets sent by then; numbers count from 0."""
    highest = _last_until(numbers, "seq", end_s)
    drops = _last_until(queue, "drops", end_s)
    if highest is None or drops is None or highest < 0:
        return None
    return 100 * drops / (highest + 1)


def _last_until(frame: pl.DataFrame, column: str, end_s: float) -> float | None:
    return _number(frame.filter(pl.col("time_s") <= end_s)[column].last())


def _measure_acknowledged(run: _Run, flows: Frames) -> Iterator[Measurement]:
    for flow, acks in flows.items():
        first, last = (_last_until(acks, "ack", end_s) for end_s in run.second_half)
        rate = None
        if first is not None and last is not None:
            bits = BITS_PER_BYTE * run.positive("packet_bytes") * (last - first)
            rate = bits / 1e6 / (run.duration_s / 2)
        yield Measurement("acknowledged_rate", f"flow:{flow}", rate, run.second_half)


def _measure_throughputs(run: _Run, flows: Frames) -> Iterator[Measurement]:
    means = dict(zip(flows, _mean_throughputs(flows, run.second_half), strict=True))
    for flow, bins in flows.items():
        subject = f"flow:{flow}"
        yield Measurement(
            "time_to_max_throughput", subject, time_to_max_throughput(bins), run.whole
        )
        yield Measurement("mean_throughput", subject, means[flow], run.second_half)
    if len(flows) > 1:
        fairness = jain_index(list(means.values()))
        yield Measurement("jain_index", "run", fairness, run.second_half)
    if len(flows) == 2:
        yield Measurement("asymmetry", "run", asymmetry(*means.values()), run.second_half)
    if len(flows) == 2 and run.has("flow2_start_s"):
        yield from _measure_from_flow2_start(run, flows)


def _measure_responses(
    run: _Run, frames: Mapping[str, Frames], cuts: Mapping[int, pl.DataFrame]
) -> Iterator[Measurement]:
    """What a flow's window is at which rate of losses: a point of its response function."""
    window = run.second_half
    for flow, bins in frames["throughput"].items():
        mean_mbps = _mean(bins, "mbps", window)
        if flow not in cuts or not run.has("packet_bytes"):
            continue
        subject = f"flow:{flow}"
        bits = (mean_mbps or 0.0) * 1e6 * (window[1] - window[0])
        packets = bits / BITS_PER_BYTE / run.positive("packet_bytes")
        events = cuts[flow].filter(pl.col("cut_s").is_between(*window, closed="right")).height
        yield Measurement("loss_event_rate", subject, events / packets if packets else None, window)
        mean_pkts = _mean(frames["cwnd"][flow], "cwnd_pkts", window)
        yield Measurement("mean_cwnd", subject, mean_pkts, window)


def _measure_from_flow2_start(run: _Run, flows: Frames) -> Iterator[Measurement]:
    start_s = run.number("flow2_start_s")
    window = (start_s, run.duration_s)
    shares = asymmetry(*_mean_throughputs(flows, window))
    yield Measurement("asymmetry_from_flow2_start", "run", shares, window)
    first, second = flows.values()
    fair_s = convergence_time(first, second, start_s, CONVERGENCE_WINDOW_S, FAIR_ASYMMETRY)
    yield Measurement("convergence_time", "run", fair_s, window)


def _measure_trace(run: _Run, tables: Mapping[str, pl.LazyFrame]) -> Iterator[Measurement]:
    if FLOWS_TABLE in tables:
        for metric, subject, value in measure_traced(tables[FLOWS_TABLE].collect(), run.duration_s):
            yield Measurement(metric, subject, value, run.whole)


def _mean_throughputs(flows: Frames, window: Window) -> list[float | None]:
    return [_mean(bins, "mbps", window) for bins in flows.values()]


def _mean(frame: pl.DataFrame, column: str, window: Window) -> float | None:
    """Mean over the rows of a window: bins of equal length, so it is the mean over its time."""
    return _number(frame.filter(in_window(*window))[column].mean())


def _nth(values: pl.Series, index: int) -> float | None:
    return None if len(values) <= index else float(values[index])


def _median(values: pl.Series) -> float | None:
    return _number(values.median())


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _as_frame(found: list[Measurement], run_id: str, scenario: str) -> pl.DataFrame:
    rows = [
        (
            run_id,
            scenario,
            each.metric,
            each.subject,
            each.value,
            DEFINITIONS[each.metric].unit,
            *each.window,
            DEFINITIONS[each.metric].id,
        )
        for each in found
    ]
    return pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")
