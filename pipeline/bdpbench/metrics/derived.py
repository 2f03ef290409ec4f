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
from bdpbench.metrics.queues import (
    cumulative_shares,
    drops_per_sample,
    queue_shares,
    queueing_delays,
)
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


def _queue_share(_: Parameters, tables: Tables) -> pl.DataFrame:
    """Link (str), pkts (f64), share_pct (f64)."""
    return queue_shares(tables["queue"])


def _drops(_: Parameters, tables: Tables) -> pl.DataFrame:
    """Link (str), time_s (f64, s), packets (i64)."""
    return drops_per_sample(tables["queue"])


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


def _red_average(_: Parameters, tables: Tables) -> pl.DataFrame:
    """time_s (f64, s), link (str), average_pkts (f64)."""
    return tables["red"].select("time_s", "link", "average_pkts")


def _red_max_p(_: Parameters, tables: Tables) -> pl.DataFrame:
    """time_s (f64, s), link (str), max_p (f64), of links where it changes."""
    changes = pl.col("max_p").n_unique().over("link") > 1
    return tables["red"].filter(changes).select("time_s", "link", "max_p")


def _completion(_: Parameters, tables: Tables) -> pl.DataFrame:
    """Kind (str), s (f64, rising within a kind), share_pct (f64): % that took no longer."""
    parts = tables["transfers"].partition_by("kind", as_dict=True, maintain_order=True)
    shares = [
        cumulative_shares(part["end_s"] - part["start_s"]).select(
            pl.lit(f"{kind}s", pl.String).alias("kind"), s="value", share_pct="share_pct"
        )
        for (kind,), part in parts.items()
    ]
    schema = {"kind": pl.String, "s": pl.Float64, "share_pct": pl.Float64}
    return pl.concat([pl.DataFrame(schema=schema), *shares])


DERIVED: Mapping[str, DerivedTable] = types.MappingProxyType(
    {
        "queue_share": DerivedTable(("queue",), _queue_share),
        "drops": DerivedTable(("queue",), _drops),
        "queueing_delay": DerivedTable(("queue", "facts"), _queueing_delay),
        "red_average": DerivedTable(("red",), _red_average),
        "red_max_p": DerivedTable(("red",), _red_max_p),
        "completion": DerivedTable(("transfers",), _completion),
    }
)
"""Table → how it is derived."""
