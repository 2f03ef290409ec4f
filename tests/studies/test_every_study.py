"""Tests that hold for each study under config/studies, whatever its subject.

The rows of a study are data: one test names all that are wrong, instead of one test per row.
"""

from __future__ import annotations

import json
import re
from typing import Any

import polars as pl
import pytest

from bdpbench.app.keep.results import KeptResults
from bdpbench.app.stages import group_metrics
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.pages.shards import read_shards
from bdpbench.score import check_expectations, load_expectations, score

KEYS = sorted(path.parent.name for path in (config_dir() / "studies").glob("*/study.yaml"))


@pytest.fixture(scope="module", params=KEYS)
def study(request: pytest.FixtureRequest, study_of: Any) -> Any:
    """Each of the studies."""
    return study_of(request.param)


def test_all_studies_of_the_checkout_are_tested() -> None:
    assert len(KEYS) >= 2
    # The examples have their own test in tests/examples.
    folders = {path.name for path in (config_dir() / "studies").iterdir()} - {"examples"}
    assert folders == set(KEYS)


# study.yaml


def test_it_is_called_like_its_folder_and_says_how_it_is_read(study: Any) -> None:
    assert study.study.key == study.folder.name
    assert (study.folder / "NOTES.md").read_text(encoding="utf-8").startswith("# ")
    scripts = {scenario.script for scenario in study.study.scenarios.values()}
    folders = (study.folder / "tcl", repository_root() / "tcl")
    assert [each for each in scripts if not any((at / each).is_file() for at in folders)] == []


def test_every_tier_expands(study: Any) -> None:
    for tier in study.tiers:
        runs = study.planned(tier)
        declared = {name for name, each in study.study.scenarios.items() if tier in each.tiers}
        assert {run["scenario"] for run in runs} == declared
        # Readers distinguish two runs of a scenario by their labels, which also identify results.
        for name in ("label", "run_id"):
            named = [(run["scenario"], run[name]) for run in runs]
            assert len(named) == len(set(named))


# published.csv


def test_the_loaders_read_every_line_and_ids_are_unique(study: Any) -> None:
    assert [each.id for each in study.numbers] == [row["id"] for row in study.rows]
    assert [each.text.id for each in study.claims] == [each["id"] for each in study.statements]
    ids = [row["id"] for row in study.rows] + [each["id"] for each in study.statements]
    assert len(ids) == len(set(ids))


def test_a_number_says_what_it_measures_and_why_so_closely(study: Any) -> None:
    for row in study.rows:
        metric = study.definitions[row["metric"]]
        assert (row["unit"], row["subject"].split(":")[0]) == (metric.unit, metric.subject), row
        assert row["how"] in {"stated", "derived", "digitised"}, row
        assert row["where"], row
        assert row["why"], row
        assert not row["page"] or int(row["page"]) > 0, row  # a text may have lost its pages


def test_numbers_with_the_same_words_have_the_same_rule_of_bounds(study: Any) -> None:
    rules: dict[str, set[str]] = {}
    for row in study.rows:
        found = re.search(r"in the order of|approximately|around|about \d", row["note"])
        if found:
            rules.setdefault(found.group(), set()).add(row["why"])
    assert [words for words, found in rules.items() if len(found) > 1] == []


# claims.yaml


def test_a_claim_says_where_it_stands(study: Any) -> None:
    for claim in study.statements:
        assert claim["where"], claim["id"]
        assert claim["statement"].endswith("."), claim["id"]
        assert int(claim.get("page", 1)) > 0, claim["id"]


# Both, on the runs


def test_planning_accepts_what_it_expects(study: Any) -> None:
    runs = {tier: study.planned(tier) for tier in study.tiers}
    found = check_expectations(study.folder, study.study, runs, study.definitions)
    assert (len(found.numbers), len(found.claims)) == (len(study.rows), len(study.statements))


