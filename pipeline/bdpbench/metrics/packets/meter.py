"""The sums of the rows of a packet trace: made in C or in Python, and the same frames from both."""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bdpbench.compiled import (
    ArrowArray,
    PackedRows,
    chars,
    load_library,
    series_of,
    stream_of,
    values_of,
)
from bdpbench.later import Schema, pl
from bdpbench.metrics.packets.rows import (
    ENDS,
    NO_TYPE,
    NUMBERS,
    UNKNOWN,
    WIRED_REASONS,
    Codes,
    Extent,
    Layer,
    event_codes,
    words_of,
)
from bdpbench.metrics.packets.streams import MEMBERS, Stream, named

_SOURCE = Path(__file__).with_name("packet_sums.c")
_LEAST_WIDTH_S = 1e-3
_I32, _I64, _F64, _FLAG = "Int32", "Int64", "Float64", "Boolean"

COUNTED = tuple(
    f"{what}_{unit}"
    for what in ("sent", "received", "forwarded", "dropped")
    for unit in ("pkts", "bytes")
)
"""Counts of a layer of a node, by type of packets."""


# Tables in the order of packet_sums.c, and the members of their items, all of them 8 bytes wide
# there, with their types in frames. Members that begin with an underscore are of no use here.
_MEMBERS: Mapping[str, Sequence[tuple[str, str]]] = {
    "streams": (
        (" ".join(ENDS), _I32),
        ("sent_type arrived_type dropped_type seen_type", _I64),
        ("own own_acks own_data seen_acks seen_data entered by_bytes", _FLAG),
        ("first_sent_s first_retransmission_s first_drop_s delay_min_s last_received_s", _F64),
        ("longest_gap_s last_delay_s jitter_s delay_step_sum_s", _F64),
        ("delay_steps", _I64),
        ("slow_start_end_s started_s", _F64),
        ("slow_start_pkts slow_start_drops route_changes forgotten_losses", _I64),
        ("hop_pkts hop_sum hop_max", _I64),
    ),
    "links": (
        ("from_node to_node", _I32),
        ("reached coarse", _FLAG),
        ("before periods busy_bytes", _I64),
        ("busy_s", _F64),
    ),
    "entered": (("link stream entered_pkts entered_bytes", _I64), ("first_s", _F64)),
    "losses": (("node", _I32), ("cause type dropped_pkts dropped_bytes", _I64)),
    "receivers": (
        ("stream", _I64),
        ("node", _I32),
        ("received_pkts received_bytes delays", _I64),
        ("delay_sum_s delay_max_s", _F64),
    ),
    "nodes": (("node", _I32), (f"layer type {' '.join(COUNTED)}", _I64)),
    "energy": (("node", _I32), ("first_j last_j dead_s", _F64)),
    "open": (
        ("_key _next _last", _I64),
        ("open dropped", _FLAG),
        ("stream _payload", _I64),
        ("sent_s", _F64),
    ),
    "causes": (("layer reason", _I64),),
}
_CELL = (("subject bin count_0 count_1 count_2 count_3", _I64), ("sum most", _F64))

SERIES: Mapping[str, tuple[str, tuple[str, ...], str, str]] = {
    "sent": (
        "stream",
        ("sent_pkts", "sent_bytes", "retransmitted_pkts", "retransmitted_bytes"),
        *("", ""),
    ),
    "received": (
        "stream",
        ("received_pkts", "received_bytes", "good_bytes", "delays"),
        *("delay_sum_s", "delay_max_s"),
    ),
    "dropped": ("stream", ("dropped_pkts", "dropped_bytes"), "", ""),
    "round_trips": ("stream", ("rtts",), "rtt_sum_s", "rtt_max_s"),
    "delivered": ("stream", ("delivered_pkts",), "", ""),
    "departed": ("link", ("departed_pkts", "departed_bytes"), "", ""),
    "waited": ("link", ("waited_pkts",), "wait_sum_s", "wait_max_s"),
    "dropped_on_link": ("link", ("dropped_pkts", "dropped_bytes"), "", ""),
    "lengths": ("link", ("change_pkts",), "change_times_s", "longest_pkts"),
    "causes": ("cause", ("dropped_pkts",), "", ""),
    "levels": ("node", (), "", "below_j"),
}
"""Series by bin of time: subject, names of the counts, of the sum and of the maximum."""


