"""Runs → batches: what one process takes on, so that few processes start and no core ends idle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LEAST_S = 8.0
"""Of a batch of less the start of its process would be a fifth and more."""

MOST_S = 600.0
"""A batch of more would be long to wait for where others have ended, and much to lose."""

MOST_RUNS = 1000
"""Runs of a batch: its plan is read at once."""


def make_batches(
    costs_s: Mapping[str, float], cores: int, *, least_s: float = LEAST_S
) -> Sequence[Sequence[str]]:
    """Runs in batches that shrink towards the end, the longest runs and batches first.

    Each batch takes half of an equal share of what is left, within bounds, so that the last ones
    even out what the estimates got wrong (guided self-scheduling: Polychronopoulos and Kuck, IEEE
    Transactions on Computers C-36(12), 1987).

    Args:
        costs_s: run id → expected CPU time, s.
        cores: batches at once.
        least_s: CPU time of a batch below which another run is added to it.
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
