"""How the flows of a run share the bottleneck."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics import fairness
from bdpbench.metrics.definition import run_metric
from bdpbench.metrics.repetitions import confidence_interval
from bdpbench.metrics.series import batch_means, mean
from bdpbench.metrics.thresholds import (
    BATCHES,
    CONVERGED_RATIO,
    CONVERGED_WINDOW_S,
    CONVERGENCE_WINDOW_S,
    FAIR_ASYMMETRY,
)
from bdpbench.metrics.views import RunView, Window, second_half
from bdpbench.metrics.words import BINS, EVEN, HALF, THESIS, ZHANG


def _has_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) > 1


def _has_two_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) == 2


def _has_batches(run: RunView) -> bool:
    return run.duration_s >= 2 * BATCHES and bool(run.flows("throughput"))


def _has_one_link(run: RunView) -> bool:
    return len(run.links("utilization")) == 1


def _from_flow2_start(run: RunView) -> Window:
    return (run.number("flow2_start_s"), run.duration_s)


def _from_last_start(run: RunView) -> Window:
    starts = [flow.fact("start") for flow in run.flows("throughput")]
    return (max((each for each in starts if each is not None), default=0.0), run.duration_s)


def _starts_are_told(run: RunView) -> bool:
    return _has_flows(run) and all(
        flow.fact("start") is not None for flow in run.flows("throughput")
    )


@run_metric(
    unit="1",
    title="Jain's fairness index",
    text=f"Jain's fairness index of the flows' mean throughputs x_i over {HALF}: "
    "(sum x_i)^2/(n sum x_i^2), from 1/n to 1 (fair).",
    source="Jain, Chiu and Hawe (1984), DEC-TR-301; RFC 5166, section 2.3.1",
    tables=("throughput",),
    window=second_half,
    when=_has_flows,
    version=1,
)
def jain_index(run: RunView) -> float | None:
    return fairness.jain_index(run.mean_throughputs)


@run_metric(
    unit="1",
    title="Smallest over largest throughput",
    text="Mean throughput of the slowest flow over that of the fastest, over "
    f"{HALF}: 0 where a flow is starved, 1 is fair.",
    source=f"{EVEN}, section V and Figure 5",
    tables=("throughput",),
    window=second_half,
    when=_has_flows,
    version=1,
)
def min_max_throughput_ratio(run: RunView) -> float | None:
    return fairness.smallest_to_largest(run.mean_throughputs)


@run_metric(
    unit="1",
    title="Smallest over largest throughput, from the last start",
    text="Mean throughput of the slowest flow over that of the fastest, from the start of the flow "
    f"that starts last to the end of the run. {BINS}",
    source=f"{EVEN}, section V and Figure 5",
    tables=("throughput", "facts"),
    window=_from_last_start,
    when=_starts_are_told,
    version=1,
)
def min_max_ratio_from_last_start(run: RunView) -> float | None:
    window = _from_last_start(run)
    means = [mean(flow.throughput, "mbps", window) for flow in run.flows("throughput")]
    return fairness.smallest_to_largest(means)


@run_metric(
    unit="s",
    title="Time until the slowest flow gets 80 % of the fastest",
    text="Time from the beginning of the first second in which the flow that comes last gets "
    f"packets through the bottleneck to the end of the first {CONVERGED_WINDOW_S:g} s over which "
    f"the slowest flow's throughput is at least {CONVERGED_RATIO:g} of the fastest's.",
    source="RFC 5166, section 2.3 (convergence times); ratio and window of bdpbench",
    tables=("throughput",),
    when=_has_flows,
    version=1,
)
def time_to_converge(run: RunView) -> float | None:
    return fairness.time_to_ratio(run.table("throughput"), CONVERGED_WINDOW_S, CONVERGED_RATIO)


@run_metric(
    unit="Mbit/s",
    title="Total throughput",
    text="Sum over the flows of what departed of them from the bottleneck's queue, headers and "
    f"retransmissions included, over {HALF}. {BINS}",
    source="RFC 5166, section 2.1.1 (throughput), summed up",
    tables=("throughput",),
    window=second_half,
    when=_has_flows,
    version=1,
)
def total_throughput(run: RunView) -> float | None:
    known = [each for each in run.mean_throughputs if each is not None]
    return sum(known) if known and len(known) == len(run.mean_throughputs) else None


@run_metric(
    unit="Mbit/s",
    title="Half-width of the total throughput's confidence interval",
    text="Half of the width of the confidence interval at 95 % of the total throughput, by batch "
    f"means: {HALF} is cut into {BATCHES} parts of equal length, whose means are taken to be "
    "independent of one another. Measured where a part holds a second at least.",
    source="Schmeiser (1982), Batch size effects in the analysis of simulation output; Law and "
    "Kelton, Simulation Modeling and Analysis, on batch means",
    tables=("throughput",),
    window=second_half,
    when=_has_batches,
    version=1,
)
def total_throughput_half_width(run: RunView) -> float | None:
    totals = run.table("throughput").group_by("time_s").agg(pl.col("mbps").sum()).sort("time_s")
    means = batch_means(totals, "mbps", second_half(run), BATCHES)
    return confidence_interval(means).half_width if len(means) == BATCHES else None


@run_metric(
    unit="%",
    title="Utilization by the flows",
    text="Total throughput of the flows over the bottleneck's nominal rate in that time, over "
    f"{HALF}; unlike the link's utilization without what passes beside them, such as UDP or the "
    "web. Of runs with one bottleneck.",
    source=f"{ZHANG}, Tables 1 to 6",
    tables=("throughput", "utilization"),
    parameters=("bottleneck_mbps",),
    optional=("bottleneck_mbps_changes",),
    window=second_half,
    when=_has_one_link,
    version=1,
)
def flows_utilization(run: RunView) -> float | None:
    known = [each for each in run.mean_throughputs if each is not None]
    (link,) = run.links("utilization")
    return 100 * sum(known) / link.capacity_mbps(second_half(run)) if known else None


@run_metric(
    unit="1",
    title="Asymmetry of the two flows",
    text="(x1 - x2)/(x1 + x2), where x1 and x2 are the mean throughputs of the first and the "
    f"second flow over {HALF}: 0 is fair, 1 is all to the first flow, -1 all to the second.",
    source=f"{THESIS}, sections 3.2 and 5; Bullot, Cottrell and Hughes-Jones (2003)",
    tables=("throughput",),
    window=second_half,
    when=_has_two_flows,
    version=1,
)
def asymmetry(run: RunView) -> float | None:
    return fairness.asymmetry(*run.mean_throughputs)


@run_metric(
    unit="1",
    title="Asymmetry from the second flow's start",
    text="(x1 - x2)/(x1 + x2), where x1 and x2 are the mean throughputs of the first and the "
    "second flow from the second flow's start to the end of the run.",
    source=f"{THESIS}, section 3.2, over the window that HS-TCP's row of Table 2 fits",
    tables=("throughput",),
    parameters=("flow2_start_s",),
    window=_from_flow2_start,
    when=_has_two_flows,
    version=1,
)
def asymmetry_from_flow2_start(run: RunView) -> float | None:
    flows = run.flows("throughput")
    return fairness.asymmetry(*(mean(f.throughput, "mbps", _from_flow2_start(run)) for f in flows))


@run_metric(
    unit="s",
    title="Time until the flows share fairly",
    text="Time from the second flow's start to the end of the first "
    f"{CONVERGENCE_WINDOW_S:g} s over which the two flows' throughputs have an |asymmetry| of "
    f"at most {FAIR_ASYMMETRY:g}.",
    source=f"{THESIS}, sections 4.1.3.5, 4.6.3.5 and 4.7.2 (slow and fast convergence)",
    tables=("throughput",),
    parameters=("flow2_start_s",),
    window=_from_flow2_start,
    when=_has_two_flows,
    version=1,
)
def convergence_time(run: RunView) -> float | None:
    first, second = (flow.throughput for flow in run.flows("throughput"))
    return fairness.convergence_time(
        first, second, run.number("flow2_start_s"), CONVERGENCE_WINDOW_S, FAIR_ASYMMETRY
    )