@dataclass(frozen=True)
class Found:
    """The sums of a trace; streams, links and causes are numbered from 0.

    Attributes:
        named: who the streams are, in the order in which they are shown.
        streams, links: the streams and links that were seen, and their numbers: stream, link.
        entered, losses, receivers, nodes, energy, open: the other tables, with words in the place
            of codes; null where nothing is known. ``open``: packets that have not come to an end.
        series: name → subject, bin (i64) and the columns of ``SERIES``.
        causes: layer and reason of each cause of drops.
        width_index: index of the width of the bins, if it was not given.
        routing_pkts, routing_bytes: what routers of wireless nodes sent and forwarded of routing.
        has_routers, has_agents: whether such lines (RTR, AGT) were there.
        forgotten: packets whose end did not come in time.
    """

    named: Sequence[Stream]
    streams: pl.DataFrame
    links: pl.DataFrame
    entered: pl.DataFrame
    losses: pl.DataFrame
    receivers: pl.DataFrame
    nodes: pl.DataFrame
    energy: pl.DataFrame
    open: pl.DataFrame
    series: Mapping[str, pl.DataFrame]
    causes: list[tuple[str, str | None]]
    width_index: int
    routing_pkts: int
    routing_bytes: int
    has_routers: bool
    has_agents: bool
    forgotten: int


class _Sums(Protocol):
    """What adds up rows; see ``RowByRow``, which is one of two."""

    def add(self, rows: pl.DataFrame, events: bytes, kinds: bytearray) -> object: ...
    def finish(self) -> tuple[int, ...]: ...
    def table(self, name: str) -> pl.DataFrame: ...
    def rows(self, name: str, members: Sequence[str]) -> Iterable[Sequence[Any]]: ...


