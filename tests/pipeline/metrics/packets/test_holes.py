"""Sequence numbers that are skipped and arrive later, however large the gap."""

from __future__ import annotations

import random
import resource
from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from bdpbench.metrics.packets import COLUMNS, sum_packets
from bdpbench.metrics.packets.tracking import ArrivedBefore
from bdpbench.trace import open_trace

_NO_BYTES = pl.DataFrame(schema={"stream": pl.Int64})


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


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 60))
def test_new_is_what_a_set_of_numbers_says(seed: int, cut: int) -> None:
    dice = random.Random(seed)
    seen: dict[int, set[int]] = {1: set(), 2: set()}
    top: dict[int, int] = {}
    rows, expected = [], []
    for _ in range(60):
        stream, seq = dice.choice((1, 2)), dice.randrange(30)
        # Numbers below a stream's first one are not holes.
        first = stream not in top
        top.setdefault(stream, seq)
        is_new = seq not in seen[stream] and (first or seq > top[stream])
        rows.append((stream, seq))
        expected.append(is_new)
        seen[stream].add(seq)
    frame = pl.DataFrame(rows, schema={"stream": pl.Int64, "seq": pl.Int64}, orient="row")
    tracker = ArrivedBefore()
    found = [
        tracker.mark(frame.slice(start, cut), _NO_BYTES)["new"]
        for start in range(0, frame.height, cut)
    ]
    assert pl.concat(found).to_list() == expected
