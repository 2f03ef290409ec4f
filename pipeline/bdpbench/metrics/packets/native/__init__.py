"""The sums of wired traces in C: rows in, and at the end the state of the modules above.

:class:`WiredSums` sums the rows that it knows, in order, and reports where it stopped. Its state is
loaded into ``FlowSums``, ``LinkSums`` and ``Losses``, which make tables of it and continue with the
remaining rows. They remain the definition: a test checks that both ways give the same sums.
"""

from __future__ import annotations

import ctypes
import functools
import math
import types
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bdpbench.compiled import ArrowArray, chars, load_library, series_of, stream_of
from bdpbench.metrics.packets.bins import Window
from bdpbench.metrics.packets.events import (
    CONTROL_TYPES,
    ENDS,
    has_positions,
    is_hierarchical,
)

_SOURCE = Path(__file__).with_name("packet_sums.c")
_LEAST_WIDTH_S = 1e-3
_NONE = -(1 << 63)
_I64, _F64 = pl.Int64(), pl.Float64()

_COLUMNS = types.MappingProxyType(
    {
        "time_s": pl.Float64(),
        "event": pl.UInt8(),
        "from_node": pl.Int32(),
        "to_node": pl.Int32(),
        "type": pl.UInt32(),
        "bytes": pl.Int32(),
        "flow": pl.Int32(),
        "src_node": pl.Int32(),
        "src_port": pl.Int32(),
        "dst_node": pl.Int32(),
        "dst_port": pl.Int32(),
        "seq": pl.Int64(),
        "uid": pl.Int64(),
        "header_bytes": pl.Int32(),
    }
)
"""Columns of a batch in C, and their types there."""

_EVENTS = types.MappingProxyType({"+": 0, "-": 1, "r": 2, "d": 3, "e": 4, "h": 5, "c": 5})
_UNKNOWN_EVENT = 6
_UNKNOWN_TYPE, _DATA, _CONTROL = 0, 1, 2
_TYPES = types.MappingProxyType({**dict.fromkeys(CONTROL_TYPES, _CONTROL), "tcp": 3, "ack": 4})


def _members(i64: str = "", f64: str = "", after: str = "") -> dict[str, pl.DataType]:
    """Members of a table: integers, then reals, then integers again."""
    return {
        **dict.fromkeys(i64.split(), _I64),
        **dict.fromkeys(f64.split(), _F64),
        **dict.fromkeys(after.split(), _I64),
    }


_STREAM = {
    **_members(f"stream {' '.join(ENDS)} sent_type arrived_type dropped_type seen_type"),
    **_members("own own_acks own_data seen_acks seen_data highest_sent by_bytes"),
    **_members("highest_arrived acked"),
    **_members("", "first_sent_s first_retransmission_s first_drop_s delay_min_s"),
    **_members("", "last_received_s longest_gap_s last_delay_s jitter_s delay_step_sum_s"),
    **_members("delay_steps", "slow_start_end_s started_s", "slow_start_pkts slow_start_drops"),
    **_members("route_changes"),
}
_LINK = {
    **_members("link from_node to_node reached length before has_before periods busy_bytes"),
    **_members("", "busy_s", "has_last last_bytes"),
    **_members("", "last_s last_wait_s"),
}
_TABLES: Mapping[str, Mapping[str, pl.DataType]] = types.MappingProxyType(
    {
        "streams": _STREAM,
        "links": _LINK,
        "entered": _members("link stream entered_pkts entered_bytes", "first_s"),
        "routes": _members("stream node next"),
        "losses": _members("node event type dropped_pkts dropped_bytes"),
        "sendings": _members("packet stream sent_payload dropped open", "sent_s"),
        "queued": _members("key link bytes open change", "entered_s"),
        "arrived": _members("packet"),
        "holes": _members("stream first last"),
        "numbers": _members("stream seq again", "sent_s"),
        "unsettled": _members("link change by"),
    }
)
"""Tables in C, in order, and the members of their items."""

_CELL = _members("subject bin count_0 count_1 count_2 count_3", "sum most")
_SERIES: Mapping[str, tuple[str, tuple[str, ...]]] = types.MappingProxyType(
    {
        "sent": (
            "stream",
            ("sent_pkts", "sent_bytes", "retransmitted_pkts", "retransmitted_bytes"),
        ),
        "received": (
            "stream",
            (
                *("received_pkts", "received_bytes", "good_bytes", "delays"),
                *("delay_sum_s", "delay_max_s"),
            ),
        ),
        "dropped": ("stream", ("dropped_pkts", "dropped_bytes")),
        "round_trips": ("stream", ("rtts", "rtt_sum_s", "rtt_max_s")),
        "delivered": ("stream", ("delivered_pkts",)),
        "departed": ("link", ("departed_pkts", "departed_bytes")),
        "waited": ("link", ("waited_pkts", "wait_sum_s", "wait_max_s")),
        "dropped_on_link": ("link", ("dropped_pkts", "dropped_bytes")),
        "lengths": ("link", ("change_pkts", "change_times_s", "longest_pkts")),
        "causes": ("cause", ("dropped_pkts",)),
    }
)
"""Series in C, in order: their subject, and the names of their counts, sum and maximum."""


