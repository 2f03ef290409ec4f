"""The arguments of the studies' own scripts: each reaches ns-2, and nothing else is taken."""

from __future__ import annotations

from typing import Any

import pytest
from tests.data_of import yaml_of
from tests.tcl.checks import check_key_matters, check_keys, check_missing_and_unknown, named_keys
from tests.tcl.conftest import Arguments, Keys, Outputs, Refused, argv

from bdpbench.contracts.paths import repository_root

_DATA = yaml_of((repository_root() / "tests" / "data" / "scripts.yaml").read_text())
SCRIPTS: dict[str, dict[str, Any]] = {key: each for key, each in _DATA.items() if key != "common"}
CHANGES = [
    (script, {key: value})
    for script, each in SCRIPTS.items()
    for key, value in {**each["changes"], **each.get("optional", {})}.items()
]
REFUSED = [(script, *case) for script, each in SCRIPTS.items() for case in each["refused"]]


@pytest.mark.parametrize(("script", "change"), CHANGES, ids=lambda each: "".join(each))
def test_each_key_reaches_ns_2(outputs: Outputs, script: str, change: Arguments) -> None:
    check_key_matters(outputs, script, SCRIPTS[script]["base"], change)


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_key_is_left_out_here(keys_of: Keys, script: str) -> None:
    base, optional = SCRIPTS[script]["base"], SCRIPTS[script].get("optional", {})
    check_keys(keys_of, script, base, {*optional, *SCRIPTS[script].get("unused", [])})
    changed = {key for name, change in CHANGES if name == script for key in change}
    assert set(named_keys(base)) - {"datadir", "flows"} <= changed


@pytest.mark.parametrize("script", SCRIPTS)
def test_each_argument_is_needed_and_no_other_taken(refused: Refused, script: str) -> None:
    check_missing_and_unknown(refused, script, SCRIPTS[script]["base"])


@pytest.mark.parametrize(("script", "change", "said"), REFUSED)
def test_what_cannot_be_is_refused(
    refused: Refused, script: str, change: Arguments, said: str
) -> None:
    assert said in refused(script, *argv(SCRIPTS[script]["base"], change))
