"""Predicted cost of a simulation, for ``list`` and the progress, and batches of about equal cost.

The CPU time of ns-2 is the sum over the packets that the bottleneck carries, the lines of a packet
trace, and the samples that Tcl takes of the flows. ``tests/benchmarks/cost_model.py`` fits the
constants to finished runs and prints them; a machine that is slower or faster than the reference
machine has a factor of its own (``bdpbench.app.costs``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bdpbench.contracts.plan import Output, Parameters, PlannedRun
from bdpbench.studies.background import Source
from bdpbench.studies.flows import NetworkFlow
from bdpbench.studies.links import Link
from bdpbench.studies.queues import HEADER_BYTES
from bdpbench.studies.values import Sender
from bdpbench.studies.vocabulary import NETWORK_DEFAULTS, is_traced

_HEADER_BYTES = 50
_FLOW_TABLES = ("cwnd", "ssthresh", "sequence", "acknowledged")
# A trace has three lines for a packet (+, -, r) and three for its ACK.
_LINES_PER_PACKET = 6
# Packets by which cwnd grows in a round trip while a flow fills the path: the BDP divided by the
# time to 90 % of it, in round trips, for the single flows of Sharma (2006). Limited slow start (RFC
# 3742) with the max_ssthresh of 100 packets that the studies set adds half of that; other laws add
# to it.
_FILLING = {"fast": 167, "bic": 82, "htcp": 63, "cubic": 29}
_FILLING_OTHERS = 50
# Buffer, as a share of the BDP, at which a flow alone uses half of the bottleneck.
_HALF_USE = {"htcp": 0.0099, "scalable": 0.0055}
_HALF_USE_OTHERS = 0.0018
# TCPs that halve cwnd and add one packet per round trip use three quarters of a path without a
# buffer, and all of it if the buffer holds the BDP.
_HALVING = "halving"
_HALVING_AGENTS = {"TCP", "TCP/Reno", "TCP/Newreno", "TCP/Sack1", "TCP/SackTS"}
_LAW_OF_AGENT = {"TCP/Fast": "fast"}
# windowOption_ of Agent/TCP.
_LAW_OF_WINDOW_OPTION = {9: "scalable", 12: "bic", 13: "cubic", -10: "htcp"}
# ns-2 computes the routes between all nodes before it begins: 1,000 nodes take 8.6 s.
_NODE_PAIR_S = 8.6e-6
# Web connections are set up in Tcl: 1.4 ms per object of PagePool, 1.0 ms per object of PackMime.
# Those of Tmix took 0.42 to 0.56 ms, packets not counted, in most of 400 runs on busy cores.
_CONNECTION_S = {"web": 1.2e-3, "packmime": 1.2e-3, "tmix": 0.5e-3}
# Additional time per packet if the queue maintains an average of its length.
_AVERAGING = 1.2
# The same on a wireless LAN, whose frames reach all stations: 22 µs a packet, ACK included.
_ON_LAN = 15.0
# Mean cwnd in packets at loss rate p: 1.22 / p^0.5 (Mathis et al. 1997), or for high-speed laws
# 0.12 / p^0.835 (RFC 3649) where that is larger.
_STANDARD_RESPONSE = (1.22, 0.5)
_HIGH_SPEED_RESPONSE = (0.12, 0.835)
# FAST keeps alpha packets in the queue. If the buffer is smaller, it loses packets every round trip
# and uses next to nothing.
_STARVED_USE = 0.06
_STARVED_BUFFER = 0.1  # of the BDP


@dataclass(frozen=True)
class Costs:
    """Costs of a simulator on the reference machine with all cores busy, all in s of CPU time.

    Attributes:
        startup_s: loading its library and the script.
        flow_s: creating a flow: two hosts, their links, agents and monitors.
        packet_s: one packet over the three links of a dumbbell, and its ACK, while few are in
            flight.
        line_s: one line of a packet trace.
        sample_s: one sample of a flow or a queue by the scripts.
    """

    startup_s: float
    flow_s: float
    packet_s: float
    line_s: float
    sample_s: float


# From 974 runs of four studies: a packet where flows fill the path, a flow where there are 40 short
# ones, a sample where there are few packets. Predicted / measured is then 0.92 to 1.45 in these
# studies, and 0.90 and 0.69 for the 656 runs of another protocol in two studies.
COSTS = Costs(startup_s=0.07, flow_s=0.009, packet_s=5.7e-07, line_s=3.37e-07, sample_s=1.63e-05)

# From the 842 runs of `two_simulators` with ns-3: together they take what this predicts, and those
# of one flow over 20 Mbit/s 0.7 of it.
NS3_COSTS = Costs(startup_s=0.2, flow_s=0.02, packet_s=3.7e-05, line_s=0.0, sample_s=1e-05)

# Packets in flight outgrow the processor's caches, the more so those of many flows, which are
# scattered in memory: with one flow of an earlier build a packet took 1.1 µs with 1,100 in
# flight and 1.5 µs with 12,000; with ten flows 1.3 µs and 1.6 µs, and 2.0 µs with 24,000.
_NEAR_PKTS = 1000
_FAR = 0.23
_FAR_OF_TEN = 0.17

# CPU time of bdpbench besides ns-2 on the reference machine, s, as fitted by
# tests/benchmarks/orchestration.py.
CALL_S = 1.9
"""A call of `run`: planning, and the report of a small study."""
REPORT_RUN_S = 0.02
"""A run of the plan: its part of planning and of the report, which use one core."""
SCHEDULER_S = 1.6
"""Snakemake, which runs the batches if there are several."""
BATCH_S = 1.5
"""A batch of runs, until its process has started and reached its first run."""
RUN_S = 0.08
"""A run in its batch: its files, tables, values and series."""
MEASURE_S = 0.05
"""A finished run that is parsed and measured again in a batch."""

# Memory, MB: a batch took 110 whether its runs are short or long, and more if it makes tables of
# packets.
_BATCH_MB = 250
_TRACED_MB = 1500
# ns-2 took 15 without flows, 0.13 per flow, 210 for the routes between a million pairs of nodes,
# and half a kB per packet in flight: 121 for 300 flows, 62 for the ten of a wide path.
_NS2_MB, _FLOW_MB, _NODE_PAIR_MB, _PACKET_MB = 15, 0.13, 2.1e-4, 5e-4
_ROOM = 1.5
# A connection that Tmix has drawn is kept for the whole run, as is what each source makes of it:
# 4.2 to 4.7 kB in 26 runs of at least 220,000, and 5.6 kB where two sources have the same draw.
_DRAWN_MB, _REPLAYED_MB = 3.8e-3, 1.2e-3


def batch_memory_mb(run: PlannedRun) -> int:
    """Memory that a batch with this run may need, including ns-2, MB, with a margin."""
    parameters = run["parameters"]
    flows = int(parameters.get("flows") or 2)
    ns2_mb = (
        _NS2_MB
        + flows * _FLOW_MB
        + (2 * flows + 2) ** 2 * _NODE_PAIR_MB
        + _under_way_pkts(parameters) * _PACKET_MB
    )
    own_mb = _TRACED_MB if is_traced(parameters) else _BATCH_MB
    return own_mb + math.ceil(_ROOM * ns2_mb + _tmix_mb(run))


def _tmix_mb(run: PlannedRun) -> float:
    """Memory for the connections of the sources of kind tmix, by their mean sizes, MB.

    Sources with the same draw share its connections.
    """
    given = dict(zip(run["argv"][::2], run["argv"][1::2], strict=False))
    drawn: dict[tuple[str, float], int] = {}
    for name, kind in given.items():
        source = name.removesuffix("kind")
        if kind == "tmix" and f"{source}offered_mbps" in given:
            sent = float(given["-duration_s"]) * float(given[f"{source}offered_mbps"]) * 1e6 / 8
            replies = float(given[f"{source}exchanges_mean"])
            connections = sent / (replies * float(given[f"{source}response_size_mean_bytes"]))
            key = given.get(f"{source}draw", source), connections
            drawn[key] = drawn.get(key, 0) + 1
    return sum(each * (_DRAWN_MB + n * _REPLAYED_MB) for (_, each), n in drawn.items())


@dataclass(frozen=True)
class Work:
    """The work of a run for ns-2: packets over the bottleneck, trace lines, samples, flows.

    Attributes:
        under_way_pkts: packets in flight, on links and in queues.
    """

    packets: float
    lines: float
    samples: float
    flows: int = 0
    under_way_pkts: float = 0.0

    @property
    def distance(self) -> float:
        """By what factor a packet takes longer than while few are in flight."""
        scattered = _FAR + _FAR_OF_TEN * math.log10(max(1, self.flows))
        return 1 + scattered * math.log1p(self.under_way_pkts / _NEAR_PKTS)

    def cpu_s(self, costs: Costs = COSTS) -> float:
        """Predicted CPU time on the reference machine, s."""
        return (
            costs.startup_s
            + self.flows * costs.flow_s
            + self.packets * self.distance * costs.packet_s
            + self.lines * costs.line_s
            + self.samples * costs.sample_s
        )


def expected_work(
    parameters: Parameters, flows: Sequence[Sender], outputs: Sequence[Output]
) -> Work:
    """The work of a run with these parameters, flows and files.

    If the rate of a run's bottleneck is unknown, its packets are not counted.
    """
    duration_s = float(parameters["duration_s"])
    packet_bits = 8 * (float(parameters.get("packet_bytes", 1000)) + _HEADER_BYTES)
    capacity = float(parameters.get("bottleneck_mbps", 0)) * 1e6 / packet_bits * duration_s
    use = utilization(parameters, flows) * _filled_share(parameters, flows, duration_s)
    packets = capacity * use
    return Work(
        packets=packets,
        lines=packets * _LINES_PER_PACKET * is_traced(parameters),
        samples=sum(_samples(parameters, output["table"], duration_s) for output in outputs),
        flows=len(flows),
        under_way_pkts=_under_way_pkts(parameters),
    )


def network_cpu_s(
    links: Sequence[Link],
    flows: Sequence[NetworkFlow],
    sources: Sequence[Source],
    outputs: Sequence[Output],
    parameters: Parameters,
    costs: Costs = COSTS,
) -> float:
    """Predicted CPU time of a run of ``tcl/network.tcl``, or of ns-3's program, s.

    Finite flows, background traffic, and flows behind slow access links or random losses send no
    more than they have to or can, which may be less than the bottleneck carries.
    """
    duration_s = float(parameters["duration_s"])
    packet_bits = 8 * (int(parameters["packet_bytes"]) + HEADER_BYTES)
    offered = sum(source.mbps for source in sources) * 1e6 / packet_bits * duration_s
    carried = sum(_most_pkts(links, flow, packet_bits, duration_s) for flow in flows)
    work = expected_work(parameters, flows, outputs)
    packets = min(work.packets, offered + carried) * len(links)  # a packet costs the same on each
    averages = any(link.kind.has_average for link in links)
    slowest_mbps = min(link.wire.mbps for link in links)
    queued_pkts = sum(
        float(dict(flow.more).get("access_buffer_pkts", 0))
        for flow in flows
        if flow.access_mbps < slowest_mbps
    )
    found = replace(
        work,
        packets=packets
        * (_AVERAGING if averages else 1.0)
        * (_ON_LAN if "lan_mbps" in parameters else 1.0),
        lines=packets * _LINES_PER_PACKET * is_traced(parameters),
        under_way_pkts=work.under_way_pkts + queued_pkts,
    )
    nodes = 1 + len(links) + 2 * len(flows) + sum(source.hosts for source in sources)
    web_s = sum(
        source.setup_s + source.connections_per_s * duration_s * _CONNECTION_S.get(source.kind, 0)
        for source in sources
    )
    return found.cpu_s(costs) + _NODE_PAIR_S * nodes**2 + web_s


def _most_pkts(
    links: Sequence[Link], flow: NetworkFlow, packet_bits: float, duration_s: float
) -> float:
    """Most packets that a flow can send, given its size, its access links and its losses."""
    pkts_per_s = [flow.access_mbps * 1e6 / packet_bits]
    path = links[flow.route.first : flow.route.last + 1]
    kept = math.prod(1 - link.loss_rate for link in path)
    if kept < 1 and flow.rtt_ms > 0:
        pkts_per_s.append(_cwnd_at(1 - kept, flow) / flow.rtt_ms * 1000)
    sent = min(pkts_per_s) * max(0.0, duration_s - flow.start_s)
    return sent if flow.size_pkts is None else min(sent, flow.size_pkts)


def _under_way_pkts(parameters: Parameters) -> float:
    """Packets that the path holds, and as many of the buffer: longer queues are rare."""
    bdp_pkts = float(parameters.get("bdp_pkts") or 0.0)
    return bdp_pkts + min(bdp_pkts, float(parameters.get("buffer_pkts") or 0.0))


def _samples(parameters: Parameters, table: str, duration_s: float) -> float:
    """Number of samples that the script takes for a table of a flow or a queue."""
    if table not in (*_FLOW_TABLES, "queue"):
        return 0.0
    interval_s = parameters.get("sample_s", NETWORK_DEFAULTS["sample_s"])
    if table == "queue":
        interval_s = parameters.get("queue_sample_s", interval_s)
    return duration_s / float(interval_s)


def utilization(parameters: Parameters, flows: Sequence[Sender]) -> float:
    """Utilization of the bottleneck, 0 … 1, once its flows have filled it.

    For several flows it is the geometric mean of what each would use alone.
    """
    if not flows or not parameters.get("bdp_pkts") or "buffer_pkts" not in parameters:
        return 1.0  # a path without delay holds no packets
    alone = [_use_alone(flow, parameters) for flow in flows]
    return float(math.prod(alone) ** (1 / len(alone)))


def _law(flow: Sender) -> str:
    """The law of a flow's cwnd, as named in the tables above; "" for one that they lack."""
    use = flow.use
    if use.linux is not None:
        return use.linux
    if use.agent in _LAW_OF_AGENT:
        return _LAW_OF_AGENT[use.agent]
    if use.window_option in (None, 1) and use.agent in _HALVING_AGENTS:
        return _HALVING
    return _LAW_OF_WINDOW_OPTION.get(use.window_option or 1, "")


