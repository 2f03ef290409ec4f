"""``packet_sums.c``: rows in, and at the end what ``meter.py`` finds, by C instead of Python."""

from __future__ import annotations

import ctypes
import functools
import types
import weakref
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from bdpbench.compiled import ArrowArray, chars, load_library, series_of, stream_of
from bdpbench.metrics.packets.meter import COUNTED, LINKS, SERIES, STREAMS, TABLES, Found
from bdpbench.metrics.packets.rows import CONTROL_TYPES, ENDS, ROUTING_TYPES, UNKNOWN

_SOURCE = Path(__file__).with_name("packet_sums.c")
_LEAST_WIDTH_S = 1e-3
_I64, _F64 = pl.Int64(), pl.Float64()

# Columns of a batch in C and their types there; a batch may lack those from header_bytes on.
_COLUMNS: Mapping[str, pl.DataType] = types.MappingProxyType(
    {
        "time_s": _F64,
        "event": pl.UInt8(),
        **dict.fromkeys(("from_node", "to_node"), pl.Int32()),
        "type": pl.UInt32(),
        **dict.fromkeys(("bytes", *ENDS), pl.Int32()),
        **dict.fromkeys(("seq", "uid"), _I64),
        **dict.fromkeys(("header_bytes", "src_host", "dst_host"), pl.Int32()),
        **dict.fromkeys(("from_lat", "layer"), pl.UInt8()),
        **dict.fromkeys(("node", "reason", "next_hop", "hops"), pl.Int32()),
        "energy_j": _F64,
    }
)
_ABSENT = {"header_bytes": 0, "energy_j": -1.0}  # else UNKNOWN
_EVENTS = {"+": 0, "-": 1, "r": 2, "d": 3, "e": 4, "s": 5, "f": 6, "h": 6, "D": 7}
_OTHER_EVENT = 8
_DATA, _CONTROL, _ROUTING = 1, 2, 8
_TYPES = {**dict.fromkeys(CONTROL_TYPES, _CONTROL), "tcp": 3, "ack": 4}
_NO_TYPE = (1 << 32) - 1
_WIRED_REASONS = {0: "queue", 1: "error model"}


def _members(*names: tuple[str, pl.DataType]) -> dict[str, pl.DataType]:
    return {name: dtype for words, dtype in names for name in words.split()}


_TABLES: Mapping[str, Mapping[str, pl.DataType]] = {
    "streams": _members(
        (f"{' '.join(ENDS)} sent_type arrived_type dropped_type seen_type", _I64),
        ("own own_acks own_data seen_acks seen_data entered by_bytes", _I64),
        ("first_sent_s first_retransmission_s first_drop_s delay_min_s last_received_s", _F64),
        ("longest_gap_s last_delay_s jitter_s delay_step_sum_s", _F64),
        ("delay_steps", _I64),
        ("slow_start_end_s started_s", _F64),
        ("slow_start_pkts slow_start_drops route_changes forgotten_losses", _I64),
        ("hop_pkts hop_sum hop_max", _I64),
    ),
    "links": _members(
        ("from_node to_node reached coarse before periods busy_bytes", _I64), ("busy_s", _F64)
    ),
    "entered": _members(("link stream entered_pkts entered_bytes", _I64), ("first_s", _F64)),
    "losses": _members(("node cause type dropped_pkts dropped_bytes", _I64)),
    "receivers": _members(
        ("stream node received_pkts received_bytes delays", _I64), ("delay_sum_s delay_max_s", _F64)
    ),
    "nodes": _members((f"node layer {' '.join(COUNTED)}", _I64)),
    "energy": _members(("node", _I64), ("first_j last_j", _F64)),
    "open": _members(("key next last open dropped stream payload", _I64), ("sent_s", _F64)),
    "causes": _members(("layer reason", _I64)),
}
"""Tables in C, in order, and the members of their items."""

_CELL = _members(("subject bin count_0 count_1 count_2 count_3", _I64), ("sum most", _F64))


