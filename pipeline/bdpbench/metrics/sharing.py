"""How the flows of a run share the bottleneck."""

from __future__ import annotations

from bdpbench.metrics import fairness
from bdpbench.metrics.definition import run_metric
from bdpbench.metrics.series import mean
from bdpbench.metrics.thresholds import CONVERGENCE_WINDOW_S, FAIR_ASYMMETRY
from bdpbench.metrics.views import RunView, Window, second_half
from bdpbench.metrics.words import HALF, THESIS


def _has_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) > 1


def _has_two_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) == 2


def _from_flow2_start(run: RunView) -> Window:
    return (run.number("flow2_start_s"), run.duration_s)


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
