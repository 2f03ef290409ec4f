"""even2007 compared with Table II, the grid of the paper and its rule for averages.

``tests/studies/test_every_study.py`` tests what holds for every study.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from tests.data_of import data_of
from tests.make import measure_run
from tests.pipeline.metrics.conftest import Build, measured

from bdpbench.metrics import METRICS_SCHEMA, measure_groups

PROTOCOLS = ("SACK", "HTCP", "HS", "BIC", "Scalable", "FAST")
TABLE_II = data_of(__file__)["table_ii"]


def arguments(run: Mapping[str, Any]) -> dict[str, str]:
    return dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))


@pytest.mark.parametrize("protocol", TABLE_II)
def test_both_flows_get_table_ii(study: Any, protocol: str) -> None:
    for run in study.matching("paper", "fairness", {"protocol": protocol}):
        given = arguments(run)
        for name, value in TABLE_II[protocol].items():
            assert [float(given[f"-flow.{i}.set.{name}"]) for i in (0, 1)] == [value, value]


def test_linux_gets_what_its_modules_have_otherwise(study: Any) -> None:
    """Table II: S_max 32, whose default is 16; all other values are the modules' defaults."""
    runs = study.matching("paper", "linux", {})
    parameters = {name for run in runs for name in run["argv"] if ".linux." in str(name)}
    assert parameters == {"-flow.0.linux.max_increment", "-flow.1.linux.max_increment"}
    for run in study.matching("paper", "linux", {"protocol": "BIC_Linux"}):
        assert arguments(run)["-flow.1.linux.max_increment"] == "32"


def test_the_grid_is_the_paper_s(study: Any) -> None:
    # Without the repetitions of repetitions.yaml.
    runs = [run for run in study.planned("paper") if run["parameters"].get("substream", 1) <= 5]
    assert Counter(run["scenario"] for run in runs) == {
        # 6 protocols, 2 rates, 5 delays, 5 repetitions
        "fairness": 300,
        "fairness_full_bdp": 300,
        "simultaneous": 300,
        "linux": 3 * 3 * 5,
        "fixed_alpha": 5,
        "response": 6 * 5 * 5,
        "sluggish": 2,
    }
    # Ten minutes, and an hour for standard TCP if its congestion epochs are long.
    staggered = [run["parameters"] for run in runs if run["scenario"].startswith("fairness")]
    hours = [each for each in staggered if each["duration_s"] == 3600]
    assert {(each["protocol"], each["bottleneck_mbps"]) for each in hours} == {("SACK", 250.0)}
    assert len(hours) == 2 * 5 * 5
    assert {each["duration_s"] for each in staggered} == {600, 3600}
    assert {each["protocol"] for each in staggered} == set(PROTOCOLS)


def test_the_quick_tier_holds_whole_cells(study: Any) -> None:
    assert len(study.planned("quick")) == 38


def test_a_packet_at_250_mbps_takes_48_us(study: Any) -> None:
    """Section III-A: 1,500 bytes, which include the 40 bytes of headers that ns-2 adds."""
    (run, *_) = study.matching("paper", "fairness", {"bottleneck_mbps": 250})
    given = arguments(run)
    packet_bytes = int(given["-default.Agent/TCP.packetSize_"]) + 40
    assert packet_bytes * 8 / (float(given["-link.0.mbps"]) * 1e6) == pytest.approx(48e-6)


def test_repetitions_draw(study: Any) -> None:
    for run in study.planned("paper"):
        given = arguments(run)
        assert float(given["-default.Agent/TCP.overhead_"]) == 8e-6
        if run["scenario"] != "sluggish":
            assert float(given["-flow.0.within_s"]) == 0.016  # the shortest RTT
    runs = study.matching("paper", "fairness", {"protocol": "HS", "bottleneck_mbps": 10})
    assert {arguments(run)["-substream"] for run in runs} == {"1", "2", "3", "4", "5"}


# Its own metrics


def told(study: Any, tables: Mapping[str, pl.LazyFrame], **parameters: Any) -> dict[Any, Any]:
    given = {"duration_s": 600.0, "rtt_ms": 100.0, **parameters}
    frame = measure_run(given, tables, run_id="r", scenario="s", definitions=study.definitions)
    return {(row["metric"], row["subject"]): row["value"] for row in frame.to_dicts()}


def bins(flows: Sequence[Sequence[float]]) -> pl.LazyFrame:
    """Throughput of flows in bins of one second."""
    return pl.concat(
        pl.DataFrame({"time_s": [float(i + 1) for i in range(len(mbps))], "mbps": mbps}).select(
            "time_s", pl.col("mbps").cast(pl.Float64), flow=pl.lit(number, dtype=pl.Int32)
        )
        for number, mbps in enumerate(flows)
    ).lazy()


def test_ratios_about_500_s_and_at_the_end(study: Any) -> None:
    # 60 against 30 Mbit/s until 500 s, and 60 against 15 after that.
    values = told(study, {"throughput": bins([[60] * 600, [30] * 500 + [15] * 100])})
    assert values["ratio_before_500_s", "run"] == 0.5
    assert values["ratio_of_last_100_s", "run"] == 0.25
    assert values["time_to_fair_share", "run"] is None
    values = told(study, {"throughput": bins([[60] * 600, [0] * 300 + [57] * 300])})
    assert values["time_to_fair_share", "run"] == 20.0  # 57/60 is 0.95


