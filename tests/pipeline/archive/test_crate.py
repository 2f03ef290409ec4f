"""The metadata meets all MUSTs of RO-Crate 1.1 and of the Workflow RO-Crate profile 1.0.

The validator on PyPI (roc-validator) fetches its contexts from the network, so the tests check the
rules that https://www.researchobject.org/ro-crate/specification/1.1/ states.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Graph = dict[str, dict[str, Any]]


@pytest.fixture
def archive(make_archive: Callable[..., Path]) -> dict[str, bytes]:
    with zipfile.ZipFile(make_archive()) as found:
        return {name: found.read(name) for name in found.namelist()}


@pytest.fixture
def crate(archive: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(archive["ro-crate-metadata.json"])
    return found


@pytest.fixture
def graph(crate: dict[str, Any]) -> Graph:
    return {each["@id"]: each for each in crate["@graph"]}


def _types(entity: dict[str, Any]) -> list[str]:
    kind = entity["@type"]
    return kind if isinstance(kind, list) else [kind]


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [value["@id"]]
    return (
        [each["@id"] for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    )


def test_it_is_flattened_json_ld_with_the_context_of_ro_crate(crate: dict[str, Any]) -> None:
    assert crate["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    ids = [each["@id"] for each in crate["@graph"]]
    assert len(set(ids)) == len(ids)
    for entity in crate["@graph"]:
        assert entity["@type"]
        nested = [
            value
            for item in entity.values()
            for value in (item if isinstance(item, list) else [item])
            if isinstance(value, dict)
        ]
        assert all(set(value) == {"@id"} for value in nested), entity["@id"]


def test_the_descriptor_is_about_the_root_and_names_its_profiles(graph: Graph) -> None:
    descriptor = graph["ro-crate-metadata.json"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["about"] == {"@id": "./"}
    assert _references(descriptor["conformsTo"]) == [
        "https://w3id.org/ro/crate/1.1",
        "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
    ]


def test_the_root_has_what_it_must(graph: Graph) -> None:
    root = graph["./"]
    assert root["@type"] == "Dataset"
    assert root["name"]
    assert root["description"]
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", root["datePublished"])
    assert graph[root["license"]["@id"]]["name"] == "MIT License"
    assert all(graph[each]["name"] for each in _references(root["author"]))


def test_every_file_is_a_data_entity_with_its_size_and_checksum(
    archive: dict[str, bytes], graph: Graph
) -> None:
    parts = _references(graph["./"]["hasPart"])
    assert sorted(parts) == sorted(set(archive) - {"ro-crate-metadata.json", "manifest-sha256.txt"})
    for path in parts:
        entity = graph[path]
        assert "File" in _types(entity)
        assert re.fullmatch(r"[a-z]+/[a-z0-9.+-]+", entity["encodingFormat"])
        assert entity["contentSize"] == str(len(archive[path]))
        assert entity["sha256"] == hashlib.sha256(archive[path]).hexdigest()


def test_every_reference_within_the_crate_resolves(graph: Graph) -> None:
    for entity in graph.values():
        for name, value in entity.items():
            for target in _references(value):
                if name not in ("conformsTo", "identifier", "url"):
                    assert target in graph, f"{entity['@id']}: {name}"


def test_the_workflow_is_the_main_entity_and_names_its_language(graph: Graph) -> None:
    workflow = graph[graph["./"]["mainEntity"]["@id"]]
    assert workflow["@id"] == "source/Snakefile"
    assert _types(workflow) == ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
    language = graph[workflow["programmingLanguage"]["@id"]]
    assert _types(language) == ["ComputerLanguage"]
    assert {"name", "identifier", "url"} <= set(language)


def test_the_reproduction_says_what_went_in_and_came_out(graph: Graph) -> None:
    action = graph["#reproduction"]
    assert action["instrument"] == {"@id": "source/Snakefile"}
    assert _references(action["object"]) == ["plan.json"]
    assert _references(action["result"]) == ["report.html"]
    assert action["endTime"] >= action["startTime"]
