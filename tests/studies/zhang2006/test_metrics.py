"""zhang2006: the web's period and the introduction's numbers, on rows checked by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.contracts.paths import config_dir
from bdpbench.metrics import (
    as_metrics,
    definitions_for,
    measure_groups,
    measure_values,
    metric_rows,
)
from bdpbench.metrics.measure import Value

STUDY = config_dir() / "studies" / "zhang2006"


def measured(tables: dict[str, pl.DataFrame], **parameters: Any) -> dict[str, float]:
    """Metric → value, for the metrics of one flow or link."""
    lazy = {name: table.lazy() for name, table in tables.items()}
    definitions = definitions_for(STUDY)
    values = measure_values(parameters, lazy, definitions)
    return {each.metric: each.value for each in values}


def web(duration_s: float) -> dict[str, float]:
    """A link that carries 12 Mbit/s, 1,000 packets a second, and drops one a second."""
    times_s = [float(each) for each in range(1, int(duration_s) + 1)]
    objects = [("object", 10.0, 49.0), ("object", 59.0, 60.0), ("object", 97.0, 100.0)]
    of_link = {"time_s": times_s, "link": ["bottleneck"] * len(times_s)}
    tables = {
        "queue": pl.DataFrame(
            {**of_link, "pkts": [0] * len(times_s), "drops": [int(each) for each in times_s]}
        ),
        "utilization": pl.DataFrame({**of_link, "mbps": [12.0] * len(times_s)}),
        "transfers": pl.DataFrame(
            [(*each, f"object:{i}", 12000) for i, each in enumerate(objects)],
            schema=["kind", "start_s", "end_s", "subject", "bytes"],
            orient="row",
        ),
    }
    return measured(tables, duration_s=duration_s, packet_bytes=1460, bottleneck_mbps=20)


def test_the_webs_period_begins_at_50_s() -> None:
    values = web(800)
    # 750 drops beside 750,000 departures; the object that arrived before 50 s took 39 s.
    assert values["loss_rate_of_web_period"] == pytest.approx(100 * 750 / 750_750)
    assert values["mean_response_time_of_web_period"] == pytest.approx(2)
    assert values["median_response_time_of_web_period"] == pytest.approx(2)


def test_a_run_that_ends_before_800_s_has_no_such_period() -> None:
    assert web(799).get("loss_rate_of_web_period") is None


def test_the_introductions_numbers_follow_from_renos_law() -> None:
    # 1 packet an RTT from 10 to 28 packets, in 18 RTTs of 100 ms; the mean of cwnd is 20.
    rise = [(6.1 + 0.1 * i, 10.0 + i) for i in range(19)]
    points = [(0.0, 20.0), (6.0, 20.0), *rise, (8.0, 14.0), (10.0, 14.0)]
    cwnd = pl.DataFrame(points, schema=["time_s", "cwnd_pkts"], orient="row")
    bins = pl.DataFrame({"time_s": [float(i) for i in range(1, 11)], "mbps": [8.0] * 10})
    flow = pl.lit(0, dtype=pl.Int32).alias("flow")
    tables = {"cwnd": cwnd.with_columns(flow), "throughput": bins.with_columns(flow)}
    given = {"loss_rate": 1e-3, "packet_bytes": 1460, "rtt_ms": 100, "duration_s": 10}
    values = measured(tables, **given)
    assert values["full_window_recovery_rtts"] == pytest.approx(83_333 / 2)
    mean = sum(pkts for time_s, pkts in points if time_s > 5) / 22
    assert values["full_window_loss_rate"] == pytest.approx(1e-3 * (mean / 83_333) ** 2)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        # Means of 0.75 and 0.75, an index of 1; of the other alone, 1.5^2 / (2 * 1.25) = 0.9, so
        # that the pseudo-values of 1.1 are above the largest index.
        ([[1.0, 0.5], [0.5, 1.0]], [1.1, 1.1]),
        # All: 2.5^2 / (2 * (1.5^2 + 1)); of the first alone 1, of the second 3^2 / (2 * 5).
        ([[1.0, 1.0], [2.0, 1.0]], [2 * 6.25 / 6.5 - 0.9, 2 * 6.25 / 6.5 - 1]),
    ],
)
def test_a_pseudo_value_has_what_a_repetition_adds(
    shares: list[list[float]], expected: list[float]
) -> None:
    definitions = definitions_for(STUDY)
    runs: list[Any] = [
        {"run_id": f"r{number}", "scenario": "one", "parameters": {"substream": number}}
        for number in (1, 2)
    ]
    rows = [
        row
        for run, found in zip(runs, shares, strict=True)
        for flow, share in enumerate(found)
        for row in metric_rows(
            [Value("fair_share_ratio", f"flow:{flow}", share, 0.0, 1.0)],
            definitions,
            run_id=run["run_id"],
            scenario="one",
        )
    ]
    groups = measure_groups(as_metrics(rows), runs, definitions=definitions)
    found = groups.filter(metric="jackknifed_max_min_jain_index")
    assert found["run_id"].to_list() == ["r1", "r2"]
    assert found["value"].to_list() == pytest.approx(expected)
