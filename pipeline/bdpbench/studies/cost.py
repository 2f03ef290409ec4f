"""What a simulation costs, for ``list`` and the progress, and batches of about equal cost.

One line says how much CPU time ns-2 takes, to within a factor of two for most runs;
``tests/benchmarks/measure.py`` compares it with the published runs, whose own times are known
(``bdpbench.app.costs``). Batches need no more: they are small towards the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bdpbench.contracts.plan import Parameters, PlannedRun
from bdpbench.studies.vocabulary import is_traced

_HEADER_BYTES = 50
_START_S = 0.1
_FLOW_S = 0.01
_PACKET_S = 1e-6
# ns-3 has one event for what ns-2 does in several C++ calls, and copies packets.
_NS3_PACKET_S = 2.5e-5

OWN_S = 0.1
"""CPU time that bdpbench takes for a run: its files, tables, values and part of the report, s."""
CALL_S = 4.0
"""The same for a call of `run`: planning, Snakemake, the start of batches, the report."""
MEASURE_S = 0.05
"""The same for a finished run that is parsed and measured again in a batch."""


def estimated_cpu_s(parameters: Parameters, flows: int, *, ns3: bool) -> float:
    """CPU time of a run, s: its start, its flows, and all that its bottleneck can carry.

    If the rate of its bottleneck is unknown, its packets are not counted.
    """
    packet_bits = 8 * (float(parameters.get("packet_bytes", 1000)) + _HEADER_BYTES)
    pkts_per_s = float(parameters.get("bottleneck_mbps", 0)) * 1e6 / packet_bits
    packet_s = _NS3_PACKET_S if ns3 else _PACKET_S
    return _START_S + _FLOW_S * flows + packet_s * pkts_per_s * float(parameters["duration_s"])


# ---------------------------------------------------------------- memory

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
    bdp_pkts = float(parameters.get("bdp_pkts") or 0.0)
    queued_pkts = min(bdp_pkts, float(parameters.get("buffer_pkts") or 0.0))
    ns2_mb = (
        _NS2_MB
        + flows * _FLOW_MB
        + (2 * flows + 2) ** 2 * _NODE_PAIR_MB
        + (bdp_pkts + queued_pkts) * _PACKET_MB
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


# ---------------------------------------------------------------- batches

LEAST_S = 8.0
"""In a shorter batch, starting its process would take a fifth of the time or more."""

MOST_S = 600.0
"""A longer batch would keep others waiting at the end, and lose much work if it fails."""

MOST_RUNS = 1000
"""Most runs of a batch, because its plan is read at once."""


def make_batches(costs_s: Mapping[str, float], cores: int) -> Sequence[Sequence[str]]:
    """Divide runs into batches that shrink towards the end, the longest runs and batches first.

    Each batch takes half of an equal share of the remaining work, within bounds, so that the last
    batches even out errors of the estimates (guided self-scheduling: Polychronopoulos and Kuck,
    IEEE Transactions on Computers C-36(12), 1987).

    Args:
        costs_s: run id → expected CPU time, s.
        cores: number of batches that run at once.
    """
    batches: list[list[str]] = []
    left_s, share_s, taken_s = sum(costs_s.values()), 0.0, 0.0
    for run_id in sorted(costs_s, key=lambda each: -costs_s[each]):
        cost_s = costs_s[run_id]
        if not batches or taken_s + cost_s > share_s or len(batches[-1]) >= MOST_RUNS:
            batches.append([])
            share_s, taken_s = min(MOST_S, max(LEAST_S, left_s / (2 * cores))), 0.0
        batches[-1].append(run_id)
        taken_s += cost_s
        left_s -= cost_s
    return batches
