"""published.csv and claims.yaml of xu2004, compared with the thesis and the study's rules.

``study.yaml`` was typed from the thesis a second time, so that a slip in published.csv shows.
``tests/studies/test_every_study.py`` tests what holds for every study.
"""

from __future__ import annotations

from typing import Any

from tests.data_of import data_of

_DATA = data_of(__file__)
PRINTED, PAGES = _DATA["printed"], _DATA["pages"]

Row = dict[str, str]


# The numbers


def test_the_numbers_of_the_text_are_complete(study: Any) -> None:
    for section, printed in PRINTED.items():
        expected = sorted(
            (scenario, protocol, metric, value)
            for scenario, protocols, metric, value in printed
            for protocol in protocols
        )
        found = sorted(
            (row["scenario"], study.selection(row)["protocol"], row["metric"], float(row["value"]))
            for row in study.rows
            if row["where"] == f"Section {section}"
        )
        assert found == expected, section


def test_no_row_is_from_anywhere_else(study: Any) -> None:
    assert {row["where"] for row in study.rows} == {f"Section {section}" for section in PRINTED}


def is_on_a_page_of_its_section(where: str, page: int | str) -> bool:
    first, last = PAGES[where.split(",")[0].removeprefix("Section ")]
    return first <= int(page) <= last


def test_a_row_is_on_a_page_of_its_section(study: Any) -> None:
    for row in study.rows:
        assert is_on_a_page_of_its_section(row["where"], row["page"]), row["id"]


# The runs


def test_every_row_has_a_run_of_the_quick_tier(study: Any) -> None:
    for row in study.rows:
        assert len(study.matching("quick", row["scenario"], row["select"])) == 1, row["id"]


def test_a_trend_is_judged_over_all_of_its_points(study: Any) -> None:
    for claim in study.statements:
        for each in study.selectors(claim):
            if "along" in each:
                runs = study.matching("paper", each["scenario"], each["select"])
                points = {run["parameters"][each["along"]] for run in runs}
                assert len(points) == len(runs) >= 6, claim["id"]


def test_what_needs_the_whole_run_is_not_measured_on_a_short_one(study: Any) -> None:
    """Means over a run, or its second half, are compared only for the paper tier's durations."""
    for claim in study.statements:
        for each in study.selectors(claim):
            if each["metric"] in {"overall_utilization", "utilization", "cwnd_variation"}:
                for run in study.matching("quick", each["scenario"], each["select"]):
                    assert run["parameters"]["duration_s"] == 500, claim["id"]


# Duration of the rise before the recovery that a row describes.
BEFORE_S = {"first_recovery_time": 0.5, "full_peak_interval": 20.25}
TIMES = {"slow_start_end", "first_recovery_time", "time_to_max_cwnd", "full_peak_interval"}


def test_runs_of_the_quick_tier_last_until_the_published_time(study: Any) -> None:
    for row in study.rows:
        if row["metric"] in TIMES:
            needed_s = float(row["value"]) + BEFORE_S.get(row["metric"], 0)
            for run in study.matching("quick", row["scenario"], row["select"]):
                assert run["parameters"]["duration_s"] > needed_s, row["id"]


def test_two_flows_share_the_wire_of_chapter_4(study: Any) -> None:
    """Section 4.1: 10 Mbit/s and 20 ms; 50 packets are ns-2's default."""
    for scenario in ("two_rtts", "two_rtts_substreams"):
        for run in study.matching("paper", scenario, {}):
            values = run["parameters"]
            assert (values["bottleneck_mbps"], values["bottleneck_delay_ms"]) == (10, 20)
            assert values["buffer_pkts"] == 50
            assert values["rtt_1_ms"] == 2 * values["bottleneck_delay_ms"]
            assert values["rtt_2_ms"] == values["rtt_factor"] * values["rtt_1_ms"]
            assert values["rtt_2_ms"] == 40 + 2 * values["access_delay_2_ms"]


# The claims


def test_a_claim_stands_in_a_section_or_among_the_conclusions(study: Any) -> None:
    for claim in study.statements:
        where = claim["where"]
        assert where.startswith("Chapter 5") or is_on_a_page_of_its_section(where, claim["page"])


def test_every_figure_of_results_has_a_scenario(study: Any) -> None:
    scenarios = study.study.scenarios.values()
    figures = [figure for scenario in scenarios for figure in scenario.figures]
    # From the list of figures; 3.1, 4.1 and 4.2 show topologies and the protocol stack.
    expected = [f"3.{number}" for number in range(2, 16)] + [
        f"4.{number}" for number in range(3, 8)
    ]
    assert sorted(figures) == sorted(expected)
