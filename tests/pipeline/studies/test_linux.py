"""Compound is refused wherever it would in fact be Reno."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import read_study
from bdpbench.studies.runs import expand_tier


def _study(tmp_path: Path, linux: str, **keys: Any) -> Path:
    settings = keys.pop("settings", {})
    study = {
        "schema_version": 1,
        "key": "mine",
        "title": "Mine",
        "protocols": {
            "CTCP": {"label": "CTCP", "colour": "#336699", "agent": "TCP/Linux", "linux": linux}
            | {"settings": settings}
        },
        "topologies": {
            "path": {
                "parameters": {
                    "bottleneck_mbps": 8,
                    "bottleneck_delay_ms": 8,
                    "access_mbps": 100,
                    "access_delay_ms": 1,
                    "buffer_pkts": 20,
                }
            }
        },
        "scenarios": {
            "one": {
                "title": "One",
                "topology": "path",
                "flows": [{"protocol": "CTCP"}],
                "tiers": {"quick": [{"duration_s": 3}]},
            }
        },
        **keys,
    }
    path = tmp_path / "mine" / "study.yaml"
    path.parent.mkdir()
    path.write_text(json.dumps(study, indent=1))
    return path


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
    off = {"description": "Timestamps", "sets": {"CTCP": ["timestamps_"]}}
    path = _study(tmp_path, "compound", settings={"timestamps_": 1}, parameters={"timestamps": off})
    study = json.loads(path.read_text())
    study["scenarios"]["one"]["parameters"] = {"timestamps": 0}
    path.write_text(json.dumps(study, indent=1))
    (run,) = expand_tier(read_study(path), "quick")
    argv = " ".join(run["argv"])
    assert "-flow.0.set.timestamps_ 0 " in argv
