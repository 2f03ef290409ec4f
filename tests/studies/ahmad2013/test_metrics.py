"""ahmad2013's goodput, fairness and friendliness, with numbers that can be checked by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.contracts.paths import config_dir
from bdpbench.metrics import definitions_for, measure_values

STUDY = config_dir() / "studies" / "ahmad2013"
PARAMETERS = {"duration_s": 100.0, "bottleneck_mbps": 50, "packet_bytes": 1000}


def facts(**starts: float) -> pl.LazyFrame:
    """Counters of the report: goodputs of 30 and 10 Mbit/s in the second half.

    1,000 Mbit a flow are acknowledged there, as after a hole that was filled late.
    """
    rows = []
    # Flow 0 repairs what it lost before the window, too, so that 500 of its packets are not new.
    for flow, passed, lost, again in ((0, 188_000, 1_000, 1_500), (1, 62_500, 800, 700)):
        found = {"goodput": 20.0, "start": starts.get(f"flow_{flow}", 0.0)}
        found |= {"window_start": 50.0, "window_end": 100.0, "packets": passed}
        found |= {"drops": lost, "retransmissions": again}
        rows += [(f"flow:{flow}", name, value, "") for name, value in found.items()]
    columns = {"subject": pl.String, "name": pl.String, "value": pl.Float64, "unit": pl.String}
    return pl.LazyFrame(rows, schema=columns, orient="row")


def recorded() -> pl.LazyFrame:
    """ack_ is the number of the last packet in order: 250,000 and 100,000 packets in total."""
    rows = [
        (time_s, flow, "ack_", value)
        for flow, last in ((0, 249_999.0), (1, 99_999.0))
        for time_s, value in ((50.0, last / 3), (100.0, last))
    ]
    columns = {"time_s": pl.Float64, "flow": pl.Int32, "name": pl.String, "value": pl.Float64}
    return pl.LazyFrame(rows, schema=columns, orient="row")


def measured(**given: Any) -> dict[tuple[str, str], float]:
    """Metric and subject → value, for the metrics of the study."""
    starts = given.pop("starts", {})
    tables = {"facts": facts(**starts), "recorded": recorded()}
    definitions = definitions_for(STUDY)
    values = measure_values({**PARAMETERS, **given}, tables, definitions)
    return {(each.metric, each.subject): each.value for each in values}


def test_goodput_is_a_share_of_the_link() -> None:
    values = measured()
    assert values["goodput_share", "run"] == pytest.approx(80)  # 40 of 50 Mbit/s
    # 250,000 packets of 8,000 bits in 100 s are 20 Mbit/s, and 100,000 are 8.
    assert values["goodput_of_whole_run", "flow:0"] == pytest.approx(20)
    assert values["goodput_of_whole_run", "flow:1"] == pytest.approx(8)
    assert values["goodput_share_of_whole_run", "run"] == pytest.approx(56)


def test_a_transfer_lasts_from_its_start() -> None:
    values = measured(starts={"flow_1": 20.0})
    assert values["goodput_of_whole_run", "flow:1"] == pytest.approx(10)  # 800 Mbit in 80 s


def test_fairness_is_that_of_the_goodputs() -> None:
    values = measured()
    assert values["goodput_jain_index", "run"] == pytest.approx(40**2 / (2 * (900 + 100)))
    whole = values["goodput_jain_index_of_whole_run", "run"]
    assert whole == pytest.approx(28**2 / (2 * (400 + 64)))


def test_friendliness_is_of_two_protocols() -> None:
    assert ("friendliness", "run") not in measured(protocol_1="Reno", protocol_2="Reno")
    values = measured(protocol_1="CUBIC", protocol_2="Reno")
    assert values["friendliness", "run"] == pytest.approx(0.8)
    assert values["friendliness_of_whole_run", "run"] == pytest.approx(784 / 928)
    assert values["share_left_to_second", "run"] == pytest.approx(0.4)  # 10 of 25 Mbit/s