def _cwnd_at(loss: float, flow: Sender) -> float:
    """Mean cwnd of a flow, packets, at a loss rate."""
    standard, high_speed = (
        factor / math.pow(loss, power)
        for factor, power in (_STANDARD_RESPONSE, _HIGH_SPEED_RESPONSE)
    )
    return standard if _law(flow) == _HALVING else max(standard, high_speed)


def _use_alone(flow: Sender, parameters: Parameters) -> float:
    law = _law(flow)
    buffer_pkts = float(parameters["buffer_pkts"])
    buffer_share = buffer_pkts / float(parameters["bdp_pkts"])
    if law == "fast":
        holds_alpha = buffer_pkts >= (flow.variable("alpha_") or 0)
        return 1.0 if holds_alpha or buffer_share >= _STARVED_BUFFER else _STARVED_USE
    if law == _HALVING:
        return min(1.0, 0.75 + 0.25 * buffer_share)
    return 1.0 / (1.0 + (_HALF_USE.get(law, _HALF_USE_OTHERS) / buffer_share) ** 2)


def _filled_share(parameters: Parameters, flows: Sequence[Sender], duration_s: float) -> float:
    """Share of the capacity that is used, given the time that flows need to fill the path."""
    if not parameters.get("rtt_ms") or not parameters.get("bdp_pkts"):
        return 1.0
    speeds = [_FILLING.get(_law(flow), _FILLING_OTHERS) for flow in flows]
    round_trips = float(parameters["bdp_pkts"]) / max(speeds, default=_FILLING_OTHERS)
    filling_s = round_trips * float(parameters["rtt_ms"]) / 1000
    if duration_s < filling_s:
        return float(duration_s / (2 * filling_s))
    return float(1 - filling_s / (2 * duration_s))


