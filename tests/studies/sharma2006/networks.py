"""Arguments that set up the study's scripts as the thesis's appendices do."""

from __future__ import annotations

from tests.tcl.conftest import Arguments, flows

SINGLE_FLOW = "sharma2006/single_flow.tcl"
TWO_FLOWS = "sharma2006/two_flows.tcl"
STANDARD_TCP = "sharma2006/standard_tcp.tcl"

# ns-2.27's defaults, then those of the appendices.
DEFAULTS = {
    f"default.Agent/TCP.{name}": value
    for name, value in {
        "numdupacksFrac_": 100,
        "minrto_": 1,
        "precisionReduce_": 0,
        "rtxcur_init_": 6,
        "timestamps_": 1,
        "window_": 67000,
        "packetSize_": 1000,
        "overhead_": 0.000008,
        "max_ssthresh_": 100,
        "maxburst_": 2,
    }.items()
}
BIC_DELAYS = "bic_delay_min_ bic_delay_avg_ bic_delay_max_ bic_low_utilization_indication_"
# The appendices set these for every agent except FAST's; only HighSpeed TCP's law uses them.
_RESPONSE = {"high_window_": 83000, "high_p_": 0.0000001, "high_decrease_": 0.1, "hstcp_fix_": 1}
_BIC = {
    "windowOption_": 12,
    "low_window_": 14,
    "bic_beta_": 0.8,
    "bic_B_": 4,
    "bic_max_increment_": 32,
    "bic_min_increment_": 0.01,
    "bic_fast_convergence_": 1,
    "bic_low_utilization_threshold_": 0,
    "bic_low_utilization_checking_period_": 2,
}
_CUBIC = {
    "windowOption_": 13,
    "low_window_": 0,
    "cubic_beta_": 0.8,
    "cubic_max_increment_": 16,
    "cubic_fast_convergence_": 1,
    "cubic_scale_": 0.4,
    "cubic_tcp_friendliness_": 1,
    "cubic_low_utilization_threshold_": 0,
    "cubic_low_utilization_checking_period_": 2,
}
SETTINGS: dict[str, dict[str, float]] = {
    "SACK": {"windowOption_": 1, "low_window_": 0, **_RESPONSE},
    "HS": {"windowOption_": 8, "low_window_": 38, **_RESPONSE},
    "Scalable": {"windowOption_": 9, "low_window_": 16, "scalable_lwnd_": 16, **_RESPONSE},
    "BIC": {**_BIC, **_RESPONSE},
    "CUBIC": {**_CUBIC, **_RESPONSE},
    "HTCP": {"windowOption_": -10, "low_window_": 0, "max_ssthresh_": 1, **_RESPONSE},
    "FAST": {"alpha_": 312, "beta_": 312},
}

_BOTTLENECK = {
    "bottleneck_mbps": 622,
    "bottleneck_delay_ms": 48,
    "access_mbps": 1000,
    "receiver_delay_ms": 1,
    "buffer_pkts": 1555,
    "datadir": "out",
}


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
