"""Metric of the crossing that lasts, for cwnd that can be checked by hand."""

from __future__ import annotations

import polars as pl
import pytest

from bdpbench.contracts.paths import config_dir
from bdpbench.metrics import definitions_for, measure_values

STUDY = config_dir() / "studies" / "sharma2006"
PARAMETERS = {"bdp_pkts": 100.0, "rtt_ms": 100.0, "drop_packet": 20}


def kept(windows: list[float]) -> float | None:
    """The metric for one flow, whose cwnd is sampled every 0.25 s."""
    rows = [(0.25 * i, 0, window) for i, window in enumerate(windows)]
    columns = {"time_s": pl.Float64, "flow": pl.Int32, "cwnd_pkts": pl.Float64}
    tables = {"cwnd": pl.LazyFrame(rows, schema=columns, orient="row")}
    run = {**PARAMETERS, "duration_s": rows[-1][0]}
    values = measure_values(run, tables, {"cwnd": ""}, definitions_for(STUDY))
    found = values.filter(metric="time_to_90pct_cwnd_after_drop_kept")["value"]
    return found[0] if found.len() else None


# The window is full before the drop, which does not count; the drop leaves half of it.
BEFORE = [95.0] * 8 + [50.0] * 4


@pytest.mark.parametrize(
    ("after", "start_s"),
    [
        ([90.0] * 6, 3.0),
        # Five samples last 1 s, six 1.25 s.
        ([90.0] * 5 + [88.0] + [90.0] * 6, 4.5),
        ([90.0] * 5 + [88.0] * 6, None),
        ([89.0] * 12, None),
    ],
)
def test_a_stay_of_less_than_1_25_s_is_no_crossing_that_lasts(
    after: list[float], start_s: float | None
) -> None:
    assert kept(BEFORE + after) == start_s


def test_without_a_cut_there_is_none() -> None:
    assert kept([95.0] * 20) is None
