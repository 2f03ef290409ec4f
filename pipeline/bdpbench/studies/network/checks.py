"""What would be half set or contradicted in a run of ``tcl/network.tcl``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bdpbench.studies.flows import ResolvedFlow
from bdpbench.studies.network.links import Link
from bdpbench.studies.network.values import Values
from bdpbench.studies.queues import QUEUE_KINDS

_ECN_VARIABLE = "ecn_"


def check_defaults(values: Values, defaults: Mapping[str, Mapping[str, float]]) -> None:
    """Refuse class defaults of queues, whose variables all have values of their own.

    Raises:
        BdpbenchError: naming where the values are given.
    """
    for name in defaults:
        if name == "Queue" or name.startswith("Queue/"):
            scenario = values.study.scenarios[values.scenario]
            own = ("scenarios", values.scenario) if name in scenario.defaults else ()
            raise values.study.error(
                (*own, "defaults", name),
                "this would change nothing: each variable of the bottleneck's queue is set",
                hint="declare the queue under queues:, with its settings, and name it by queue:",
            )


def check_ecn(values: Values, links: Sequence[Link], flows: Sequence[ResolvedFlow]) -> None:
    """ECN is on in senders, receivers and queues, or in none of them.

    Raises:
        BdpbenchError: for ECN without a queue that marks, and for a sender's own ``ecn_``.
    """
    study, base = values.study, ("scenarios", values.scenario)
    marking = [name for name, kind in QUEUE_KINDS.items() if kind.ecn]
    if values.get("ecn") == "on" and not any(link.kind.ecn for link in links):
        raise study.error(
            base,
            "ecn is on, and no queue of this run marks packets",
            hint=f"give a bottleneck a queue of kind {', '.join(marking[:-1])} or {marking[-1]}",
        )
    for flow in flows:
        if flow.variable(_ECN_VARIABLE) is not None:
            own = _ECN_VARIABLE in flow.protocol.settings
            raise study.error(
                ("protocols", flow.key, "settings", _ECN_VARIABLE) if own else base,
                f"{_ECN_VARIABLE} alone is half of ECN: the queue would not mark",
                hint="write ecn: on among the parameters; that sets senders and queues",
            )
