"""What is computed for a relation, and the common unit for how two flows share a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.score.atlas import atlas_of, related, standing_of
from bdpbench.score.atlas_entries import StudyPart, smallest_over_largest
from bdpbench.studies.atlas import Declared, DeclaredRelation, KnownProtocol, Relation, Topic


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


def _agreed(path: Path, *rests_on: str) -> DeclaredRelation:
    """A file that declares a relation, and the relation: some entries about a protocol agree."""
    path.write_text("relations:\n  - id: r\n")
    relation = Relation(
        id="r",
        topic="later",
        protocols=["p"],
        question="?",
        relation="agree",
        positions=[{"says": "So.", "rests_on": list(rests_on)}],  # type: ignore[list-item]
        why="w",
    )
    return DeclaredRelation(relation, YamlFile(path), ("relations", 0))


def _atlas(path: Path, *asked: str) -> Any:
    """Two studies with an entry about each of two protocols, and a relation about one of them."""
    agreed = _agreed(path, "a/p", "b/p")
    declared = Declared(
        source=agreed.source,
        protocols={"p": KnownProtocol(name="P", aliases=["PP"]), "q": KnownProtocol(name="Q")},
        topics={key: Topic(title=key, question="?") for key in ("first", "later", "unused")},
        relations=[agreed],
        members={},
        shares={},
    )
    parts = [
        StudyPart(
            cited={"key": study},  # type: ignore[typeddict-item]
            entries=[
                {**_entry(f"{study}/{each}", "holds"), "protocols": [each], "topic": "first"}
                for each in protocols
            ],
            shares=[{"study": study, "protocol": each} for each in protocols],  # type: ignore[typeddict-item]
        )
        for study, protocols in {"a": ["p", "q"], "b": ["p"]}.items()
    ]
    return atlas_of(declared, parts, asked)


@pytest.mark.parametrize(
    ("asked", "entries", "relations", "topics"),
    [
        ((), ["a/p", "a/q", "b/p"], 1, ["first", "later"]),
        (("p",), ["a/p", "b/p"], 1, ["first", "later"]),
        (("q",), ["a/q"], 0, ["first"]),
    ],
)
def test_an_atlas_has_what_is_about_the_protocols_and_what_its_relations_rest_on(
    tmp_path: Path, asked: tuple[str, ...], entries: list[str], relations: int, topics: list[str]
) -> None:
    atlas = _atlas(tmp_path / "atlas.yaml", *asked)
    assert atlas["asked"] == list(asked)
    assert [each["key"] for each in atlas["entries"]] == entries
    assert len(atlas["relations"]) == relations
    assert [each["key"] for each in atlas["topics"]] == topics
    studies = dict.fromkeys(each.split("/")[0] for each in entries)
    assert [each["key"] for each in atlas["studies"]] == list(studies)
    assert [f"{each['study']}/{each['protocol']}" for each in atlas["shares"]] == entries
    assert atlas["protocols"][0] == {
        "key": "p",
        "name": "P",
        "aliases": ["PP"],
        "about": "",
        "senders": [],
    }


@pytest.mark.parametrize(
    ("entries", "message", "hint"),
    [
        ({"a/1": "p"}, "r: no study has 'b/1'", "b has no such entry"),
        ({"a/1": "p", "b/11": "p"}, "r: no study has 'b/1'", "did you mean 'b/11'?"),
        ({"a/1": "p", "b/1": "q"}, "r: b/1 is about none of its protocols, but about q", ""),
    ],
)
def test_a_relation_of_what_is_not_there_is_refused(
    tmp_path: Path, entries: dict[str, str], message: str, hint: str
) -> None:
    known = {key: {**_entry(key, "holds"), "protocols": [each]} for key, each in entries.items()}
    with pytest.raises(BdpbenchError) as caught:
        related(_agreed(tmp_path / "atlas.yaml", "a/1", "b/1"), known)
    assert caught.value.message.endswith(message)
    assert caught.value.hint == hint