def test_what_a_flow_adds_and_keeps(study: Any) -> None:
    # RTT 0.1 s; in the second half from 80 to 100 packets in 20 s, 200 RTTs, and from 70 to 100.
    times_s = [301.0, 321.0, 321.1, 341.0, 341.1]
    frame = pl.DataFrame({"time_s": times_s, "cwnd_pkts": [80.0, 100.0, 80.0, 100.0, 70.0]})
    late = pl.DataFrame({"time_s": [361.0, 361.1, 600.0], "cwnd_pkts": [100.0, 70.0, 70.0]})
    flow = pl.concat([frame, late]).with_columns(flow=pl.lit(0, dtype=pl.Int32)).lazy()
    values = told(study, {"cwnd": flow})
    assert values["share_kept", "flow:0"] == pytest.approx(0.7)  # of 0.8, 0.7, 0.7
    # 20 packets in 199 RTTs and 30 in 199.
    assert values["increase_per_rtt", "flow:0"] == pytest.approx((20 / 199 + 30 / 199) / 2)


def groups(
    study: Any, metric: str, values: Mapping[tuple[float, int], float | None]
) -> dict[tuple[str, str], float | None]:
    """Metrics of several runs, from values by delay in ms and repetition."""
    definition = study.definitions[metric]
    base = {"protocol": "HS", "duration_s": 600.0, "flow2_start_s": 100.0}
    runs: list[Any] = [
        {
            "run_id": f"{rtt:g}/{number}",
            "scenario": "fairness",
            "parameters": {**base, "rtt_ms": rtt, "substream": number, "bdp_pkts": 10 * rtt},
        }
        for rtt, number in values
    ]
    rows = [
        (run["run_id"], "fairness", metric, "run", value, definition.unit, 0, 600, definition.id)
        for run, value in zip(runs, values.values(), strict=True)
    ]
    metrics = pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")
    found = measure_groups(metrics, runs, definitions=study.definitions)
    return {(row["metric"], row["run_id"]): row["value"] for row in found.to_dicts()}


RATIOS = {(16.0, 1): 0.9, (16.0, 2): 0.7, (42.0, 1): 0.5, (42.0, 2): 0.3}


def test_a_cell_is_the_mean_of_its_repetitions(study: Any) -> None:
    found = groups(study, "min_max_ratio_from_last_start", RATIOS)
    assert found["mean_ratio", "16/1"] == pytest.approx(0.8)
    assert found["mean_ratio", "42/1"] == pytest.approx(0.4)
    # s = sqrt(2) · 0.1 of two values 0.2 apart, over sqrt(2)
    assert found["ratio_standard_error", "16/1"] == pytest.approx(0.1)


def test_a_curve_is_summed_up_over_all_of_its_delays(study: Any) -> None:
    found = groups(study, "min_max_ratio_from_last_start", RATIOS)
    assert found["ratio_over_delays", "16/1"] == pytest.approx(0.6)
    assert found["smallest_ratio_over_delays", "16/1"] == pytest.approx(0.4)
    assert found["ratio_spread_over_delays", "16/1"] == pytest.approx(0.4)


def test_a_repetition_that_does_not_converge_counts_with_the_time_that_it_had(study: Any) -> None:
    found = groups(study, "time_to_converge", {(42.0, 1): 100.0, (42.0, 2): None})
    assert found["converging_share", "42/1"] == 0.5
    assert found["least_time_to_converge", "42/1"] == 300.0  # of 100 and 600 - 100
    found = groups(study, "time_to_fair_share", {(42.0, 1): None, (42.0, 2): None})
    assert found["fair_share", "42/1"] == 0


def test_modes_that_a_sender_changes() -> None:
    times = [float(each) for each in range(1, 11)]
    modes = [0, 1, 0, 1, 1, 0, 0, 1, 1, 0]  # in the second half at 6, 8 and 10 s
    rows = {"time_s": times, "flow": [0] * 10, "name": ["mode_"] * 10, "value": modes}
    recorded = pl.DataFrame(rows).cast({"flow": pl.Int32, "value": pl.Float64}).lazy()
    found = measured({"recorded": recorded}, study="even2007")
    assert found == {("mode_changes", "flow:0"): 3.0}
    other = recorded.with_columns(name=pl.lit("other_"))
    assert measured({"recorded": other}, study="even2007") == {}


def test_shares_from_the_last_start_on() -> None:
    # The second flow starts at 4 s: 40 against 20 Mbit/s for two seconds, then 30 each for four.
    flows = {0: [60] * 4 + [40] * 2 + [30] * 4, 1: [0] * 4 + [20] * 2 + [30] * 4}
    tables = {
        "throughput": Build.table({flow: Build.bins(mbps) for flow, mbps in flows.items()}),
        "facts": Build.facts({"flow:0": {"start": 0.01}, "flow:1": {"start": 4.0}}),
    }
    # (2 · 20 + 4 · 30)/(2 · 40 + 4 · 30)
    assert measured(tables, "even2007")["min_max_ratio_from_last_start", "run"] == pytest.approx(
        160 / 200
    )
    tables["facts"] = Build.facts({"flow:0": {"start": 0.01}})  # the last start is unknown
    assert ("min_max_ratio_from_last_start", "run") not in measured(tables, "even2007")
