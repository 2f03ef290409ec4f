"""`list` shows the runs and their cost."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Done

from bdpbench.contracts.paths import config_dir, run_folder

Call = Callable[..., Done]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """study.yaml of the only study in a configuration."""
    config = tmp_path / "config"
    shutil.copytree(config_dir() / "studies" / "examples" / "ecn", config / "studies" / "ecn")
    shutil.copy(config_dir() / "config.yaml", config)
    monkeypatch.setenv("BDPBENCH_CONFIG", str(config))
    return config / "studies" / "ecn" / "study.yaml"


def test_studies_with_their_tiers(bdpbench: Call, example: Path) -> None:
    title, line = bdpbench("list").out.splitlines()
    assert title.startswith("ecn: ")
    assert line.startswith("  quick  2 runs, ~")


def test_the_same_as_objects_and_anew_after_each_change(bdpbench: Call, example: Path) -> None:
    (tier,) = map(json.loads, bdpbench("list", "--json").lines)
    assert (tier["study"], tier["tier"], tier["runs"]) == ("ecn", "quick", 2)
    text = example.read_text(encoding="utf-8")
    title = re.search("^title: (.*)$", text, re.MULTILINE)
    assert title is not None
    for new in ("First", "Other"):
        example.write_text(text.replace(title[1], new), encoding="utf-8")
        assert bdpbench("list").out.startswith(f"ecn: {new}\n")
        assert bdpbench("list", "ecn").out.startswith(f"ecn: {new}\n")
    (scenario,) = map(json.loads, bdpbench("list", "ecn", "--json").lines)
    assert scenario["runs"] == 2
    runs = [json.loads(line) for line in bdpbench("list", "ecn", "--runs", "--json").lines]
    assert [run["finished"] for run in runs] == [False, False]


def test_a_run_that_scenarios_share_counts_once_everywhere(bdpbench: Call) -> None:
    lines = bdpbench("list").out.split("xu2004: ")[1].splitlines()
    assert lines[2].startswith("  quick  36 runs, ")  # of 37 in its scenarios
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
    listed = bdpbench("list", "sharma2006").out.split("single_flow: ")[1].splitlines()
    assert listed[1].startswith("  quick  6 runs, ~")
    assert max(map(len, listed)) <= 80


def test_a_dry_run_says_why_each_run_has_to_be_simulated(
    bdpbench: Call, example: Path, tmp_path: Path
) -> None:
    def told() -> list[str]:
        lines = bdpbench("run", "ecn", "--tier", "quick", "-n").lines
        return [line.rpartition("; ")[2] for line in lines if line.startswith("  ")]

    assert told() == ["not simulated yet"] * 2
    failed, interrupted = (
        run_folder(tmp_path / "results" / "runs", line.split()[0])
        for line in bdpbench("list", "ecn", "--tier", "quick", "--runs").lines[1:]
    )
    failed.mkdir(parents=True)
    (failed / "error.txt").write_text("ns-2 stopped")
    (interrupted / ".scratch").mkdir(parents=True)
    assert told() == ["failed last time", "was interrupted"]
