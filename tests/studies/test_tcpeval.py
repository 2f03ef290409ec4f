"""``config/tcpeval``: what its tiers contain, and the times and delays that the draft prints."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest
import yaml
from tests.pipeline.metrics.conftest import Build, Values, measured

from bdpbench.app.keep.results import KeptResults
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.contracts.plan import PlannedRun
from bdpbench.metrics import METRICS_SCHEMA, definitions_for, measure_groups
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

DEFINITIONS = definitions_for(config_dir() / "tcpeval")
PROTOCOLS = {"SACK", "CUBIC", "BBR", "HTCP", "Compound", "FAST"}


@cache
def planned(tier: str) -> list[PlannedRun]:
    return expand_tier(load_study(config_dir() / "tcpeval"), tier, Identities())


def parameters_of(tier: str, scenario: str, **wanted: Any) -> list[dict[str, Any]]:
    found = [dict(run["parameters"]) for run in planned(tier) if run["scenario"] == scenario]
    return [each for each in found if all(each[name] == value for name, value in wanted.items())]


def argument(run: PlannedRun, name: str) -> str:
    argv = run["argv"]
    return argv[argv.index(f"-{name}") + 1]


# Tables 2 to 5, 7 and 11: load, warm-up, duration and prefill of each test, s.
BASIC = {
    "data_center": [(0.6, 63, 69, 9), (0.85, 19, 328, 11.3), (1.1, 8, 663, 14.6)],
    "access_link": [(0.6, 84, 479, 36.72), (0.85, 179, 829, 52.02), (1.1, 34, 1423, 67.32)],
    "trans_oceanic": [(0.6, 140, 82.5, 89.1), (0.85, 64, 252, 126.2), (1.1, 82, 326, 163.4)],
    "satellite": [(0.6, 163, 2513, 324.7), (0.85, 230, 2184, 460), (1.1, 298, 2481, 595.3)],
    "dial_up": [
        (0.6, 280, 168804, 559), (0.85, 400, 88094, 792), (1.1, 512, 69891, 1025),
    ],
    "parking_lot": [(0.6, 173, 470, 41.4), (0.8, 37, 2052, 55.2), (1.0, 38, 1338, 69)],
}  # fmt: skip


@pytest.mark.parametrize("scenario", BASIC)
def test_basic_scenarios_have_the_times_of_the_draft(scenario: str) -> None:
    for load, warmup_s, lasts_s, prefill_s in BASIC[scenario]:
        runs = parameters_of("paper", scenario, prefilled_s=prefill_s)
        assert {each["protocol"] for each in runs} == PROTOCOLS
        for each in runs:
            assert each["measured_from_s"] == pytest.approx(prefill_s + warmup_s)
            assert each["duration_s"] == pytest.approx(prefill_s + warmup_s + lasts_s)
            # Two sources share the load of a fast link, or two meet at a bottleneck of a chain.
            own = each["offered_load"] if "offered_load" in each else 2 * each["source_load"]
            assert own == pytest.approx(load)


@pytest.mark.parametrize(
    ("load", "warmup_s", "lasts_s"), [(0.6, 20, 4147), (0.85, 20, 5397), (1.1, 620, 1797)]
)
def test_the_wireless_lan_has_the_times_and_loads_of_table_6(
    load: float, warmup_s: float, lasts_s: float
) -> None:
    traffic_s = 10
    runs = parameters_of("paper", "wireless_lan", duration_s=traffic_s + warmup_s + lasts_s)
    assert {each["protocol"] for each in runs} == PROTOCOLS
    for each in runs:
        assert each["measured_from_s"] == traffic_s + warmup_s
        # Requests are 0.107 of the responses, and the loads are those of a nominal 6 Mbit/s.
        both_mbps = 1.107 * each["source_load"] * each["bottleneck_mbps"]
        assert both_mbps == pytest.approx(6 * load, rel=2e-3)


def test_the_quick_tier_has_every_section() -> None:
    quick = {run["scenario"] for run in planned("quick")}
    everything = {run["scenario"] for run in planned("paper")}
    assert everything - quick == {"data_center", "trans_oceanic", "satellite"}
    for scenario in quick:
        runs = [run["parameters"] for run in planned("quick") if run["scenario"] == scenario]
        who = "protocol_2" if scenario == "impact" else "protocol"
        assert {each[who] for each in runs} == PROTOCOLS


@pytest.mark.parametrize("tier", ["quick", "paper", "full"])
def test_ramp_up_has_the_delays_of_table_8(tier: str) -> None:
    table = {(80, 80): (38, 38, 0, 0), (120, 30): (35, 1, 23, 12), (30, 120): (1, 35, 12, 23)}
    runs = [run for run in planned(tier) if run["scenario"] == "ramp_up"]
    assert {(r["parameters"]["rtt_1_ms"], r["parameters"]["rtt_2_ms"]) for r in runs} == set(table)
    for run in runs:
        rtts = (run["parameters"]["rtt_1_ms"], run["parameters"]["rtt_2_ms"])
        delays = [
            float(argument(run, f"flow.{flow}.{end}_delay_ms"))
            for end in ("access", "receiver") for flow in (0, 1)
        ]  # fmt: skip
        assert tuple(delays) == table[rtts]
        assert float(argument(run, "link.0.delay_ms")) == 2
        # Half of the rate, from one source or two.
        offered = float(argument(run, "background.0.offered_mbps"))
        assert (
            offered * int(argument(run, "backgrounds")) == run["parameters"]["bottleneck_mbps"] / 2
        )


def test_transients_have_the_rates_and_the_buffer_of_the_draft() -> None:
    for scenario, sources in (("release", 1), ("arrival", 1), ("arrivals", 30)):
        for run in (run for run in planned("paper") if run["scenario"] == scenario):
            rates = [
                float(argument(run, f"background.{index}.rate_mbps")) for index in range(sources)
            ]
            assert (sum(rates), argument(run, "backgrounds")) == (75, str(sources))
            # A drop-tail queue of ns-2 holds one packet less than its limit.
            assert argument(run, "link.0.queue.limit_") == "1025"
            assert run["parameters"]["rtt_ms"] == 100
            assert 1024 / run["parameters"]["bdp_pkts"] == pytest.approx(1.2, abs=0.005)
    (last, *_) = [run for run in planned("quick") if run["scenario"] == "arrivals"]
    starts = [float(argument(last, f"background.{index}.start_s")) for index in range(30)]
    assert starts == [50 + index for index in range(30)]
    assert last["parameters"]["duration_s"] == 79 + 100


def test_camps_have_the_same_connections_and_the_first_is_standard_tcp() -> None:
    for run in (run for tier in ("quick", "paper", "full") for run in planned(tier)):
        if run["scenario"] == "impact":
            first, second = (
                {
                    name: argument(run, f"background.{index}.{name}")
                    for name in ("draw", "offered_mbps", "bin_s", "prefill_s", "acceptor_delays_ms")
                }
                for index in (0, 1)
            )
            assert first == second
            assert argument(run, "background.0.agent") == "TCP/Sack1"
            assert run["parameters"]["protocol_1"] == "SACK"
    rates = {each["bottleneck_mbps"] for each in parameters_of("paper", "impact")}
    assert rates == {10, 100, 1000}


def test_two_flows_start_within_a_tenth_of_the_test() -> None:
    for tier, test_s in (("paper", 600), ("full", 600)):
        for scenario in ("same_rtt", "other_rtt"):
            runs = parameters_of(tier, scenario)
            assert {each["buffer_ms"] for each in runs} == {25, 50, 100, 200}
            for each in runs:
                begins_s = each["duration_s"] - test_s
                assert each["starts_1_s"] == begins_s
                assert each["measured_from_s"] == begins_s + test_s / 10
    for each in parameters_of("paper", "other_rtt"):
        assert each["rtt_1_ms"] == 160
        assert each["flow2_start_s"] == each["starts_1_s"] + each["start_within_s"]


# ---------------------------------------------------------------- its metrics


def measured_of(tables: dict[str, pl.LazyFrame], **parameters: Any) -> Values:
    return measured(tables, "tcpeval", **parameters)


@pytest.mark.parametrize("number", ["", "_2"])
def test_each_way_has_metrics_of_its_own(number: str) -> None:
    there, back = f"link:bottleneck{number}", f"link:back{number}"
    told = {there: {"measured_utilization": 64.0}, back: {"measured_utilization": 10.0}}
    values = measured_of({"facts": Build.facts(told)}, measured_from_s=5)
    found = {key: value for key, value in values.items() if key[0].startswith("measured_")}
    ways = {("measured_utilization", there): 64.0, ("measured_back_utilization", back): 10.0}
    assert found == ways


GROWING = [(4.9, 900), (5.0, 300), (5.1, 420), (5.2, 600), (5.3, 650), (5.4, 640), (9.0, 810)]


def test_how_a_flow_takes_what_becomes_free() -> None:
    # The BDP is 1,000 packets and the RTT 100 ms.
    tables = {"cwnd": Build.table({0: Build.cwnd([*GROWING, (10.0, 820)])})}
    values = measured_of(tables, measured_from_s=5)
    assert values["measured_time_to_60pct_cwnd", "flow:0"] == pytest.approx(0.2)
    assert values["measured_gain_to_60pct_cwnd", "flow:0"] == 180
    assert values["measured_time_to_80pct_cwnd", "flow:0"] == pytest.approx(4)
    assert values["measured_gain_to_80pct_cwnd", "flow:0"] == 180
    assert values["measured_time_to_90pct_cwnd", "flow:0"] is None
    assert values["measured_gain_to_90pct_cwnd", "flow:0"] is None
    late = measured_of(tables, measured_from_s=8.5)
    assert late["measured_time_to_80pct_cwnd", "flow:0"] == pytest.approx(0.5)
    there = measured_of(
        {"cwnd": Build.table({0: Build.cwnd([(5, 900), (10, 900)])})}, measured_from_s=5
    )
    assert there["measured_time_to_90pct_cwnd", "flow:0"] == 0
    assert there["measured_gain_to_90pct_cwnd", "flow:0"] == 0


def test_what_sources_lose_and_get() -> None:
    drops = {f"background_{index}_drops": 3.0 for index in range(12)}
    (value,) = measured_of({"facts": Build.facts({"run": drops})}, measured_from_s=5).values()
    assert value == 36
    told = {"background_0_goodput": 2.0, "background_1_goodput": 6.0, "background_2_goodput": 2.0}
    values = measured_of({"facts": Build.facts({"run": told})}, measured_from_s=5)
    assert values == {
        ("first_source_goodput", "run"): 2.0,
        ("second_source_goodput", "run"): 6.0,
        ("other_sources_goodput_ratio", "run"): 2.0,
    }


def test_two_flows_since_the_measured_time() -> None:
    told = {f"flow:{index}": {"measured_throughput": mbps} for index, mbps in enumerate((3.0, 2.0))}
    values = measured_of({"facts": Build.facts(told)}, measured_from_s=5)
    assert values["measured_throughput_ratio", "run"] == 1.5
    told["flow:2"] = {"measured_throughput": 1.0}
    values = measured_of({"facts": Build.facts(told)}, measured_from_s=5)
    assert ("measured_throughput_ratio", "run") not in values


def test_milestones_are_of_flows_that_have_them() -> None:
    told = {"flow:0": {"start": 0.0}, "flow:1": {"received_10": 0.2, "received_100": 0.5}}
    values = measured_of({"facts": Build.facts(told)}, milestones_2=1)
    found = {key: value for key, value in values.items() if key[0].startswith("time_to_1")}
    assert {subject for _, subject in found} == {"flow:1"}
    assert found["time_to_100_packets", "flow:1"] == 0.5
    assert found["time_to_1000_packets", "flow:1"] is None
    assert len(found) == 7


def test_gain_and_loss_over_the_baseline() -> None:
    def run(first: str, second: str, load: float) -> dict[str, Any]:
        parameters = {"protocol_1": first, "protocol_2": second, "load": load}
        return {"run_id": f"{first}{second}{load}", "scenario": "impact", "parameters": parameters}

    runs = [run("A", "A", 1), run("A", "B", 1), run("A", "C", 1), run("A", "B", 2)]
    goodputs = {"first": [4.0, 3.0, None, 9.0], "second": [5.0, 6.0, 0.0, 9.0]}
    rows = [
        (run["run_id"], "impact", f"{each}_source_goodput", "run", value, "Mbit/s", 0, 1, "x")
        for each, values in goodputs.items()
        for run, value in zip(runs, values, strict=True)
    ]
    metrics = pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")
    frame = measure_groups(metrics, runs, None, DEFINITIONS)
    found = {(run, name): value for run, name, value in frame["run_id", "metric", "value"].rows()}
    # A load without its baseline has no value.
    assert found == {
        ("AA1", "second_source_gain"): 1.0,
        ("AB1", "second_source_gain"): 1.2,
        ("AC1", "second_source_gain"): 0.0,
        ("AA1", "first_source_left"): 1.0,
        ("AB1", "first_source_left"): 0.75,
        ("AC1", "first_source_left"): None,
    }


def test_the_report_says_first_how_much_of_each_load_is_realised() -> None:
    """The page's first sentence has SACK's published utilizations, rounded to 1 %."""
    published = KeptResults(repository_root() / "reports" / "published" / "tcpeval-paper")
    used = published.metrics.filter(metric="measured_utilization").rows_by_key("run_id", named=True)
    told = " ".join(
        yaml.safe_load((config_dir() / "tcpeval" / "page.yaml").read_text())["choices"].split()
    )
    for scenario in ("access_link", "data_center", "satellite"):
        found = sorted(
            used[run["run_id"]][0]["value"]
            for run in published.runs
            if run["parameters"].get("protocol") == "SACK"
            and any(place["scenario"] == scenario for place in run["places"])
        )
        low, middle, high = (f"{each:.0f}" for each in found)
        assert f"{low}, {middle} and {high} %" in told
