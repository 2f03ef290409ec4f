"""Sentences that experiments are answered with: each is true of the values that it is made of."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.data_of import data_of

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


@pytest.mark.parametrize("case", data_of(__file__)["cases"])
def test_sentences_are_true_of_their_values(case: Any) -> None:
    found = [
        ({name: each for name, each in zip(case["given"], run, strict=False)}, run[-1])
        for run in case["runs"]
    ]
    assert _answer(case["metric"], *found) == case["said"]
