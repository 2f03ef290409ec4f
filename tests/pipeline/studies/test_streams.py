"""Streamed traces: the files that replace them, and the refusal if there are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.pipeline.studies.conftest import PATH_ARGUMENTS

from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import REDUCED_TABLES
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

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
