"""Runs → batches, one process each: few processes start, and no core is idle at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
