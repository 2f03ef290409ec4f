"""published.csv and claims.yaml of sharma2006, against the thesis and against the study's rules.

The tables below were typed from the thesis a second time, so that a slip in published.csv shows.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ruamel.yaml import YAML

from bdpbench.metrics import DEFINITIONS
from bdpbench.model.load import load_study
from bdpbench.model.paths import study_dir
from bdpbench.model.runs import Run, expand_tier, format_value
from bdpbench.score import load_claims, load_published

FOLDER = study_dir("sharma2006")
HEADER = (
    "id,where,page,scenario,select,metric,subject,value,lower,upper,unit,how,why,known_miss,note"
)

# Table 1, page 98, in the order of its columns.
TABLE_1 = {
    "HS": (622, 14.58, 44.73, 88.76, 200, 2.7, 33.7, 31),
    "Scalable": (622, 13.96, 26.50, 49.80, 200, 1, 34.6, 33.6),
}
TABLE_1_COLUMNS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("single_flow", "max_throughput", {}),
    ("single_flow", "time_to_90pct_cwnd", {}),
    ("single_drop", "time_to_90pct_cwnd_after_drop", {}),
    ("buffer_size", "utilization", {"buffer_pkts": "40"}),
    ("buffer_size", "min_buffer_90pct", {}),
    ("rtt", "time_to_90pct_utilization", {"rtt_ms": "20"}),
    ("rtt", "time_to_90pct_utilization", {"rtt_ms": "220"}),
    ("rtt", "rtt_border_difference", {}),
)

# Table 2, page 100: flow 1 with 162 ms, flow 2 with the RTT of the column; in the third row the
# flows start in the other order.
TABLE_2_RTTS = (16, 22, 28, 42, 58, 82, 168)
TABLE_2 = {
    ("HS", "two_flows_rtt", "rtt_2_ms"): (
        -0.964, -0.950, -0.882, -0.915, -0.867, -0.727, 0.241,
    ),
    ("Scalable", "two_flows_rtt", "rtt_2_ms"): (
        -0.307, 0.993, 0.995, 0.995, 0.997, -0.651, 0.961,
    ),
    ("Scalable", "two_flows_short_rtt_first", "rtt_1_ms"): (
        0.998, 0.998, 0.996, 0.998, 0.998, 0.997, 0.577,
    ),
}  # fmt: skip

# Numbers in the text, by section.
TEXT = {
    "1.2": (0.5, 0.5),
    "4.1.3.1": (19, 8, 0.5),
    "4.1.3.2": (53, 34),
    "4.1.3.4": (5, 77),
    "4.2.3.1": (16.74, 1.74, 0.5, 0.875),
    "4.2.3.2": (3.41, 29.29, 12.55),
    "4.2.3.3": (49.8, 100),
    "4.2.3.4": (4, 52),
}

CWND_SAMPLE_S, UTILIZATION_BIN_S, THROUGHPUT_SAMPLE_S = 0.01, 0.1, 1.0
SAMPLING_S = {
    "time_to_90pct_cwnd": CWND_SAMPLE_S,
    "time_to_90pct_cwnd_after_drop": CWND_SAMPLE_S,
    "time_to_max_cwnd": CWND_SAMPLE_S,
    "first_cut_time": CWND_SAMPLE_S,
    "recovery_time": CWND_SAMPLE_S,
    "time_to_90pct_utilization": UTILIZATION_BIN_S,
    "time_to_max_throughput": THROUGHPUT_SAMPLE_S,
}
TABLE_OF = {
    "max_throughput": "utilization",
    "utilization": "utilization",
    "time_to_90pct_utilization": "utilization",
    "queue_empty_share": "queue",
    "time_to_max_throughput": "throughput",
}

Row = dict[str, str]
Key = tuple[frozenset[str], str, str]


def read_rows() -> list[Row]:
    with (FOLDER / "published.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def read_claims() -> list[dict[str, Any]]:
    claims = YAML(typ="safe").load((FOLDER / "claims.yaml").read_text(encoding="utf-8"))
    assert isinstance(claims, list)
    return claims


ROWS = read_rows()
CLAIMS = read_claims()
STUDY = load_study("sharma2006")
RUNS = {tier: expand_tier(STUDY, tier, "any build") for tier in ("quick", "paper")}


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


def row_of(scenario: str, metric: str, select: dict[str, str], where: str) -> Row:
    found = [
        row
        for row in ROWS
        if (row["scenario"], row["metric"]) == (scenario, metric)
        and selection(row) == select
        and row["where"] == where
    ]
    assert len(found) == 1, (scenario, metric, select, where)
    return found[0]


def ids(row: Row) -> str:
    return row["id"]


# The numbers


def test_the_columns_are_those_of_the_contract() -> None:
    assert ",".join(ROWS[0]) == HEADER


@pytest.mark.parametrize("protocol", TABLE_1)
def test_table_1_is_complete(protocol: str) -> None:
    for (scenario, metric, select), printed in zip(TABLE_1_COLUMNS, TABLE_1[protocol], strict=True):
        row = row_of(scenario, metric, {"protocol": protocol, **select}, "Table 1")
        assert float(row["value"]) == printed
        assert row["page"] == "98"


@pytest.mark.parametrize(("protocol", "scenario", "varied"), TABLE_2)
def test_table_2_is_complete(protocol: str, scenario: str, varied: str) -> None:
    printed = TABLE_2[protocol, scenario, varied]
    for rtt_ms, value in zip(TABLE_2_RTTS, printed, strict=True):
        select = {"protocol_1": protocol, "protocol_2": protocol, varied: str(rtt_ms)}
        row = row_of(scenario, "asymmetry", select, "Table 2")
        assert float(row["value"]) == value
        assert row["page"] == "100"


@pytest.mark.parametrize("section", TEXT)
def test_the_numbers_of_the_text_are_complete(section: str) -> None:
    values = [float(row["value"]) for row in ROWS if row["where"] == f"Section {section}"]
    assert sorted(values) == sorted(TEXT[section])


def test_no_row_is_from_anywhere_else() -> None:
    expected = (
        sum(map(len, TABLE_1.values()))  # 2 · 8
        + sum(map(len, TABLE_2.values()))  # 3 · 7
        + sum(map(len, TEXT.values()))  # 20
    )
    assert len(ROWS) == expected == 57


def test_the_protocol_is_that_of_the_section() -> None:
    protocol_of = {"Section 1.2": "SACK", "Section 4.1": "HS", "Section 4.2": "Scalable"}
    for row in ROWS:
        if row["where"].startswith("Section"):
            chapter = ".".join(row["where"].split(".")[:2])
            assert selection(row)["protocol"] == protocol_of[chapter], row["id"]


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_a_row_says_what_it_measures_and_why_so_closely(row: Row) -> None:
    assert row["metric"] in DEFINITIONS
    assert row["unit"] == DEFINITIONS[row["metric"]].unit
    assert row["subject"].split(":")[0] == DEFINITIONS[row["metric"]].subject
    assert row["how"] in {"stated", "derived", "digitised"}
    assert row["why"]
    assert int(row["page"]) > 0


def half_unit(printed: str) -> float:
    """Half a unit of the last digit: 0.5 of "19", 0.005 of "14.58"."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def rtt_s(row: Row) -> float:
    """RTT of the empty path: the nominal one, and 4 ms of access links in scenario rtt."""
    parameters = matching("paper", row["scenario"], selection(row))[0].parameters
    extra_ms = 4 if row["scenario"] == "rtt" else 0
    return float(parameters["rtt_ms"] + extra_ms) / 1000


