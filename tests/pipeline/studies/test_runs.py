"""Sweeps expand as written, and the arguments fully describe a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.make import arguments
from tests.pipeline.studies.conftest import PATH_ARGUMENTS

from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import REDUCED_TABLES
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study
from bdpbench.studies.plan import Selection
from bdpbench.studies.runs import expand_tier
from bdpbench.units import bdp_packets, unit_of


@pytest.fixture(autouse=True)
def _study(study_file: Callable[[str, str], Path]) -> None:
    study_file("", "")


def test_the_paper_tier_is_the_grid_and_the_quick_tier_a_part_of_it() -> None:
    study = load_study("mine")
    paper = expand_tier(study, "paper")
    quick = expand_tier(study, "quick")
    # 2 protocols × 2 buffers; the quick tier keeps only one of the buffers.
    assert [(run["parameters"]["protocol"], run["parameters"]["buffer_pkts"]) for run in paper] == [
        ("Reno", 25),
        ("Reno", 50),
        ("NewReno", 25),
        ("NewReno", 50),
    ]
    assert {run["parameters"]["buffer_pkts"] for run in quick} == {25}
    assert {run["parameters"]["duration_s"] for run in quick} == {5}


def test_rtt_and_bdp_are_computed_from_the_delays() -> None:
    run = expand_tier(load_study("mine"), "quick")[0]
    # 2 · (1 + 18 + 1) ms; 10 Mbit/s · 40 ms / 8,000 bit = 50 packets.
    assert run["parameters"]["rtt_ms"] == 40
    assert run["parameters"]["bdp_pkts"] == 50


def test_bdp_of_the_thesis() -> None:
    # sharma2006, section 4: 100 ms · 622 Mbit/s = 7,775 packets of 1,000 bytes.
    assert bdp_packets(622, 100, 1000) == 7775


def test_flows_start_one_after_the_other() -> None:
    pairs = arguments(expand_tier(load_study("mine"), "quick")[0])
    assert (pairs["-flows"], pairs["-flow.0.start_s"], pairs["-flow.1.start_s"]) == ("2", "0", "1")
    assert pairs["-flow.1.agent"] == "TCP/Reno"


def test_ids_are_stable_and_differ_by_parameter() -> None:
    study = load_study("mine")
    first = [run["run_id"] for run in expand_tier(study, "paper")]
    assert first == [run["run_id"] for run in expand_tier(study, "paper")]
    assert len(set(first)) == len(first)


def test_an_id_does_not_depend_on_the_names_of_study_and_scenario(
    study_file: Callable[[str, str], Path],
) -> None:
    before = {run["run_id"] for run in expand_tier(load_study("mine"), "paper")}
    study_file("  buffers:\n", "  renamed:\n")
    assert {run["run_id"] for run in expand_tier(load_study("mine"), "paper")} == before


def test_a_selection_takes_names_that_exist() -> None:
    study = load_study("mine")
    selection = Selection(scenarios=("buffers",), protocols=("reno",)).in_study(study)
    chosen = [run for run in expand_tier(study, "paper") if selection.wants(run)]
    assert {run["parameters"]["protocol"] for run in chosen} == {"Reno"}
    with pytest.raises(BdpbenchError, match="did you mean 'Reno'"):
        Selection(protocols=("Rno",)).in_study(study)


def test_a_tier_without_runs_is_refused() -> None:
    with pytest.raises(BdpbenchError, match=r"no runs in tier 'full'[\s\S]*paper, quick"):
        expand_tier(load_study("mine"), "full")


@pytest.mark.parametrize(
    ("name", "unit"),
    [("rtt_ms", "ms"), ("duration_s", "s"), ("bottleneck_mbps", "Mbit/s"), ("protocol", "")],
)
def test_units_are_read_off_the_names(name: str, unit: str) -> None:
    assert unit_of(name) == unit


# ---------------------------------------------------------------- streamed traces

CWND = {"file": "a.out", "table": "cwnd", "flow": 0}


@pytest.fixture
def run_with(own_script: Callable[..., Path]) -> Callable[[str], PlannedRun]:
    """The run of a script that writes a packet trace, with the parameter trace."""

    def plan(trace: str) -> PlannedRun:
        arguments = PATH_ARGUMENTS.replace("]", ", trace]")
        parameters = f"{{protocol: Reno, trace: {trace}}}"
        own_script(parameters=parameters, outputs="traced", arguments=arguments)
        return expand_tier(load_study("mine"), "quick")[0]

    return plan


def test_the_tables_of_a_trace_take_its_place(run_with: Callable[[str], PlannedRun]) -> None:
    run = run_with("stream")
    assert run["outputs"][0] == CWND
    tables = [each["table"] for each in run["outputs"][1:]]
    assert tables == [f"packet_{name}" for name in REDUCED_TABLES]
    assert run["identity"]["streams"] == ["t.out"]


def test_a_kept_trace_stays(run_with: Callable[[str], PlannedRun]) -> None:
    assert run_with("packets")["outputs"] == [CWND, {"file": "t.out", "table": "packets"}]


def test_a_script_that_writes_no_trace_has_none_to_stream(own_script: Callable[..., Path]) -> None:
    own_script(parameters="{protocol: Reno, trace: stream}", outputs="one")
    with pytest.raises(BdpbenchError, match=r"trace: stream, but the script writes no packet"):
        expand_tier(load_study("mine"), "quick")
