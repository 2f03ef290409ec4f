"""Sequence numbers that are skipped and arrive later, however large the gap."""

from __future__ import annotations

import random
import resource
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.metrics.packets import COLUMNS, sum_packets
from bdpbench.trace import open_trace

from .conftest import frame_of


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def test_a_gap_of_numbers_costs_no_memory(tmp_path: Path) -> None:
    # The sender is not traced; its numbers jump by 400 million, and those of its ACKs by 2^31.
    path = tmp_path / "gap.tr"
    path.write_text(
        "r 1.0 0 1 tcp 1040 ------- 1 0.0 1.0 0 1\n"
        "r 2.0 0 1 tcp 1040 ------- 1 0.0 1.0 400000000 2\n"
        "r 3.0 0 1 tcp 1040 ------- 1 0.0 1.0 123456789 3\n"
        "r 4.0 0 1 tcp 1040 ------- 1 0.0 1.0 123456789 4\n"
        "r 5.0 1 0 ack 40 ------- 1 1.0 0.0 5593 5\n"
        "r 6.0 1 0 ack 40 ------- 1 1.0 0.0 2147483648 6\n"
    )
    before = _peak_mb()
    flows = sum_packets(open_trace(path).batches(COLUMNS)).flows
    assert _peak_mb() - before < 200
    data = flows.row(by_predicate=pl.col("kind") == "data", named=True)
    # Four packets arrive; the number that fills the hole is new only the first time.
    assert (data["received_pkts"], data["good_bytes"]) == (4, 3 * 1000)


@examples(12)
@given(seed=st.integers(0, 10**6))
def test_new_is_what_a_set_of_numbers_says(seed: int) -> None:
    dice = random.Random(seed)
    seen: set[int] = set()
    first = dice.randrange(10)
    expected, lines = 0, []
    for uid in range(60):
        seq = dice.randrange(30) if uid else first
        # Numbers below the first one are not holes.
        expected += seq not in seen and seq >= first
        seen.add(seq)
        lines.append(f"r {uid} 0 1 cbr 100 1 0.0 1.0 {seq} {uid}")
    flows = sum_packets([frame_of(lines)]).flows
    assert flows["good_bytes"].to_list() == [100 * expected]