# ---------------------------------------------------------------- batches

LEAST_S = 8.0
"""In a shorter batch, starting its process would take a fifth of the time or more."""

MOST_S = 600.0
"""A longer batch would keep others waiting at the end, and lose much work if it fails."""

MOST_RUNS = 1000
"""Most runs of a batch, because its plan is read at once."""


def make_batches(
    costs_s: Mapping[str, float], cores: int, *, least_s: float = LEAST_S
) -> Sequence[Sequence[str]]:
    """Divide runs into batches that shrink towards the end, the longest runs and batches first.

    Each batch takes half of an equal share of the remaining work, within bounds, so that the last
    batches even out errors of the estimates (guided self-scheduling: Polychronopoulos and Kuck,
    IEEE Transactions on Computers C-36(12), 1987).

    Args:
        costs_s: run id → expected CPU time, s.
        cores: number of batches that run at once.
        least_s: CPU time below which another run is added to a batch, s.
    """
    batches: list[list[str]] = []
    left_s, share_s, taken_s = sum(costs_s.values()), 0.0, 0.0
    for run_id in sorted(costs_s, key=lambda each: -costs_s[each]):
        cost_s = costs_s[run_id]
        if not batches or taken_s + cost_s > share_s or len(batches[-1]) >= MOST_RUNS:
            batches.append([])
            share_s, taken_s = min(MOST_S, max(least_s, left_s / (2 * cores))), 0.0
        batches[-1].append(run_id)
        taken_s += cost_s
        left_s -= cost_s
    return batches
