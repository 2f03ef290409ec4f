"""Tables that charts show and no script writes: derived from the tables of a run.

For a sampled queue: the distribution of its length, its drops over time, and the queueing delay;
RED's average and max_p as separate tables; the distribution of transfer times.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.plan import Parameters
from bdpbench.metrics.series import cumulative_shares, queueing_delays
from bdpbench.metrics.views import RunView

Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class DerivedTable:
    """A table derived from others.

    Attributes:
        sources: names of the tables without which a run does not have it.
        make: computes its rows from the parameters of the run and these tables; none if there is
            nothing to show.
    """

    sources: tuple[str, ...]
    make: Callable[[Parameters, Tables], pl.DataFrame]


def queue_shares(queue: pl.DataFrame) -> pl.DataFrame:
    """Share of the samples in which the queue was no longer than each length.

    Args:
        queue: link (str) and pkts (packets), samples at equal intervals.

    Returns:
        ``link`` str, ``pkts`` f64 (ascending within a link), ``share_pct`` f64.
    """
    return _shares_by(queue, "link", pl.col("pkts"), "pkts")


def drops_per_sample(queue: pl.DataFrame) -> pl.DataFrame:
    """Packets that a link dropped since the previous sample, or since the start.

    Args:
        queue: link (str), time_s (f64, s, rising within a link), drops (packets since the start).

    Returns:
        One row for each sample: ``link`` str, ``time_s`` f64, ``packets`` i64.
    """
    since = pl.col("drops").diff().over("link")
    return queue.select("link", "time_s", packets=since.fill_null(pl.col("drops")).cast(pl.Int64))


def _shares_by(rows: pl.DataFrame, key: str, value: pl.Expr, name: str) -> pl.DataFrame:
    """The key (str), the value (f64, rising) and share_pct (f64) of each key's distribution."""
    parts = rows.partition_by(key, as_dict=True, maintain_order=True)
    shares = [
        cumulative_shares(part.select(value.alias("value"))["value"]).select(
            pl.lit(each, pl.String).alias(key), pl.col("value").alias(name), "share_pct"
        )
        for (each,), part in parts.items()
    ]
    schema = {key: pl.String, name: pl.Float64, "share_pct": pl.Float64}
    return pl.concat([pl.DataFrame(schema=schema), *shares])


def _queueing_delay(parameters: Parameters, tables: Tables) -> pl.DataFrame:
    """time_s (f64, s), link (str), ms (f64), of links whose rate and packet size are known."""
    schema = {"time_s": pl.Float64, "link": pl.String, "ms": pl.Float64}
    run = RunView(parameters, {name: each.lazy() for name, each in tables.items()}, "a chart")
    parts = [pl.DataFrame(schema=schema)]
    for link in run.links("queue"):
        packets, count = link.fact("packets"), link.fact("bytes")
        if packets and count is not None and link.has("bottleneck_mbps"):
            delays = queueing_delays(link.queue, count / packets, link.rates)
            parts.append(delays.select("time_s", pl.lit(link.name).alias("link"), "ms"))
    return pl.concat(parts)


def _red_max_p(_: Parameters, tables: Tables) -> pl.DataFrame:
    """time_s (f64, s), link (str), max_p (f64), of links where it changes."""
    changes = pl.col("max_p").n_unique().over("link") > 1
    return tables["red"].filter(changes).select("time_s", "link", "max_p")


def _completion(_: Parameters, tables: Tables) -> pl.DataFrame:
    """Kind (str), s (f64, rising within a kind), share_pct (f64): % that took no longer."""
    took_s = pl.col("end_s") - pl.col("start_s")
    kinds = tables["transfers"].with_columns(pl.col("kind") + "s")
    return _shares_by(kinds, "kind", took_s, "s")


DERIVED: Mapping[str, DerivedTable] = types.MappingProxyType(
    {
        "queue_share": DerivedTable(("queue",), lambda _, tables: queue_shares(tables["queue"])),
        "drops": DerivedTable(("queue",), lambda _, tables: drops_per_sample(tables["queue"])),
        "queueing_delay": DerivedTable(("queue", "facts"), _queueing_delay),
        "red_average": DerivedTable(
            ("red",), lambda _, tables: tables["red"].select("time_s", "link", "average_pkts")
        ),
        "red_max_p": DerivedTable(("red",), _red_max_p),
        "completion": DerivedTable(("transfers",), _completion),
    }
)
"""Table → how it is derived."""
