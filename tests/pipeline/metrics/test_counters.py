"""A real run: sums over the sampled series agree with the counters that ns-2 itself kept."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.make import measure_run
from tests.studies.sharma2006.networks import SINGLE_FLOW, single_flow
from tests.tcl.conftest import argv
from tests.waiting import HANGS_S

from bdpbench.trace import read_output

ROOT = Path(__file__).resolve().parents[3]
DURATION_S = 6


@pytest.fixture(scope="module")
def out(ns_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """HS-TCP alone on 622 Mbit/s for 6 s: slow start and the beginning of its first ascent."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "out").mkdir()
    command = [
        str(ns_binary),
        str(ROOT / "tcl" / SINGLE_FLOW),
        *argv(single_flow("HS", DURATION_S)),
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=HANGS_S)
    return folder / "out"


@pytest.fixture(scope="module")
def metrics(out: Path) -> dict[str, float]:
    tables = {
        "cwnd": read_output(out / "cwnd_hstcp.out", "cwnd", flow=0),
        "throughput": read_output(out / "tput_hstcp.out", "throughput", flow=0),
        "queue": read_output(out / "queue.out", "queue", link="bottleneck"),
        "utilization": read_output(out / "util.out", "utilization", link="bottleneck"),
    }
    parameters = {
        "duration_s": DURATION_S,
        "bottleneck_mbps": 622,
        "rtt_ms": 100,
        "bdp_pkts": 7775,
    }
    frame = measure_run(parameters, tables, run_id="r", scenario="single_flow")
    return dict(frame.select("metric", "value").iter_rows())


def _fact(out: Path, key: str) -> float:
    """A counter from report.txt, where its line is ``key value unit``."""
    lines = (out / "report.txt").read_text().splitlines()
    (value,) = [line.split()[1] for line in lines if line.startswith(f"{key} ")]
    return float(value)


def test_the_mean_throughput_is_that_of_the_counters(out: Path, metrics: dict[str, float]) -> None:
    # Each bin is printed with two decimals, so it and the mean are off by at most 0.005 Mbit/s.
    expected = _fact(out, "flow.0.throughput")
    assert metrics["mean_throughput"] == pytest.approx(expected, abs=0.005)


def test_the_utilization_is_that_of_the_counters(out: Path, metrics: dict[str, float]) -> None:
    # 0.005 Mbit/s of 622 are 0.0008 percentage points.
    expected = _fact(out, "link.bottleneck.utilization")
    assert metrics["utilization"] == pytest.approx(expected, abs=0.0009)


def test_all_bytes_are_in_the_bins(out: Path) -> None:
    bins = read_output(out / "tput_hstcp.out", "throughput", flow=0).collect()
    rounding = 0.005e6 / 8 * bins.height  # bytes that rounding to two decimals of Mbit/s can hide
    counted = _fact(out, "flow.0.total_bytes")
    assert bins.select(pl.col("mbps").sum() * 1e6 / 8).item() == pytest.approx(
        counted, abs=rounding
    )