@dataclass(frozen=True)
class Cells:
    """Sums of a series: rows as in ``BinnedSums``, and the index of the width of its bins."""

    rows: pl.DataFrame
    index: int


@dataclass(frozen=True)
class WiredFound:
    """Sums over rows, and what is still open; streams and links are given by their keys (i64).

    Attributes:
        last_s: time of the last row, s.
        streams, links, entered, routes, losses, sendings, queued, arrived, holes, numbers,
            unsettled: the tables of C; times of events that never happened are null.
        types: code of a type → its name.
        cells: sums by bin of time for each series.
    """

    last_s: float
    streams: pl.DataFrame
    links: pl.DataFrame
    entered: pl.DataFrame
    routes: pl.DataFrame
    losses: pl.DataFrame
    sendings: pl.DataFrame
    queued: pl.DataFrame
    arrived: pl.DataFrame
    holes: pl.DataFrame
    numbers: pl.DataFrame
    unsettled: pl.DataFrame
    types: Mapping[int, str]
    cells: Mapping[str, Cells]

    def known(self, column: str) -> pl.DataFrame:
        """Stream and seq (i64), the column, of streams that have had such a number."""
        rows = self.streams.filter(pl.col(column) != _NONE)
        return rows.select("stream", seq=column)

    def named(self, code: pl.Expr) -> pl.Expr:
        """Names of types, by their codes."""
        return code.replace_strict(
            list(self.types), list(self.types.values()), default=None, return_dtype=pl.String
        )


class WiredSums:
    """Rows of a wired trace, summed in C; ``of`` creates an instance if that is possible."""

    def __init__(self, library: ctypes.CDLL, window: Window, width_s: float | None) -> None:
        self._library = library
        self._meter = library.bdpbench_new_meter(window.start_s, width_s or 0.0)
        if not self._meter:
            raise MemoryError("no memory for the sums of a trace")
        weakref.finalize(self, library.bdpbench_free_meter, self._meter)
        self._type_of = bytearray()
        self._types: dict[int, str] = {}
        self._last_s = math.nan

    @classmethod
    def of(cls, window: Window, width_s: float | None) -> WiredSums | None:
        """Sums of events from the window's start on; None if C cannot sum them."""
        library = _library()
        if library is None or (width_s is not None and width_s < _LEAST_WIDTH_S):
            return None
        return cls(library, window, width_s)

    @property
    def is_begun(self) -> bool:
        """Whether any row has been added."""
        return not math.isnan(self._last_s)

    def add(self, batch: pl.DataFrame) -> int:
        """Add the rows of a batch up to the first that needs frames; return their number.

        Raises:
            MemoryError: when the state cannot be allocated; the sums are then lost.
        """
        columns = _columns(batch)
        if columns is None:
            return 0
        event_of = _event_codes(_categories(batch["event"].dtype))
        taken = 0
        while taken < batch.height:
            taken += self._add(columns.slice(taken), event_of)
            if taken < batch.height and not self._learn_types(batch["type"]):
                break
        if taken:
            self._last_s = float(batch["time_s"][taken - 1])
        return taken

    def _add(self, columns: pl.DataFrame, event_of: bytes) -> int:
        stream, kept = stream_of(columns)
        count = len(self._type_of)
        type_of = chars(count).from_buffer(self._type_of) if count else None
        taken = int(self._library.bdpbench_add_rows(self._meter, stream, event_of, type_of, count))
        del kept, type_of
        if taken < 0:
            raise MemoryError("no memory for the sums of a trace")
        return taken

    def _learn_types(self, kinds: pl.Series) -> bool:
        """Note the types of a batch; False if all of them were known."""
        unique = kinds.unique()
        found = dict(zip(unique.to_physical().to_list(), unique.cast(pl.String), strict=True))
        new = {code: name for code, name in found.items() if code not in self._types}
        if new:
            self._types |= new
            self._type_of.extend(bytes(max(0, max(new) + 1 - len(self._type_of))))
            for code, name in new.items():
                self._type_of[code] = _TYPES.get(name, _DATA)
        return bool(new)

    def finish(self) -> WiredFound:
        """The sums of all rows; afterwards none can be added.

        Raises:
            MemoryError: when they cannot be allocated.
        """
        if not self._library.bdpbench_finish_meter(self._meter):
            raise MemoryError("no memory for the sums of a trace")
        frames = {
            name: self._table(index, members)
            for index, (name, members) in enumerate(_TABLES.items())
        }
        keys = {
            "stream": frames["streams"]["stream"],
            "link": frames["links"]["link"],
            "cause": pl.Series([0, 1]),
        }
        for name in ("entered", "routes", "sendings", "queued", "holes", "numbers", "unsettled"):
            frames[name] = _with_keys(frames[name], keys)
        cells = {
            name: Cells(
                _named_cells(self._table(len(_TABLES) + number, _CELL), *each, keys[each[0]]),
                int(self._library.bdpbench_width_index(self._meter, number)),
            )
            for number, (name, each) in enumerate(_SERIES.items())
        }
        return WiredFound(last_s=self._last_s, types=self._types, cells=cells, **frames)

    def _table(self, table: int, members: Mapping[str, pl.DataType]) -> pl.DataFrame:
        columns = []
        for index, (name, dtype) in enumerate(members.items()):
            array = ArrowArray()
            address = ctypes.addressof(array)
            if not self._library.bdpbench_column(self._meter, table, index, address):
                raise MemoryError("no memory for a table of a trace")
            series = series_of(name, dtype, array)
            columns.append(series.fill_nan(None) if dtype.is_float() else series)
        return pl.DataFrame(columns)


