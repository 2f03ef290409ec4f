"""The sums of the rows of a packet trace, which ``packets.c`` makes, as frames."""

from __future__ import annotations

import ctypes
import functools
import math
import weakref
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bdpbench.compiled import load_library
from bdpbench.later import Schema, pl
from bdpbench.metrics.packets.rows import COLUMNS, ENDS, KINDS, LAYERS, UNKNOWN, numbers_of
from bdpbench.metrics.packets.streams import MEMBERS, named

_SOURCE = Path(__file__).with_name("packets.c")
_I32, _I64, _F64, _FLAG = "Int32", "Int64", "Float64", "Boolean"
_TYPES, _REASONS = 0, 1
_WIRED_REASONS = ("queue", "error model")

FORMS = (
    *("wired", "old wireless", "new wireless", "node energy", "movement", "annotation"),
    *("TCP events", "routing events", "routing events, 5 digits"),
)
"""Forms of lines that ``packets.c`` reads, in its order."""

COUNTED = tuple(
    f"{what}_{unit}"
    for what in ("sent", "received", "forwarded", "dropped")
    for unit in ("pkts", "bytes")
)
"""Counts of a layer of a node, by type of packets."""


# Tables in the order of packets.c, and the members of their items, all of them 8 bytes wide
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
    "hosts": (("address host", _I32),),
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
        named: who the streams are, see ``streams.named``.
        streams, links: the streams and links that were seen, and their numbers: stream, link.
        entered, losses, receivers, nodes, energy, open: the other tables, with words in the place
            of codes; null where nothing is known. ``open``: packets that have not come to an end.
        hosts: address, host (i32): the nodes of hierarchical addresses; empty if there are none.
        series: name → subject, bin (i64) and the columns of ``SERIES``.
        causes: layer and reason of each cause of drops.
        state: width_index, the index of the width of the bins, if it was not given; routing_pkts
            and routing_bytes, what routers of wireless nodes sent and forwarded of routing;
            has_routers and has_agents, whether such lines (RTR, AGT) were there; forgotten, the
            packets whose end did not come in time.
    """

    named: pl.DataFrame
    streams: pl.DataFrame
    links: pl.DataFrame
    entered: pl.DataFrame
    losses: pl.DataFrame
    receivers: pl.DataFrame
    nodes: pl.DataFrame
    energy: pl.DataFrame
    open: pl.DataFrame
    hosts: pl.DataFrame
    series: Mapping[str, pl.DataFrame]
    causes: list[tuple[str, str | None]]
    state: Any


class Told(ctypes.Structure):
    """The lines of a text that were summed.

    lines, forms: how many, and of each of ``FORMS``. first_s, last_s: times of the first and the
    last, s, which are known to first_unit_s and last_unit_s, half a unit of their last digits.
    backwards: how often time runs backwards, first in line backwards_line, counted from 0, from
    after_s to backwards_s. has_ended: whether a row was at the end of the window or later.
    """

    _fields_ = (
        ("lines", ctypes.c_int64),
        ("forms", ctypes.c_int64 * len(FORMS)),
        *((name, ctypes.c_int64) for name in ("backwards", "backwards_line")),
        *((name, ctypes.c_double) for name in ("first_s", "last_s", "first_unit_s")),
        *((name, ctypes.c_double) for name in ("last_unit_s", "backwards_s", "after_s")),
        ("has_ended", ctypes.c_int64),
    )


class _State(ctypes.Structure):
    """The beginning of ``struct meter`` of packets.c."""

    _fields_ = (
        ("told", Told),
        *((name, ctypes.c_double) for name in ("first_s", "last_s")),
        *((name, ctypes.c_int64) for name in ("width_index", "routing_pkts", "routing_bytes")),
        *((name, ctypes.c_int64) for name in ("has_routers", "has_agents", "forgotten")),
    )


class Meter:
    """The sums of rows from ``start_s`` to before ``end_s``; earlier ones set the initial state.

    Args:
        start_s, end_s: the window, s.
        width_s: width of the bins of the series, s; None to choose it.

    Attributes:
        forms: names of the forms of lines that ``add_text`` reads.
        state: first_s and last_s, the times of the first and the last row in the window, s, NaN
            without one, and what ``Found`` has of it.

    Raises:
        BdpbenchError: when there is no compiler.
        MemoryError: here and in all methods, when memory is short; the sums are lost then.
    """

    forms: Sequence[str] = FORMS

    def __init__(self, start_s: float, end_s: float, width_s: float | None) -> None:
        self._library = _library()
        self._meter = self._library.bdpbench_new_meter(start_s, end_s, width_s or 0.0)
        _check(self._meter)
        weakref.finalize(self, self._library.bdpbench_free_meter, self._meter)
        self.state: Any = _State.from_address(self._meter)
        for name, kind in KINDS.items():
            self._number_of(_TYPES, name, kind)

    def _number_of(self, which: int, word: str, kind: int = 0) -> int:
        text = word.encode()
        number = int(self._library.bdpbench_word(self._meter, which, text, len(text), kind))
        _check(number >= 0)
        return number

    @property
    def told(self) -> Any:
        """The lines of the last text, see ``Told``."""
        return self.state.told

    def add_text(self, buffer: bytearray, start: int, length: int) -> int:
        """Add lines of a text, from ``start`` to ``length``, up to one that has none of ``FORMS``.

        Returns:
            The place behind the last line that was read.
        """
        text = ctypes.addressof(ctypes.c_char.from_buffer(buffer)) + start
        added = int(self._library.bdpbench_add_text(self._meter, text, length - start))
        _check(added >= 0)
        return start + added

    def left(self, buffer: bytearray, start: int, length: int) -> int:
        """The place up to which lines, the first of which has no form, are to be read otherwise."""
        text = ctypes.addressof(ctypes.c_char.from_buffer(buffer)) + start
        left = int(self._library.bdpbench_left(self._meter, text, length - start))
        _check(left >= 0)
        return start + left

    def add_rows(self, batch: pl.DataFrame) -> None:
        """Add rows of ``COLUMNS``, in the order of the trace."""
        word_of = [functools.partial(self._number_of, which) for which in (_TYPES, _REASONS)]
        arrays = {
            name: array("d" if name in ("time_s", "energy_j") else "q", values)
            for name, values in numbers_of(batch, *word_of)
        }
        places = [arrays[name].buffer_info()[0] if name in arrays else None for name in COLUMNS]
        columns = (ctypes.c_void_p * len(places))(*places)
        _check(self._library.bdpbench_add_rows(self._meter, batch.height, columns))

    def _named(self, types: Mapping[int, str | None]) -> pl.DataFrame:
        """Who the streams are, in the order in which they are shown."""
        links = list(self._rows("links", ("from_node", "to_node")))
        entered = {link for (link,) in self._rows("entered", ("link",))}
        return named(
            self._rows("streams", MEMBERS),
            types,
            {links[each][0] for each in entered},
            {links[each][1] for each in entered},
            has_agents=bool(self.state.has_agents),
        )

    def found(self) -> Found:
        """The sums of all rows; no row follows."""
        _check(self._library.bdpbench_finish_meter(self._meter))
        types: dict[int, str | None] = {-1: None, **self._words(_TYPES)}
        reasons: dict[int, str | None] = {UNKNOWN: None, **self._words(_REASONS)}
        tables = {name: self._table(name) for name in _MEMBERS}
        causes = [
            (LAYERS[layer], reasons[reason] if layer else _WIRED_REASONS[reason])
            for layer, reason in tables["causes"].iter_rows()
        ]
        losses, nodes = tables["losses"], tables["nodes"]
        of_losses = [causes[cause] for cause in losses["cause"]]
        return Found(
            named=self._named(types),
            streams=_streams(tables["streams"]),
            links=_numbered("link", tables["links"]),
            entered=tables["entered"],
            losses=_worded(
                losses,
                layer=(layer for layer, _ in of_losses),
                reason=(reason for _, reason in of_losses),
                type=map(types.get, losses["type"]),
            )["node", "layer", "reason", "type", "dropped_pkts", "dropped_bytes"],
            receivers=tables["receivers"],
            nodes=_worded(
                nodes,
                layer=(LAYERS[layer] for layer in nodes["layer"]),
                type=map(types.get, nodes["type"]),
            ),
            energy=tables["energy"],
            open=tables["open"].filter(tables["open"]["open"]),
            hosts=tables["hosts"],
            series={name: _series(self._table(f"{name}_bins"), name) for name in SERIES},
            causes=causes,
            state=self.state,
        )

    def _words(self, which: int) -> dict[int, str]:
        length = ctypes.c_int64()
        text = self._library.bdpbench_words(self._meter, which, ctypes.byref(length))
        return dict(enumerate(ctypes.string_at(text, length.value).decode().split("\n")))

    def _table(self, name: str) -> pl.DataFrame:
        """A table of ``_MEMBERS``, or the cells of a series."""
        members = {each: dtype for each, dtype in _members_of(name).items() if each[0] != "_"}
        schema, columns = Schema(members), self._columns(name, list(members))
        return pl.DataFrame(
            [
                pl.Series(each, values, pl.Float64() if members[each] == _F64 else pl.Int64()).cast(
                    schema[each]
                )
                for each, values in zip(members, columns, strict=True)
            ]
        )

    def _rows(self, name: str, members: Sequence[str]) -> Iterable[Sequence[Any]]:
        """The rows of a table with these members."""
        return zip(*self._columns(name, members), strict=True)

    def _columns(self, name: str, members: Sequence[str]) -> list[list[Any]]:
        """The values of members; real numbers that are not finite stand for none."""
        table = [*_MEMBERS, *(f"{each}_bins" for each in SERIES)].index(name)
        every, column = _members_of(name), self._library.bdpbench_column
        size, found = int(column(self._meter, table, 0, None)), []
        for member in members:
            is_real = every[member] == _F64
            values = array("d" if is_real else "q", bytes(8 * size))
            column(self._meter, table, list(every).index(member), values.buffer_info()[0])
            found.append(
                [v if math.isfinite(v) else None for v in values] if is_real else [*values]
            )
        return found


def _check(has_memory: object) -> None:
    if not has_memory:
        raise MemoryError("no memory for the sums of a trace")


def _members_of(name: str) -> Mapping[str, str]:
    """The members of a table of ``_MEMBERS``, or of the cells of a series, and their types.

    Those that begin with an underscore are of no use here.
    """
    return {member: dtype for words, dtype in _MEMBERS.get(name, _CELL) for member in words.split()}


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
def _library() -> ctypes.CDLL:
    """The library, with the types of its functions."""
    library = load_library(_SOURCE)
    pointer, count, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    for name, result, given in (
        ("new_meter", pointer, [real, real, real]),
        ("add_text", count, [pointer, pointer, count]),
        ("left", count, [pointer, pointer, count]),
        ("add_rows", ctypes.c_int, [pointer, count, pointer]),
        ("word", count, [pointer, ctypes.c_int, ctypes.c_char_p, count, ctypes.c_int]),
        ("words", pointer, [pointer, ctypes.c_int, pointer]),
        ("finish_meter", ctypes.c_int, [pointer]),
        ("column", count, [pointer, ctypes.c_int, ctypes.c_int, pointer]),
        ("free_meter", None, [pointer]),
    ):
        function = getattr(library, f"bdpbench_{name}")
        function.restype, function.argtypes = result, given
    return library
