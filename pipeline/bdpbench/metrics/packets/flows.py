"""What streams sent, lost and received, and with which delays: partial sums over batches."""

from __future__ import annotations

import types

import polars as pl

from bdpbench.metrics.packets.bins import BinnedSums, Window
from bdpbench.metrics.packets.events import CONTROL_TYPES, ENDS, Events, stream_key
from bdpbench.metrics.packets.in_flight import InFlight
from bdpbench.metrics.packets.native import WiredFound
from bdpbench.metrics.packets.tracking import (
    MOST_OPEN,
    ArrivedBefore,
    Highest,
    SentBefore,
)

_TCP = "tcp"
_ACK = "ack"
_SMOOTHING = 1 / 16  # RFC 3550, section 6.4.1


_LOST = types.MappingProxyType({"stream": pl.Int64, "bin": pl.Int64, "lost_pkts": pl.Int64})
_STEPS = types.MappingProxyType(
    {"stream": pl.Int64, "delay_steps": pl.Int64, "delay_step_sum_s": pl.Float64}
)


class FlowSums:
    """Counts, bytes and delays of streams by bin of time.

    Args:
        window: the time that is counted; earlier events only set the initial state.
        width_s: width of the bins, s; None to choose it.
    """

    def __init__(self, window: Window, width_s: float | None) -> None:
        count, data = pl.len().cast(pl.Int64), pl.col("retransmitted")
        delay = pl.col("delay_s")
        self._window = window
        self._sent_before = SentBefore()
        self._in_flight = InFlight()
        self._arrived_before = ArrivedBefore()
        self._round_trips = RoundTrips()
        self._sent = BinnedSums(
            "stream",
            {
                "sent_pkts": count,
                "sent_bytes": pl.col("bytes").sum(),
                "retransmitted_pkts": data.sum().cast(pl.Int64),
                "retransmitted_bytes": pl.col("bytes").filter(data).sum(),
            },
            width_s=width_s,
        )
        self._received = BinnedSums(
            "stream",
            {
                "received_pkts": count,
                "received_bytes": pl.col("bytes").sum(),
                "good_bytes": pl.col("payload_bytes").filter("new").sum(),
                "delays": delay.count().cast(pl.Int64),
                "delay_sum_s": delay.sum(),
            },
            {"delay_max_s": delay.max()},
            width_s=width_s,
        )
        self._dropped = BinnedSums(
            "stream",
            {"dropped_pkts": count, "dropped_bytes": pl.col("bytes").sum()},
            width_s=width_s,
        )
        self._rtts = BinnedSums(
            "stream",
            {"rtts": count, "rtt_sum_s": pl.col("rtt_s").sum()},
            {"rtt_max_s": pl.col("rtt_s").max()},
            width_s=width_s,
        )
        self._lost = BinnedSums("stream", {"lost_pkts": count}, width_s=width_s)
        self._delivered = BinnedSums("stream", {"delivered_pkts": count}, width_s=width_s)
        self._jitter = Jitter()
        self._streams = Streams()
        self._times = Times()
        self._slow_starts = SlowStarts()

    @property
    def binned(self) -> tuple[BinnedSums, ...]:
        """The sums by bin."""
        return self._sent, self._received, self._dropped, self._rtts

    @property
    def widths_s(self) -> tuple[float, ...]:
        """Widths of all bins, s, including bins that belong to no series."""
        return tuple(each.width_s for each in (*self.binned, self._lost, self._delivered))

    @property
    def forgotten(self) -> int:
        """Number of sent packets that were forgotten because their end did not appear in time."""
        return self._in_flight.forgotten

    def load(self, found: WiredFound) -> None:
        """Start from the sums of the rows summed in C."""
        for part in (
            *(self._sent_before, self._in_flight, self._arrived_before, self._round_trips),
            *(self._jitter, self._streams, self._times, self._slow_starts),
        ):
            part.load(found)
        names = ("sent", "received", "dropped", "round_trips", "delivered")
        each = (*self.binned, self._delivered)
        for sums, cells in zip(each, (found.cells[name] for name in names), strict=True):
            sums.load(cells.rows, found.last_s, cells.index)
        self._lost.load(pl.DataFrame(schema=_LOST), found.last_s)

    def update(self, events: Events) -> None:
        """Add a batch."""
        self._streams.update(events)
        sends = self._in_flight.sendings(events.sends.drop(ENDS))
        sends = self._sent_before.mark(sends)
        ends = self._in_flight.match(sends, events.arrivals.drop(ENDS), events.drops.drop(ENDS))
        drops = ends.drops
        arrivals = self._arrived_before.mark(
            ends.arrivals, self._sent_before.byte_streams
        ).with_columns(delay_s=pl.col("time_s") - pl.col("sent_s"))
        samples = self._round_trips.match(sends, arrivals, self._sent_before.byte_streams)
        self._slow_starts.update(sends, drops)
        found = [sends, arrivals, drops, samples, ends.lost]
        if self._window.is_bounded:
            found = [each.filter(self._window.holds()) for each in found]
        for sums, rows in zip((*self.binned, self._lost), found, strict=True):
            sums.add(rows, events.last_s)
        arrived = arrivals.select("stream", time_s="sent_s").filter(self._window.holds())
        self._delivered.add(arrived, events.last_s)
        self._times.update(*found[:3])
        self._jitter.update(found[1])

    def learn(self, batch: pl.DataFrame, streams: pl.Series) -> None:
        """Add those of ``streams`` that are still unknown: seen in the batch, not at their ends."""
        self._streams.learn(batch, streams)

    def most_received_pkts(self) -> int:
        """Packets in the window that the flow received which received most."""
        received = self._received.result(max(self.widths_s)).group_by("stream")
        most = received.agg(pl.col("received_pkts").sum())["received_pkts"].max()
        return most if isinstance(most, int) else 0

    def losses(self, last_s: float) -> pl.DataFrame:
        """Packets sent in the window that never arrived, by stream; the trace ends at ``last_s``.

        Returns:
            stream, lost_pkts (i64: dropped somewhere), vanished_pkts (i64: without a drop).
        """
        width_s = max(self.widths_s)
        longest = self._received.result(width_s).group_by("stream").agg(pl.col("delay_max_s").max())
        dropped, vanished = (
            rows.filter(self._window.holds()).group_by("stream").agg(pl.len().cast(pl.Int64))
            for rows in self._in_flight.rest(longest, last_s)
        )
        lost = self._lost.result(width_s).select("stream", len="lost_pkts")
        return (
            pl.concat([lost, dropped])
            .group_by("stream")
            .agg(lost_pkts=pl.col("len").sum())
            .join(vanished.rename({"len": "vanished_pkts"}), on="stream", how="full", coalesce=True)
            .with_columns(pl.col("lost_pkts", "vanished_pkts").fill_null(0))
        )

    def series(self, width_s: float, end_s: float) -> pl.DataFrame:
        """Sums by stream (i64) and bin (i64); null if nothing was counted."""
        parts = [each.result(width_s, end_s) for each in self.binned]
        # ACKs cannot be matched to packets of a stream whose sequence numbers are bytes.
        parts[-1] = parts[-1].join(self._sent_before.byte_streams, on="stream", how="anti")
        joined = parts[0]
        for part in parts[1:]:
            joined = joined.join(part, on=["stream", "bin"], how="full", coalesce=True)
        return joined.sort("stream", "bin")

    def delivered(self, width_s: float, end_s: float) -> pl.DataFrame:
        """stream, bin, delivered_pkts (i64): packets sent in a bin that arrived in it or later."""
        return self._delivered.result(width_s, end_s)

    def totals(self) -> pl.DataFrame:
        """One row per stream: its ends, and what is not a sum over bins."""
        joined = self._streams.result()
        for part in (self._times.result(), self._jitter.result(), self._slow_starts.result()):
            joined = joined.join(part, on="stream", how="left")
        return joined


