"""Sentences that experiments are answered with: each is true of the values that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from bdpbench.metrics import DEFINITIONS
from bdpbench.pages.answers import answer
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.names import Names, find_sweep

LABELS = {"fast": "FAST", "htcp": "H-TCP", "reno": "Reno", "cubic": "CUBIC"}
PROTOCOLS = {key: {"label": label, "colour": "#000000"} for key, label in LABELS.items()}
LINK = "link:bottleneck"


def _answer(metric: str, *found: tuple[dict[str, Any], float | None]) -> str:
    """The sentence on a metric of runs with these parameters."""
    runs: list[Any] = [
        {"run_id": f"run{n}", "scenario": "one", "label": f"run {n}", "parameters": given}
        for n, (given, _) in enumerate(found)
    ]
    units = {"rtt_ms": "ms", "bottleneck_mbps": "Mbit/s"}
    plan: Any = {
        "runs": runs,
        "protocols": PROTOCOLS,
        "parameters": {name: {"unit": unit} for name, unit in units.items()},
        "scenarios": {},
    }
    definition = DEFINITIONS[metric]
    names = Names(plan, read_captions(), [definition.as_document()])
    rows = [
        {"run_id": f"run{n}", "metric": metric, "subject": LINK, "value": value}
        for n, (_, value) in enumerate(found)
    ]
    metrics = pl.DataFrame(rows, schema_overrides={"value": pl.Float64})
    metrics = metrics.with_columns(unit=pl.lit(definition.unit))
    (sentence,) = answer([metric], runs, metrics, find_sweep(runs), names)
    return sentence


def _each(values: dict[str, float | None], **given: Any) -> list[tuple[dict[str, Any], Any]]:
    return [({"protocol": key, **given}, value) for key, value in values.items()]


def _some(found: Sequence[float | None], **given: Any) -> list[tuple[dict[str, Any], Any]]:
    return _each(dict(zip(LABELS, found, strict=False)), **given)


_RATES = [
    run
    for rate, value in ((10, 0.1), (250, 0.79))
    for rtt in (16, 162)
    for run in _some((value, 0.9), bottleneck_mbps=rate, rtt_ms=rtt)
]


@pytest.mark.parametrize(
    ("metric", "found", "said"),
    [
        (  # all that share a place are named
            "mean_queue",
            _some((500.0, 500.0, 40.0, 40.0)),
            "Mean queue is highest for FAST and H-TCP (500 packets) and lowest for Reno and CUBIC "
            "(40 packets).",
        ),
        (  # what differs by less than counts is alike
            "utilization",
            _some((97.6, 97.3, 97.6, 97.31)),
            "Link utilization is 97.3 to 97.6 % for all 4.",
        ),
        (
            "time_to_90pct_utilization",
            _some((3.6, 30.0, 20.0, 3.3), substream=1) + _some((3.8, 32, 21, 25.7), substream=2),
            "Time to 90 % utilization is highest for H-TCP (31 s) and lowest for FAST "
            "(3.7 s; runs of CUBIC overlap) (means of 2 runs).",
        ),
        (
            "time_to_90pct_utilization",
            _some((3.6, None, None), substream=1) + _some((3.8, None, 20.0), substream=2),
            "Time to 90 % utilization is 3.7 s for FAST, and never reached by H-TCP, and not "
            "reached in 1 of 2 runs by Reno (means of 2 runs).",
        ),
        (  # what a chart separates is not pooled: between 10 and 250 Mbit/s there is no value
            "jain_index",
            _RATES,
            "With the RTT at 16 ms and the bottleneck rate at 10 Mbit/s, Jain's fairness index is "
            "0.1 for FAST and 0.9 for H-TCP; with the RTT at 162 ms and the bottleneck rate at "
            "250 Mbit/s, it is 0.79 for FAST and 0.9 for H-TCP.",
        ),
        (  # by the distance from a reference
            "asymmetry",
            _some((-0.9, -0.8, 0.7, -0.228)),
            "Asymmetry of the two flows is nearest to 0 for CUBIC (−0.228) and farthest",
        ),
        (
            "fair_share_ratio",
            _some((1.91, 1.02, 0.99, 0.3)),
            "Throughput over max-min fair share is about 1 for H-TCP and Reno and farthest",
        ),
        (
            "jain_index",
            [
                ({"protocol_1": one, "protocol_2": "reno"}, value)
                for one, value in (("fast", 0.5), ("htcp", 0.99), ("cubic", 0.98))
            ],
            "Jain's fairness index is 0.5 for FAST beside Reno, 0.99 for H-TCP beside Reno and "
            "0.98 for CUBIC beside Reno.",
        ),
    ],
)
def test_sentences_are_true_of_their_values(metric: str, found: Any, said: str) -> None:
    assert _answer(metric, *found).startswith(said)