class Meter:
    """The sums of rows from ``start_s`` on; earlier rows only set the initial state.

    Args:
        start_s: start of the window, s.
        width_s: width of the bins of the series, s; None to choose it.
        compiled: whether to sum in C, if that can be compiled and the bins are not too narrow.
        extent: how much is of use; in Python all is summed.
    """

    def __init__(
        self,
        start_s: float,
        width_s: float | None,
        *,
        compiled: bool = True,
        extent: Extent = Extent.ALL,
    ) -> None:
        is_wide = width_s is None or width_s >= _LEAST_WIDTH_S
        library = _library() if compiled and is_wide else None
        self._sums: _Sums = (
            _InPython(start_s, width_s)
            if library is None
            else _InC(library, start_s, width_s, extent)
        )
        self._codes = Codes()

    def add(self, batch: pl.DataFrame) -> None:
        """Add rows as ``Rows.prepared`` gives them, in the order of the trace.

        Raises:
            MemoryError: when the state cannot be allocated; the sums are then lost.
        """
        rows, events = self._codes.numbers_of(batch), event_codes(words_of(batch["event"]))
        self._sums.add(rows, events, self._codes.kinds)

    def look(self, rows: PackedRows, end_s: float) -> Look | None:
        """What packed rows before ``end_s`` are like; None if they cannot be added as they are."""
        return self._sums.look(rows, end_s) if isinstance(self._sums, _InC) else None

    def add_packed(self, rows: PackedRows, end_s: float) -> None:
        """Add packed rows before ``end_s``, in the order of the trace.

        Raises:
            MemoryError: as ``add``.
        """
        assert isinstance(self._sums, _InC)  # noqa: S101 - look() has told
        types, reasons = self._codes.of_types(rows.types), self._codes.of_reasons(rows.reasons)
        self._codes.of_layers(rows.layers)
        self._sums.add_packed(rows, end_s, types, reasons, self._codes.kinds)

    def tap(self, end_s: float) -> Tap | None:
        """What takes lines before ``end_s`` of a parser in C; None if they are summed in Python."""
        return Tap(self._sums, self._codes, end_s) if isinstance(self._sums, _InC) else None

    def flows_so_far(self) -> pl.DataFrame:
        """The streams with a flow id (ENDS), in the order of their first rows."""
        streams = self._sums.table("streams").select(ENDS)
        return streams.filter(pl.col("flow") != UNKNOWN)

    def sources_so_far(self) -> pl.DataFrame:
        """Addresses of sources, and the nodes at which their first packets entered a link: host."""
        streams, links, entered = map(self._sums.table, ("streams", "links", "entered"))
        entered = entered.sort("first_s", maintain_order=True)
        return entered.select(
            address=streams["src_node"].gather(entered["stream"]),
            host=links["from_node"].gather(entered["link"]),
        )

    @functools.cached_property
    def _numbers(self) -> tuple[int, ...]:
        return self._sums.finish()

    def named(self) -> list[Stream]:
        """Who the streams are, in the order in which they are shown; no row follows."""
        *_, has_agents, _ = self._numbers
        links = [(start, end) for start, end in self._sums.rows("links", ("from_node", "to_node"))]
        entered = {link for link, *_ in self._sums.rows("entered", ("link",))}
        return named(
            self._sums.rows("streams", MEMBERS),
            self._codes.types,
            {links[each][0] for each in entered},
            {links[each][1] for each in entered},
            has_agents=bool(has_agents),
        )

    def received(self) -> dict[int, tuple[int, int]]:
        """Stream → packets and bytes that it received; no row follows."""
        sums: dict[int, tuple[int, int]] = {}
        cells = self._sums.rows("received_bins", ("subject", "bin", "count_0", "count_1"))
        for stream, _, pkts, size, *_ in cells:
            before = sums.get(stream, (0, 0))
            sums[stream] = before[0] + pkts, before[1] + size
        return sums

    def found(self) -> Found:
        """The sums of all rows; no row follows.

        Raises:
            MemoryError: when they cannot be allocated.
        """
        codes = self._codes
        width_index, routing_pkts, routing_bytes, has_routers, has_agents, forgotten = self._numbers
        tables = {name: self._sums.table(name) for name in _MEMBERS}
        layers = codes.layers
        causes = [
            (layers[layer], WIRED_REASONS[reason] if layer == Layer.LINK else codes.reasons[reason])
            for layer, reason in tables["causes"].iter_rows()
        ]
        losses, nodes = tables["losses"], tables["nodes"]
        of_losses = [causes[cause] for cause in losses["cause"]]
        return Found(
            named=self.named(),
            streams=_streams(tables["streams"]),
            links=_numbered("link", tables["links"]),
            entered=tables["entered"],
            losses=_worded(
                losses,
                layer=(layer for layer, _ in of_losses),
                reason=(reason for _, reason in of_losses),
                type=map(codes.types.get, losses["type"]),
            )["node", "layer", "reason", "type", "dropped_pkts", "dropped_bytes"],
            receivers=tables["receivers"],
            nodes=_worded(
                nodes,
                layer=map(layers.get, nodes["layer"]),
                type=map(codes.types.get, nodes["type"]),
            ),
            energy=tables["energy"],
            open=tables["open"].filter(tables["open"]["open"]),
            series={name: _series(self._sums.table(f"{name}_bins"), name) for name in SERIES},
            causes=causes,
            width_index=width_index,
            routing_pkts=routing_pkts,
            routing_bytes=routing_bytes,
            has_routers=bool(has_routers),
            has_agents=bool(has_agents),
            forgotten=forgotten,
        )


