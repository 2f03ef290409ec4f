"""Metrics of a run that come from its packet trace, and the definitions of all metrics of runs."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import polars as pl

from bdpbench.metrics import registry
from bdpbench.metrics.packets.definitions import PACKET_DEFINITIONS
from bdpbench.metrics.packets.rates import FLOW_MEASURES
from bdpbench.metrics.registry import Definition

FLOWS_TABLE = "packet_flows"
"""Table of a run with ``trace: stream`` that holds what its flows sent, received and lost."""

_OF_FLOWS = ("slow_start_duration", "slow_start_loss_rate")

DEFINITIONS: Mapping[str, Definition] = types.MappingProxyType(
    {**registry.DEFINITIONS, **{metric: PACKET_DEFINITIONS[metric] for metric in _OF_FLOWS}}
)
"""Metric → its definition: what published.csv and claims.yaml may name, and reports list."""


def measure_traced(
    flows: pl.DataFrame, duration_s: float
) -> Iterator[tuple[str, str, float | None]]:
    """Metric, subject (``flow:0``) and value for each data flow of a trace of the whole run.

    Args:
        flows: table of ``FLOWS_TABLE``, as ``PacketSums.flows`` describes it.
        duration_s: of the run, s.
    """
    data = flows.filter(pl.col("kind") == "data")
    for metric in _OF_FLOWS:
        values = FLOW_MEASURES[metric](data, duration_s)
        for subject, value in zip(data["subject"], values, strict=True):
            yield metric, subject, value


def definitions_as_dicts() -> list[dict[str, str]]:
    """All definitions as plain dictionaries, for JSON files and templates."""
    return [asdict(each) for each in DEFINITIONS.values()]