def rows_of_card(card: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows of published.csv with their verdicts, also those that are parts of one number."""
    return [row for number in card["numbers"] for row in number.get("parts", [number])]


def test_no_number_in_print_contradicts_another_or_a_claim(study: Any) -> None:
    """A threshold that a published number of the same statement misses must have been misread."""
    tier = "paper" if "paper" in study.tiers else study.tiers[0]
    card = study.score(tier, study.printed(tier))
    assert [each["id"] for each in rows_of_card(card) if each["verdict"] != "reproduced"] == []
    failing = [claim for claim in card["claims"] if claim["verdict"] == "fails"]
    told = [claim for claim in failing if rounded_alike(claim) or contradicted_in_print(claim)]
    assert [claim["id"] for claim in failing if claim not in told] == []


def contradicted_in_print(claim: dict[str, Any]) -> bool:
    """Whether the study says explicitly that its own table contradicts its text."""
    return "own table contradicts it" in claim["known_miss"]


def rounded_alike(claim: dict[str, Any]) -> bool:
    """Whether all values that it compares are printed as the same number, which shows no order."""
    values = [each["value"] for each in claim["evidence"]]
    return len(values) > 1 and len(set(values)) == 1


def test_no_cause_is_told_of_a_statement_that_holds(study: Any, kept: Any) -> None:
    verdicts = {each["id"]: each["verdict"] for each in kept("scorecard.json")["claims"]}
    causes = load_expectations(study.folder, study.definitions).causes
    assert [claim for each in causes for claim in each.of if verdicts[claim] == "holds"] == []


# What is published


@pytest.fixture
def kept(study: Any) -> Any:
    """A function that reads a file of its published results."""
    if not study.published.is_dir():
        pytest.skip("it has no published results")
    return lambda name: json.loads((study.published / name).read_text(encoding="utf-8"))


def ids_of_published_runs(study: Any) -> dict[tuple[str, str], str]:
    """Scenario and label → id under which the run was published."""
    return {
        (place["scenario"], place["label"]): run["run_id"]
        for run in KeptResults(study.published).runs
        for place in run["places"]
    }


def test_all_runs_of_the_tier_are_published_under_the_ids_that_are_planned(
    study: Any, kept: Any
) -> None:
    runs = study.planned(kept("scorecard.json")["tier"])
    planned = {(run["scenario"], run["label"]): run["run_id"] for run in runs}
    assert ids_of_published_runs(study) == planned
    runs_of_file = KeptResults(study.published).runs
    assert {run["run_id"] for run in runs_of_file} == set(planned.values())
    alike = {(run["scenario"], run["label"]): run.get("alike", {}) for run in runs}
    for place in (place for run in runs_of_file for place in run["places"]):
        assert place.get("alike", {}) == alike[place["scenario"], place["label"]]


def test_published_files_name_these_runs_alone(study: Any, kept: Any) -> None:
    ids = {run["run_id"] for run in KeptResults(study.published).runs}
    card = kept("scorecard.json")
    judged = {run_id for number in card["numbers"] for run_id in number["run_ids"]}
    judged |= {each["run_id"] for claim in card["claims"] for each in claim["evidence"]}
    assert judged - {""} <= ids
    assert set(pl.read_parquet(study.published / "metrics.parquet")["run_id"]) == ids
    if len(ids) > 425:
        return  # its page takes seconds to unpack, and is made as that of another study
    report = study.published / "report.html"
    parts = " ".join(map(json.dumps, read_shards(report)))
    assert set(re.findall('"run-([0-9a-f]{16})"', parts)) == ids
    html = report.read_text(encoding="utf-8") + parts.replace('\\"', '"')
    assert set(re.findall(r'href="#run-([0-9a-f]+)"', html)) <= ids


def test_published_verdicts_follow_from_published_metrics(study: Any, kept: Any) -> None:
    card = kept("scorecard.json")
    ids = ids_of_published_runs(study)
    plan = study.plan(card["tier"])
    runs = [{**run, "run_id": ids[run["scenario"], run["label"]]} for run in plan["runs"]]
    metrics = pl.read_parquet(study.published / "metrics.parquet")
    judged = {**plan, "runs": runs}
    expected = load_expectations(study.folder, study.definitions)
    anew = score(judged, metrics, expected, group_metrics(judged))
    for kind in ("numbers", "claims"):
        assert verdicts(anew[kind]) == verdicts(card[kind])
    for totals in ("totals", "claim_totals", "kind_totals", "claim_kind_totals"):
        assert anew[totals] == card[totals]


# What a reader sees of a number or a statement beside its verdict: values and bounds that change,
# or their places, have to be published anew.
TOLD = ("published", "lower", "upper", "unit", "how", "why", "where", "page", "statement")


def verdicts(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    names = ("verdict", "measured", *TOLD)
    return {each["id"]: {name: each.get(name) for name in names} for each in entries}