class Look(ctypes.Structure):
    """What packed rows are like, of those before an end; ``struct look`` of packet_sums.c.

    first_s, last_s: their first and last time, s, NaN without any. has_ended: whether others are at
    the end or later. has_gaps: whether any has no flow id or no ends; lacks_flow: whether any has
    ends, but no flow id; has_flow: whether any has one. top_source: the largest source, or -1.
    """

    first_s: float
    last_s: float
    has_ended: int
    has_gaps: int
    lacks_flow: int
    has_flow: int
    top_source: int
    _fields_ = (
        *((name, ctypes.c_double) for name in ("first_s", "last_s")),
        *((name, ctypes.c_int64) for name in ("has_ended", "has_gaps", "lacks_flow")),
        *((name, ctypes.c_int64) for name in ("has_flow", "top_source")),
    )


class _Packed(ctypes.Structure):
    _fields_ = (
        ("rows", ctypes.c_int64),
        ("columns", ctypes.c_void_p * len(NUMBERS)),
        ("type_codes", ctypes.c_void_p),
        ("reason_codes", ctypes.c_void_p),
        ("end_s", ctypes.c_double),
    )


def _packed(rows: PackedRows, end_s: float) -> _Packed:
    addresses = (rows.columns.get(name) for name in NUMBERS)
    return _Packed(rows.rows, (ctypes.c_void_p * len(NUMBERS))(*addresses), end_s=end_s)


class _TapState(ctypes.Structure):
    """The beginning of ``struct tap`` of packet_sums.c."""

    type_of: int
    types: int
    first_s: float
    last_s: float
    has_ended: int
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("meter", "event_of", "type_of")),
        ("types", ctypes.c_int64),
        *((name, ctypes.c_double) for name in ("end_s", "first_s", "last_s")),
        ("has_ended", ctypes.c_int64),
        ("type_codes", ctypes.c_uint32 * 256),
    )


class Tap:
    """Takes the lines of a wired trace one by one from a parser in C; a ``LineSink``.

    Attributes:
        is_open: whether it takes lines; once it is closed, it stays so.
        has_left: whether it has left a line, in which addresses are not numbers of nodes.
    """

    def __init__(self, sums: _InC, codes: Codes, end_s: float) -> None:
        self._events = event_codes("+-rdehc")
        self._kinds = ctypes.create_string_buffer(0)
        self.function, self._told = sums.tap(end_s, self._events)
        self.state = ctypes.addressof(self._told)
        self._sums, self._codes = sums, codes
        self.is_open, self.has_left = True, False

    def learn(self, words: Sequence[str]) -> bool:
        """Learn the types of packets; without new ones, no further lines are taken."""
        told = self._told
        if told.types == len(words):
            self.is_open, self.has_left = False, True
            return False
        told.type_codes[: len(words)] = self._codes.of_types(words)
        self._kinds = ctypes.create_string_buffer(bytes(self._codes.kinds))
        told.type_of = ctypes.addressof(self._kinds)
        told.types = len(words)
        return True

    @property
    def times_s(self) -> tuple[float, float]:
        """First and last time of the lines that it has taken, s; NaN without one."""
        return self._told.first_s, self._told.last_s

    @property
    def has_ended(self) -> bool:
        """Whether there was a line at the end of the window, or later."""
        return bool(self._told.has_ended)


class _InPython:
    """Rows, summed one by one in Python."""

    def __init__(self, start_s: float, width_s: float | None) -> None:
        from bdpbench.metrics.packets.row_by_row import RowByRow

        self._sums = RowByRow(start_s, width_s)
        self.add, self.finish, self.rows = self._sums.add, self._sums.finish, self._sums.rows

    def table(self, name: str) -> pl.DataFrame:
        """A table of ``_MEMBERS``, or the cells of a series."""
        members = dict(_members_of(name))
        rows = self._sums.rows(name, list(members))
        return pl.DataFrame(rows, schema=members, orient="row", strict=False)


