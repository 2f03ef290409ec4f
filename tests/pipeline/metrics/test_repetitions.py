"""Means with confidence intervals, checked against printed tables of Student's t."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.groups import (
    confidence_interval,
    over_repetitions,
    student_t_quantile,
)


@pytest.mark.parametrize(
    ("probability", "degrees", "t"),
    [
        # NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2.
        (0.60, 1, 0.3249),  # tan(0.1 pi), with one degree of freedom
        (0.90, 1, 3.078),
        (0.975, 1, 12.706),
        (0.999, 1, 318.3088),  # tan(0.499 pi)
        (0.975, 2, 4.303),
        (0.95, 3, 2.353),
        (0.995, 4, 4.604),
        (0.975, 9, 2.262),
        (0.99, 10, 2.764),
        (0.975, 29, 2.045),
        (0.975, 30, 2.042),
        (0.95, 100, 1.660),
    ],
)
def test_table(probability: float, degrees: int, t: float) -> None:
    assert student_t_quantile(probability, degrees) == pytest.approx(t, abs=6e-4)  # 3 decimals
    assert student_t_quantile(1 - probability, degrees) == pytest.approx(-t, abs=6e-4)


def test_interval() -> None:
    # Mean 5, squares of 3, 1, 1 and 3: s² = 20/3; t(0.975, 3) = 3.182; 3.182 · sqrt(20/3)/2.
    interval = confidence_interval([2.0, 4.0, 6.0, 8.0])
    assert interval.mean == 5
    assert interval.half_width == pytest.approx(3.182 * (20 / 3) ** 0.5 / 2, rel=2e-4)
    assert interval.count == 4


def test_a_single_value_has_no_spread() -> None:
    assert confidence_interval([3.0]).half_width is None


@pytest.mark.parametrize(("values", "level"), [([], 0.95), ([1.0], 1.0), ([1.0], 0.0)])
def test_refused(values: list[float], level: float) -> None:
    with pytest.raises(BdpbenchError):
        confidence_interval(values, level)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.floats(0.1, 10))
def test_scales(values: list[float], factor: float) -> None:
    interval = confidence_interval(values)
    scaled = confidence_interval([factor * each for each in values])
    assert scaled.half_width == pytest.approx(factor * interval.half_width, rel=1e-6, abs=1e-9)
    assert confidence_interval(values, 0.99).half_width >= interval.half_width


def _row(run_id: str, value: float | None, metric: str = "utilization") -> dict[str, Any]:
    window = {"start_s": 0.0, "end_s": 1.0, "definition": f"{metric}/1"}
    subject = {"metric": metric, "subject": "link:b", "unit": "%"}
    return {"run_id": run_id, "scenario": "s", **subject, "value": value, **window}


def _run(run_id: str, run: int, **parameters: Any) -> dict[str, Any]:
    return {"run_id": run_id, "scenario": "s", "parameters": {"substream": run, **parameters}}


def test_runs_that_differ_in_random_numbers_alone_have_one_mean() -> None:
    runs = [_run(f"a{n}", n, buffer_pkts=40) for n in (1, 2, 3)]
    runs += [_run("alone", 1, buffer_pkts=80)]
    metrics = pl.DataFrame(
        [
            *(_row(f"a{n}", 8.0 + n) for n in (1, 2, 3)),
            _row("alone", 50.0),
            # One of three never gets there; a mean would be that of the others alone.
            *(_row(f"a{n}", value, "convergence_time") for n, value in ((1, 1.0), (2, None))),
        ]
    )
    (row,) = over_repetitions(metrics, runs).to_dicts()
    assert (row["metric"], row["run_ids"], row["mean"]) == ("utilization", ["a1", "a2", "a3"], 10.0)
    assert (row["low"], row["high"]) == (9.0, 11.0)
    assert over_repetitions(metrics, runs[-1:]).is_empty()
