"""What `trace: stream` makes of the outputs of a script."""

from __future__ import annotations

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.studies.streams import REDUCED_TABLES, streamed_outputs, streams_of

CWND = {"file": "cwnd.out", "table": "cwnd", "flow": 0}


def test_the_trace_gives_way_to_what_it_is_reduced_to() -> None:
    outputs = streamed_outputs([CWND, {"file": "p.tr", "table": "packets"}], "scenario x")
    assert outputs[0] == CWND
    assert {each["table"] for each in outputs[1:]} == {f"packet_{name}" for name in REDUCED_TABLES}
    assert outputs[1] == {"file": "p.tr.flows.parquet", "table": "packet_flows", "stream": "p.tr"}
    assert streams_of(outputs) == ["p.tr"]
    assert streams_of([CWND]) == []


def test_a_script_without_a_packet_trace_cannot_stream_it() -> None:
    with pytest.raises(BdpbenchError, match="scenario x: trace: stream, but the script writes no"):
        streamed_outputs([CWND], "scenario x")
