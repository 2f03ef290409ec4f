"""What runs of scenarios tell of their flows and links, and numbers that a study sweeps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.data_of import data_of
from tests.make import arguments
from tests.pipeline.studies.network.conftest import Planned

CASES = data_of(__file__)


@pytest.mark.parametrize("case", CASES["told"])
def test_runs_tell_what_follows_from_their_scenario(planned: Planned, case: dict[str, Any]) -> None:
    runs = planned(**case["scenario"])
    if "labels" in case:
        assert [run["label"] for run in runs] == case["labels"]
    for kind, found in (
        ("parameters", [dict(run["parameters"]) for run in runs]),
        ("arguments", [arguments(run) for run in runs]),
    ):
        for told, expected in zip(found, case.get(kind, ()), strict=kind in case):
            assert {name: told.get(name) for name in expected} == expected


@pytest.mark.parametrize("case", CASES["swept"])
def test_numbers_may_be_parameters_of_the_study(planned: Planned, case: dict[str, Any]) -> None:
    text, values = json.dumps(case["scenario"]), case["values"]
    plain = json.loads(text)
    given = {f"own_{name}": value for name, value in values.items()}
    for name, value in values.items():
        text = text.replace(f'"${name}"', f'"$own_{name}"')
        plain = json.loads(json.dumps(plain).replace(f'"${name}"', json.dumps(value)))
    swept = json.loads(text)
    swept["parameters"] = {**swept.get("parameters", {}), **given}
    (one,), (other,) = planned(declared=list(given), **swept), planned(**plain)
    assert one["argv"] == other["argv"]