def half_width_of_time(row: Row) -> float:
    return max(half_unit(row["value"]), rtt_s(row), SAMPLING_S[row["metric"]])


def half_width_of_utilization(row: Row) -> float:
    """Points by which the phase of the saw-tooth in 250 s moves the mean, NOTES.md."""
    mean, protocol = float(row["value"]) / 100, selection(row)["protocol"]
    if mean == 1:
        return half_unit(row["value"])
    if protocol == "HS":  # a straight tooth of 7.0 s
        return 100 * (1 - mean) * 7.0 / (4 * 250)
    # 1 % an RTT of 0.1 s from u to 1, with (1 - u)/ln(1/u) = 0.498, so u = 0.201
    low = 0.201
    assert (1 - low) / math.log(1 / low) == pytest.approx(mean, abs=0.001)
    period_s = 0.1 * math.log(1 / low) / math.log(1.01)
    passed = math.log(mean / low) / math.log(1 / low)
    lacking = mean * passed - (mean - low) / math.log(1 / low)
    return 100 * lacking * period_s / 250


def half_width_of_difference(row: Row) -> float:
    """Sum of the half-widths of the two times that the row subtracts."""
    parts = {
        "drop_delay": lambda each: each["metric"] == "time_to_max_cwnd",
        "rtt_border_difference": lambda each: each["metric"] == "time_to_90pct_utilization",
    }
    protocol = selection(row)["protocol"]
    times = [
        each
        for each in ROWS
        if parts[row["metric"]](each) and selection(each)["protocol"] == protocol
    ]
    assert len(times) == 2
    return sum(map(half_width_of_time, times))