class Streams:
    """The streams: their ends and their types."""

    _SCHEMA = types.MappingProxyType(
        {
            "stream": pl.Int64,
            **dict.fromkeys(ENDS, pl.Int32),
            "type": pl.String,
            "is_ack": pl.Boolean,
            "is_data": pl.Boolean,
        }
    )

    def __init__(self) -> None:
        self._known = pl.DataFrame(schema=self._SCHEMA)

    def load(self, found: WiredFound) -> None:
        """Start from the streams of the rows summed in C."""
        own, entered = pl.col("own") == 1, pl.col("stream").is_in(found.entered["stream"].implode())
        first = pl.when(own).then(
            pl.coalesce(
                pl.when(pl.col(name) >= 0).then(name)
                for name in ("sent_type", "arrived_type", "dropped_type")
            )
        )
        self._known = found.streams.filter(own | entered).select(
            "stream",
            pl.col(ENDS).cast(pl.Int32),
            found.named(first.otherwise("seen_type")).alias("type"),
            is_ack=pl.when(own).then("own_acks").otherwise("seen_acks") == 1,
            is_data=pl.when(own).then("own_data").otherwise("seen_data") == 1,
        )

    def update(self, events: Events) -> None:
        """Add the streams of a batch."""
        for rows in (events.sends, events.arrivals, events.drops):
            self._add(rows)

    def learn(self, batch: pl.DataFrame, streams: pl.Series) -> None:
        """Add those of ``streams`` that are unknown so far, from the lines of a batch."""
        missing = streams.filter(~streams.is_in(self._known["stream"].implode()))
        if missing.len():
            lines = batch.select(stream_key(), *ENDS, "type", "seq")
            self._add(lines.filter(pl.col("stream").is_in(missing.implode())))

    def _add(self, rows: pl.DataFrame) -> None:
        rows = rows.filter(~self._is_settled())
        if rows.is_empty():
            return
        found = rows.group_by("stream", maintain_order=True).agg(
            pl.col(*ENDS).first(),
            pl.col("type").first().cast(pl.String),
            (pl.col("type") == _ACK).all().alias("is_ack"),
            ((pl.col("seq") >= 0) | ~pl.col("type").is_in(CONTROL_TYPES)).any().alias("is_data"),
        )
        self._known = (
            pl.concat([self._known, found])
            .group_by("stream", maintain_order=True)
            .agg(
                pl.col(*ENDS, "type").first(),
                pl.col("is_ack").all(),
                pl.col("is_data").any(),
            )
        )

    def _is_settled(self) -> pl.Expr:
        """Rows that can teach nothing new, which are the vast majority."""
        known = self._known.filter("is_data")
        data, acks = (
            known.filter(each)["stream"] for each in (~pl.col("is_ack"), pl.col("is_ack"))
        )
        stream = pl.col("stream")
        is_ack = stream.is_in(acks.implode()) & (pl.col("type") == _ACK)
        return stream.is_in(data.implode()) | is_ack

    def result(self) -> pl.DataFrame:
        """One row per stream, in order of appearance: ENDS, type, is_ack, is_data (bool)."""
        return self._known


