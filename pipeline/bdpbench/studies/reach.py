"""Checks of a run that nothing in it is ignored, contradicted, or more than ns-2 can hold.

A parameter reaches ns-2 as an argument of the script, by a reference in a flow or in class
defaults, or by setting variables of an agent. Otherwise it has to be declared nominal, so that only
metrics and labels read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bdpbench.contracts.plan import Parameters
from bdpbench.errors import BdpbenchError
from bdpbench.studies.queues import HEADER_BYTES
from bdpbench.studies.study import NETWORK_SCRIPT
from bdpbench.studies.values import ClassVariables, Sender, Values
from bdpbench.units import BITS_PER_BYTE, MOST_WINDOW_PKTS

_RTTS = ("rtt_ms", "rtt_1_ms", "rtt_2_ms")
_FLOW_PARAMETERS = ("protocol", "protocol_1", "protocol_2", "access_delay_ms", "flow2_start_s")
_STEP_S = 0.01
_SET_BY_KEYS = {"segsize_": "packet_bytes", "segsperack_": "delayed_acks"}


def check_run(
    values: Values, parameters: Parameters, flows: Sequence[Sender], senders: Sequence[Sender]
) -> None:
    """Refuse a run that ns-2 cannot simulate as the study describes it.

    Args:
        values: parameters of the run as the study gives them, with those that were used.
        parameters: the same with the computed ones.
        flows: flows of the run.
        senders: all its TCP senders.

    Raises:
        BdpbenchError: naming file and line, and what would help.
    """
    if "flows" in values.parameters and values.parameters["flows"] != len(flows):
        raise values.error(
            values.place_of("flows"),
            f"flows is {values.parameters['flows']}, but the scenario makes {len(flows)}",
            hint="write count: $flows at a flow, or leave out flows, which is then counted",
        )
    if not values.is_original:
        _check_used(values)
    for sender in senders:
        _check_compound(values, sender)
        if not values.is_original:
            _check_segment(values, parameters, sender)
        _check_window(values, sender)
    if all(name in parameters for name in ("bottleneck_mbps", "packet_bytes")):
        _check_rate(values, parameters)


# ---------------------------------------------------------------- parameters


def _check_used(values: Values) -> None:
    """Refuse a parameter that had no effect."""
    scenario, study = values.scenario, values.study
    # In scenarios without a script of their own, the common RTTs have an effect.
    is_network = scenario.script == NETWORK_SCRIPT
    declared = study.parameters if is_network else study.vocabulary
    for name in values.parameters:
        nominal = name in declared and bool(declared[name].nominal)
        if name not in values.used and not nominal:
            raise _without_effect(values, name, is_network=is_network)


def _without_effect(values: Values, name: str, *, is_network: bool) -> BdpbenchError:
    scenario, key = values.scenario, values.key
    sets = values.study.vocabulary[name].sets
    if sets:
        reason = f"no flow of this run uses {' or '.join(sets)}, whose agents it sets"
        hint = "give it only to the runs of that protocol, with cases or another scenario"
    elif name in _FLOW_PARAMETERS:
        reason = f"no flow of {key} uses it"
        hint = f"write ${name} where a flow of the scenario should use it"
    elif name == "flows":
        reason, hint = f"no flow of {key} uses it", "write count: $flows at a flow"
    elif name == "packet_bytes":
        reason = f"{scenario.script} does not take it"
        hint = "set it by defaults: {Agent/TCP: {packetSize_: $packet_bytes}}"
    elif name in _RTTS and is_network:
        reason = "the RTT of each flow follows from access_delay_ms or rtt_ms of its own"
        hint = f"leave out access_delay_ms, or write rtt_ms: ${name} at a flow"
    elif is_network:
        reason = f"nothing in {key} uses it"
        hint = f"write ${name} where it should be used, or remove it"
    else:
        reason = f"{scenario.script} does not take it"
        hint = "list it under arguments: if the script takes it; remove it otherwise"
    message = f"{name} would have no effect: {reason}"
    return values.error(values.place_of(name), message, hint=hint)


def _check_rate(values: Values, parameters: Parameters) -> None:
    """Refuse a run in which no packet arrives."""
    wire_bytes = int(parameters["packet_bytes"]) + HEADER_BYTES
    packet_s = BITS_PER_BYTE * wire_bytes / (1e6 * float(parameters["bottleneck_mbps"]))
    if packet_s >= values.duration_s:
        raise values.error(
            values.place_of("bottleneck_mbps"),
            f"no packet gets through: sending one of {wire_bytes} bytes takes "
            f"{packet_s:g} s, and a run ends after {values.duration_s:g} s",
            hint="a higher rate, smaller packets or a longer duration_s",
        )


# ---------------------------------------------------------------- senders


def _check_segment(values: Values, parameters: Parameters, sender: Sender) -> None:
    """Refuse a segment size for metrics that differs from the one that the agents send."""
    given, size = parameters.get("packet_bytes"), sender.variable("packetSize_")
    if given is not None and size is not None and size != given:
        raise values.error(
            values.place_of("packet_bytes"),
            f"packet_bytes is {given}, but packetSize_ of {sender.key} is {size:g}",
            hint="write packetSize_: $packet_bytes",
        )


def _check_window(values: Values, sender: Sender) -> None:
    """Refuse a window that is too large for ns-2."""
    window_pkts = sender.variable("window_")
    if window_pkts is not None and window_pkts > MOST_WINDOW_PKTS:
        own = "window_" in sender.settings
        raise values.error(
            ("protocols", sender.key, "settings", "window_") if own else values.base,
            f"window_ of {sender.key} is {window_pkts:,.0f} packets, and ns-2 can keep "
            f"{MOST_WINDOW_PKTS:,} at most",
            hint=""
            if own
            else "set it; if it is not set, it is four times what path and buffers hold",
        )


def _check_compound(values: Values, sender: Sender) -> None:
    """Refuse Compound where it would behave like Reno, unless a parameter of the run says so.

    It estimates the queue once per round trip, from more than two RTT samples. With timestamps ns-2
    takes a sample from each ACK, without them one per round trip, so that Compound's delay window
    stays 0. Receivers of TCP/Linux always echo timestamps (``tcl/lib/agents.tcl``).
    """
    own = sender.protocol.settings.get("timestamps_")
    by_parameter = sender.settings.get("timestamps_") != own
    off = not sender.variable("timestamps_")
    if sender.protocol.linux == "compound" and off and not by_parameter:
        raise values.error(
            ("protocols", sender.key, "linux"),
            "Compound without timestamps behaves exactly like Reno: its delay window opens "
            "only with more than two RTT samples per round trip",
            hint=f"write settings: {{timestamps_: 1}} for {sender.key}",
        )


# ---------------------------------------------------------------- scenarios without a script


def check_network(
    values: Values, defaults: ClassVariables, senders: Sequence[Sender], *, marks: bool
) -> None:
    """Refuse settings without effect in a run of ``tcl/network.tcl``.

    Args:
        values: parameters of the run.
        defaults: class defaults that study and scenario give.
        senders: all TCP senders of the run.
        marks: whether a queue of the run can mark packets.

    Raises:
        BdpbenchError: naming where the values are given.
    """
    _check_samples(values)
    _check_defaults(values, defaults, senders)
    for sender in senders:
        _check_two_way(values, sender)
    _check_ecn(values, senders, marks=marks)


def _check_samples(values: Values) -> None:
    """Refuse sampling intervals that are no multiples of 0.01 s, the resolution in files."""
    for name in ("sample_s", "queue_sample_s"):
        if values.has(name):
            steps = round(float(values.parameters[name]) / _STEP_S, 9)
            if steps < 1 or not steps.is_integer():
                raise values.error(
                    values.place_of(name),
                    f"{name}: expected a multiple of {_STEP_S} s (got {values.parameters[name]})",
                )


def _check_defaults(values: Values, defaults: Iterable[str], senders: Sequence[Sender]) -> None:
    """Refuse defaults of a class that neither the study's protocols nor this run use.

    A class that only other protocols of the study use is allowed, because a sweep may be over all
    of them. Defaults of queues are refused, since every variable of a queue is set anyway.
    """
    protocols = [*values.study.protocols.values(), *(each.protocol for each in senders)]
    made = {f"Agent/{name}/" for each in protocols for name in (each.agent, each.sink)}
    for name in defaults:
        if name == "Queue" or name.startswith("Queue/"):
            raise values.error(
                values.place_of_default(name),
                "this would have no effect: every variable of the bottleneck's queue is set",
                hint="declare the queue under queues: with its settings, and name it with queue:",
            )
        if not any(each.startswith(f"{name}/") for each in made):
            kinds = ", ".join(sorted(each.removesuffix("/") for each in made)) or "none over TCP"
            raise values.error(
                values.place_of_default(name),
                f"this would have no effect: nothing here is of class {name}",
                hint=f"senders and receivers of the study: {kinds}",
            )


def _check_two_way(values: Values, sender: Sender) -> None:
    """Refuse class defaults of two-way TCP for variables that keys of packmime set."""
    for name, variables in sender.defaults.items():
        for variable in _SET_BY_KEYS.keys() & variables.keys():
            if f"Agent/{sender.protocol.agent}/".startswith(f"{name}/"):
                raise values.error(
                    values.place_of_default(name, variable),
                    f"this would have no effect: {_SET_BY_KEYS[variable]} sets {variable}",
                )


def _check_ecn(values: Values, senders: Sequence[Sender], *, marks: bool) -> None:
    """Refuse ECN that is not on in senders, receivers and queues alike."""
    is_on = values.get("ecn") == "on"
    if is_on and not senders:
        raise values.error(values.base, "ecn is on, and nothing in this run is sent over TCP")
    if is_on and not marks:
        marking = [name for name, kind in values.study.queue_kinds.items() if kind.ecn]
        raise values.error(
            values.base,
            "ecn is on, and no queue of this run marks packets",
            hint=f"give a bottleneck a queue of kind {', '.join(marking[:-1])} or {marking[-1]}",
        )
    for sender in senders:
        if sender.variable("ecn_") is not None:
            own = "ecn_" in sender.protocol.settings
            raise values.error(
                ("protocols", sender.key, "settings", "ecn_") if own else values.base,
                "ecn_ alone is half of ECN: the queue would not mark",
                hint="write ecn: on among the parameters; that sets senders and queues",
            )
