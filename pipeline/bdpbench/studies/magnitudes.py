"""Checks of what follows from several parameters of a run: that ns-2 can hold and simulate it."""

from __future__ import annotations

from collections.abc import Sequence

from bdpbench.contracts.plan import Parameters
from bdpbench.studies.flows import ResolvedFlow
from bdpbench.studies.limits import MOST_WINDOW_PKTS
from bdpbench.studies.queues import HEADER_BYTES
from bdpbench.studies.reach import place_of
from bdpbench.studies.study import Study
from bdpbench.units import BITS_PER_BYTE

_WINDOW_VARIABLE = "window_"


def check_magnitudes(
    study: Study, key: str, parameters: Parameters, senders: Sequence[ResolvedFlow]
) -> None:
    """Refuse a run in which no packet arrives, or whose windows are too large for ns-2.

    Args:
        study: the study of the run.
        key: key of its scenario.
        parameters: with the computed ones.
        senders: its senders.

    Raises:
        BdpbenchError: naming file and line.
    """
    for sender in senders:
        _check_window(study, key, sender)
    if all(name in parameters for name in ("bottleneck_mbps", "packet_bytes")):
        _check_rate(study, key, parameters)


def _check_window(study: Study, key: str, sender: ResolvedFlow) -> None:
    window_pkts = sender.variable(_WINDOW_VARIABLE)
    if window_pkts is not None and window_pkts > MOST_WINDOW_PKTS:
        own = _WINDOW_VARIABLE in sender.settings
        raise study.error(
            ("protocols", sender.key, "settings", _WINDOW_VARIABLE) if own else ("scenarios", key),
            f"{_WINDOW_VARIABLE} of {sender.key} is {window_pkts:,.0f} packets, and ns-2 can keep "
            f"{MOST_WINDOW_PKTS:,} at most",
            hint=""
            if own
            else "set it; if it is not set, it is four times what path and buffers hold",
        )


def _check_rate(study: Study, key: str, parameters: Parameters) -> None:
    bits_per_s = 1e6 * float(parameters["bottleneck_mbps"])
    packet_bytes, duration_s = int(parameters["packet_bytes"]), float(parameters["duration_s"])
    packet_s = BITS_PER_BYTE * (packet_bytes + HEADER_BYTES) / bits_per_s
    if packet_s >= duration_s:
        raise study.error(
            place_of(study, key, "bottleneck_mbps"),
            f"no packet gets through: sending one of {packet_bytes + HEADER_BYTES} bytes takes "
            f"{packet_s:g} s, and a run ends after {duration_s:g} s",
            hint="a higher rate, smaller packets or a longer duration_s",
        )