HALF_WIDTHS: dict[str, Callable[[Row], float]] = {
    **dict.fromkeys(SAMPLING_S, half_width_of_time),
    "utilization": half_width_of_utilization,
    "drop_delay": half_width_of_difference,
    "rtt_border_difference": half_width_of_difference,
    "max_throughput": lambda row: half_unit(row["value"]),
    "min_buffer_90pct": lambda _: 0.0,
    "first_cut_ratio": lambda _: 0.01,
    "later_cut_ratio": lambda _: 0.01,
    "asymmetry": lambda _: 0.05,
}


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_the_bounds_follow_the_rule_of_their_class(row: Row) -> None:
    value, lower, upper = (float(row[name]) for name in ("value", "lower", "upper"))
    half = HALF_WIDTHS[row["metric"]](row)
    lowest, highest = (-1.0, 1.0) if row["metric"] == "asymmetry" else (-math.inf, math.inf)
    # Bounds of utilization are rounded up to 0.01 points; the others are exact.
    tolerance = 0.01 if row["metric"] == "utilization" else 1e-9
    assert lower == pytest.approx(max(lowest, value - half), abs=tolerance)
    assert upper == pytest.approx(min(highest, value + half), abs=tolerance)


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


def check_subject(runs: list[Run], metric: str, subject: str) -> None:
    """A flow or link of a run-level metric is one of those whose table the run writes."""
    kind, _, name = subject.partition(":")
    if kind == "run":
        return
    table = TABLE_OF.get(metric, "cwnd")
    field, value = ("flow", int(name)) if kind == "flow" else ("link", name)
    for run in runs:
        assert any(
            output["table"] == table and output.get(field) == value for output in run.outputs
        )


def check_runs(runs: list[Run], metric: str) -> None:
    if DEFINITIONS[metric].level == "group":
        assert runs
    else:
        assert len(runs) == 1


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_a_row_selects_its_run_of_the_paper_tier(row: Row) -> None:
    runs = matching("paper", row["scenario"], selection(row))
    check_runs(runs, row["metric"])
    check_subject(runs, row["metric"], row["subject"])


@pytest.mark.parametrize(("claim", "selector"), CLAIM_SELECTORS)
def test_a_claim_selects_its_run_of_the_paper_tier(
    claim: dict[str, Any], selector: dict[str, Any]
) -> None:
    runs = matching("paper", selector["scenario"], selector["select"])
    assert selector["metric"] in DEFINITIONS
    assert selector["subject"].split(":")[0] == DEFINITIONS[selector["metric"]].subject
    check_subject(runs, selector["metric"], selector["subject"])
    if claim["kind"] == "monotone":
        # a trend over the six RTTs of Figure 19
        assert len({run.parameters[claim["along"]] for run in runs}) == 6
    else:
        check_runs(runs, selector["metric"])


