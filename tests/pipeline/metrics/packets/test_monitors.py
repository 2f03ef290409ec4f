"""The same numbers from another source: ns-2's monitors and agents, in the run that was traced.

They count packets inside the simulator and never see the trace. Wherever both count packets or
bytes, they have to agree exactly.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest

from bdpbench.metrics.packets import (
    COLUMNS,
    PacketSums,
    Window,
    measure_packets,
    sum_packets,
)
from bdpbench.trace import open_trace

SCRIPT = Path(__file__).with_name("monitors.tcl")
HEADERS = 40


@pytest.fixture(scope="module")
def counted(ns_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, PacketSums]:
    folder = tmp_path_factory.mktemp("monitors")
    done = subprocess.run(
        [str(ns_binary), str(SCRIPT)], cwd=folder, capture_output=True, text=True, check=True
    )
    counters = dict(line.split() for line in done.stdout.splitlines())
    batches = open_trace(folder / "all.tr").batches(COLUMNS)
    sums = sum_packets(batches, Window(0, 8))
    return {name: float(value) for name, value in counters.items()}, sums


def _flow(sums: PacketSums, flow: int) -> dict:
    return sums.flows.filter(pl.col("subject") == f"flow:{flow}").row(0, named=True)


@pytest.mark.parametrize("index", [0, 1])
def test_what_senders_sent(counted: tuple[dict, PacketSums], index: int) -> None:
    counters, sums = counted
    flow = _flow(sums, index + 1)
    assert flow["sent_pkts"] == counters[f"tcp{index}.ndatapack_"]
    assert flow["retransmitted_pkts"] == counters[f"tcp{index}.nrexmitpack_"]
    assert flow["retransmitted_pkts"] > 0
    headers = HEADERS * flow["sent_pkts"]
    assert flow["sent_bytes"] - headers == counters[f"tcp{index}.ndatabytes_"]
    resent = flow["retransmitted_bytes"] - HEADERS * flow["retransmitted_pkts"]
    assert resent == counters[f"tcp{index}.nrexmitbytes_"]


@pytest.mark.parametrize("index", [0, 1])
def test_what_sinks_received(counted: tuple[dict, PacketSums], index: int) -> None:
    # A sink counts each packet once, with headers; the first one, a SYN, has only headers.
    counters, sums = counted
    flow = _flow(sums, index + 1)
    new_pkts = flow["good_bytes"] / 1000 + 1
    assert flow["good_bytes"] + HEADERS * new_pkts == counters[f"sink{index}.bytes_"]


def test_what_udp_received(counted: tuple[dict, PacketSums]) -> None:
    counters, sums = counted
    flow = _flow(sums, 3)
    assert flow["received_pkts"] == counters["losses.npkts_"]
    assert flow["received_bytes"] == flow["good_bytes"] == counters["losses.bytes_"]


def test_the_bottleneck(counted: tuple[dict, PacketSums]) -> None:
    counters, sums = counted
    link = sums.links.filter(pl.col("subject") == "link:0-1").row(0, named=True)
    expected = {
        "entered_pkts": "parrivals_",
        "entered_bytes": "barrivals_",
        "departed_pkts": "pdepartures_",
        "departed_bytes": "bdepartures_",
        "dropped_pkts": "pdrops_",
        "dropped_bytes": "bdrops_",
    }
    for ours, theirs in expected.items():
        assert link[ours] == counters[f"queue.{theirs}"], ours
    assert link["dropped_pkts"] > 0
    # Times in the trace are rounded to 1 us, so each is off by at most half of that.
    rounding = 1e-6 * (link["departed_pkts"] + link["entered_pkts"])
    assert link["length_area"] == pytest.approx(counters["queue.area"], abs=rounding)
    mean_s = link["wait_sum_s"] / link["departed_pkts"]
    assert mean_s == pytest.approx(counters["queue.delay_s"], abs=1e-6)
    assert link["capacity_mbps"] == pytest.approx(10, rel=1e-4)
    assert link["longest_pkts"] == 49  # queue-limit also counts the packet that asks for room


@pytest.mark.parametrize("flow", [1, 2, 3])
def test_flows_at_the_bottleneck(counted: tuple[dict, PacketSums], flow: int) -> None:
    counters, sums = counted
    here = (pl.col("link") == "link:0-1") & (pl.col("flow") == f"flow:{flow}")
    entered = sums.link_flows.filter(here).row(0, named=True)
    assert entered["entered_pkts"] == counters[f"flow{flow}.parrivals_"]
    assert entered["entered_bytes"] == counters[f"flow{flow}.barrivals_"]
    if flow > 1:  # the error model also drops packets of flow 1
        assert _flow(sums, flow)["dropped_pkts"] == counters[f"flow{flow}.pdrops_"]
        assert _flow(sums, flow)["dropped_bytes"] == counters[f"flow{flow}.bdrops_"]


def test_errors_of_the_last_link(counted: tuple[dict, PacketSums]) -> None:
    counters, sums = counted
    dropped = _flow(sums, 1)["dropped_pkts"] - counters["flow1.pdrops_"]
    last = sums.links.filter(pl.col("dropped_pkts") > 0).filter(pl.col("subject") != "link:0-1")
    assert dropped == last["dropped_pkts"].sum() > 0


def test_delays_of_the_path(counted: tuple[dict, PacketSums]) -> None:
    # Flow 1: 1 + 20 + 1 ms, and the transmission of the SYN's 40 bytes: 320 bit at 100, 10 and
    # 100 Mbit/s are 3.2, 32 and 3.2 us. The way back is the same, so the minimum RTT is 44.0768 ms.
    _, sums = counted
    assert _flow(sums, 1)["delay_min_s"] == pytest.approx(0.0220384, abs=2e-6)
    metrics = measure_packets(sums)
    rtt_ms = metrics.filter((pl.col("metric") == "rtt") & (pl.col("subject") == "flow:1"))["value"]
    assert 44.0768 < rtt_ms[0] < 44.0768 + 1e3 * 49 * 1040 * 8 / 10e6 + 200
