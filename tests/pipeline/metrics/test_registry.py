"""The definitions are complete sentences that a report can print."""

from __future__ import annotations

import json

import pytest

from bdpbench.metrics import DEFINITIONS, Definition, definitions_as_dicts


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=lambda each: each.id)
def test_a_definition_says_what_is_measured_in_what_and_after_whom(definition: Definition) -> None:
    assert definition.id == f"{definition.metric}/1"
    assert definition.unit in {"s", "1", "%", "packets", "Mbit/s"}
    assert definition.text.endswith(".")
    assert definition.text[0].isupper() or definition.text.startswith(("cwnd", "(x1", "time_to"))
    assert definition.source


def test_definitions_travel_as_json() -> None:
    loaded = json.loads(json.dumps(definitions_as_dicts()))
    assert [each["metric"] for each in loaded] == list(DEFINITIONS)
    assert DEFINITIONS["utilization"].unit == "%"