class _InC:
    """Rows, summed by ``packet_sums.c``."""

    def __init__(
        self, library: ctypes.CDLL, start_s: float, width_s: float | None, extent: Extent
    ) -> None:
        self._library = library
        self._meter = library.bdpbench_new_meter(start_s, width_s or 0.0, extent)
        if not self._meter:
            raise MemoryError("no memory for the sums of a trace")
        weakref.finalize(self, library.bdpbench_free_meter, self._meter)

    def add(self, rows: pl.DataFrame, events: bytes, kinds: bytearray) -> None:
        """Add rows, whose types are known."""
        stream, kept = stream_of(rows)
        places = [rows.columns.index(each) if each in rows.columns else -1 for each in NUMBERS]
        children = (ctypes.c_int32 * len(places))(*places)
        count = len(kinds)
        kind_of = chars(count).from_buffer(kinds) if count else None
        taken = int(
            self._library.bdpbench_add_rows(self._meter, stream, children, events, kind_of, count)
        )
        del kept, kind_of
        if taken < 0:
            raise MemoryError("no memory for the sums of a trace")

    def tap(self, end_s: float, events: bytes) -> tuple[int, _TapState]:
        """Address of a new tap, and its state."""
        tap = self._library.bdpbench_new_tap(self._meter, end_s, events)
        if not tap:
            raise MemoryError("no memory for the sums of a trace")
        weakref.finalize(self, self._library.bdpbench_free_tap, tap)
        function = ctypes.cast(self._library.bdpbench_take_line, ctypes.c_void_p).value
        return int(function or 0), _TapState.from_address(tap)

    def look(self, rows: PackedRows, end_s: float) -> Look:
        """What packed rows before ``end_s`` are like."""
        packed, look = _packed(rows, end_s), Look()
        self._library.bdpbench_look(ctypes.addressof(packed), ctypes.addressof(look))
        return look

    def add_packed(
        self,
        rows: PackedRows,
        end_s: float,
        types: Sequence[int],
        reasons: Sequence[int],
        kinds: bytearray,
    ) -> None:
        """Add packed rows before ``end_s``, whose words have these codes."""
        packed = _packed(rows, end_s)
        type_codes = (ctypes.c_uint32 * (len(types) or 1))(*types or (NO_TYPE,))
        reason_codes = (ctypes.c_int32 * (len(reasons) or 1))(*reasons or (UNKNOWN,))
        packed.type_codes = ctypes.addressof(type_codes)
        packed.reason_codes = ctypes.addressof(reason_codes)
        kind_of = chars(len(kinds)).from_buffer(kinds) if kinds else None
        if not self._library.bdpbench_add_packed(
            self._meter, ctypes.addressof(packed), event_codes(rows.events), kind_of
        ):
            raise MemoryError("no memory for the sums of a trace")
        del kind_of

    def finish(self) -> tuple[int, ...]:
        """The numbers of the whole trace; no row follows."""
        if not self._library.bdpbench_finish_meter(self._meter):
            raise MemoryError("no memory for the sums of a trace")
        numbers = (ctypes.c_int64 * 6)()
        self._library.bdpbench_numbers(self._meter, numbers)
        return tuple(numbers)

    def table(self, name: str) -> pl.DataFrame:
        """A table of ``_MEMBERS``, or the cells of a series."""
        columns = []
        for member, dtype in _members_of(name).items():
            array, is_real = self._array(name, member)
            column = series_of(member, pl.Float64() if is_real else pl.Int64(), array)
            columns.append(column.cast(dtype))
        return pl.DataFrame(columns)

    def rows(self, name: str, members: Sequence[str]) -> Iterable[Sequence[Any]]:
        """Members of the rows of a table of ``_MEMBERS``, or of the cells of a series."""
        columns = []
        for member in members:
            array, is_real = self._array(name, member)
            columns.append(values_of(array, is_real=is_real))
        return zip(*columns, strict=True)

    def _array(self, name: str, member: str) -> tuple[ArrowArray, bool]:
        """A member of a table's items, and whether it is a real number."""
        table = [*_MEMBERS, *(f"{each}_bins" for each in SERIES)].index(name)
        members = _all_members_of(name)
        array, place, is_real = ArrowArray(), list(members).index(member), members[member] == _F64
        if not self._library.bdpbench_column(
            self._meter, table, place, is_real, ctypes.addressof(array)
        ):
            raise MemoryError("no memory for a table of a trace")
        return array, is_real


