"""Charts of a trace: narrow bins are drawn as means, and specifications are kept on disk."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bdpbench.metrics.series import cumulative_shares
from bdpbench.pages import analysis_specs
from bdpbench.pages.analysis_charts import (
    KINDS,
    MOST_POINTS,
    chart_of,
    chart_specs,
    grid_of,
    lines_of,
)
from bdpbench.pages.packing import unpack

_BINS = 2000


@pytest.fixture
def tables() -> dict[str, pl.DataFrame]:
    """Bins of 0.01 s; the throughput of the flow alternates between 0 and 10 Mbit/s."""
    times = [0.01 * (index + 1) for index in range(_BINS)]
    flow = pl.DataFrame(
        {
            "subject": ["flow:1"] * _BINS,
            "time_s": times,
            "mbps": [10.0 * (index % 2) for index in range(_BINS)],
            "delay_ms": [1.0] * _BINS,
            "rtt_ms": [None] * _BINS,
            "delivered_pct": [100.0] * _BINS,
        },
        schema_overrides={"rtt_ms": pl.Float64},
    )
    columns = {"subject": pl.String, "time_s": pl.Float64}
    others = {
        "link_series": ("mbps", "queue_pkts"),
        "loss_series": ("drops_per_s",),
        "node_series": ("energy_j",),
    }
    empty = {
        name: pl.DataFrame(schema={**columns, **dict.fromkeys(values, pl.Float64)})
        for name, values in others.items()
    }
    return {"flow_series": flow, **empty}


def test_narrow_bins_are_drawn_as_means(tables: dict[str, pl.DataFrame]) -> None:
    values = {"flow:1": {"throughput": 5.0, "one_way_delay": 1.0}}
    lines = lines_of(tables, values, lambda subject: subject, cumulative_shares)
    times, mbps = unpack(lines["throughput"][0].points)
    assert len(times) == MOST_POINTS
    # Four bins per point: 0, 10, 0 and 10 Mbit/s.
    assert set(mbps) == {5.0}
    assert times[0] == pytest.approx(0.04, abs=0.001)
    bins = grid_of(tables).height
    chart = chart_of(KINDS[0], lines, 0.0, 20.0, 0.01, bins)
    assert chart is not None
    assert "drawn as means of 4" in repr(chart)


def test_bins_that_have_room_are_drawn_as_they_are(tables: dict[str, pl.DataFrame]) -> None:
    few = {name: table.head(MOST_POINTS) for name, table in tables.items()}
    lines = lines_of(few, {"flow:1": {"throughput": 5.0}}, str, cumulative_shares)
    _, mbps = unpack(lines["throughput"][0].points)
    assert mbps[:4] == [0.0, 10.0, 0.0, 10.0]


def test_a_single_bin_of_drops_is_as_wide_as_it_lasts(tables: dict[str, pl.DataFrame]) -> None:
    drops = pl.DataFrame({"subject": ["MAC/COL"], "time_s": [0.05], "drops_per_s": [100.0]})
    few = {name: table.head(MOST_POINTS) for name, table in tables.items()} | {"loss_series": drops}
    (line,) = lines_of(few, {"MAC/COL": {"drops": 1.0}}, str, cumulative_shares)["drops"]
    times, rates = unpack(line.points)
    # A step ends at its point, so it takes the end of the bin before to begin.
    assert times == pytest.approx([0.04, 0.05])
    assert rates == pytest.approx([0.0, 100.0])


def test_specifications_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path))
    made = chart_specs()
    assert made.keys() == {kind.key for kind in KINDS}
    assert len(list((tmp_path / "cache").glob("trace-charts.json"))) == 1
    monkeypatch.setattr(analysis_specs, "_made", None)  # calling it would fail
    assert chart_specs() == made


def test_a_home_that_cannot_be_written_costs_time_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path / "home"))
    assert chart_specs().keys() == {kind.key for kind in KINDS}
