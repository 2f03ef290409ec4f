"""Every scenario of the quick tier writes the same bytes with the variants stock and fast.

Simulated times are cut to seconds here, all else is as it is in the study;
`tests/benchmarks/identity.py` compares whole tiers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

Outputs = Callable[[Path, list[str], Path], dict[str, str]]

STUDY = load_study("sharma2006")
RUNS = expand_tier(STUDY, "quick")
# Long enough for flows of RTT 20 ms to fill the path, and for losses where the buffer is small or
# a packet is dropped.
LONGEST_S = 10
# A traced second writes tens of megabytes.
TRACED_S = 2
TRACED = Path(__file__).parent / "traced.tcl"


def command(run: PlannedRun, longest_s: int) -> list[str]:
    """The script of a run with its arguments, ended after ``longest_s`` simulated seconds."""
    duration_s = min(int(run["parameters"]["duration_s"]), longest_s)
    given = dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))
    changed = {**given, "-duration_s": str(duration_s), "-datadir": "."}
    argv = [word for pair in changed.items() for word in pair]
    return [str(tcl_dir() / run["script"]), *argv]


def first_of_each_scenario() -> list[PlannedRun]:
    return list({run["scenario"]: run for run in reversed(RUNS)}.values())


def test_each_run_of_the_quick_tier_is_compared() -> None:
    assert {run["scenario"] for run in RUNS} == {
        name for name, scenario in STUDY.scenarios.items() if "quick" in scenario.tiers
    }


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['scenario']}: {run['label']}")
def test_every_output_of_a_run_is_the_same(
    run: PlannedRun, ns_binary: Path, stock_binary: Path, outputs: Outputs, tmp_path: Path
) -> None:
    arguments = command(run, LONGEST_S)
    stock = outputs(stock_binary, arguments, tmp_path / "stock")
    assert {each["file"] for each in run["outputs"]} <= set(stock)
    assert outputs(ns_binary, arguments, tmp_path / "fast") == stock


@pytest.mark.parametrize("run", first_of_each_scenario(), ids=lambda run: run["scenario"])
def test_every_trace_of_a_scenario_is_the_same(
    run: PlannedRun, ns_binary: Path, stock_binary: Path, outputs: Outputs, tmp_path: Path
) -> None:
    arguments = [str(TRACED), *command(run, TRACED_S)]
    stock = outputs(stock_binary, arguments, tmp_path / "stock")
    traces = {"all.tr", "all.nam", "queues.tr", "agents.tr"}
    assert all((tmp_path / "stock" / name).stat().st_size > 10_000 for name in traces)
    assert outputs(ns_binary, arguments, tmp_path / "fast") == stock
