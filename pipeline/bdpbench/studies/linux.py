"""Settings that a congestion control of TCP/Linux requires of its sender."""

from __future__ import annotations

from collections.abc import Sequence

from bdpbench.studies.flows import ResolvedFlow
from bdpbench.studies.study import Study

_COMPOUND = "compound"
_TIMESTAMPS = "timestamps_"


def check_samples(study: Study, flows: Sequence[ResolvedFlow]) -> None:
    """Refuse Compound where it would behave like Reno.

    It estimates the queue once per round trip, from more than two RTT samples. With timestamps ns-2
    takes a sample from each ACK, without them one per round trip, so that Compound's delay window
    stays 0. Receivers of TCP/Linux always echo timestamps (``tcl/lib/agents.tcl``).

    Args:
        study: the study of the flows.
        flows: the flows of a run.

    Raises:
        BdpbenchError: naming the protocol and the setting that its agents need.
    """
    for flow in flows:
        if flow.protocol.linux == _COMPOUND and not flow.variable(_TIMESTAMPS):
            raise study.error(
                ("protocols", flow.key, "linux"),
                "Compound without timestamps behaves exactly like Reno: its delay window opens "
                "only with more than two RTT samples per round trip",
                hint=f"write settings: {{{_TIMESTAMPS}: 1}} for {flow.key}",
            )
