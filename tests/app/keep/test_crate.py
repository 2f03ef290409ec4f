"""The metadata of an archive meets all MUSTs of RO-Crate 1.1, and is that of ``crate.json``.

The validator on PyPI (roc-validator) fetches its contexts from the network, so ``crate.json`` was
held against https://www.researchobject.org/ro-crate/specification/1.1/ by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.app.keep.conftest import CONTENTS, described

from bdpbench.app.keep.archive import METADATA_NAME

GOLDEN = Path(__file__).with_name("crate.json")


def _metadata(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(described(CONTENTS, **changes)[METADATA_NAME])
    return found


def _references(value: Any) -> Iterator[str]:
    """The entities that a value of an entity refers to; nothing else is nested (JSON-LD, flat)."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            assert set(each) == {"@id"}
            yield each["@id"]


def test_the_metadata_is_that_which_was_held_against_the_specification() -> None:
    """After a change of it, ``GOLDEN.write_text(json.dumps(_metadata(), indent=1))`` renews it."""
    assert _metadata() == json.loads(GOLDEN.read_text())


def test_every_file_is_listed_with_its_size_and_every_reference_within_the_crate_resolves() -> None:
    graph = {each["@id"]: each for each in _metadata()["@graph"]}
    assert len(graph) == len(_metadata()["@graph"])
    files = {name: str(len(content)) for name, content in CONTENTS.items()}
    parts = _references(graph["./"]["hasPart"])
    assert {part: graph[part]["contentSize"] for part in parts} == files
    for entity in graph.values():
        for name, value in entity.items():
            lacking = [each for each in _references(value) if each not in graph]
            assert not lacking or name == "conformsTo"


def test_without_a_paper_none_is_cited() -> None:
    assert all("citation" not in each for each in _metadata(paper=None)["@graph"])
