from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bdpbench.contracts.plan import Output, Plan, PlannedRun, Scalar, ScenarioText
from bdpbench.score import PublishedNumber
from bdpbench.score.published import COLUMNS, Origin


def write_published(path: Path, *rows: dict[str, str], header: Sequence[str] = COLUMNS) -> Path:
    """Write rows of published.csv, whose other cells are empty."""
    lines = [",".join(header), *(",".join(row.get(key, "") for key in header) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


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
        "origin": Origin("stated"),
        "why": "",
        "known_miss": "",
        "note": "",
    }
    return PublishedNumber(**{**facts, **changes})


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