class NativeMeter:
    """Rows, summed in C as ``Meter`` does; ``of`` makes one if that is possible."""

    def __init__(self, library: ctypes.CDLL, start_s: float, width_s: float | None) -> None:
        self._library = library
        self._meter = library.bdpbench_new_meter(start_s, width_s or 0.0)
        if not self._meter:
            raise MemoryError("no memory for the sums of a trace")
        weakref.finalize(self, library.bdpbench_free_meter, self._meter)
        self._type_of = bytearray()
        self._types: dict[int, str | None] = {_NO_TYPE: None}
        self._reasons: dict[int, str | None] = {UNKNOWN: None}
        self._layers = {"link": 0, "AGT": 1, "RTR": 2}

    @classmethod
    def of(cls, start_s: float, width_s: float | None) -> NativeMeter | None:
        """Sums of events from ``start_s`` on; None without a compiler, or for too narrow bins."""
        library = _library()
        if library is None or (width_s is not None and width_s < _LEAST_WIDTH_S):
            return None
        return cls(library, start_s, width_s)

    def add(self, batch: pl.DataFrame) -> None:
        """Add rows, as ``Meter.add`` does.

        Raises:
            MemoryError: when the state cannot be allocated; the sums are then lost.
        """
        columns = [
            self._column(name, batch[name]).cast(dtype).alias(name)
            for name, dtype in _COLUMNS.items()
            if name in batch.columns
        ]
        frame = pl.DataFrame(columns)
        places = [frame.columns.index(n) if n in frame.columns else -1 for n in _COLUMNS]
        children = (ctypes.c_int32 * len(places))(*places)
        events = _event_codes(_categories(batch["event"]))
        taken = 0
        while taken < frame.height:
            taken += self._add(frame.slice(taken), children, events)
            if taken < frame.height:
                self._learn_types(batch["type"])

    def _add(
        self, frame: pl.DataFrame, children: ctypes.Array[ctypes.c_int32], events: bytes
    ) -> int:
        stream, kept = stream_of(frame)
        count = len(self._type_of)
        type_of = chars(count).from_buffer(self._type_of) if count else None
        taken = int(
            self._library.bdpbench_add_rows(self._meter, stream, children, events, type_of, count)
        )
        del kept, type_of
        if taken < 0:
            raise MemoryError("no memory for the sums of a trace")
        return taken

    def _column(self, name: str, column: pl.Series) -> pl.Series:
        """A column as numbers without nulls."""
        if name in ("event", "type"):
            column = column.to_physical()
            return column.fill_null(_NO_TYPE) if column.null_count() else column
        if name == "from_lat":
            return column.is_not_null()
        if name == "layer":
            numbers = [
                self._layers.setdefault(each, len(self._layers)) for each in _categories(column)
            ]
            return pl.Series(numbers, dtype=pl.UInt8).gather(column.to_physical()).fill_null(0)
        if name == "reason":
            self._reasons |= _names(column)
            column = column.to_physical().cast(pl.Int32)
        return column.fill_null(_ABSENT.get(name, UNKNOWN)) if column.null_count() else column

    def _learn_types(self, kinds: pl.Series) -> None:
        new = {code: name for code, name in _names(kinds).items() if code not in self._types}
        self._types |= new
        self._type_of.extend(bytes(max(0, max(new) + 1 - len(self._type_of))))
        for code, name in new.items():
            self._type_of[code] = _TYPES.get(name, _DATA) | _ROUTING * (name in ROUTING_TYPES)

    def found(self) -> Found:
        """The sums of all rows; no row follows.

        Raises:
            MemoryError: when they cannot be allocated.
        """
        if not self._library.bdpbench_finish_meter(self._meter):
            raise MemoryError("no memory for the sums of a trace")
        tables = {
            name: self._table(index, members)
            for index, (name, members) in enumerate(_TABLES.items())
        }
        layers = {number: name for name, number in self._layers.items()}
        causes = [
            (layers[layer], (self._reasons if layer else _WIRED_REASONS)[reason])
            for layer, reason in tables["causes"].iter_rows()
        ]
        series = {
            name: _named_cells(self._table(len(_TABLES) + number, _CELL), *each)
            for number, (name, each) in enumerate(SERIES.items())
        }
        numbers = (ctypes.c_int64 * 6)()
        self._library.bdpbench_numbers(self._meter, numbers)
        width_index, routing_pkts, routing_bytes, has_routers, has_agents, forgotten = numbers
        return Found(
            self._streams(tables["streams"]),
            _cast(tables["links"], LINKS, "link"),
            self._found_tables(tables, layers, causes),
            series,
            width_index,
            causes,
            routing_pkts,
            routing_bytes,
            bool(has_routers),
            bool(has_agents),
            forgotten,
        )

    def _streams(self, rows: pl.DataFrame) -> pl.DataFrame:
        own = pl.col("own") == 1
        at_ends = [
            pl.when(pl.col(f"{which}_type") >= 0).then(f"{which}_type")
            for which in ("sent", "arrived", "dropped")
        ]
        code = (
            pl.when(own)
            .then(pl.coalesce(at_ends))
            .otherwise(pl.when(pl.col("entered") == 1).then("seen_type"))
        )
        jittered, started = (pl.col(name).is_not_null() for name in ("last_delay_s", "started_s"))
        named = rows.with_columns(
            *(pl.when(pl.col(name) != UNKNOWN).then(name).alias(name) for name in ENDS),
            type=code.replace_strict(self._types, default=None, return_dtype=pl.String),
            is_ack=pl.when(own).then("own_acks").otherwise("seen_acks"),
            is_data=pl.when(own).then("own_data").otherwise("seen_data"),
            **{
                name: pl.when(which).then(name)
                for which, names in (
                    (jittered, ("jitter_s", "delay_steps", "delay_step_sum_s")),
                    (started, ("slow_start_pkts", "slow_start_drops")),
                    (pl.col("hop_pkts") > 0, ("hop_pkts", "hop_sum", "hop_max")),
                )
                for name in names
            },
        )
        return _cast(named, STREAMS, "stream")

    def _found_tables(
        self,
        tables: Mapping[str, pl.DataFrame],
        layers: Mapping[int, str],
        causes: list[tuple[str, str | None]],
    ) -> dict[str, pl.DataFrame]:
        losses = tables["losses"].with_columns(
            pl.Series("layer", [causes[each][0] for each in tables["losses"]["cause"]], pl.String),
            pl.Series("reason", [causes[each][1] for each in tables["losses"]["cause"]], pl.String),
            pl.col("type").replace_strict(self._types, return_dtype=pl.String),
        )
        nodes = tables["nodes"].with_columns(
            pl.col("layer").replace_strict(layers, return_dtype=pl.String)
        )
        most_s = pl.col("delay_max_s")
        found = {
            **tables,
            "losses": losses,
            "nodes": nodes,
            "open": tables["open"].filter(pl.col("open") == 1),
            "receivers": tables["receivers"].with_columns(pl.when(most_s.is_finite()).then(most_s)),
        }
        return {name: _cast(found[name], schema) for name, schema in TABLES.items()}

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


