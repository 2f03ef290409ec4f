"""The metadata meets all MUSTs of RO-Crate 1.1.

The validator on PyPI (roc-validator) fetches its contexts from the network, so the tests check the
rules that https://www.researchobject.org/ro-crate/specification/1.1/ states.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.app.keep.conftest import CONTENTS, described

from bdpbench.app.keep.archive import METADATA_NAME

METADATA: dict[str, Any] = json.loads(described(CONTENTS)[METADATA_NAME])
GRAPH: dict[str, dict[str, Any]] = {each["@id"]: each for each in METADATA["@graph"]}


def _types(entity: dict[str, Any]) -> list[str]:
    kind = entity["@type"]
    return kind if isinstance(kind, list) else [kind]


def _references(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else [value]
    return [each["@id"] for each in parts if isinstance(each, dict)]


def test_it_is_flattened_json_ld_with_the_context_of_ro_crate() -> None:
    assert METADATA["@context"] == "https://w3id.org/ro/crate/1.1/context"
    assert len(GRAPH) == len(METADATA["@graph"])
    for entity in GRAPH.values():
        assert entity["@type"]
        nested = [
            value
            for item in entity.values()
            for value in (item if isinstance(item, list) else [item])
            if isinstance(value, dict)
        ]
        assert all(set(value) == {"@id"} for value in nested), entity["@id"]


def test_the_descriptor_is_about_the_root_and_names_its_version() -> None:
    descriptor = GRAPH["ro-crate-metadata.json"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}


def test_the_root_has_what_it_must() -> None:
    root = GRAPH["./"]
    assert root["@type"] == "Dataset"
    assert (root["name"], root["description"]) == ("A small archive", "Made by a test.")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", root["datePublished"])
    assert GRAPH[root["license"]["@id"]]["name"] == "MIT"
    assert [GRAPH[each]["name"] for each in _references(root["author"])] == ["The bdpbench authors"]


def test_the_paper_is_cited_if_there_is_one() -> None:
    (paper,) = _references(GRAPH["./"]["citation"])
    assert paper == "https://doi.org/10.1000/182"
    assert GRAPH[paper]["name"] == "Sawtooth curves"
    alone = json.loads(described(CONTENTS, paper=None)[METADATA_NAME])
    assert all("citation" not in each for each in alone["@graph"])


def test_every_file_is_a_data_entity_with_its_size() -> None:
    parts = _references(GRAPH["./"]["hasPart"])
    assert sorted(parts) == sorted(CONTENTS)
    for path in parts:
        assert "File" in _types(GRAPH[path])
        assert GRAPH[path]["contentSize"] == str(len(CONTENTS[path]))


def test_every_reference_within_the_crate_resolves() -> None:
    for entity in GRAPH.values():
        for name, value in entity.items():
            for target in _references(value):
                if name != "conformsTo":
                    assert target in GRAPH, f"{entity['@id']}: {name}"
