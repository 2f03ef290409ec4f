"""The path of each flow through the network, and its fair share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from bdpbench.metrics.fairness import max_min_shares
from bdpbench.metrics.packets.sums import PacketSums

_TCP = "tcp"


def routes_of(sums: PacketSums) -> dict[str, list[str]]:
    """Data flow → the links that its packets entered, in the order of its first packet."""
    rows = sums.link_flows.sort("first_s", maintain_order=True)
    routes: dict[str, list[str]] = {name: [] for name in data_flows(sums)["subject"]}
    for flow, link in rows.select("flow", "link").iter_rows():
        if flow in routes:
            routes[flow].append(link)
    return routes


def data_flows(sums: PacketSums) -> pl.DataFrame:
    """The rows of ``sums.flows`` that carry data: neither ACKs nor packets without numbers."""
    return sums.flows.filter(pl.col("kind") == "data")


def with_shares(sums: PacketSums) -> pl.DataFrame:
    """The data flows with tight_mbps (capacity of the tight link) and max_min_mbps, Mbit/s."""
    flows, routes = data_flows(sums), routes_of(sums)
    capacities = {
        link: mbps
        for link, mbps in sums.links.select("subject", "capacity_mbps").iter_rows()
        if mbps is not None
    }
    shares = max_min_shares(routes, capacities, _demands(flows, sums.seconds))
    names = flows["subject"].to_list()
    return flows.with_columns(
        pl.Series("tight_mbps", _tight(names, routes, capacities), dtype=pl.Float64),
        pl.Series("max_min_mbps", [shares[name] for name in names], dtype=pl.Float64),
    )


def _tight(
    flows: Sequence[str], routes: Mapping[str, Sequence[str]], capacities: Mapping[str, float]
) -> list[float | None]:
    return [
        min((capacities[link] for link in routes[flow] if link in capacities), default=None)
        for flow in flows
    ]


def _demands(flows: pl.DataFrame, seconds: float) -> dict[str, float]:
    """Rates at which non-TCP flows send, Mbit/s; TCP flows have no demand."""
    rows = flows.filter((pl.col("type") != _TCP) & pl.col("sent_bytes").is_not_null()).select(
        "subject", "sent_bytes"
    )
    return {name: 8e-6 * size / seconds for name, size in rows.iter_rows()} if seconds > 0 else {}
