"""published.csv and claims.yaml of xu2004, against the thesis and against the study's rules.

The numbers below were typed from the thesis a second time, so that a slip in published.csv shows.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from ruamel.yaml import YAML

from bdpbench.metrics import DEFINITIONS
from bdpbench.score import load_claims, load_published
from bdpbench.studies.load import find_study, load_study
from bdpbench.studies.runs import Run, expand_tier, format_value

FOLDER = find_study("xu2004")
HEADER = (
    "id,where,page,scenario,select,metric,subject,value,lower,upper,unit,how,why,known_miss,note"
)
REGULAR = ("Tahoe", "Reno", "NewReno", "SACK")
RTT_S = 0.025

# Section → what it prints: scenario, protocols, metric, value.
PRINTED: dict[str, list[tuple[str, tuple[str, ...], str, float]]] = {
    "3.2": [
        ("bottleneck_rate", (*REGULAR, "Westwood", "HS"), "max_cwnd", 3325),
        ("slow_start", ("Vegas",), "slow_start_end", 0.4),
        ("slow_start", (*REGULAR, "Westwood"), "loss_rate_in_slow_start", 6),
        ("bottleneck_rate", REGULAR, "first_recovery_time", 70),
        ("bottleneck_rate", ("Westwood", "Vegas"), "first_recovery_time", 80),
        ("bottleneck_rate", ("Westwood",), "first_ssthresh", 41),
        ("bottleneck_rate", ("Vegas",), "first_cut_after", 72),
        ("large_buffer", REGULAR, "max_cwnd", 10000),
    ],
    "3.3": [("modified_vegas", ("VegasUp16",), "first_recovery_time", 10)],
    "3.4": [
        ("modified_scalable", ("Scalable",), "first_full_peak", 3172),
        ("modified_scalable", ("Scalable",), "time_to_max_cwnd", 19.25),
        ("modified_scalable", ("Scalable",), "full_peak_interval", 23),
        ("modified_scalable", ("Scalable", "ModScalable"), "first_full_cut_ratio", 7 / 8),
        ("modified_scalable", ("ModScalable",), "time_to_max_cwnd", 80.525),
        ("modified_scalable", ("ModScalable",), "congestion_time", 0.025),
    ],
}
# Pages on which the sections begin and end, from the table of contents.
PAGES = {"3.2": (14, 20), "3.3": (20, 24), "3.4": (24, 27), "4.2": (31, 32), "4.3": (32, 33)}
# The tables that metrics of flows need, where it is not cwnd alone.
TABLES = {
    "slow_start_end": {"ssthresh"},
    "first_ssthresh": {"ssthresh"},
    "loss_rate_in_slow_start": {"ssthresh", "sequence", "queue"},
    "slow_start_loss_rate": {"packet_flows"},
    "acknowledged_rate": {"acknowledged"},
    "utilization": {"utilization"},
    "overall_utilization": {"utilization"},
    "asymmetry": {"throughput"},
}

Row = dict[str, str]


def read_rows() -> list[Row]:
    with (FOLDER / "published.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def read_claims() -> list[dict[str, Any]]:
    claims = YAML(typ="safe").load((FOLDER / "claims.yaml").read_text(encoding="utf-8"))
    assert isinstance(claims, list)
    return claims


ROWS = read_rows()
CLAIMS = read_claims()
STUDY = load_study("xu2004")
RUNS = {tier: expand_tier(STUDY, tier, "any build") for tier in ("quick", "paper", "full")}


def selection(row: Row) -> dict[str, str]:
    return dict(part.split("=") for part in row["select"].split(";"))


def matching(tier: str, scenario: str, select: dict[str, Any]) -> list[Run]:
    wanted = {name: format_value(value) for name, value in select.items()}
    return [
        run
        for run in RUNS[tier]
        if run.scenario == scenario
        and all(format_value(run.parameters.get(name)) == value for name, value in wanted.items())
    ]


def ids(row: Row) -> str:
    return row["id"]


# The numbers


def test_the_columns_are_those_of_the_contract() -> None:
    assert ",".join(ROWS[0]) == HEADER


@pytest.mark.parametrize("section", PRINTED)
def test_the_numbers_of_the_text_are_complete(section: str) -> None:
    expected = sorted(
        (scenario, protocol, metric, value)
        for scenario, protocols, metric, value in PRINTED[section]
        for protocol in protocols
    )
    found = sorted(
        (row["scenario"], selection(row)["protocol"], row["metric"], float(row["value"]))
        for row in ROWS
        if row["where"] == f"Section {section}"
    )
    assert found == expected


def test_no_row_is_from_anywhere_else() -> None:
    assert {row["where"] for row in ROWS} == {f"Section {section}" for section in PRINTED}


def test_the_thesis_agrees_with_itself() -> None:
    # 1 Gbit/s times 25 ms in packets of 1,000 bytes, and the buffer: the top of cwnd, section 3.2.
    assert 1e9 * RTT_S / 8 / 1000 + 200 == 3325
    # With a buffer of one BDP the system can absorb around 6,250 packets, in the same section.
    (run, *_) = matching("paper", "large_buffer", {})
    assert run.parameters["bdp_pkts"] + run.parameters["buffer_pkts"] == 6250
    # 70 seconds or 2,800 RTTs.
    assert pytest.approx(2800) == 70 / RTT_S
    # The rise of a packet an RTT from Westwood's and Vegas's first cwnd to the top takes the 80 s
    # that are 10 s longer than 70 s: 3,284 and 3,253 RTTs.
    assert [(3325 - first) * RTT_S for first in (41, 72)] == pytest.approx([82.1, 81.3], abs=0.05)
    # 1 % an RTT from 1.5 packets is at 3,172 after 19.25 s.
    assert pytest.approx(3172, rel=0.01) == 1.5 * 1.01 ** (19.25 / RTT_S)


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_a_row_says_what_it_measures_and_why_so_closely(row: Row) -> None:
    definition = DEFINITIONS[row["metric"]]
    assert row["unit"] == definition.unit
    assert row["subject"].split(":")[0] == definition.subject
    assert row["how"] in {"stated", "derived", "digitised"}
    assert row["why"]
    first, last = PAGES[row["where"].removeprefix("Section ")]
    assert first <= int(row["page"]) <= last


# Half-widths by the rules of NOTES.md.
HALF_WIDTHS = {
    "slow_start_end": 0.05,  # half a unit of 0.4
    "loss_rate_in_slow_start": 0.5,  # half a unit of 6
    "first_recovery_time": (80 - 70) / 2,
    "time_to_max_cwnd": 1.0,  # minrto_
    "full_peak_interval": 1.0,
    "first_full_cut_ratio": 0.01,
    "first_full_peak": 32.0,  # 1 % of 3,172
}


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_the_bounds_follow_the_rule_of_their_class(row: Row) -> None:
    value, lower, upper = (float(row[name]) for name in ("value", "lower", "upper"))
    assert lower <= value <= upper
    if row["metric"] in HALF_WIDTHS:
        half = HALF_WIDTHS[row["metric"]]
        assert (value - lower, upper - value) == pytest.approx((half, half))
    elif row["metric"] == "congestion_time":
        # One sample, the least that they tell, up to two.
        assert RTT_S - 0.005 <= lower <= upper <= 2 * RTT_S
    elif row["scenario"] == "large_buffer":
        assert (lower, upper) == (value / 2, value * 2)
    elif row["metric"] == "max_cwnd":
        # With and without the headers of 40 bytes: 25 ms of 1 Gbit/s, and 200 packets.
        assert lower == int(1e9 * RTT_S / 8 / 1040) + 200
        assert upper == 3326
    else:
        assert row["metric"] in {"first_cut_after", "first_ssthresh"}
        assert upper - lower <= 6


# The selectors


def selectors(node: Any) -> Iterator[dict[str, Any]]:
    """Every selector of a claim, at any depth."""
    if isinstance(node, dict):
        if {"scenario", "metric"} <= node.keys():
            yield node
        yield from itertools.chain.from_iterable(map(selectors, node.values()))
    elif isinstance(node, list):
        yield from itertools.chain.from_iterable(map(selectors, node))


CLAIM_SELECTORS = [
    pytest.param(claim, each, id=f"{claim['id']}-{number}")
    for claim in CLAIMS
    for number, each in enumerate(selectors(claim))
]


def check_tables(runs: list[Run], metric: str) -> None:
    """The runs write the tables that a metric is measured on."""
    for run in runs:
        assert TABLES.get(metric, {"cwnd"}) <= {output["table"] for output in run.outputs}


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_a_row_selects_its_run_of_the_paper_tier(row: Row) -> None:
    runs = matching("paper", row["scenario"], selection(row))
    assert len(runs) == 1
    check_tables(runs, row["metric"])


def test_every_row_has_a_run_of_the_quick_tier() -> None:
    for row in ROWS:
        assert len(matching("quick", row["scenario"], selection(row))) == 1, row["id"]


@pytest.mark.parametrize(("claim", "selector"), CLAIM_SELECTORS)
def test_a_claim_selects_its_run_of_the_paper_tier(
    claim: dict[str, Any], selector: dict[str, Any]
) -> None:
    runs = matching("paper", selector["scenario"], selector["select"])
    metric = selector["metric"]
    assert selector["subject"].split(":")[0] == DEFINITIONS[metric].subject
    check_tables(runs, metric)
    if "along" in selector:
        assert len({run.parameters[selector["along"]] for run in runs}) == len(runs) >= 6
    else:
        assert len(runs) == 1


@pytest.mark.parametrize(("claim", "selector"), CLAIM_SELECTORS)
def test_what_needs_the_whole_run_is_not_measured_on_a_short_one(
    claim: dict[str, Any], selector: dict[str, Any]
) -> None:
    """Means over a run, or over its second half, are of the durations of the paper tier only."""
    if selector["metric"] not in {"overall_utilization", "utilization", "cwnd_variation"}:
        return
    for run in matching("quick", selector["scenario"], selector["select"]):
        assert run.parameters["duration_s"] == 500


# The rise before the recovery that a row speaks of.
BEFORE_S = {"first_recovery_time": 0.5, "full_peak_interval": 20.25}
TIMES = {"slow_start_end", "first_recovery_time", "time_to_max_cwnd", "full_peak_interval"}


@pytest.mark.parametrize("row", [row for row in ROWS if row["metric"] in TIMES], ids=ids)
def test_runs_of_the_quick_tier_last_until_the_published_time(row: Row) -> None:
    for run in matching("quick", row["scenario"], selection(row)):
        assert run.parameters["duration_s"] > float(row["value"]) + BEFORE_S.get(row["metric"], 0)


# The claims


def test_ids_are_unique() -> None:
    names = [row["id"] for row in ROWS] + [claim["id"] for claim in CLAIMS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_a_claim_says_where_it_stands(claim: dict[str, Any]) -> None:
    assert claim["where"].startswith(("Section", "Chapter 5"))
    if claim["where"].startswith("Section"):
        first, last = PAGES[claim["where"].split(",")[0].removeprefix("Section ")]
        assert first <= claim["page"] <= last
    assert claim["statement"].endswith(".")


def test_every_figure_of_results_has_a_scenario() -> None:
    figures = [figure for scenario in STUDY.scenarios.values() for figure in scenario.figures]
    # From the list of figures; 3.1, 4.1 and 4.2 show topologies and the chain.
    expected = [f"3.{number}" for number in range(2, 16)] + [
        f"4.{number}" for number in range(3, 8)
    ]
    assert sorted(figures) == sorted(expected)


# The loaders


def test_the_files_load() -> None:
    assert len(load_published(FOLDER / "published.csv", set(DEFINITIONS))) == len(ROWS)
    assert len(load_claims(FOLDER / "claims.yaml", set(DEFINITIONS))) == len(CLAIMS)
