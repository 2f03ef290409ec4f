"""What runs measure from ``measured_from_s`` on: links by direction, flows, sources of background.

A metric of this module has to declare that parameter for its window, ``measured``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import polars as pl

from bdpbench.metrics import (
    FlowView,
    Group,
    LinkView,
    Row,
    RunView,
    Window,
    fairness,
    flow_metric,
    group_metric,
    link_metric,
    run_metric,
)
from bdpbench.metrics.series import known_mean, nth, number
from bdpbench.metrics.views import View

_SUITE = "IRTF's common TCP evaluation suite (2014), section"
_MEASURED = "from measured_from_s to the end"
_FROM = ("measured_from_s",)


def measured(view: View) -> Window:
    """From ``measured_from_s`` to the end of the run; a metric has to declare that parameter."""
    return (view.run.number("measured_from_s"), view.run.duration_s)


# ---------------------------------------------------------------- links


def _of_both_directions(quantity: str, unit: str, title: str, text: str, **judged: Any) -> None:
    """Declare what was counted of the queues, for each direction.

    There is a metric for each direction, because a report takes the median over the links of one.
    """
    fact = f"measured_{quantity}"

    def declare(name: str, direction: str, *, is_back: bool) -> None:
        def was_measured(link: LinkView) -> bool:
            # Links are called back, or back_1, back_2 if there are several bottlenecks.
            return (link.name.split("_")[0] == "back") == is_back and link.fact(fact) is not None

        link_metric(
            unit,
            f"{title}, {direction} direction",
            f"{_SUITE} 4.5",
            name=name,
            text=f"{text}, {_MEASURED}, in the {direction} direction.",
            tables=("facts",),
            parameters=_FROM,
            window=measured,
            when=was_measured,
            **judged,
        )(lambda link: link.fact(fact))

    declare(fact, "forward", is_back=False)
    declare(f"measured_back_{quantity}", "reverse", is_back=True)


_of_both_directions(
    *("utilization", "%", "Utilization"),
    "Departures from the queue, headers and retransmissions included, over the direction's rate",
    better="more",
    apart=1.0,
    reference=100,
)
_of_both_directions(
    *("loss_rate", "%", "Loss rate"),
    "Packets that the queue dropped, as a share of those dropped or departed",
    better="less",
    apart=0.1,
)
_of_both_directions(
    *("delay", "ms", "Mean queueing delay"),
    "Mean time that a packet waits in the queue, by Little's law: the mean queue over the "
    "departures per second",
    better="less",
    apart=0.05,
)


# ---------------------------------------------------------------- flows


@flow_metric(
    "Mbit/s",
    "Throughput since measured_from_s",
    f"{_SUITE} 6.2.3",
    tables=("facts",),
    parameters=_FROM,
    window=measured,
    better="more",
    apart=0.02,
)
def measured_throughput(flow: FlowView) -> float | None:
    """Departures of the flow from its first bottleneck, headers and retransmissions included,
    {_MEASURED}.
    """
    return flow.fact("measured_throughput")


def _throughputs(run: RunView) -> list[float | None]:
    return [flow.fact("measured_throughput") for flow in run.flows("facts")]


def _has_two_flows(run: RunView) -> bool:
    return len(_throughputs(run)) == 2 and None not in _throughputs(run)


@run_metric(
    "1",
    "Throughput, first to second",
    f"{_SUITE} 6.2.3",
    tables=("facts",),
    parameters=_FROM,
    window=measured,
    when=_has_two_flows,
    better="nearest",
    reference=1,
    apart=0.05,
)
def measured_throughput_ratio(run: RunView) -> float | None:
    """Departures of the first of two flows from its first bottleneck over those of the second,
    headers and retransmissions included, {_MEASURED}: 1 is fair. None if the second sent nothing.
    """
    return fairness.throughput_ratio(*_throughputs(run))


_MOST_MILESTONES = 7


def _milestone(packets: int) -> None:
    """Declare how long a flow takes for its first packets."""

    def counts(flow: FlowView) -> bool:
        return flow.has_own("milestones")

    flow_metric(
        "s",
        f"Time to {packets:,} packets",
        f"{_SUITE} 5.2.3",
        name=f"time_to_{packets}_packets",
        text=f"Time from the flow's start until its receiver has its first {packets:,} packets, "
        "all in order, to within a thousandth or a packet's time on its access link. Of flows with "
        "milestones: true; none if the run ends before.",
        tables=("facts",),
        when=counts,
        better="less",
        apart=0.05,
    )(lambda flow: flow.fact(f"received_{packets}"))


for _n in range(1, _MOST_MILESTONES + 1):
    _milestone(10**_n)


# ---------------------------------------------------------------- a flow after a change

_of_growth = functools.partial(
    flow_metric,
    source=f"{_SUITE} 5.3.3",
    tables=("cwnd",),
    window=measured,
)


def _reached(flow: FlowView, share: float) -> tuple[float | None, pl.DataFrame]:
    """When cwnd is at a share of the BDP since ``measured_from_s``, and its samples until then."""
    from_s = flow.run.number("measured_from_s")
    late = flow.cwnd.filter(pl.col("time_s") >= from_s)
    level_pkts = share * flow.positive("bdp_pkts")
    at_s = nth(late.filter(pl.col("cwnd_pkts") >= level_pkts)["time_s"], 0)
    return at_s, late if at_s is None else late.filter(pl.col("time_s") <= at_s)


def _growth(percent: int) -> None:
    """Declare how fast cwnd grows to a share of the BDP."""

    def time_to(flow: FlowView) -> float | None:
        at_s, _ = _reached(flow, percent / 100)
        return None if at_s is None else at_s - flow.run.number("measured_from_s")

    def gain(flow: FlowView) -> float | None:
        at_s, until = _reached(flow, percent / 100)
        return None if at_s is None else largest_gain(until, flow.rtt_s)

    level = f"{percent} % of the nominal bandwidth-delay product"
    _of_growth(
        "s",
        f"Time until cwnd is {percent} % of the BDP",
        name=f"measured_time_to_{percent}pct_cwnd",
        text=f"Time from measured_from_s to the first sample of cwnd at or above {level}; 0 if it "
        "is there already.",
        parameters=(*_FROM, "bdp_pkts"),
        better="less",
        apart=0.05,
    )(time_to)
    _of_growth(
        "packets",
        f"Largest growth in an RTT up to {percent} % of the BDP",
        name=f"measured_gain_to_{percent}pct_cwnd",
        text="Largest growth of cwnd between two samples that are at most one nominal RTT apart, "
        f"from measured_from_s to the first sample at or above {level}; 0 if it is there already.",
        parameters=(*_FROM, "bdp_pkts", "rtt_ms"),
    )(gain)


def largest_gain(samples: pl.DataFrame, within_s: float) -> float:
    """Largest growth of cwnd in at most some time, packets; 0 if it does not grow.

    Args:
        samples: time_s (f64, s, ascending), cwnd_pkts (f64, packets).
        within_s: that time, s.

    >>> samples = pl.DataFrame({"time_s": [0.0, 0.1, 0.2], "cwnd_pkts": [5.0, 4.0, 7.0]})
    >>> largest_gain(samples, 0.1), largest_gain(samples, 0.2), largest_gain(samples[:1], 0.1)
    (3.0, 3.0, 0.0)
    """
    rounded_s = within_s + 1e-9
    times_s, sizes = samples["time_s"].to_list(), samples["cwnd_pkts"].to_list()
    first, gain = 0, 0.0
    for last, time_s in enumerate(times_s):
        while time_s - times_s[first] > rounded_s:
            first += 1
        gain = max(gain, sizes[last] - min(sizes[first : last + 1]))
    return float(gain)


for _percent in (60, 80, 90):
    _growth(_percent)


# ---------------------------------------------------------------- sources of background


def _of_sources(run: RunView, fact: str) -> list[float]:
    """A fact of each source of background that has it, in their order."""
    found: list[float] = []
    named = {name: value for (subject, name), value in run.facts.items() if subject == "run"}
    for index in range(len(named)):
        value = named.get(f"background_{index}_{fact}")
        if value is not None:
            found.append(value)
    return found


_of_background = functools.partial(run_metric, tables=("facts",), parameters=_FROM, window=measured)


@_of_background(
    "packets",
    "Loss of background packets",
    f"{_SUITE} 5.3.3",
    when=lambda run: bool(_of_sources(run, "drops")),
    better="less",
    apart=0.05,
)
def measured_background_drops(run: RunView) -> float | None:
    """Packets of all sources of background that their first bottlenecks dropped, {_MEASURED}."""
    return number(pl.Series(_of_sources(run, "drops")).sum())


def _goodputs(run: RunView) -> list[float]:
    return _of_sources(run, "goodput")


_GOODPUT = (
    "Data of its acceptors that was acknowledged, in whole segments without headers, " + _MEASURED
)
_of_replays = functools.partial(_of_background, when=lambda run: len(_goodputs(run)) > 1)


def _goodput_of(index: int, run: RunView) -> float | None:
    return _goodputs(run)[index]


for _index, _nth in enumerate(("first", "second")):
    _of_replays(
        "Mbit/s",
        f"Goodput of the {_nth} source",
        f"{_SUITE} 6.1.3",
        name=f"{_nth}_source_goodput",
        text=f"Goodput of the {_nth} of several sources of kind tmix. {_GOODPUT}.",
    )(functools.partial(_goodput_of, _index))


@_of_replays(
    "1",
    "Goodput of the other sources over that of the first",
    f"{_SUITE} 6.3.2",
    better="nearest",
    reference=1,
    apart=0.05,
)
def other_sources_goodput_ratio(run: RunView) -> float | None:
    """Mean goodput of the second and further sources of kind tmix over that of the first.
    {_GOODPUT}.
    """
    first, *others = _goodputs(run)
    return fairness.throughput_ratio(known_mean(others), first)


_of_lan = functools.partial(
    _of_background,
    source=f"{_SUITE} 4.4.5",
    when=lambda run: run.fact("lan_throughput") is not None,
)


def _lost_on_lan(name: str, title: str, text: str) -> None:
    _of_lan(
        "%",
        f"Loss rate of the LAN, {title}",
        name=name,
        text=f"{text}, {_MEASURED}.",
        better="less",
        apart=0.1,
    )(lambda run: run.fact(name))


@_of_lan("Mbit/s", "Throughput of the LAN", better="more", apart=0.02)
def lan_throughput(run: RunView) -> float | None:
    """What the stations of a wireless LAN and its base station receive of each other, headers
    included, {_MEASURED}.
    """
    return run.fact("lan_throughput")


_lost_on_lan(
    *("lan_loss_rate", "to stations"),
    "Packets that the base station has for stations and that these do not receive, of all",
)
_lost_on_lan(
    *("lan_back_loss_rate", "from stations"),
    "Packets that stations send and that the base station does not receive, of all",
)


_BESIDE_SECOND = frozenset({"protocol_2"})


def _over_baseline(metric: str, group: Group) -> Iterator[tuple[Row, float | None]]:
    for rows in group.alike(metric, _BESIDE_SECOND):
        pairs = [row for row in rows if {"protocol_1", "protocol_2"} <= row.parameters.keys()]
        same = [r for r in pairs if r.parameters["protocol_1"] == r.parameters["protocol_2"]]
        for row in pairs if same else ():
            yield row, fairness.throughput_ratio(row.value, same[0].value)


for _name, _nth, _title in (
    ("second_source_gain", "second", "Gain of the second source"),
    ("first_source_left", "first", "Share left to the first source"),
):
    group_metric(
        "1",
        _title,
        f"{_SUITE} 6.1.3",
        name=_name,
        text=f"Goodput of the {_nth} source over what it is in the baseline, the run with the same "
        "other parameters in which both sources have the protocol of the first. The first has "
        "protocol_1, the second protocol_2. Measured where the baseline has been simulated.",
        metrics=(f"{_nth}_source_goodput",),
        better="nearest",
        reference=1,
        apart=0.05,
    )(functools.partial(_over_baseline, f"{_nth}_source_goodput"))
