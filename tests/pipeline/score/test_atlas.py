"""What is computed for a relation, and the common unit for how two flows share a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.score.atlas import related, standing_of
from bdpbench.score.atlas_entries import smallest_over_largest
from bdpbench.studies.atlas import DeclaredRelation, Relation


@pytest.mark.parametrize(("first", "second"), [(10.0, 10.0), (30.0, 10.0), (1.0, 99.0), (5.0, 0.0)])
def test_asymmetry_and_jain_s_index_come_down_to_the_same_ratio(
    first: float, second: float
) -> None:
    asymmetry = (first - second) / (first + second)
    jain = (first + second) ** 2 / (2 * (first**2 + second**2))
    ratio = min(first, second) / max(first, second)
    assert smallest_over_largest("asymmetry", asymmetry) == pytest.approx(ratio)
    assert smallest_over_largest("jain_index", jain) == pytest.approx(ratio)
    assert smallest_over_largest("smallest_over_largest", ratio) == ratio


def _entry(key: str, verdict: str) -> Any:
    return {"key": key, "study": key.split("/")[0], "verdict": verdict, "protocols": ["p"]}


@pytest.mark.parametrize(
    ("verdicts", "standing"),
    [
        (["reproduced", "holds"], "shown"),
        (["holds", "not_run"], "shown"),
        (["reproduced", "close"], "in part"),
        (["close"], "not shown"),
        (["fails", "not_reproduced", "not_run"], "not shown"),
        (["not_run"], "not run"),
    ],
)
def test_what_our_runs_show_of_some_entries(verdicts: list[str], standing: str) -> None:
    assert standing_of(_entry(f"s/{i}", each) for i, each in enumerate(verdicts)) == standing


def _ours(tmp_path: Path, kind: str, *positions: dict[str, str]) -> Any:
    """How our runs bear on a relation; a position maps entries to verdicts."""
    path = tmp_path / "atlas.yaml"
    path.write_text("relations:\n  - id: r\n")
    relation = Relation.model_validate(
        {
            "id": "r",
            "topic": "t",
            "protocols": ["p"],
            "question": "?",
            "relation": kind,
            "positions": [{"says": "So.", "rests_on": list(each)} for each in positions],
            "conditions": ["c"],
            "why": "w",
        }
    )
    entries = {key: _entry(key, verdict) for each in positions for key, verdict in each.items()}
    return related(DeclaredRelation(relation, YamlFile(path), ("relations", 0)), entries)


@pytest.mark.parametrize(
    ("position", "ours", "words"),
    [
        (
            {"a/1": "holds", "b/1": "reproduced"},
            "agree",
            "It is reproduced by our runs of a and b.",
        ),
        (
            {"a/1": "holds", "b/1": "not_run"},
            "open",
            "It is reproduced by our runs of a; it was not run for b.",
        ),
        (
            {"a/1": "holds", "b/1": "fails"},
            "contradict",
            "It is reproduced by our runs of a; it is not reproduced by those of b.",
        ),
        (
            {"a/1": "fails", "b/1": "fails"},
            "none",
            "It is not reproduced by our runs of a and b.",
        ),
        (
            {"a/1": "holds", "a/2": "fails", "b/1": "holds"},
            "in part",
            "It is reproduced by our runs of b; it is reproduced in part by those of a.",
        ),
        ({"a/1": "not_run", "b/1": "not_run"}, "open", "None of it was run."),
    ],
)
def test_studies_that_agree(
    tmp_path: Path, position: dict[str, str], ours: str, words: str
) -> None:
    found = _ours(tmp_path, "agree", position)
    assert (found["ours"], found["ours_in_words"]) == (ours, words)


@pytest.mark.parametrize(
    ("first", "second", "ours", "words"),
    [
        (
            "holds",
            "holds",
            "conditions",
            "Each under its own conditions: what a says is reproduced",
        ),
        (
            "holds",
            "fails",
            "one side",
            "What a says is reproduced by our runs. What b says is not reproduced",
        ),
        ("fails", "fails", "none", "What b says is not reproduced."),
        ("holds", "not_run", "open", "What b says was not run."),
        ("not_run", "not_run", "open", "None of it was run."),
    ],
)
def test_studies_that_do_not(
    tmp_path: Path, first: str, second: str, ours: str, words: str
) -> None:
    found = _ours(tmp_path, "contradict", {"a/1": first}, {"b/1": second})
    assert found["ours"] == ours
    assert words in found["ours_in_words"]


def test_a_position_that_comes_out_in_part_decides_nothing(tmp_path: Path) -> None:
    found = _ours(tmp_path, "contradict", {"a/1": "holds", "a/2": "fails"}, {"b/1": "fails"})
    assert found["ours"] == "in part"
    assert found["positions"][0]["counts"] == {"holds": 1, "fails": 1}


def test_a_study_of_a_position_that_was_not_run_is_named(tmp_path: Path) -> None:
    found = _ours(tmp_path, "conditions", {"a/1": "holds", "b/1": "not_run"}, {"c/1": "fails"})
    assert found["ours"] == "one side"
    assert found["ours_in_words"] == (
        "What a says is reproduced by our runs (b was not run). What c says is not reproduced."
    )
