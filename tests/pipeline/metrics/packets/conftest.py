"""Frames of trace lines, made without the reader, so that tests of metrics do not need it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl
import pytest

EVENT = pl.Enum(("+", "-", "r", "d", "e", "h", "s", "f", "D"))
SCHEMA = {
    "event": EVENT,
    "time_s": pl.Float64,
    "from_node": pl.Int32,
    "to_node": pl.Int32,
    "type": pl.Categorical,
    "bytes": pl.Int32,
    "flow": pl.Int32,
    "src_node": pl.Int32,
    "src_port": pl.Int32,
    "dst_node": pl.Int32,
    "dst_port": pl.Int32,
    "seq": pl.Int64,
    "uid": pl.Int64,
}


def frame_of(lines: Iterable[str]) -> pl.DataFrame:
    """Lines of a wired trace as a frame without the column of flags."""
    rows = []
    for line in lines:
        event, time_s, start, end, kind, size, flow, src, dst, seq, uid = line.split()
        ends = [int(part) for address in (src, dst) for part in address.split(".")]
        numbers = [int(start), int(end), kind, int(size), int(flow), *ends, int(seq), int(uid)]
        rows.append((event, float(time_s), *numbers))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


# Node 0 sends to node 2 through node 1; the reverse path has no queue. Packet 1 waits at 0-1 for
# 0.1 s and is dropped at 1-2; its retransmission (uid 3) arrives.
TINY = """
+ 1.0 0 1 tcp 1040 1 0.0 2.0 0 0
- 1.0 0 1 tcp 1040 1 0.0 2.0 0 0
+ 1.0 0 1 tcp 1040 1 0.0 2.0 1 1
r 1.1 0 1 tcp 1040 1 0.0 2.0 0 0
- 1.1 0 1 tcp 1040 1 0.0 2.0 1 1
+ 1.1 1 2 tcp 1040 1 0.0 2.0 0 0
- 1.1 1 2 tcp 1040 1 0.0 2.0 0 0
r 1.2 0 1 tcp 1040 1 0.0 2.0 1 1
+ 1.2 1 2 tcp 1040 1 0.0 2.0 1 1
d 1.2 1 2 tcp 1040 1 0.0 2.0 1 1
r 1.5 1 2 tcp 1040 1 0.0 2.0 0 0
+ 1.5 2 1 ack 40 1 2.0 0.0 0 2
- 1.5 2 1 ack 40 1 2.0 0.0 0 2
r 1.6 2 1 ack 40 1 2.0 0.0 0 2
+ 1.6 1 0 ack 40 1 2.0 0.0 0 2
- 1.6 1 0 ack 40 1 2.0 0.0 0 2
r 1.7 1 0 ack 40 1 2.0 0.0 0 2
+ 2.0 0 1 tcp 1040 1 0.0 2.0 1 3
- 2.0 0 1 tcp 1040 1 0.0 2.0 1 3
r 2.1 0 1 tcp 1040 1 0.0 2.0 1 3
+ 2.1 1 2 tcp 1040 1 0.0 2.0 1 3
- 2.1 1 2 tcp 1040 1 0.0 2.0 1 3
r 2.5 1 2 tcp 1040 1 0.0 2.0 1 3
+ 2.5 2 1 ack 40 1 2.0 0.0 1 4
- 2.5 2 1 ack 40 1 2.0 0.0 1 4
r 2.6 2 1 ack 40 1 2.0 0.0 1 4
+ 2.6 1 0 ack 40 1 2.0 0.0 1 4
- 2.6 1 0 ack 40 1 2.0 0.0 1 4
r 2.7 1 0 ack 40 1 2.0 0.0 1 4
+ 2.7 0 1 tcp 1040 1 0.0 2.0 2 5
- 2.7 0 1 tcp 1040 1 0.0 2.0 2 5
r 2.8 0 1 tcp 1040 1 0.0 2.0 2 5
+ 2.8 1 2 tcp 1040 1 0.0 2.0 2 5
- 2.8 1 2 tcp 1040 1 0.0 2.0 2 5
r 3.1 1 2 tcp 1040 1 0.0 2.0 2 5
+ 3.1 2 1 ack 40 1 2.0 0.0 2 6
- 3.1 2 1 ack 40 1 2.0 0.0 2 6
r 3.2 2 1 ack 40 1 2.0 0.0 2 6
+ 3.2 1 0 ack 40 1 2.0 0.0 2 6
- 3.2 1 0 ack 40 1 2.0 0.0 2 6
r 3.4 1 0 ack 40 1 2.0 0.0 2 6
"""


@pytest.fixture(scope="session")
def tiny() -> pl.DataFrame:
    """The trace above."""
    return frame_of(TINY.strip().splitlines())


@pytest.fixture
def lines_to_frame() -> Callable[[Iterable[str]], pl.DataFrame]:
    """The function ``frame_of``."""
    return frame_of