# Before a recovery a run needs the first top and the way back from half of it. HS-TCP: 19 s, and
# 4,500 packets at 24 an RTT of 0.11 s, 21 s. Scalable TCP: 17 s, and 70 RTTs of 0.12 s, 9 s.
BEFORE_RECOVERY_S = {"HS": 40.0, "Scalable": 26.0}


@pytest.mark.parametrize("row", [row for row in ROWS if row["metric"] in SAMPLING_S], ids=ids)
def test_runs_of_the_quick_tier_last_until_the_published_time(row: Row) -> None:
    needed_s = float(row["upper"])
    if row["metric"] == "recovery_time":
        needed_s += BEFORE_RECOVERY_S[selection(row)["protocol"]]
    for run in matching("quick", row["scenario"], selection(row)):
        assert needed_s < run.parameters["duration_s"]


# The claims


def test_ids_are_unique() -> None:
    names = [row["id"] for row in ROWS] + [claim["id"] for claim in CLAIMS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_a_claim_says_where_it_stands(claim: dict[str, Any]) -> None:
    assert claim["where"].startswith("Section")
    assert 1 <= claim["page"] <= 122  # Arabic pages before the appendices
    assert claim["statement"].endswith(".")


def printed_values() -> dict[Key, float]:
    """Published numbers by runs, metric and subject; Jain's index from the asymmetry of a pair."""
    values: dict[Key, float] = {}
    for row in ROWS:
        runs = frozenset(run.run_id for run in matching("paper", row["scenario"], selection(row)))
        value = float(row["value"])
        values[runs, row["metric"], row["subject"]] = value
        if row["metric"] == "asymmetry":  # (x1+x2)²/(2(x1²+x2²)) = 1/(1+A²)
            values[runs, "jain_index", "run"] = 1 / (1 + value**2)
    return values


PRINTED = printed_values()


def value_in_print(operand: Any) -> float | None:
    """The number of an operand, or the published number that its selector stands for."""
    if not isinstance(operand, dict):
        return float(operand)
    runs = matching("paper", operand["scenario"], operand["select"])
    key = (frozenset(run.run_id for run in runs), operand["metric"], operand["subject"])
    return PRINTED.get(key)


def holds_in_print(claim: dict[str, Any]) -> bool | None:
    """Whether a comparison holds among published numbers; None where one is not published."""
    if claim["kind"] == "within":
        value = value_in_print(claim["value"])
        return None if value is None else bool(claim["lower"] <= value <= claim["upper"])
    if claim["kind"] != "compare":
        return None
    left, right = value_in_print(claim["left"]), value_in_print(claim["right"])
    if left is None or right is None:
        return None
    right *= float(claim.get("factor", 1))
    return {
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[claim["op"]]


def comparisons(claim: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if claim["kind"] == "all_of":
        for part in claim["claims"]:
            yield from comparisons(part)
    else:
        yield claim


def test_the_thesis_agrees_with_itself_under_our_thresholds() -> None:
    """A threshold that a published number of the same statement misses would be misread."""
    verdicts = {
        claim["id"]: [holds_in_print(part) for part in comparisons(claim)] for claim in CLAIMS
    }
    assert [name for name, parts in verdicts.items() if False in parts] == []
    # Claims about figures without a published number can't be checked this way; most can.
    assert sum(any(part is not None for part in parts) for parts in verdicts.values()) >= 18


# The loaders


def test_the_files_load() -> None:
    assert len(load_published(FOLDER / "published.csv", set(DEFINITIONS))) == len(ROWS)
    assert len(load_claims(FOLDER / "claims.yaml", set(DEFINITIONS))) == len(CLAIMS)
