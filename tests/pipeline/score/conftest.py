from __future__ import annotations

from typing import Any

import polars as pl
import pytest

UNITS = {"time_to_90pct_cwnd": "s", "utilization": "%", "asymmetry": "1"}


def _run(run_id: str, **parameters: Any) -> dict[str, Any]:
    return {"run_id": run_id, "scenario": "one", "label": run_id, "parameters": parameters}


@pytest.fixture
def plan() -> dict[str, Any]:
    """Three runs of one scenario that differ in buffer, and one of another protocol."""
    return {
        "study": "mine",
        "tier": "quick",
        "scenarios": {"one": {}, "empty": {}},
        "runs": [
            _run("a", protocol="HS", buffer_pkts=40),
            _run("b", protocol="HS", buffer_pkts=200.0),
            _run("c", protocol="HS", buffer_pkts=500),
            _run("d", protocol="Reno", buffer_pkts=40),
        ],
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
