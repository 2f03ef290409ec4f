"""What a single line does not show: whether a packet was sent or had arrived before, and when.

Each tracker stores only what is needed for later lines.
"""

from __future__ import annotations

import types

import polars as pl

from bdpbench.metrics.packets.native import WiredFound

MOST_OPEN = 2_000_000
"""Most packets that are remembered at a time.

This is more than any path holds: if more packets are open, the trace lacks the lines of their ends.
"""

_ACK = "ack"


class Highest:
    """The highest sequence number of each stream so far."""

    def __init__(self) -> None:
        self.known = pl.DataFrame(schema={"stream": pl.Int64, "seq": pl.Int64})

    def load(self, known: pl.DataFrame) -> None:
        """Start from the highest numbers of streams: stream, seq (i64)."""
        self.known = known

    def before(self, rows: pl.DataFrame) -> pl.Series:
        """Highest number of the stream before each row (i64), null for its first; adds the rows.

        Args:
            rows: stream, seq (i64), in the order of the trace.
        """
        # Known numbers are prepended to the rows, which is faster than a join.
        all_rows = pl.concat([self.known, rows.select("stream", "seq")])
        before = all_rows.select(pl.col("seq").cum_max().shift(1).over("stream"))["seq"]
        skipped = self.known.height
        self.known = all_rows.group_by("stream").agg(pl.col("seq").max())
        return before.slice(skipped)


class SentBefore:
    """Finds retransmissions: packets whose source has already sent their number or a higher one.

    ns-2's TCP agents send new data in order, and count a packet as a retransmission
    (``nrexmitpack_``) if its number is not above the highest sent. ACKs carry the number that they
    acknowledge and are never retransmissions; nor are packets without a number (-1).
    """

    def __init__(self) -> None:
        self._highest = Highest()
        self.byte_streams = pl.DataFrame(schema={"stream": pl.Int64})
        """Streams that number bytes rather than packets, as FullTcp does."""

    def load(self, found: WiredFound) -> None:
        """Start from the numbers of the rows summed in C."""
        self._highest.load(found.known("highest_sent"))
        self.byte_streams = found.streams.filter(pl.col("by_bytes") == 1).select("stream")

    def mark(self, sends: pl.DataFrame) -> pl.DataFrame:
        """``sends`` with the column retransmitted (bool).

        Args:
            sends: stream (i64), seq (i64), type, payload_bytes (i64), in the order of the trace.
        """
        advance = pl.col("seq") - pl.col("before")
        data = pl.col("type") != _ACK
        again = data & (pl.col("seq") >= 0) & (advance <= 0)
        # Packet numbers advance by one, byte numbers by the payload of a packet.
        by_bytes = data & (advance > 1) & (2 * advance >= pl.col("payload_bytes"))
        marked = sends.with_columns(before=self._highest.before(sends)).with_columns(
            retransmitted=again.fill_null(value=False)
        )
        found = marked.filter(by_bytes).select("stream")
        self.byte_streams = pl.concat([self.byte_streams, found]).unique()
        return marked.drop("before")


class ArrivedBefore:
    """Finds the arrivals that bring new data to their receiver.

    A number above the highest so far is new; the numbers that it skips are a hole. A number below
    the highest is new if it fills a hole, and a duplicate if not. Holes are stored by their ends,
    so their width does not matter. For streams that number bytes no holes are stored: any number
    that is not above the highest is a duplicate.
    """

    def __init__(self) -> None:
        self._highest = Highest()
        self._holes = pl.DataFrame(schema=_HOLE)

    def load(self, found: WiredFound) -> None:
        """Start from the numbers and holes of the rows summed in C."""
        self._highest.load(found.known("highest_arrived"))
        self._holes = found.holes

    def mark(self, arrivals: pl.DataFrame, byte_streams: pl.DataFrame) -> pl.DataFrame:
        """``arrivals`` with the column new (bool); packets without a number (-1) are all new.

        Args:
            arrivals: stream, seq (i64), in the order of the trace.
            byte_streams: stream (i64) of those that number bytes.
        """
        seq, before = pl.col("seq"), pl.col("before")
        new = (seq > before).fill_null(value=True) | (seq < 0)
        marked = arrivals.with_columns(before=self._highest.before(arrivals))
        fills = self._filled_holes(marked, byte_streams)
        if fills.is_empty():
            return marked.with_columns(new=new).drop("before")
        is_new = marked.select(new=new)["new"].scatter(fills["row"], values=True)
        return marked.drop("before").with_columns(is_new)

    def _filled_holes(self, marked: pl.DataFrame, byte_streams: pl.DataFrame) -> pl.DataFrame:
        """Rows (``row``, u32) whose arrival fills a hole."""
        skips = marked.filter(pl.col("seq") > pl.col("before") + 1)
        if not byte_streams.is_empty():
            skips = skips.join(byte_streams, on="stream", how="anti")
        opened = skips.select("stream", first=pl.col("before") + 1, last=pl.col("seq") - 1)
        holes = pl.concat([self._holes, opened])
        late = (
            marked.lazy()
            .with_row_index("row")
            .filter(pl.col("seq") <= pl.col("before"))
            .select("row", "stream", "seq")
            .collect()
        )
        if holes.is_empty() or late.is_empty():
            self._holes = holes.tail(MOST_OPEN)
            return pl.DataFrame(schema={"row": pl.UInt32})
        fills = _in_holes(late.unique(["stream", "seq"], keep="first"), holes)
        self._holes = _without(holes, fills).tail(MOST_OPEN)
        return fills.select("row")


_HOLE = types.MappingProxyType({"stream": pl.Int64, "first": pl.Int64, "last": pl.Int64})


def _in_holes(late: pl.DataFrame, holes: pl.DataFrame) -> pl.DataFrame:
    """The rows of ``late`` (stream, seq) that are in a hole, with its ``first``.

    >>> late = pl.DataFrame({"row": [0, 1], "stream": [7, 7], "seq": [3, 5]})
    >>> holes = pl.DataFrame({"stream": [7], "first": [2], "last": [4]})
    >>> _in_holes(late, holes).rows()
    [(0, 7, 3, 2)]
    """
    return (
        late.sort("seq")
        .join_asof(
            holes.select("stream", "last", seq="first", first="first").sort("seq"),
            on="seq",
            by="stream",
            strategy="backward",
            check_sortedness=False,
        )
        .filter(pl.col("seq") <= pl.col("last"))
        .drop("last")
    )


def _without(holes: pl.DataFrame, fills: pl.DataFrame) -> pl.DataFrame:
    """The rest of holes after some of their numbers (stream, seq, first) have arrived.

    >>> holes = pl.DataFrame({"stream": [7, 7], "first": [2, 9], "last": [6, 9]})
    >>> fills = pl.DataFrame({"stream": [7, 7], "seq": [4, 9], "first": [2, 9]})
    >>> _without(holes, fills).rows()
    [(7, 2, 3), (7, 5, 6)]
    """
    if fills.is_empty():
        return holes
    hole = ["stream", "first"]
    untouched = holes.join(fills, on=hole, how="anti", maintain_order="left")
    touched = holes.join(fills, on=hole, how="semi", maintain_order="left")
    bounds = pl.concat(
        [
            touched.select(*hole, at=pl.col("first") - 1),
            fills.select(*hole, at="seq"),
            touched.select(*hole, at=pl.col("last") + 1),
        ]
    ).sort(*hole, "at")
    following = pl.col("at").shift(-1).over(hole)
    left = bounds.select("stream", first=pl.col("at") + 1, last=following - 1)
    return pl.concat([untouched, left.filter(pl.col("first") <= pl.col("last"))])
