"""Small tables, built from just the numbers that matter, and a function that measures them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.make import measure_run

from bdpbench.metrics import definitions_for
from bdpbench.studies.load import find_study

FACTS_SCHEMA = {"subject": pl.String, "name": pl.String, "value": pl.Float64, "unit": pl.String}
PARAMETERS = {"duration_s": 10, "bottleneck_mbps": 100, "rtt_ms": 100, "bdp_pkts": 1000}


class Build:
    """Makers of tables; by default, series start after 0 s and have one row per second."""

    @staticmethod
    def cwnd(samples: Sequence[tuple[float, float]]) -> pl.DataFrame:
        """The cwnd of one flow from pairs of time and packets."""
        frame = pl.DataFrame(samples, schema=["time_s", "cwnd_pkts"], orient="row")
        return frame.cast(pl.Float64)

    @staticmethod
    def bins(mbps: Sequence[float]) -> pl.DataFrame:
        times = [float(index + 1) for index in range(len(mbps))]
        return pl.DataFrame({"time_s": times, "mbps": [float(each) for each in mbps]})

    @staticmethod
    def queue(pkts: Sequence[int]) -> pl.DataFrame:
        times = [float(index + 1) for index in range(len(pkts))]
        return pl.DataFrame({"time_s": times, "pkts": list(pkts), "drops": [0] * len(pkts)})

    @staticmethod
    def red(samples: Sequence[tuple[float, float]]) -> pl.DataFrame:
        """A table of RED from pairs of average queue and max_p."""
        times = [float(index + 1) for index in range(len(samples))]
        average, max_p = zip(*samples, strict=True)
        columns = {"average_pkts": average, "max_p": max_p}
        return pl.DataFrame({"time_s": times, **columns}).cast(pl.Float64)

    @staticmethod
    def facts(told: Mapping[str, Mapping[str, float]]) -> pl.LazyFrame:
        """Subject → name → number in the run's report."""
        rows = [(who, name, float(v), "") for who, each in told.items() for name, v in each.items()]
        return pl.LazyFrame(rows, schema=FACTS_SCHEMA, orient="row")

    @staticmethod
    def transfers(rows: Sequence[tuple[str, float, float]]) -> pl.LazyFrame:
        """Finished transfers, given as kind, start and end."""
        full = [(kind, "x", start, end, 1000) for kind, start, end in rows]
        columns = ["kind", "subject", "start_s", "end_s", "bytes"]
        return pl.LazyFrame(full, schema=columns, orient="row")

    @staticmethod
    def table(subjects: Mapping[Any, pl.DataFrame]) -> pl.LazyFrame:
        """A table of several flows (by number) or links (by name)."""
        parts = [
            frame.with_columns(pl.lit(subject, dtype=pl.Int32).alias("flow"))
            if isinstance(subject, int)
            else frame.with_columns(pl.lit(subject).alias("link"))
            for subject, frame in subjects.items()
        ]
        return pl.concat(parts).lazy()


Values = dict[tuple[str, str], float | None]

# Full means 0.9 · 1,000 = 900 packets. Cuts: 500 → 250 on the way up, then, from full peaks,
# 1,000 → 500, 900 → 720 and 950 → 722.
SAW_TOOTH = [
    *((0.0, 1), (1.0, 500), (1.5, 250), (3.0, 900), (4.0, 1000), (4.5, 500)),
    *((6.0, 900), (6.5, 720), (8.0, 950), (8.5, 722), (10.0, 800)),
]


def number(told: object) -> Any:
    """A number, or that of a sum such as 8 * 3 * 1040e-6 / 2.4."""
    if isinstance(told, str) and re.fullmatch(r"[-0-9.e+*/() ]+", told):
        return eval(told)
    return told


def measured(tables: Mapping[str, pl.LazyFrame], study: str = "", **changes: Any) -> Values:
    """Measure tables with PARAMETERS, some of them changed: (metric, subject) → value.

    Common metrics alone, or also those of a study.
    """
    definitions = definitions_for(find_study(study) if study else Path("none"))
    parameters = {**PARAMETERS, **changes}
    frame = measure_run(parameters, tables, run_id="r", scenario="s", definitions=definitions)
    return {(row["metric"], row["subject"]): row["value"] for row in frame.to_dicts()}


@pytest.fixture(scope="session")
def build() -> type[Build]:
    return Build


@pytest.fixture(scope="session")
def measure() -> Callable[..., Values]:
    return measured


@pytest.fixture
def saw_tooth() -> dict[str, pl.LazyFrame]:
    return {"cwnd": Build.table({0: Build.cwnd(SAW_TOOTH)})}
