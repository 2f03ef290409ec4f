"""`list` shows the runs and their cost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Done
from tests.planned_runs import loaded_study, runs_of

from bdpbench.app.costs import ESTIMATES_NAME, tier_estimates_s
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import config_dir
from bdpbench.studies.load import study_keys

Call = Callable[..., Done]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """study.yaml of the only study in a configuration, without anything cached by earlier calls."""
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path / "home"))
    config = tmp_path / "config"
    shutil.copytree(config_dir() / "studies" / "examples" / "ecn", config / "studies" / "ecn")
    shutil.copy(config_dir() / "config.yaml", config)
    monkeypatch.setenv("BDPBENCH_CONFIG", str(config))
    return config / "studies" / "ecn" / "study.yaml"


def test_studies_with_their_tiers(bdpbench: Call, example: Path) -> None:
    head, line = bdpbench("list").out.splitlines()
    assert head.split() == ["study", "tier", "runs", "CPU", "time", "title"]
    assert line.split()[:3] == ["ecn", "quick", "2"]


@pytest.mark.ci
@pytest.mark.parametrize("key", study_keys())
def test_the_costs_that_come_with_bdpbench_are_those_of_the_planned_runs(key: str) -> None:
    study = loaded_study(key)
    kept = json.loads((config_dir() / ESTIMATES_NAME).read_text())
    assert kept[key]["study_sha256"] == sha256_of(study.folder / "study.yaml"), "./bdpbench docs"
    for tier, estimates_s in tier_estimates_s(study).items():
        costs_s = {run["run_id"]: run["estimated_cpu_s"] for run in runs_of(key, tier)}
        assert estimates_s == sorted(costs_s.values()), "./bdpbench docs"


def test_a_run_that_scenarios_share_counts_once_everywhere(bdpbench: Call) -> None:
    lines = [line.split() for line in bdpbench("list").out.splitlines()]
    (runs,) = (line[2] for line in lines if line[:2] == ["xu2004", "quick"])
    assert runs == "36"  # of 37 in its scenarios
    told = bdpbench("list", "xu2004").out.splitlines()
    assert "quick: 36 runs in all, since scenarios share some" in told
    _head, *listed = bdpbench("list", "xu2004", "--tier", "quick", "--runs").out.splitlines()
    assert len({line.split()[0] for line in listed}) == len(listed) == 36
    assert sum("bottleneck_rate, modified_vegas " in line for line in listed) == 1
    assert "quick: 36 runs, 0 finished, 36 to simulate" in bdpbench("run", "xu2004", "-n").out


def test_runs_of_one_protocol(bdpbench: Call) -> None:
    only = ("--scenario", "buffer_size", "--protocol", "hs")
    lines = bdpbench("list", "Sharma2006", "--tier", "paper", *only, "--runs").out.splitlines()
    # Buffers of 40, 200, 500, 1,555 and 7,776 packets.
    assert [line.split("buffer ")[1].split()[0] for line in lines[1:]] == [
        "40",
        "200",
        "500",
        "1555",
        "7776",
    ]


def test_scenarios_with_their_cost(bdpbench: Call) -> None:
    lines = bdpbench("list", "sharma2006").out.splitlines()
    assert any(line.startswith("single_flow") and "6 runs" in line for line in lines)
