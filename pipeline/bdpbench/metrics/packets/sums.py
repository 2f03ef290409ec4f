"""Sums a packet trace, batch by batch, in a window of time."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bdpbench.compiled import PackedRows
from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.metrics.packets.meter import Found, Look, Meter, Tap
from bdpbench.metrics.packets.rows import (
    COLUMNS,
    FIRST_HIERARCHICAL,
    LATEST_S,
    Extent,
    Rows,
    Window,
    readable_width_s,
    width_ms,
)
from bdpbench.metrics.packets.streams import Stream

if TYPE_CHECKING:
    from bdpbench.metrics.packets.totals import PacketSums

MOST_GIVEN_BINS = 1_000_000
"""Most bins of a series of given width."""

_OF_NODES = ("node", "reason", "next_hop", "hops", "energy_j")

# Rows from whose lines flow ids and hosts are learned before they are summed.
_ROWS_AT_ONCE = 200_000


def sum_packets(
    batches: Iterable[pl.DataFrame | PackedRows],
    window: Window | None = None,
    *,
    bin_s: float | None = None,
    capacities: Mapping[tuple[int, int], float] | None = None,
    compiled: bool = True,
) -> PacketSums:
    """Reduce a packet trace in one pass; memory holds the packets in flight, and the series.

    Args:
        batches: frames of the columns ``COLUMNS``, or packed rows, in the order of the trace.
        window: time to measure; None for all. Events at its end or later are ignored; those before
            its start only determine which packets are in flight and the lengths of queues.
        bin_s: width of the bins of the series, s; None for one that divides the trace into at most
            five hundred.
        capacities: (from_node, to_node) → Mbit/s, of links whose capacity is known.
        compiled: False sums in Python, which is far slower, for comparison.

    Raises:
        BdpbenchError: for a trace without a packet event in the window, and for more than
            ``MOST_GIVEN_BINS`` bins of a given width.
    """
    meter = PacketMeter(window, bin_s, capacities, compiled)
    for batch in batches:
        meter.update(batch)
        if meter.is_done:
            break
    return meter.result()


def _rows_of(batch: pl.DataFrame | PackedRows) -> int:
    return batch.rows if isinstance(batch, PackedRows) else batch.height


@dataclass(frozen=True)
class Received:
    """What each stream received in a window.

    Attributes:
        start_s, end_s: the window, s, half-open; of a whole trace its first and last event.
        streams: the streams, in the order in which they are shown.
        counts: number of a stream → packets and bytes; those that received none are missing.
    """

    start_s: float
    end_s: float
    streams: Sequence[Stream]
    counts: Mapping[int, tuple[int, int]]


@dataclass
class PacketMeter:
    """``sum_packets`` for callers that receive batches one by one."""

    window: Window | None = None
    bin_s: float | None = None
    capacities: Mapping[tuple[int, int], float] | None = None
    compiled: bool = True
    """Whether rows are summed in C, if it can be compiled; else in Python."""
    extent: Extent = Extent.ALL
    """How much is wanted, see ``extent_of``: the rest may be wrong then."""
    is_done: bool = field(default=False, init=False)
    """Whether the window has ended, so that further batches change nothing."""

    def __post_init__(self) -> None:
        self._window = self.window or Window()
        self._meter = Meter(
            self._window.start_s, self.bin_s, compiled=self.compiled, extent=self.extent
        )
        self._tap: Tap | None = None
        self._rows = Rows()
        self._first_s = self._last_s = math.nan
        self._waiting: list[pl.DataFrame | PackedRows] = []
        self._looks: list[Look | None] = []
        self._has_flows = False  # whether packed rows have flow ids that were not learned

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the batches that are needed."""
        unused = _OF_NODES if self.extent is Extent.RECEIVED else ()
        return tuple(name for name in COLUMNS if name not in unused)

    @property
    def sink(self) -> Tap | None:
        """What takes wired lines from a parser in C; None where it cannot."""
        self._tap = self._tap or self._meter.tap(self._window.end_s)
        return self._tap

    def update(self, batch: pl.DataFrame | PackedRows | None) -> None:
        """Add the lines of a batch, or, for None, note those that ``sink`` has taken.

        Raises:
            BdpbenchError: for more bins of a given width than a series may have, and for a time
                that no event can have.
        """
        look = None
        if batch is None:
            assert self._tap is not None  # noqa: S101 - it has taken them
            self.is_done = self._tap.has_ended
            if not math.isnan(self._tap.times_s[1]):
                self._note_times(*self._tap.times_s)
                self._has_flows = True
            return
        if isinstance(batch, PackedRows):
            look = self._meter.look(batch, self._window.end_s)
            batch = batch if look else batch.frame()
        if not isinstance(batch, PackedRows):
            self.is_done = bool((batch["time_s"] >= self._window.end_s).any())
            batch = batch.filter(pl.col("time_s") < self._window.end_s) if self.is_done else batch
            if batch.is_empty():
                return
            self._check_times(batch["time_s"])
            self._note_times(float(batch["time_s"][0]), float(batch["time_s"][-1]))
        elif look:
            self.is_done = bool(look.has_ended)
            if math.isnan(look.first_s):
                return
            self._note_times(look.first_s, look.last_s)
        self._waiting.append(batch)
        self._looks.append(look)
        rows = sum(_rows_of(each) for each in self._waiting)
        if rows >= _ROWS_AT_ONCE or (len(self._waiting) == 1 and self._are_plain(batch, look)):
            self._add_waiting()
        self._close_tap()

    def _are_plain(self, batch: pl.DataFrame | PackedRows, look: Look | None) -> bool:
        """Whether a batch needs no others: its rows tell flows and hosts."""
        if isinstance(batch, PackedRows):
            is_flat = look is not None and look.top_source < FIRST_HIERARCHICAL
            return is_flat and look is not None and not look.lacks_flow
        return self._rows.are_plain(batch)

    def _check_times(self, times_s: pl.Series) -> None:
        if not times_s.is_between(-LATEST_S, LATEST_S).all() or times_s.is_nan().any():
            raise BdpbenchError(f"the trace has a time beyond {LATEST_S:g} s")

    def _note_times(self, first_s: float, last_s: float) -> None:
        if math.isnan(self._first_s):
            self._first_s, self._last_s = first_s, last_s
        # Told lines may be noted after later rows of the same trace.
        self._last_s = max(self._last_s, last_s)
        start_s = max(self._first_s, self._window.start_s)
        if self.bin_s is not None and self._last_s - start_s > MOST_GIVEN_BINS * self.bin_s:
            raise BdpbenchError(
                f"bins of {self.bin_s:g} s are too narrow for a trace from {start_s:g} s to "
                f"{self._last_s:g} s: a series has at most {MOST_GIVEN_BINS:,}",
                hint="give wider bins, or a window",
            )

    def _close_tap(self) -> None:
        """Take no further lines if these rows wait for others, or learn from them."""
        knows = self._rows.knows_flows or self._rows.knows_hosts
        if self._tap is not None and (self._waiting or knows):
            self._tap.is_open = False

    def _add_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        looks, self._looks = self._looks, []
        packed = [each for each in waiting if isinstance(each, PackedRows)]
        if len(packed) == len(waiting) and not self._teaches([each for each in looks if each]):
            waiting.clear()
            while packed:  # each is freed once it is added
                self._meter.add_packed(packed.pop(0), self._window.end_s)
            return
        frames = [self._frame_of(each) for each in waiting]
        if self._tap is not None and self._tap.has_left:
            self._rows.learn_hosts(self._meter.sources_so_far())
            self._tap.has_left = False
        if self._has_flows and any(each["flow"].null_count() for each in frames):
            self._rows.learn_flows(self._meter.flows_so_far())
            self._has_flows = False
        whole = frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal")
        self._meter.add(self._rows.prepared(whole))

    def _teaches(self, looks: Sequence[Look]) -> bool:
        """Whether packed rows learn flow ids or hosts from one another, or from those before."""
        knows_flows = self._rows.knows_flows
        learns_flows = knows_flows or any(each.has_gaps for each in looks)
        knows_flows |= self._has_flows or any(each.has_flow for each in looks)
        lacks_flow = any(each.lacks_flow for each in looks)
        if self._rows.knows_hosts or (knows_flows and lacks_flow):
            return True
        self._has_flows |= learns_flows and any(each.has_flow for each in looks)
        return False

    def _frame_of(self, rows: pl.DataFrame | PackedRows) -> pl.DataFrame:
        if not isinstance(rows, PackedRows):
            return rows
        frame = rows.frame()
        return frame.filter(pl.col("time_s") < self._window.end_s)

    def finish(self) -> None:
        """Sum the rows that have been collected: no batch follows."""
        if self._waiting:
            self._add_waiting()

    @functools.cached_property
    def _sums(self) -> Found:
        self.finish()
        return self._meter.found()

    @property
    def width_s(self) -> float:
        """Width of the bins, s."""
        return width_ms(self._sums.width_index) / 1e3 if self.bin_s is None else self.bin_s

    @property
    def readable_width_s(self) -> float:
        """Width of bins for people to look at, s; to be asked for after ``finish``.

        That of the bins so far, or wider where few packets arrived; a given width stays as it is.
        """
        if self.bin_s is not None or math.isnan(self._first_s):
            return self.width_s
        start_s = max(self._first_s, self._window.start_s)
        length_s = min(self._last_s, self._window.end_s) - start_s
        received = self._sums.series["received"].group_by("stream")
        most = received.agg(pl.col("received_pkts").sum())["received_pkts"].max()
        return readable_width_s(self.width_s, length_s, most if isinstance(most, int) else 0)

    def received(self) -> Received:
        """What each stream received, which is all that ``Extent.RECEIVED`` sums.

        Raises:
            BdpbenchError: as ``result``.
        """
        self.finish()
        return Received(*self._measured_s(), self._meter.named(), self._meter.received())

    def _measured_s(self) -> tuple[float, float]:
        """Start and end of the window, s, or of the trace."""
        window = self._window
        if math.isnan(self._first_s) or self._last_s < window.start_s:
            raise BdpbenchError("the trace has no packet event in the window")
        return (
            window.start_s if math.isfinite(window.start_s) else self._first_s,
            window.end_s if math.isfinite(window.end_s) else self._last_s,
        )

    def result(self, bin_s: float = 0.0) -> PacketSums:
        """The sums of all batches, after which no more can be added.

        Args:
            bin_s: least width of the bins of the series, s, such as that of another trace, so that
                both have the same bins.

        Raises:
            BdpbenchError: when no packet event is in the window.
        """
        from bdpbench.metrics.packets.totals import Totals

        start_s, end_s = self._measured_s()
        found, window = self._sums, self._window
        width_s = max(bin_s, self.width_s)
        totals = Totals(
            found=found,
            rows=self._rows,
            window=window,
            start_s=start_s,
            end_s=end_s,
            width_s=width_s,
            ratio=round(width_s / self.width_s),
            last_s=self._last_s,
            capacities=self.capacities or {},
        )
        return totals.sums()