class Times:
    """First and last times of sending, retransmission, loss and arrival, and the longest gaps."""

    _EARLIEST = ("first_sent_s", "first_retransmission_s", "first_drop_s", "delay_min_s")

    def __init__(self) -> None:
        names = (*self._EARLIEST, "last_received_s", "longest_gap_s")
        schema = {"stream": pl.Int64, **dict.fromkeys(names, pl.Float64)}
        self._known = pl.DataFrame(schema=schema)

    def load(self, found: WiredFound) -> None:
        """Start from the times of the rows summed in C."""
        self._known = found.streams.select(self._known.columns)

    def update(self, sends: pl.DataFrame, arrivals: pl.DataFrame, drops: pl.DataFrame) -> None:
        """Add the packets of a batch."""
        time_s, again = pl.col("time_s"), pl.col("retransmitted")
        sent = sends.group_by("stream").agg(
            first_sent_s=time_s.min(), first_retransmission_s=time_s.filter(again).min()
        )
        received = self._with_gaps(
            arrivals.group_by("stream").agg(
                last_received_s=time_s.max(),
                delay_min_s=pl.col("delay_s").min(),
                arrived_s=time_s.first(),
                longest_gap_s=time_s.diff().max(),
            )
        )
        dropped = drops.group_by("stream").agg(first_drop_s=time_s.min())
        self._known = (
            pl.concat([self._known, sent, received, dropped], how="diagonal")
            .group_by("stream")
            .agg(
                pl.col(*self._EARLIEST).min(),
                pl.col("last_received_s", "longest_gap_s").max(),
            )
        )

    def _with_gaps(self, received: pl.DataFrame) -> pl.DataFrame:
        """The longest gaps, including those that began before the batch.

        There is no gap before a stream's first arrival.
        """
        before = self._known.select("stream", before_s="last_received_s")
        joined = received.join(before, on="stream", how="left")
        across = pl.col("arrived_s") - pl.col("before_s")
        longest = pl.max_horizontal("longest_gap_s", across).alias("longest_gap_s")
        return joined.with_columns(longest).drop("arrived_s", "before_s")

    def result(self) -> pl.DataFrame:
        """One row per stream: times in s, null for events that never happened."""
        return self._known


