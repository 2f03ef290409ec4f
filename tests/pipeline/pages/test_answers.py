"""Sentences that experiments are answered with: each is true of the values that it is made of."""

from __future__ import annotations

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


def test_all_that_share_a_place_are_named() -> None:
    found = {"fast": 500.0, "htcp": 500.0, "reno": 200.0, "cubic": 40.0}
    assert _answer("mean_queue", *_each(found)) == (
        "Mean queue is highest for FAST and H-TCP (500 packets) and lowest for CUBIC (40 packets)."
    )
    found |= {"reno": 40.0}
    assert "lowest for Reno and CUBIC (40 packets)" in _answer("mean_queue", *_each(found))


def test_what_differs_by_less_than_counts_is_alike() -> None:
    found = {"fast": 97.6, "htcp": 97.3, "reno": 97.6, "cubic": 97.31}
    assert _answer("utilization", *_each(found)) == "Link utilization is 97.3 to 97.6 % for all 4."


def test_repetitions_are_told_as_means_and_overlaps_are_named() -> None:
    runs = [
        *_each({"fast": 3.6, "htcp": 30.0, "reno": 20.0, "cubic": 3.3}, substream=1),
        *_each({"fast": 3.8, "htcp": 32.0, "reno": 21.0, "cubic": 25.7}, substream=2),
    ]
    assert _answer("time_to_90pct_utilization", *runs) == (
        "Time to 90 % utilization is highest for H-TCP (31 s) and lowest for FAST "
        "(3.7 s; runs of CUBIC overlap) (means of 2 runs)."
    )


def test_who_never_got_there_is_named() -> None:
    runs = [
        *_each({"fast": 3.6, "htcp": None, "reno": None}, substream=1),
        *_each({"fast": 3.8, "htcp": None, "reno": 20.0}, substream=2),
    ]
    assert _answer("time_to_90pct_utilization", *runs) == (
        "Time to 90 % utilization is 3.7 s for FAST, and never reached by H-TCP, and not reached "
        "in 1 of 2 runs by Reno (means of 2 runs)."
    )


def test_what_a_chart_separates_is_not_pooled() -> None:
    """Between 0.1 at 10 Mbit/s and 0.79 at 250 there is no value of Scalable TCP."""
    runs = [
        run
        for rate, value in ((10, 0.1), (250, 0.79))
        for rtt in (16, 162)
        for run in _each({"fast": value, "htcp": 0.9}, bottleneck_mbps=rate, rtt_ms=rtt)
    ]
    assert _answer("jain_index", *runs) == (
        "With the RTT at 16 ms and the bottleneck rate at 10 Mbit/s, Jain's fairness index is 0.1 "
        "for FAST and 0.9 for H-TCP; with the RTT at 162 ms and the bottleneck rate at 250 Mbit/s, "
        "it is 0.79 for FAST and 0.9 for H-TCP."
    )


@pytest.mark.parametrize(
    ("metric", "found", "said"),
    [
        ("asymmetry", (-0.9, -0.8, 0.7, -0.228), "nearest to 0 for CUBIC (−0.228) and farthest"),
        ("fair_share_ratio", (1.91, 1.02, 0.99, 0.3), "about 1 for H-TCP and Reno and farthest"),
    ],
)
def test_a_metric_with_a_reference_is_told_by_its_distance(
    metric: str, found: tuple[float, ...], said: str
) -> None:
    assert said in _answer(metric, *_each(dict(zip(LABELS, found, strict=True))))


def test_protocols_that_meet_are_told_from_two_that_do_not() -> None:
    found = [
        ({"protocol_1": one, "protocol_2": "reno"}, value)
        for one, value in (("fast", 0.5), ("htcp", 0.99), ("cubic", 0.98))
    ]
    assert _answer("jain_index", *found) == (
        "Jain's fairness index is 0.5 for FAST beside Reno, 0.99 for H-TCP beside Reno and 0.98 "
        "for CUBIC beside Reno."
    )
