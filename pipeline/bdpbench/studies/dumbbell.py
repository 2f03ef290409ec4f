"""Arguments and output files of ``tcl/dumbbell.tcl``, the script of scenarios made by config."""

from __future__ import annotations

from bdpbench.contracts.plan import Output, Parameters
from bdpbench.studies.streams import is_traced
from bdpbench.studies.study import Study

DUMBBELL_ARGUMENTS = (
    "bottleneck_mbps",
    "bottleneck_delay_ms",
    "access_mbps",
    "receiver_delay_ms",
    "buffer_pkts",
    "packet_bytes",
    "sample_s",
    "queue_sample_s",
    "queue",
    "trace",
    "substream",
)
"""What the script takes beside duration, defaults, flows and output folder."""

DUMBBELL_DEFAULTS: Parameters = {"sample_s": 0.1, "queue": "DropTail", "substream": 1}
"""What a run gets whose scenario says nothing of it."""

_MEANINGS = {
    "bottleneck_mbps": "the bottleneck rate",
    "bottleneck_delay_ms": "the bottleneck delay",
    "access_mbps": "the access rate",
    "access_delay_ms": "the access delay of the senders",
    "receiver_delay_ms": "the access delay of the receivers",
    "buffer_pkts": "the bottleneck queue limit",
    "packet_bytes": "the segment size",
}


def check_path(study: Study, key: str, parameters: Parameters) -> None:
    """Refuse a run that lacks a parameter of its path.

    Raises:
        BdpbenchError: naming the parameter and the topology that could have it.
    """
    delays = [flow.access_delay_ms for flow in study.scenarios[key].flows]
    for name, meaning in _MEANINGS.items():
        if name == "access_delay_ms" and None not in delays:
            continue
        if name not in parameters:
            topology = study.scenarios[key].topology
            raise study.error(
                ("scenarios", key, "topology"),
                f"{name}, {meaning}, has no value",
                hint=f"set it under topologies.{topology}.parameters, or in the scenario",
            )


def dumbbell_outputs(flows: int, parameters: Parameters) -> list[Output]:
    """Files that the script writes for ``flows`` flows, and the tables that they become."""
    outputs: list[Output] = []
    for flow in range(flows):
        outputs.append({"file": f"cwnd_hstcp{flow}.out", "table": "cwnd", "flow": flow})
        outputs.append({"file": f"tput_hstcp{flow}.out", "table": "throughput", "flow": flow})
    outputs.append({"file": "queue.out", "table": "queue", "link": "bottleneck"})
    outputs.append({"file": "util.out", "table": "utilization", "link": "bottleneck"})
    if is_traced(parameters):
        outputs.append({"file": "pckts.trq", "table": "packets"})
    return outputs