class Jitter:
    """Interarrival jitter J of RFC 3550, section 6.4.1, at the last arrival of each stream.

    D is the difference of the one-way delays of two packets that arrive one after the other; J := J
    + (abs(D) - J)/16.
    """

    def __init__(self) -> None:
        self._last = pl.DataFrame(schema={"stream": pl.Int64, "delay_s": pl.Float64})
        self._jitter = pl.DataFrame(schema={"stream": pl.Int64, "jitter_s": pl.Float64})
        self._steps = pl.DataFrame(schema=_STEPS)

    def load(self, found: WiredFound) -> None:
        """Start from the jitter of the rows summed in C."""
        known = found.streams.filter(pl.col("last_delay_s").is_not_null())
        self._last = known.select("stream", delay_s="last_delay_s")
        self._jitter = known.select("stream", "jitter_s")
        self._steps = known.select(_STEPS.keys())

    def update(self, arrivals: pl.DataFrame) -> None:
        """Add arrivals: stream, delay_s (f64, s, null if unknown)."""
        known = arrivals.filter(pl.col("delay_s").is_not_null()).select("stream", "delay_s")
        delays = pl.concat([self._last, known])
        self._last = delays.group_by("stream").agg(pl.col("delay_s").last())
        # J is 0 before the first difference; the differences of a batch continue from the last J.
        steps = delays.select("stream", jitter_s=pl.col("delay_s").diff().abs().over("stream"))
        first = self._last.select("stream", jitter_s=0.0)
        started = pl.concat([self._jitter, first]).unique(
            "stream", keep="first", maintain_order=True
        )
        averaged = pl.col("jitter_s").ewm_mean(alpha=_SMOOTHING, adjust=False).last()
        moved = pl.concat([started, steps.filter(pl.col("jitter_s").is_not_null())])
        self._jitter = moved.group_by("stream").agg(averaged)
        size = pl.col("jitter_s")
        added = steps.group_by("stream").agg(
            delay_steps=size.count().cast(pl.Int64), delay_step_sum_s=size.sum()
        )
        self._steps = (
            pl.concat([self._steps, added])
            .group_by("stream")
            .agg(pl.col("delay_steps", "delay_step_sum_s").sum())
        )

    def result(self) -> pl.DataFrame:
        """stream, jitter_s (f64, s; 0 for a stream of one arrival).

        Also delay_steps (i64), delay_step_sum_s (f64, s): the number of differences, and the sum of
        their absolute values.
        """
        return self._jitter.join(self._steps, on="stream", how="left")


class RoundTrips:
    """RTT samples: from a data packet's departure to the arrival of the ACK with its number.

    By Karn's rule, a packet that was sent more than once gives no sample; nor does an ACK that
    covers such a packet, since a hole in the data delayed it. An ACK carries the highest number
    that arrived in order. So with delayed ACKs only the last packet that an ACK covers gives a
    sample. Its arrival triggers the ACK, unless the receiver's timer does, whose wait is the only
    one included.
    """

    def __init__(self) -> None:
        pair = {"stream": pl.Int64, "seq": pl.Int64}
        self._open = pl.DataFrame(schema={**pair, "sent_s": pl.Float64})
        self._again = pl.DataFrame(schema={**pair, "again_s": pl.Float64})
        self._acked = Highest()

    def load(self, found: WiredFound) -> None:
        """Start from the open numbers of the rows summed in C."""
        sent = found.numbers.filter(pl.col("sent_s").is_not_null())
        self._open = sent.select("stream", "seq", "sent_s")
        again = found.numbers.filter(pl.col("again") == 1)
        self._again = again.select("stream", "seq", again_s=pl.lit(found.last_s))
        self._acked.load(found.known("acked"))

    def match(
        self, sends: pl.DataFrame, arrivals: pl.DataFrame, byte_streams: pl.DataFrame
    ) -> pl.DataFrame:
        """Samples: stream (i64, of the data), time_s (f64, s, of the ACK), rtt_s (f64, s).

        Args:
            sends: time_s, stream, type, seq, retransmitted.
            arrivals: time_s, reverse, type, seq.
            byte_streams: streams whose sequence numbers are bytes, which ACKs of one-way agents
                never carry.
        """
        by_bytes = pl.col("stream").is_in(byte_streams["stream"].implode())
        data = sends.filter((pl.col("type") == _TCP) & ~by_bytes)
        again = data.filter("retransmitted").select("stream", "seq", again_s="time_s")
        self._again = pl.concat([self._again, again])
        started = pl.concat([self._open, data.select("stream", "seq", sent_s="time_s")])
        acks = self._new_acks(arrivals)
        fresh = acks.join(self._held_up(acks), on=["stream", "seq"], how="anti")
        samples = fresh.join(started, on=["stream", "seq"], how="inner", maintain_order="left")
        samples = samples.filter(pl.col("sent_s") <= pl.col("time_s"))
        again = self._again.unique(["stream", "seq"], keep="first", maintain_order=True)
        self._open, self._again = self._not_acked(started), self._not_acked(again)
        return samples.select("stream", "time_s", rtt_s=pl.col("time_s") - pl.col("sent_s"))

    def _new_acks(self, arrivals: pl.DataFrame) -> pl.DataFrame:
        """ACKs that acknowledge new data: time_s, seq, stream (of the data)."""
        acks = arrivals.filter(pl.col("type") == _ACK).select("time_s", "seq", stream="reverse")
        new = pl.col("seq") > self._acked.before(acks).fill_null(-1)
        return acks.filter(new)

    def _not_acked(self, rows: pl.DataFrame) -> pl.DataFrame:
        acked = self._acked.known.rename({"seq": "acked"})
        joined = rows.join(acked, on="stream", how="left", maintain_order="left")
        open_rows = joined.filter(pl.col("seq") > pl.col("acked").fill_null(-1))
        return open_rows.drop("acked").tail(MOST_OPEN)

    def _held_up(self, acks: pl.DataFrame) -> pl.DataFrame:
        """The ACKs (stream, seq) that cover a packet which had been sent more than once."""
        if self._again.is_empty():
            return self._again
        first = self._again.sort("seq").join_asof(
            acks.select("stream", "seq", "time_s", covers="seq").sort("seq"),
            on="seq",
            by="stream",
            strategy="forward",
            check_sortedness=False,
        )
        held_up = first.filter(pl.col("again_s") <= pl.col("time_s"))
        return held_up.select("stream", seq="covers")


