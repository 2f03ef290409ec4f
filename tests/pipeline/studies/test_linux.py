"""Compound is refused wherever it would in fact be Reno."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import write_study

from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import read_study
from bdpbench.studies.runs import expand_tier

CTCP = {"label": "CTCP", "colour": "#336699", "agent": "TCP/Linux"}


def _study(folder: Path, linux: str, **keys: Any) -> Path:
    settings = keys.pop("settings", {})
    protocol = {**CTCP, "linux": linux, "settings": settings}
    given = {"parameters": {"protocol": None}, "flows": [{"protocol": "CTCP"}]}
    return write_study(folder, {**given, "protocols": {"CTCP": protocol}, **keys})


@pytest.mark.parametrize(
    ("linux", "keys"),
    [
        ("reno", {}),
        ("compound", {"settings": {"timestamps_": 1}}),
        ("compound", {"defaults": {"Agent/TCP": {"timestamps_": 1}}}),
        ("compound", {"defaults": {"Agent/TCP/Linux": {"timestamps_": 1}}}),
    ],
)
def test_it_runs_with_timestamps(tmp_path: Path, linux: str, keys: dict[str, Any]) -> None:
    assert len(expand_tier(read_study(_study(tmp_path, linux, **keys)), "quick")) == 1


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"settings": {"timestamps_": 0}, "defaults": {"Agent/TCP": {"timestamps_": 1}}},
    ],
)
def test_it_is_refused_without(tmp_path: Path, keys: dict[str, Any]) -> None:
    path = _study(tmp_path, "compound", **keys)
    with pytest.raises(
        BdpbenchError, match="Compound without timestamps behaves exactly like Reno"
    ) as caught:
        expand_tier(read_study(path), "quick")
    line = next(
        number
        for number, text in enumerate(path.read_text().splitlines(), start=1)
        if '"linux": "compound"' in text
    )
    assert caught.value.where == f"{path}:{line}"


def test_a_parameter_may_turn_timestamps_off(tmp_path: Path) -> None:
    path = _study(tmp_path, "compound", settings={"timestamps_": 1})
    study = json.loads(path.read_text())
    study["parameters"] = {"timestamps": {"description": "x", "sets": {"CTCP": ["timestamps_"]}}}
    study["scenarios"]["one"]["parameters"] = {"timestamps": 0}
    path.write_text(json.dumps(study, indent=1))
    (run,) = expand_tier(read_study(path), "quick")
    argv = " ".join(run["argv"])
    assert "-flow.0.set.timestamps_ 0 " in argv
