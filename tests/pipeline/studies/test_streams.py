"""Streamed traces: the files that replace them, and the refusal if there are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.plan import Output
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.streams import REDUCED_TABLES, outputs_of_trace, streams_of

CWND: Output = {"file": "cwnd.out", "table": "cwnd", "flow": 0}
TRACE: Output = {"file": "pckts.trq", "table": "packets"}


def test_the_tables_of_a_trace_take_its_place() -> None:
    outputs = outputs_of_trace([CWND, TRACE], {"trace": "stream"})
    assert outputs[0] == CWND
    assert [each["table"] for each in outputs[1:]] == [f"packet_{name}" for name in REDUCED_TABLES]
    assert streams_of(outputs) == ["pckts.trq"]


def test_a_kept_trace_stays() -> None:
    assert outputs_of_trace([CWND, TRACE], {"trace": "packets"}) == [CWND, TRACE]


def test_a_script_that_writes_no_trace_has_none_to_stream(
    own_script: Callable[..., Path],
) -> None:
    own_script(parameters="{protocol: Reno, trace: stream}", outputs="one")
    with pytest.raises(BdpbenchError, match=r"trace: stream, but the script writes no packet"):
        expand_tier(load_study("mine"), "quick")
