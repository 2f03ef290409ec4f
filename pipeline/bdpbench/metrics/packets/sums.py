"""Sums a packet trace, text by text or batch by batch, in a window of time."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping

from bdpbench.errors import BdpbenchError
from bdpbench.later import pl
from bdpbench.metrics.packets.meter import Found, Meter
from bdpbench.metrics.packets.rows import LATEST_S, Window, readable_width_s, width_ms
from bdpbench.metrics.packets.totals import PacketSums, Totals

MOST_GIVEN_BINS = 1_000_000
"""Most bins of a series of given width."""


def sum_packets(
    batches: Iterable[pl.DataFrame],
    window: Window | None = None,
    *,
    bin_s: float | None = None,
    capacities: Mapping[tuple[int, int], float] | None = None,
) -> PacketSums:
    """Reduce a packet trace in one pass; memory holds the packets in flight, and the series.

    Args:
        batches: frames of the columns ``COLUMNS``, in the order of the trace.
        window: time to measure; None for all. Events at its end or later are ignored; those before
            its start only determine which packets are in flight and the lengths of queues.
        bin_s: width of the bins of the series, s; None for one that divides the trace into at most
            five hundred.
        capacities: (from_node, to_node) → Mbit/s, of links whose capacity is known.

    Raises:
        BdpbenchError: for a trace without a packet event in the window, for more than
            ``MOST_GIVEN_BINS`` bins of a given width, and without a compiler.
    """
    meter = PacketMeter(window, bin_s, capacities)
    for batch in batches:
        meter.update(batch)
        if meter.is_done:
            break
    return meter.result()


class PacketMeter(Meter):
    """``sum_packets`` for callers that have batches one by one, or the text of a trace.

    Attributes:
        is_done: whether the window has ended, so that further batches change nothing.
    """

    def __init__(
        self,
        window: Window | None = None,
        bin_s: float | None = None,
        capacities: Mapping[tuple[int, int], float] | None = None,
    ) -> None:
        self._window, self._bin_s, self._capacities = window or Window(), bin_s, capacities or {}
        self.is_done, self._last_s = False, -math.inf
        super().__init__(self._window.start_s, self._window.end_s, bin_s)

    def add_text(self, buffer: bytearray, start: int, length: int) -> int:
        """Sum lines of a text as ``Meter.add_text``; ``told`` has what was read."""
        end = super().add_text(buffer, start, length)
        self.is_done |= bool(self.told.has_ended)
        return end

    def update(self, batch: pl.DataFrame) -> None:
        """Add rows, in the order of the trace.

        Raises:
            BdpbenchError: as ``settle``, and for a time that no event can have.
        """
        self.add_rows(batch)
        self.settle()

    def add_rows(self, batch: pl.DataFrame) -> None:
        """The same for rows of a text; ``settle`` follows."""
        times_s = batch["time_s"]
        self.is_done |= bool((times_s >= self._window.end_s).any())
        if not (times_s.is_between(-LATEST_S, LATEST_S) | (times_s >= self._window.end_s)).all():
            raise BdpbenchError(f"the trace has a time beyond {LATEST_S:g} s")
        super().add_rows(batch)

    def settle(self) -> None:
        """Note that some rows, in the order of the trace, have been added.

        Raises:
            BdpbenchError: for more bins of a given width than a series may have.
        """
        first_s, last_s = self.state.first_s, self.state.last_s
        self._last_s = max(self._last_s, last_s)
        start_s = max(first_s, self._window.start_s)
        if self._bin_s is not None and self._last_s - start_s > MOST_GIVEN_BINS * self._bin_s:
            raise BdpbenchError(
                f"bins of {self._bin_s:g} s are too narrow for a trace from {start_s:g} s to "
                f"{self._last_s:g} s: a series has at most {MOST_GIVEN_BINS:,}",
                hint="give wider bins, or a window",
            )

    @functools.cached_property
    def _sums(self) -> Found:
        return self.found()

    @property
    def width_s(self) -> float:
        """Width of the bins, s; no batch follows."""
        return width_ms(self._sums.state.width_index) / 1e3 if self._bin_s is None else self._bin_s

    @property
    def readable_width_s(self) -> float:
        """Width of bins for people to look at, s; no batch follows.

        That of the bins so far, or wider where few packets arrived; a given width stays as it is.
        """
        first_s = self.state.first_s
        if self._bin_s is not None or math.isnan(first_s):
            return self.width_s
        start_s = max(first_s, self._window.start_s)
        length_s = min(self._last_s, self._window.end_s) - start_s
        received = self._sums.series["received"].group_by("stream")
        most = received.agg(pl.col("received_pkts").sum())["received_pkts"].max()
        return readable_width_s(self.width_s, length_s, most if isinstance(most, int) else 0)

    def result(self, bin_s: float = 0.0) -> PacketSums:
        """The sums of all batches, after which no more can be added.

        Args:
            bin_s: least width of the bins of the series, s, such as that of another trace, so that
                both have the same bins.

        Raises:
            BdpbenchError: when no packet event is in the window.
        """
        first_s, window = self.state.first_s, self._window
        if math.isnan(first_s) or self._last_s < window.start_s:
            raise BdpbenchError("the trace has no packet event in the window")
        width_s = max(bin_s, self.width_s)
        totals = Totals(
            found=self._sums,
            window=window,
            start_s=window.start_s if math.isfinite(window.start_s) else first_s,
            end_s=window.end_s if math.isfinite(window.end_s) else self._last_s,
            width_s=width_s,
            ratio=round(width_s / self.width_s),
            last_s=self._last_s,
            capacities=self._capacities,
        )
        return totals.sums()
