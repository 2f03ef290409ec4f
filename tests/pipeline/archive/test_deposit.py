"""``datacite.json`` is valid by the JSON Schema of DataCite 4.5."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.pipeline.archive.conftest import CRATE

from bdpbench.archive.crate import Author, Crate, deposit_json, deposit_problems
from bdpbench.studies.study import Citation


@pytest.fixture(scope="module")
def schema() -> Any:
    # Without importing the package, which imports its client for the registry.
    found = importlib.util.find_spec("datacite")
    assert found is not None
    assert found.origin is not None
    path = Path(found.origin).parent / "schemas" / "datacite-v4.5.json"
    return jsonschema.Draft201909Validator(json.loads(path.read_text()))


PEOPLE = (Author("Ada Lovelace", is_person=True), Author("A laboratory", is_person=False))
PAPER = Citation(authors="N. N.", title="Curves", venue="-", year=2006, doi="10.1000/182")
LINKED = Citation(authors="N. N.", title="-", venue="-", year=2006, url="https://example.org/a")
PAGE = replace(CRATE, citation=LINKED, licence="CC0-1.0")


@pytest.mark.parametrize(
    "crate",
    [CRATE, replace(CRATE, authors=PEOPLE, citation=PAPER), PAGE, replace(CRATE, citation=None)],
)
def test_it_is_valid(crate: Crate, schema: Any) -> None:
    text = deposit_json(crate)
    assert [each.message for each in schema.iter_errors(json.loads(text))] == []
    assert list(deposit_problems(text.encode())) == []


@pytest.mark.parametrize("name", ["creators", "titles", "publisher", "publicationYear", "types"])
def test_both_refuse_what_lacks_a_mandatory_property(name: str, schema: Any) -> None:
    deposit = json.loads(deposit_json(CRATE))
    del deposit[name]
    assert not schema.is_valid(deposit)
    assert any(name in each for each in deposit_problems(json.dumps(deposit).encode()))


def test_it_names_authors_paper_and_versions() -> None:
    deposit = json.loads(deposit_json(replace(CRATE, authors=PEOPLE, citation=PAPER)))
    assert [each["nameType"] for each in deposit["creators"]] == ["Personal", "Organizational"]
    assert deposit["relatedIdentifiers"] == [
        {
            "relatedIdentifier": "10.1000/182",
            "relatedIdentifierType": "DOI",
            "relationType": "References",
        }
    ]
    assert deposit["dates"] == [{"date": "2006-08-01/2006-08-01", "dateType": "Created"}]
    assert "ns-2 2.35" in deposit["descriptions"][1]["description"]
