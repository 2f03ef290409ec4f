"""Charts of traces: narrow bins are drawn as means, lines break, and windows have phases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.pipeline.pages import golden

from bdpbench.metrics.samples import SampleMeter
from bdpbench.metrics.series import cumulative_shares
from bdpbench.pages.analysis import MOST_POINTS, Trace, build_samples_page, draw
from bdpbench.pages.series import unpack

_BINS = 2000


def _drawn(values: Any, tables: dict[str, pl.DataFrame]) -> dict[str, Any]:
    """Kind → its chart, and times and values of its only or first line."""
    trace = Trace("a.tr", "wired", 0.0, 20.0, 20.0, 0.01, True, "", pl.DataFrame(), tables, None)
    return {
        chart.chart_id: (chart, *unpack(next(iter(points.values()))))
        for chart, _, points in draw(tables, values, cumulative_shares, [trace])
    }


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
        "alive_series": ("nodes",),
    }
    empty = {
        name: pl.DataFrame(schema={**columns, **dict.fromkeys(values, pl.Float64)})
        for name, values in others.items()
    }
    return {"flow_series": flow, **empty}


def test_traces_are_drawn_as_they_were(tables: dict[str, pl.DataFrame]) -> None:
    """Narrow bins as means; a step of drops as wide as its bin; gaps where packets are missing."""
    few = {name: table.head(MOST_POINTS) for name, table in tables.items()}
    drops = pl.DataFrame({"subject": ["MAC/COL"], "time_s": [0.05], "drops_per_s": [100.0]})
    mbps = {"0-1": 10.0, "1-2": 5.0, "2-3": 10.0, "3-4": 100.0, "4-5": None}
    links = {
        f"link:{n}": {"link_throughput": 8.0, "link_capacity": each} for n, each in mbps.items()
    }
    rows = [{"subject": each, "time_s": 1.0, "mbps": 8.0, "queue_pkts": 0.0} for each in links]
    flow = {"flow:1": {"throughput": 5.0, "one_way_delay": 1.0}}
    cases: dict[str, tuple[Any, dict[str, pl.DataFrame]]] = {
        "many bins": (flow, tables),
        "few bins": ({"flow:1": {"throughput": 5.0}}, few),
        "drops": ({"MAC/COL": {"drops": 1.0}}, few | {"loss_series": drops}),
        # Each link has its own capacity, and one far above has none.
        "links": (links, {**tables, "link_series": pl.DataFrame(rows)}),
    }
    lines = []
    for name, (values, own) in cases.items():
        for chart, times, found in _drawn(values, own).values():
            lines += [f"# {name}", golden.told(chart)]
            lines.append(f"  {len(times)} points: {golden.flat([times[:4], found[:4]])}")
    golden.compare("traces.txt", "\n".join(lines))


def test_a_window_that_fell_has_phases_in_its_chart(tmp_path: Path) -> None:
    meter = SampleMeter()
    window = {"time_s": [0.0, 1, 2, 3, 4], "value": [1.0, 1, 8, 4, 1]}
    named = pl.DataFrame({"subject": ["a"] * 5, "name": ["cwnd_"] * 5, **window})
    meter.add(named)
    meter.add(named.with_columns(name=pl.lit("pkts")))
    frames = (meter.summary, meter.points, meter.falls)
    build_samples_page(["x.tr"], [], [], [], *frames, tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text()
    store = json.loads(text.split('id="chart-data">')[1].split("</script>")[0])
    assert store["charts"]["cwnd-0"]["phases"] == [
        {"s": "a", "what": "slow start", "t": 2.0, "end": 3.0},
        {"s": "a", "what": "cut", "t": 3.0, "v": 4.0},
        {"s": "a", "what": "timeout", "t": 4.0, "v": 1.0},
    ]
    assert store["charts"]["pkts-1"]["phases"] == []
