"""Arguments that set up the study's scripts as the thesis's appendices do."""

from __future__ import annotations

from tests.data_of import data_of
from tests.tcl.conftest import Arguments, flows

SINGLE_FLOW = "sharma2006/single_flow.tcl"
TWO_FLOWS = "sharma2006/two_flows.tcl"
STANDARD_TCP = "sharma2006/standard_tcp.tcl"

_DATA = data_of(__file__)
DEFAULTS: dict[str, float] = _DATA["defaults"]
SETTINGS: dict[str, dict[str, float]] = {
    name: own if name == "FAST" else {**own, **_DATA["response"]}
    for name, own in _DATA["settings"].items()
}
BIC_DELAYS: str = _DATA["bic_delays"]
_BOTTLENECK = _DATA["bottleneck"]


def protocol(name: str, alpha_pkts: float = 312) -> dict[str, object]:
    """Arguments for a flow of one of the study's protocols."""
    settings = SETTINGS[name]
    if name == "FAST":
        settings = {"alpha_": alpha_pkts, "beta_": alpha_pkts}
    own: dict[str, object] = {f"set.{key}": value for key, value in settings.items()}
    if name == "FAST":
        own["agent"] = "TCP/Fast"
    if name == "BIC":
        own["record"] = BIC_DELAYS
    return own


def single_flow(name: str, duration_s: float, **changes: object) -> Arguments:
    """Appendices C to F: one flow, RTT 100 ms, buffer of 20 % of the BDP."""
    samples = {"sample_s": 0.01, "queue_sample_s": 0.01, "substream": 1}
    path = {"duration_s": duration_s, **_BOTTLENECK, **samples, **DEFAULTS}
    return {**path, **flows(protocol(name)), **changes}


def two_flows(
    first: str, second: str, duration_s: float, second_start_s: float = 1, **changes: object
) -> Arguments:
    """Appendix H: two flows with an RTT of 100 ms each, the first from 0.1 s on."""
    samples = {"sample_s": 0.1, "queue_sample_s": 0.1, "substream": 1}
    path = {"duration_s": duration_s, **_BOTTLENECK, **samples, **DEFAULTS}
    starts = ({"start_s": 0.1}, {"start_s": second_start_s})
    both = [
        {**protocol(name), **start} for name, start in zip((first, second), starts, strict=True)
    ]
    return {**path, **flows(*both), **changes}


def two_rtts(name: str, duration_s: float, delays_ms: tuple[float, float]) -> Arguments:
    """Appendix G: two flows of a protocol whose senders have these access delays."""
    return two_flows(name, name, duration_s) | {
        "bottleneck_delay_ms": 6,
        "buffer_pkts": 2519,
        "flow.0.access_delay_ms": delays_ms[0],
        "flow.1.access_delay_ms": delays_ms[1],
    }


def standard_tcp(name: str, duration_s: float, **changes: object) -> Arguments:
    """Appendix A: one flow at 5 Mbit/s, buffer of one BDP; in Appendix B at 622 Mbit/s."""
    path = {
        "duration_s": duration_s,
        **_BOTTLENECK,
        "bottleneck_mbps": 5,
        "bottleneck_delay_ms": 50,
        "buffer_pkts": 62,
        "sample_s": 0.1,
        "trace": 1,
        **DEFAULTS,
    }
    sender = {"agent": "TCP/SackTS", **protocol(name, 156), "start_s": 0.1}
    if name == "FAST":
        sender["sink"] = "TCPSink"
    return {**path, **flows(sender), **changes}
