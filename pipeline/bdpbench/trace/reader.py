"""ns-2's text files as polars frames, with every line accounted for.

The files are read as whole lines and split here rather than by a CSV reader: a CSV reader raises
at a doubled blank, hides surplus columns where it is told to tolerate trailing blanks, and turns
a line that was cut off into nulls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from bdpbench.errors import BdpbenchError
from bdpbench.trace.formats import TRACE_EVENTS, Format, format_of

_LINE = "_line"
_TEXT = "_text"
_SHOWN = 80
_DAMAGED = "the file is damaged or was not written by bdpbench's scripts: simulate the run again"


def read_output(
    path: Path, table: str, *, flow: int | None = None, link: str | None = None
) -> pl.LazyFrame:
    """One output file of ns-2 as rows of ``table``, in the order of the file.

    Fields are separated by any number of blanks or tabs, which may also stand at a line's ends.
    Files of ``cwnd`` may have BIC's four further columns, which are checked and left out. The
    file is checked as a whole before this returns, so that collecting the frame does not fail.

    Args:
        path: the file.
        table: cwnd, throughput, queue, utilization or packets.
        flow: flow id of a file of cwnd or throughput.
        link: name of the link of a file of queue or utilization.

    Returns:
        cwnd: time_s (f64, s), flow (i32), cwnd_pkts (f64, packets of the flow's size).
        throughput: time_s (f64, s, end of the interval), flow (i32), mbps (f64, Mbit/s).
        queue: time_s (f64, s), link (str), pkts (i64, packets now), drops (i64, packets so far).
        utilization: time_s (f64, s, end of the interval), link (str), mbps (f64, Mbit/s).
        packets: event (str), time_s (f64, s), from_node, to_node (i32), type (str),
        size_bytes (i32), flags (str), flow (i32), src, dst (str), seq, uid (i64): the twelve
        columns of ns-2's wired trace; lazy, for files larger than memory.

    Raises:
        BdpbenchError: with file, line, its text and what was expected, for an empty file, a last
            line without its end, a wrong number of fields, a field that is no (finite) number of
            its type, a negative count or rate, a time or drop counter that runs backwards, an
            unknown trace event; for a missing file; and for a table, flow or link that do not go
            together.
    """
    form = format_of(table, where=str(path))
    key = _key_column(path, form, flow=flow, link=link)
    _check_ends(path)
    parsed = _parse(path, form)
    if form.streamed:
        parsed = parsed.with_columns(key) if key is not None else parsed
        problem = _first_problem(path, form, parsed)
    else:
        held = _collect(path, form, parsed)
        parsed = held.lazy().with_columns(key) if key is not None else held.lazy()
        problem = _first_problem(path, form, held.lazy())
    if problem is not None:
        raise problem
    return parsed.select(form.columns)


def _key_column(
    path: Path, form: Format, *, flow: int | None, link: str | None
) -> pl.Expr | None:
    given = {name: value for name, value in (("flow", flow), ("link", link)) if value is not None}
    wanted = [form.key] if form.key else []
    if list(given) != wanted:
        expected = f"a {form.key}" if form.key else "neither flow nor link"
        raise BdpbenchError(
            f"an output of table {form.table} takes {expected}, got {given or 'none'}",
            where=str(path),
        )
    if form.key is None:
        return None
    dtype = pl.Int32() if form.key == "flow" else pl.String()
    return pl.lit(given[form.key], dtype=dtype).alias(form.key)
