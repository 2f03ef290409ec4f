"""What is computed for a relation, and what it may not rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.score.atlas_entries import check_relation, standing_of
from bdpbench.studies.atlas import Relation


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
        (["undecided", "close"], "in part"),
    ],
)
def test_what_our_runs_show_of_some_entries(verdicts: list[str], standing: str) -> None:
    assert standing_of(_entry(f"s/{i}", each) for i, each in enumerate(verdicts)) == standing


@pytest.mark.parametrize(
    ("entries", "message", "hint"),
    [
        ({"a/1": "p"}, "unknown study 'b'", "known: a"),
        ({"a/1": "p", "b/11": "p"}, "unknown number or statement 'b/1'", "did you mean 'b/11'?"),
        ({"a/1": "p", "b/1": "q"}, "b/1 is about none of its protocols, but about q", ""),
    ],
)
def test_a_relation_of_what_is_not_there_is_refused(
    tmp_path: Path, entries: dict[str, str], message: str, hint: str
) -> None:
    path = tmp_path / "atlas.yaml"
    path.write_text("relations:\n  - id: r\n")
    relation = Relation(
        id="r",
        topic="later",
        protocols=["p"],
        question="?",
        relation="agree",
        positions=[{"says": "So.", "rests_on": ["a/1", "b/1"]}],  # type: ignore[list-item]
        why="w",
    )
    known = {key: {**_entry(key, "holds"), "protocols": [each]} for key, each in entries.items()}
    with pytest.raises(BdpbenchError) as caught:
        check_relation(relation, YamlFile(path), 0, known)
    assert caught.value.message.endswith(message)
    assert caught.value.hint == hint
