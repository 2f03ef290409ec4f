"""Whether flows lose packets together, and how often their senders change mode."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import flow_metric, run_metric
from bdpbench.metrics.series import number
from bdpbench.metrics.views import FlowView, RunView, second_half
from bdpbench.metrics.words import CUT, EVEN, HALF, ZHANG

_MODE = "mode_"


def _has_flows(run: RunView) -> bool:
    return len(_flows(run)) > 1


def _flows(run: RunView) -> list[FlowView]:
    """The flows whose RTT is known."""
    return [flow for flow in run.flows("cwnd") if flow.has("rtt_ms")]


def _has_mode(flow: FlowView) -> bool:
    return not _modes(flow).is_empty()


@run_metric(
    unit="1",
    title="Synchronization of losses",
    text="Mean, over the loss events, of the share of the flows that cut cwnd in one, over "
    f"{HALF}: from 1/n, each flow loses alone, to 1, all lose together. A loss event begins with a "
    "cut that belongs to none and lasts for one nominal RTT, the largest of the flows': all cuts "
    f"that begin in it are its own. {CUT}",
    source="Hassayoun and Ros (2008), Loss Synchronization and Router Buffer Sizing with "
    "High-Speed Versions of TCP; the event of RFC 5348, section 5.2",
    tables=("cwnd",),
    optional=("rtt_ms",),
    window=second_half,
    when=_has_flows,
    version=1,
)
def loss_synchronization(run: RunView) -> float | None:
    flows = _flows(run)
    cuts = pl.concat([flow.cuts.select("cut_s", flow=pl.lit(flow.index)) for flow in flows])
    start_s, end_s = second_half(run)
    inside = cuts.filter(pl.col("cut_s").is_between(start_s, end_s, closed="right"))
    events = loss_events(inside, max(flow.rtt_s for flow in flows))
    return number((events["flows"] / len(flows)).mean())


@flow_metric(
    unit="1",
    title="Changes of mode",
    text="How often a sample of the agent's variable mode_ differs from the one before it, over "
    f"{HALF}. Of flows whose protocol records that variable.",
    source=f"{ZHANG}, section 4.1; {EVEN}, section V",
    tables=("recorded",),
    window=second_half,
    when=_has_mode,
    version=1,
)
def mode_changes(flow: FlowView) -> float | None:
    start_s, end_s = second_half(flow)
    changed = _modes(flow).with_columns(changed=pl.col("value") != pl.col("value").shift(1))
    inside = changed.filter(pl.col("time_s").is_between(start_s, end_s, closed="right"))
    return number(inside["changed"].sum())


def _modes(flow: FlowView) -> pl.DataFrame:
    return flow.rows("recorded").filter(pl.col("name") == _MODE)


def loss_events(cuts: pl.DataFrame, event_s: float) -> pl.DataFrame:
    """Loss events of several flows, and how many flows each event affects.

    Args:
        cuts: cut_s (f64, s), flow.
        event_s: duration of an event from its first cut on, s.

    Returns:
        One row per event: start_s (f64, s), flows (u32, number that cut cwnd in it).

    >>> cuts = pl.DataFrame({"cut_s": [1.0, 1.05, 1.2, 3.0], "flow": [0, 1, 0, 1]})
    >>> loss_events(cuts, 0.1).rows()
    [(1.0, 2), (1.2, 1), (3.0, 1)]
    """
    events: list[tuple[float, set[int]]] = []
    for cut_s, flow in cuts.sort("cut_s").select("cut_s", "flow").iter_rows():
        if not events or cut_s - events[-1][0] >= event_s:
            events.append((cut_s, set()))
        events[-1][1].add(flow)
    rows = [(start_s, len(flows)) for start_s, flows in events]
    return pl.DataFrame(rows, schema={"start_s": pl.Float64, "flows": pl.UInt32}, orient="row")
