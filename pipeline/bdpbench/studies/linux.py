"""Settings that a congestion control of TCP/Linux requires of its sender."""

from __future__ import annotations

from collections.abc import Sequence

from bdpbench.studies.flows import ResolvedFlow
from bdpbench.studies.study import Study

_COMPOUND = "compound"
_TIMESTAMPS = "timestamps_"


def check_samples(study: Study, flows: Sequence[ResolvedFlow]) -> None:
    """Refuse Compound where it would be Reno.

    It looks at the queue once a round trip, given more than two samples of the RTT. With timestamps
    ns-2 takes one from each ACK, without them one a round trip, and Compound's delay window stays
    0. Receivers of TCP/Linux echo timestamps always (``tcl/lib/agents.tcl``).

    Args:
        study: that the flows are of.
        flows: of a run.

    Raises:
        BdpbenchError: naming the protocol, and what its agents need.
    """
    for flow in flows:
        if flow.protocol.linux == _COMPOUND and not flow.variable(_TIMESTAMPS):
            raise study.error(
                ("protocols", flow.key, "linux"),
                "Compound without timestamps behaves exactly like Reno: its delay window opens "
                "only with more than two RTT samples per round trip",
                hint=f"write settings: {{{_TIMESTAMPS}: 1}} for {flow.key}",
            )