def _categories(column: pl.Series) -> tuple[str, ...]:
    """The words of a column of an enumeration, by their codes."""
    assert isinstance(column.dtype, pl.Enum)  # noqa: S101 - trace/schema.py
    return tuple(column.dtype.categories)


def _names(column: pl.Series) -> dict[int, str]:
    """Code → word of a column of words."""
    unique = column.unique().drop_nulls()
    return dict(zip(unique.to_physical().to_list(), unique.cast(pl.String), strict=True))


def _cast(
    rows: pl.DataFrame, schema: Mapping[str, pl.DataType], numbered: str = ""
) -> pl.DataFrame:
    """The columns of a schema, and the number of each row if they are numbered."""
    columns = [
        pl.col(name) == 1 if dtype == pl.Boolean() else pl.col(name).cast(dtype)
        for name, dtype in schema.items()
    ]
    number = [pl.int_range(pl.len(), dtype=pl.Int64).alias(numbered)] if numbered else []
    return rows.select(*number, *columns)


def _named_cells(
    cells: pl.DataFrame, subject: str, counts: tuple[str, ...], total: str, most: str
) -> pl.DataFrame:
    largest = pl.when(pl.col("most").is_finite()).then("most")
    return cells.select(
        pl.col("subject").alias(subject),
        "bin",
        *(pl.col(f"count_{index}").alias(name) for index, name in enumerate(counts)),
        *([pl.col("sum").alias(total)] if total else []),
        *([largest.alias(most)] if most else []),
    )


@functools.cache
def _event_codes(categories: tuple[str, ...]) -> bytes:
    """For each code of a column, the event in C."""
    codes = [_EVENTS.get(each, _OTHER_EVENT) for each in categories]
    return bytes(codes) + bytes([_OTHER_EVENT]) * (256 - len(codes))


@functools.cache
def _library() -> ctypes.CDLL | None:
    """The library, with the types of its functions; None if it cannot be compiled."""
    library = load_library(_SOURCE)
    if library is None:
        return None
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    for name, result, given in (
        ("new_meter", pointer, [ctypes.c_double, ctypes.c_double]),
        ("add_rows", count, [pointer, pointer, pointer, ctypes.c_char_p, pointer, count]),
        ("finish_meter", ctypes.c_int, [pointer]),
        ("numbers", None, [pointer, pointer]),
        ("column", ctypes.c_int, [pointer, ctypes.c_int, ctypes.c_int, pointer]),
        ("free_meter", None, [pointer]),
    ):
        function = getattr(library, f"bdpbench_{name}")
        function.restype, function.argtypes = result, given
    return library