def _with_keys(rows: pl.DataFrame, keys: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Rows with the keys of streams and links in place of their places in a table."""
    return rows.with_columns(
        key.gather(rows[name]).alias(name) for name, key in keys.items() if name in rows.columns
    )


def _named_cells(
    cells: pl.DataFrame, subject: str, names: tuple[str, ...], keys: pl.Series
) -> pl.DataFrame:
    """Cells with the columns of their series: counts, and a sum and a maximum if it has them."""
    counts = [name for name in names if name.endswith(("pkts", "bytes", "delays", "rtts"))]
    named = {name: pl.col(f"count_{index}") for index, name in enumerate(counts)}
    named |= {name: pl.col("sum") for name in names if name.endswith(("sum_s", "times_s"))}
    most = pl.when(pl.col("most").is_finite()).then("most")
    named |= {name: most for name in names if name.endswith("max_s")}
    if "longest_pkts" in names:
        named["longest_pkts"] = most.cast(pl.Int64)
    return cells.select(
        keys.gather(cells["subject"]).alias(subject),
        "bin",
        *(named[name].alias(name) for name in names),
    )


def _columns(batch: pl.DataFrame) -> pl.DataFrame | None:
    """The columns of a batch for C; None for a batch whose rows C does not know."""
    if "layer" in batch.columns and batch["layer"].null_count() < batch.height:
        return None
    if has_positions(batch):
        return None
    columns = []
    for name, dtype in _COLUMNS.items():
        column = _column(batch, name, dtype)
        if column is None:
            return None
        columns.append(column)
    return None if is_hierarchical(batch["src_node"]) else pl.DataFrame(columns)


def _column(batch: pl.DataFrame, name: str, dtype: pl.DataType) -> pl.Series | None:
    if name == "header_bytes":
        if name not in batch.columns or batch[name].null_count() == batch.height:
            return pl.Series(name, [0], dtype=dtype).new_from_index(0, batch.height)
        return batch[name].fill_null(0)
    column = batch[name]
    if name in ("event", "type"):
        column = column.to_physical().cast(dtype)
    return column if column.null_count() == 0 and column.dtype == dtype else None


def _categories(dtype: pl.DataType) -> tuple[str, ...]:
    """The words of a categorical or enum column, by their codes; none for other columns."""
    return tuple(dtype.categories) if isinstance(dtype, pl.Enum) else ()


@functools.cache
def _event_codes(categories: tuple[str, ...]) -> bytes:
    """For each code of a column, the event in C."""
    codes = [_EVENTS.get(each, _UNKNOWN_EVENT) for each in categories]
    return bytes(codes) + bytes([_UNKNOWN_EVENT]) * (256 - len(codes))


@functools.cache
def _library() -> ctypes.CDLL | None:
    """The library, with the types of its functions; None if it cannot be compiled."""
    library = load_library(_SOURCE)
    if library is None:
        return None
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    for name, result, given in (
        ("new_meter", pointer, [ctypes.c_double, ctypes.c_double]),
        ("add_rows", count, [pointer, pointer, ctypes.c_char_p, pointer, count]),
        ("finish_meter", ctypes.c_int, [pointer]),
        ("column", ctypes.c_int, [pointer, ctypes.c_int, ctypes.c_int, pointer]),
        ("width_index", count, [pointer, ctypes.c_int]),
        ("free_meter", None, [pointer]),
    ):
        function = getattr(library, f"bdpbench_{name}")
        function.restype, function.argtypes = result, given
    return library