def _all_members_of(name: str) -> Mapping[str, str]:
    """The members of a table of ``_MEMBERS``, or of the cells of a series, and their types."""
    return {member: dtype for words, dtype in _MEMBERS.get(name, _CELL) for member in words.split()}


def _members_of(name: str) -> Schema:
    """Those that are of use."""
    members = _all_members_of(name)
    return Schema({name: dtype for name, dtype in members.items() if not name.startswith("_")})


def _numbered(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with their numbers, from 0."""
    return rows.insert_column(0, pl.Series(name, range(rows.height), dtype=pl.Int64))


def _worded(rows: pl.DataFrame, **words: Iterable[str | None]) -> pl.DataFrame:
    """Rows with columns of words, in the place of those that they have."""
    columns = {each.name: each for each in rows.iter_columns()}
    found = {name: pl.Series(name, list(each), dtype=pl.String) for name, each in words.items()}
    return pl.DataFrame(columns | found)


def _streams(rows: pl.DataFrame) -> pl.DataFrame:
    """Streams and their numbers; null where nothing is known."""
    known = (
        (pl.col("last_delay_s").is_not_null(), ("jitter_s", "delay_steps", "delay_step_sum_s")),
        (pl.col("started_s").is_not_null(), ("slow_start_pkts", "slow_start_drops")),
        (pl.col("hop_pkts") > 0, ("hop_pkts", "hop_sum", "hop_max")),
    )
    named = rows.with_columns(
        *(pl.when(pl.col(name) != UNKNOWN).then(name).alias(name) for name in ENDS),
        *(pl.when(where).then(name).alias(name) for where, names in known for name in names),
    )
    return _numbered("stream", named)


def _series(cells: pl.DataFrame, name: str) -> pl.DataFrame:
    subject, counts, total, most = SERIES[name]
    names = {subject: "subject", "bin": "bin"}
    names |= {each: f"count_{index}" for index, each in enumerate(counts)}
    names |= ({total: "sum"} if total else {}) | ({most: "most"} if most else {})
    return pl.DataFrame([cells[of].alias(each) for each, of in names.items()])


@functools.cache
def _library() -> ctypes.CDLL | None:
    """The library, with the types of its functions; None if it cannot be compiled."""
    library = load_library(_SOURCE)
    if library is None:
        return None
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    for name, result, given in (
        ("new_meter", pointer, [ctypes.c_double, ctypes.c_double, ctypes.c_int]),
        ("new_tap", pointer, [pointer, ctypes.c_double, ctypes.c_char_p]),
        ("free_tap", None, [pointer]),
        ("add_rows", count, [pointer, pointer, pointer, ctypes.c_char_p, pointer, count]),
        ("add_packed", ctypes.c_int, [pointer, pointer, ctypes.c_char_p, pointer]),
        ("look", None, [pointer, pointer]),
        ("finish_meter", ctypes.c_int, [pointer]),
        ("numbers", None, [pointer, pointer]),
        ("column", ctypes.c_int, [pointer, *(ctypes.c_int,) * 3, pointer]),
        ("free_meter", None, [pointer]),
    ):
        function = getattr(library, f"bdpbench_{name}")
        function.restype, function.argtypes = result, given
    return library