class SlowStarts:
    """Packets that streams sent before their first retransmission, and their losses.

    Until then a TCP sender has detected no loss, and doubles its window every round trip as long as
    it is below ssthresh, which is initially the window's limit.
    """

    def __init__(self) -> None:
        self._counts = pl.DataFrame(
            schema={
                "stream": pl.Int64,
                "end_s": pl.Float64,
                "slow_start_pkts": pl.Int64,
                "slow_start_drops": pl.Int64,
                "started_s": pl.Float64,
            }
        )

    def load(self, found: WiredFound) -> None:
        """Start from the counts of the rows summed in C."""
        started = found.streams.filter(pl.col("started_s").is_not_null())
        renamed = started.with_columns(end_s="slow_start_end_s")
        self._counts = renamed.select(self._counts.columns)

    def update(self, sends: pl.DataFrame, drops: pl.DataFrame) -> None:
        """Add sends (time_s, stream, retransmitted) and drops (stream, sent_s)."""
        over = self._ended_before(sends)
        sends = sends.filter(~pl.col("stream").is_in(over.implode()))
        ends = self._counts.select("stream", "end_s")
        again = sends.filter("retransmitted").select("stream", end_s="time_s")
        ends = pl.concat([ends, again]).group_by("stream").agg(pl.col("end_s").min())
        early = [
            rows.join(ends, on="stream", how="left")
            .filter(pl.col("end_s").is_null() | (pl.col(at) < pl.col("end_s")))
            .group_by("stream")
            .agg(pl.len().cast(pl.Int64).alias(name))
            for rows, at, name in (
                (sends, "time_s", "slow_start_pkts"),
                (drops.filter(pl.col("sent_s").is_not_null()), "sent_s", "slow_start_drops"),
            )
        ]
        started = sends.group_by("stream").agg(started_s=pl.col("time_s").first())
        parts = [self._counts.drop("end_s"), *early, ends, started]
        self._counts = (
            pl.concat(parts, how="diagonal")
            .group_by("stream")
            .agg(
                pl.col("end_s", "started_s").min(),
                pl.col("slow_start_pkts", "slow_start_drops").sum(),
            )
        )

    def _ended_before(self, sends: pl.DataFrame) -> pl.Series:
        """Streams whose first retransmission was before the batch: none of its packets count."""
        known = self._counts
        if not sends.is_empty():
            known = known.filter(pl.col("end_s") < sends["time_s"].min())
        return known["stream"]

    def result(self) -> pl.DataFrame:
        """One row per stream.

        Returns:
            stream, slow_start_end_s (f64, s, null without a retransmission), slow_start_pkts,
            slow_start_drops (i64), started_s (f64, s, first packet sent).
        """
        return self._counts.rename({"end_s": "slow_start_end_s"})
