from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml  # type: ignore[import-untyped]

from bdpbench.contracts.plan import Output, Plan, PlannedRun, Scalar, ScenarioText
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.score import Expectations, PublishedNumber, load_claims, score
from bdpbench.score.spreads import load_spreads


def published_number(**changes: Any) -> PublishedNumber:
    """A number of the run of HS with 40 packets, for which the fixture has 88 %."""
    facts: dict[str, Any] = {
        "id": "n",
        "part_of": "",
        "where": "Table 1",
        "page": "98",
        "scenario": "one",
        "select": {"protocol": "HS", "buffer_pkts": "40"},
        "metric": "utilization",
        "subject": "link:bottleneck",
        "value": 88.0,
        "lower": 87.0,
        "upper": 89.0,
        "unit": "%",
        "how": "stated",
        "found": "stated",
        "chosen_on": [],
        "why": "a reason",
        "known_miss": "",
        "note": "",
    }
    return PublishedNumber(**{**facts, **changes})


METRICS = ("utilization", "asymmetry", "time_to_90pct_cwnd", "mean_of_all")
UNITS = {"time_to_90pct_cwnd": "s", "utilization": "%", "asymmetry": "1"}


def make_run(run_id: str, *outputs: Output, **parameters: Scalar) -> PlannedRun:
    """A run of scenario ``one``, whose label is its id."""
    return {
        "run_id": run_id,
        "scenario": "one",
        "label": run_id,
        "script": "network.tcl",
        "argv": [],
        "parameters": parameters,
        "outputs": list(outputs),
        "protocols": [str(parameters["protocol"])],
        "estimated_cpu_s": 1.0,
    }


def _scenario() -> ScenarioText:
    return {
        "title": "",
        "section": "",
        "figures": [],
        "description": "",
        "summary": [],
        "script": "network.tcl",
        "longest_s": 0,
    }


@pytest.fixture
def plan() -> Plan:
    """Three runs of one scenario with different buffers, and one of another protocol."""
    return {
        "schema_version": 2,
        "study": "mine",
        "folder": "",
        "title": "",
        "tier": "quick",
        "ns2_build_id": "",
        "protocols": {},
        "scenarios": {"one": _scenario(), "empty": _scenario()},
        "runs": [
            make_run("a", protocol="HS", buffer_pkts=40),
            make_run("b", protocol="HS", buffer_pkts=200.0),
            make_run("c", protocol="HS", buffer_pkts=500),
            make_run("d", protocol="Reno", buffer_pkts=40),
        ],
        "evaluation_sha256": "",
    }


@pytest.fixture
def metrics() -> pl.DataFrame:
    rows = [
        ("a", "utilization", "link:bottleneck", 88.0),
        ("b", "utilization", "link:bottleneck", 95.0),
        ("c", "utilization", "link:bottleneck", 99.0),
        ("d", "utilization", "link:bottleneck", 50.0),
        ("a", "time_to_90pct_cwnd", "flow:0", 14.5),
        ("d", "time_to_90pct_cwnd", "flow:0", None),
        ("a", "asymmetry", "run", -0.02),
    ]
    return pl.DataFrame(
        [
            {
                "run_id": run_id,
                "scenario": "one",
                "metric": metric,
                "subject": subject,
                "value": value,
                "unit": UNITS[metric],
                "start_s": 0.0,
                "end_s": 1.0,
                "definition": f"{metric}/1",
            }
            for run_id, metric, subject, value in rows
        ]
    )


def judged(
    folder: Path,
    plan: Plan,
    metrics: pl.DataFrame,
    *numbers: PublishedNumber,
    claim: Mapping[str, Any] | None = None,
    spread: str = "",
    **options: Any,
) -> Scorecard:
    """The scorecard of some numbers and a claim, with a ``spread.yaml`` of this content."""
    (folder / "spread.yaml").write_text(spread or "[]")
    text = {"id": "c", "where": "Section 1", "found": "stated", "statement": "It is so."}
    (folder / "claims.yaml").write_text(
        yaml.safe_dump([{**text, **claim}] if claim else [], sort_keys=False)
    )
    claims = load_claims(folder / "claims.yaml", METRICS)
    ids = [each.id for each in numbers]
    spreads = load_spreads(folder / "spread.yaml", ids, METRICS, ["c"] if claim else [])
    return score(plan, metrics, Expectations(numbers, claims, spreads=spreads), **options)
