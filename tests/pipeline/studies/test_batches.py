"""Batches contain every run once, shrink towards the end, and have a reasonable size."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from bdpbench.studies.cost import LEAST_S, MOST_RUNS, MOST_S, make_batches

costs = st.dictionaries(st.integers(0, 10**6).map(str), st.floats(0.01, 3000), max_size=200)


@settings(max_examples=60, deadline=None)
@given(costs_s=costs, cores=st.integers(1, 64))
def test_each_run_is_in_one_batch_and_the_longest_come_first(
    costs_s: dict[str, float], cores: int
) -> None:
    batches = make_batches(costs_s, cores)
    runs = [run for batch in batches for run in batch]
    assert sorted(runs) == sorted(costs_s)
    assert [costs_s[run] for run in runs] == sorted(costs_s.values(), reverse=True)
    for batch in batches:
        assert len(batch) == 1 or sum(costs_s[run] for run in batch) <= MOST_S + 1e-6


def test_a_small_call_is_one_batch() -> None:
    assert make_batches({str(run): 0.4 for run in range(10)}, 8) == [
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
    ]
    assert make_batches({}, 2) == []


def test_cores_stay_busy_to_the_end_although_estimates_are_wrong() -> None:
    """Each batch goes to the first free core; every second one takes twice as long as estimated."""
    costs_s = {str(run): 0.5 + run % 7 for run in range(800)}
    batches = make_batches(costs_s, 4)
    assert len(batches) < 60
    free_s = [0.0] * 4
    for number, batch in enumerate(batches):
        core = free_s.index(min(free_s))
        free_s[core] += (1 + number % 2) * sum(costs_s[run] for run in batch)
    # The last batch has LEAST_S and the run that fills it up, and takes twice as long as expected.
    assert max(free_s) - min(free_s) <= 2 * (LEAST_S + 7)


def test_thousands_of_short_runs_are_not_one_plan() -> None:
    batches = make_batches({str(run): 0.01 for run in range(24_000)}, 1)
    assert max(map(len, batches)) <= MOST_RUNS
    assert len(batches) < 24_000 / MOST_RUNS + math.log2(24_000)


def test_a_scheduler_may_ask_for_larger_batches() -> None:
    costs_s = {str(run): 1.0 for run in range(600)}
    assert len(make_batches(costs_s, 500, least_s=300)) == 2
    assert len(make_batches(costs_s, 500)) == 600 / LEAST_S
