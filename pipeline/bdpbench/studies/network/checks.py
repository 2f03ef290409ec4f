"""Checks for incomplete or contradictory settings in a run of ``tcl/network.tcl``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import ResolvedFlow
from bdpbench.studies.network.links import Link
from bdpbench.studies.network.values import Values
from bdpbench.studies.parts import Change
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.reach import place_of

_ECN_VARIABLE = "ecn_"
_STEP_S = 0.01
_SET_BY_KEYS = {"segsize_": "packet_bytes", "segsperack_": "delayed_acks"}


def check_defaults(
    values: Values, defaults: Mapping[str, Mapping[str, float]], senders: Sequence[ResolvedFlow]
) -> None:
    """Refuse class defaults of a class that neither the study's protocols nor this run use.

    A class that only other protocols of the study use is allowed, because a sweep may be over all
    of them. Defaults of queues are refused, since every variable of a queue is set anyway.

    Raises:
        BdpbenchError: naming where the values are given.
    """
    protocols = [*values.study.protocols.values(), *(each.protocol for each in senders)]
    made = {f"Agent/{name}/" for each in protocols for name in (each.agent, each.sink)}
    for name in defaults:
        if name == "Queue" or name.startswith("Queue/"):
            raise values.study.error(
                _place_of_defaults(values, name),
                "this would have no effect: every variable of the bottleneck's queue is set",
                hint="declare the queue under queues: with its settings, and name it with queue:",
            )
        if not any(each.startswith(f"{name}/") for each in made):
            kinds = ", ".join(sorted(each.removesuffix("/") for each in made)) or "none over TCP"
            raise values.study.error(
                _place_of_defaults(values, name),
                f"this would have no effect: nothing here is of class {name}",
                hint=f"senders and receivers of the study: {kinds}",
            )


def _place_of_defaults(values: Values, name: str, *variable: str) -> Location:
    scenario = values.study.scenarios[values.scenario]
    own = ("scenarios", values.scenario) if name in scenario.defaults else ()
    return (*own, "defaults", name, *variable)


def check_two_way(values: Values, senders: Sequence[ResolvedFlow]) -> None:
    """Refuse class defaults of two-way TCP for variables that keys of packmime set.

    Raises:
        BdpbenchError: naming the key.
    """
    for sender in senders:
        for name, variables in sender.defaults.items():
            for variable in _SET_BY_KEYS.keys() & variables.keys():
                if f"Agent/{sender.protocol.agent}/".startswith(f"{name}/"):
                    raise values.study.error(
                        _place_of_defaults(values, name, variable),
                        f"this would have no effect: {_SET_BY_KEYS[variable]} sets {variable}",
                    )


def check_samples(values: Values) -> None:
    """Refuse sampling intervals that are no multiples of 0.01 s, the resolution of times in files.

    Raises:
        BdpbenchError: naming the parameter.
    """
    for name in ("sample_s", "queue_sample_s"):
        if values.has(name):
            steps = round(float(values.parameters[name]) / _STEP_S, 9)
            if steps < 1 or not steps.is_integer():
                raise values.study.error(
                    place_of(values.study, values.scenario, name),
                    f"{name}: expected a multiple of {_STEP_S} s (got {values.parameters[name]})",
                )


def check_bursts(values: Values, links: Sequence[Link], changes: Sequence[Change]) -> None:
    """Refuse a mean burst length of losses if no packet is ever lost at random.

    An explicit loss_rate of 0, as in a sweep, is allowed.

    Raises:
        BdpbenchError: naming the bottleneck.
    """
    for number, link in enumerate(links, start=1):
        lost = [each for each in changes if each.bottleneck == number and each.loss_rate]
        told = values.has("loss_rate") or link.wire.said.loss_rate is not None
        if link.loss_burst_pkts is not None and not link.loss_rate and not lost and not told:
            own = link.wire.said.loss_burst_pkts is not None
            raise values.study.error(
                link.wire.location
                if own
                else place_of(values.study, values.scenario, "loss_burst_pkts"),
                "loss_burst_pkts would have no effect: no packet is lost at random",
                hint="also give loss_rate, the share of packets that are lost",
            )


def check_ecn(values: Values, links: Sequence[Link], senders: Sequence[ResolvedFlow]) -> None:
    """Refuse ECN that is not on in senders, receivers and queues alike.

    Raises:
        BdpbenchError: for ECN without a queue that marks, and for a sender's own ``ecn_``.
    """
    study, base = values.study, ("scenarios", values.scenario)
    if values.get("ecn") == "on" and not senders:
        raise study.error(base, "ecn is on, and nothing in this run is sent over TCP")
    marking = [name for name, kind in QUEUE_KINDS.items() if kind.ecn]
    if values.get("ecn") == "on" and not any(link.kind.ecn for link in links):
        raise study.error(
            base,
            "ecn is on, and no queue of this run marks packets",
            hint=f"give a bottleneck a queue of kind {', '.join(marking[:-1])} or {marking[-1]}",
        )
    for flow in senders:
        if flow.variable(_ECN_VARIABLE) is not None:
            own = _ECN_VARIABLE in flow.protocol.settings
            raise study.error(
                ("protocols", flow.key, "settings", _ECN_VARIABLE) if own else base,
                f"{_ECN_VARIABLE} alone is half of ECN: the queue would not mark",
                hint="write ecn: on among the parameters; that sets senders and queues",
            )
