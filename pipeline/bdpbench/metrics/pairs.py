"""Metrics of runs of all pairs of protocols."""

from __future__ import annotations

from collections.abc import Iterator

from bdpbench.metrics.definition import group_metric
from bdpbench.metrics.fairness import fairness_region
from bdpbench.metrics.groups import Group, Row
from bdpbench.metrics.words import THESIS

_PAIR = ("protocol_1", "protocol_2")
_BESIDE_PAIR = frozenset({*_PAIR, "duration_s"})


@group_metric(
    unit="1",
    title="Points against all protocols",
    text="Points of the protocol of both flows, over all ordered pairs of protocols that were run "
    "with the same parameters: 1 to 5, the region of |asymmetry| in five equal parts from 0 "
    "to 1, for each of its flows in each pair. Measured where all pairs have been simulated.",
    source=f"{THESIS}, section 6.2",
    metrics=("asymmetry",),
    version=1,
)
def fairness_points(group: Group) -> Iterator[tuple[Row, float | None]]:
    for rows in group.alike("asymmetry", _BESIDE_PAIR):
        pairs = {
            tuple(str(row.parameters[name]) for name in _PAIR): row
            for row in rows
            if all(name in row.parameters for name in _PAIR)
        }
        protocols = list(dict.fromkeys(protocol for pair in pairs for protocol in pair))
        known = {pair: row.value for pair, row in pairs.items() if row.value is not None}
        if len(protocols) > 1 and len(known) == len(protocols) ** 2:
            for protocol in protocols:
                points = sum(
                    pair.count(protocol) * fairness_region(value) for pair, value in known.items()
                )
                yield pairs[protocol, protocol], points
